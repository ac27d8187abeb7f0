"""Every document is what its schema says, and says what the facts say."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from ckpt_audit.alerts.checks import CheckResult, State
from ckpt_audit.audit.data import ReportData
from ckpt_audit.audit.fleet import fleet_of
from ckpt_audit.audit.incident_table import estimate_table
from ckpt_audit.audit.process import process_of
from ckpt_audit.documents import (
    DOCUMENTS,
    INCIDENT_COLUMNS,
    Json,
    check_document,
    dumps,
    estimate_document,
    incidents_document,
    interval_document,
    report_document,
    runs_document,
    schema,
)
from ckpt_audit.documents.calculator import model_document, shards_document
from ckpt_audit.documents.incident_table import incident_table_document
from ckpt_audit.documents.simulation import simulate_document
from ckpt_audit.facts import Epoch, Lifetime
from ckpt_audit.ingest.incident_table import IncidentTable, TableRow
from ckpt_audit.model.adamw import check_replay
from ckpt_audit.model.simulation import Constant, Policy, Scenario, simulate
from ckpt_audit.model.torn import captured
from tests.report.fixture_data import month

HOUR_US = 3_600_000_000


@pytest.fixture(scope="module")
def data() -> ReportData:
    return month()


def all_documents(data: ReportData) -> dict[str, Json]:
    checks = [CheckResult("progress", State.OK, "fine", "llama", 60.0, 900.0, 3600.0, since=0)]
    return {
        "incidents": incidents_document(data),
        "estimate": estimate_document(data),
        "interval": interval_document(data),
        "report": report_document(data),
        "runs": runs_document(run.run for run in data.runs),
        "check": check_document(State.OK, checks),
        "model": model_document(240.0, 21600.0, 300.0, 600.0, intervals=[2700.0, 3600.0]),
        "shards": torn(),
        "simulate": simulated(),
        "incident_table": tabled(),
    }


def torn() -> Json:
    """Three shards of two steps, one of which must not be undone."""
    check = check_replay((0, 1), 0, elements=8)
    return shards_document(
        captured([5, 6, 6]),
        guards={"a": 0.1, "b": 0.99, "c": None},
        gradient_bytes=2.0,
        state_bytes=12.0,
        check=check,
    )


def tabled() -> Json:
    """Twelve incidents of uneven gaps."""
    rows = tuple(TableRow(i * i * 3600.0, i * i * 3600.0 + 60.0, "n1", "gpu") for i in range(12))
    table = IncidentTable(rows, 13, 1, False, {"start": "start"}, rows[-1].start_s)
    found = estimate_table(table, nodes=4)
    assert found is not None
    return incident_table_document("tracker.csv", found)


def simulated() -> Json:
    """One policy that ends, and one that never does."""
    scenario = Scenario(3600.0, Constant(1000.0), (Constant(30.0),))
    policies = [Policy.fixed(300.0), Policy.fixed(2000.0)]
    laws = {"up": "constant", "c": "constant", "d": "constant", "r": "constant"}
    found = simulate(scenario, policies, runs=3)
    return simulate_document(found, laws=laws, mode="blocking", deadline_s=7200.0)


def problems(name: str, document: Json) -> list[str]:
    validator = Draft202012Validator(schema(name), format_checker=FormatChecker())
    return [error.message for error in validator.iter_errors(json.loads(dumps(document)))]


def with_past(data: ReportData) -> ReportData:
    """The same report where the runs have a past: failures of uneven gaps in two sizes."""
    start = data.window.start_at
    found = []
    for number, run in enumerate(data.runs):
        lives = [
            Lifetime(
                run=run.run.run,
                attempt=i,
                start_at=start + i * 50 * HOUR_US,
                end_at=start + i * 50 * HOUR_US + (1 + i * i % 41) * HOUR_US,
                n_accelerators=64 if i < 20 else 256,
                kind="planned" if i % 9 == 8 else "failure",
                cause=("gpu", "network")[i % 2],
                is_secondary=False,
            )
            for i in range(45 + number)
        ]
        epochs = [
            Epoch(run.run.run, 1, start, start + 1000 * HOUR_US, 64),
            Epoch(run.run.run, 2, start + 1000 * HOUR_US, start + 5000 * HOUR_US, 256),
        ]
        process = process_of(lives, epochs, ZoneInfo("UTC"))
        found.append(replace(run, estimate=replace(run.estimate, process=process)))
    fleet = fleet_of({run.run.run: run.estimate.process for run in found})
    return replace(data, runs=tuple(found), fleet=fleet)


def test_an_estimate_with_a_past_fits_its_schema_and_leaves_nothing_out(data: ReportData) -> None:
    document = json.loads(dumps(estimate_document(with_past(data), [4096])))
    assert problems("estimate", document) == []
    (run, *_) = document["runs"]
    for name in ("shape", "trend", "basis", "dispersion", "survival", "drift", "change_point"):
        assert run[name] is not None
    assert run["shape"]["best_law"] == run["shape"]["laws"][0]["law"]
    assert run["trend"]["power_law"]["beta"] > 0
    assert [epoch["epoch"] for epoch in run["basis"]["epochs"]] == [1, 2]
    assert {cause["cause"] for cause in run["causes"]} == {"gpu", "network"}
    assert 4096 in [item["accelerators"] for item in document["fleet"]["projections"]]
    assert run["rate"]["data_share"] > 0


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_fit_their_schemas(name: str, data: ReportData) -> None:
    document = all_documents(data)[name]
    Draft202012Validator.check_schema(schema(name))
    assert problems(name, document) == []
    assert list(document)[:2] == ["schema", "version"]
    assert document["schema"] == f"ckpt-audit/{name}/1"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schemas_notice_a_missing_key(name: str, data: ReportData) -> None:
    document = all_documents(data)[name]
    for key in schema(name)["required"]:
        assert problems(name, {k: v for k, v in document.items() if k != key})


def test_a_month_of_nothing_fits_too(data: ReportData) -> None:
    empty = replace(data, runs=(), sources=(), findings=(), rejected=())
    for name, document in all_documents(empty).items():
        assert problems(name, document) == []


def test_an_incident_is_told_whole(data: ReportData) -> None:
    incident = data.runs[0].incidents[0]
    bounded = replace(
        incident,
        detection_s=None,
        fault_at=None,
        bounds={"fault_at": (1_777_593_600.5, None), "detection_s": (1.0, 2.0)},
    )
    run = replace(data.runs[0], incidents=(bounded,), correlations={})
    row = incidents_document(replace(data, runs=(run,)))["incidents"][0]
    assert list(row) == INCIDENT_COLUMNS
    assert row["fault_at"] is None
    assert row["correlation"] is None
    assert row["bounds"] == {
        "detection_s": [1.0, 2.0],
        "fault_at": ["2026-05-01T00:00:00.500000+00:00", None],
    }
    assert row["evidence"][0] == {
        "moment": "last_step_at",
        "file": "logs/llama-70b/attempt_000.log",
        "line": 88_412,
        "text": incident.evidence[0].text,
        "strength": "stated",
    }


def test_the_report_holds_the_other_documents(data: ReportData) -> None:
    report = report_document(data)
    assert report["incidents"] == incidents_document(data)["incidents"]
    assert report["estimate"]["runs"] == estimate_document(data)["runs"]
    assert report["interval"]["runs"] == interval_document(data)["runs"]
    assert report["runs"] == runs_document(run.run for run in data.runs)["runs"]


def test_what_json_cannot_say_is_null() -> None:
    document = {"a": math.inf, "b": math.nan, "c": [1 / 3, (None, 2)], "d": True}
    assert json.loads(dumps(document)) == {
        "a": None,
        "b": None,
        "c": [0.333333, [None, 2]],
        "d": True,
    }


def test_the_calculator_gives_known_answers() -> None:
    document = model_document(4.0, 360.0, 5.0, 10.0, intervals=[45.0, 60.0, 120.0])
    assert document["young_s"] == pytest.approx(53.6656, abs=1e-4)
    assert document["exact_s"] == pytest.approx(51.0328, abs=1e-4)
    first = [round(row["waste_first_order"], 6) for row in document["rows"]]
    exact = [round(row["waste_exact"], 6) for row in document["rows"]]
    assert first == [0.193056, 0.191667, 0.241667]
    assert exact == [0.177007, 0.177631, 0.221801]
    for row in document["rows"]:
        parts = row["checkpoint"] + row["lost_work"] + row["recovery"]
        assert parts == pytest.approx(row["waste_first_order"])
        parts = row["checkpoint_exact"] + row["lost_work_exact"] + row["recovery_exact"]
        assert parts == pytest.approx(row["waste_exact"])
