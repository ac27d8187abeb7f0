"""The command line on the sample data against what really happened in the made-up world.

Tolerances: counts, kinds and steps exactly; moments within the log's resolution and the stated
seconds. Where a crash printed no stamp, its moment is known only between two lines, so the value
must lie within one step and the interval that the tool states must hold the truth.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from .conftest import SAMPLE, Site

Json = dict[str, Any]

MONTH = "2026-05"
STEP_S = {"llama-70b": 62.0, "moe-24b": 47.0}
RESOLUTION_S = 1.0
UNPLANNED = ("failure", "preemption", "operator_rollback")


@pytest.fixture(scope="module")
def site(new_site: Callable[[], Site]) -> Site:
    """A site that has read the sample."""
    site = new_site()
    site.run("ingest", SAMPLE, "--config", SAMPLE / "ckpt-audit.toml")
    return site


@pytest.fixture(scope="module")
def report(site: Site) -> Json:
    """The report of May as JSON."""
    return site.json("report", "--month", MONTH, "--config", SAMPLE / "ckpt-audit.toml")


@pytest.fixture(scope="module")
def truth() -> Json:
    """What really happened."""
    loaded: Json = json.loads(gzip.decompress((SAMPLE / "truth.json.gz").read_bytes()))
    return loaded


def _at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _pairs(report: Json, truth: Json) -> list[tuple[Json, Json]]:
    """Incidents found beside those that happened in May, by run and order."""
    pairs = []
    for run in truth["runs"]:
        real = [
            item
            for item in run["incidents"]
            if "2026-05-01" <= item["fault_at"][:10] <= "2026-05-31"
        ]
        found = [item for item in report["incidents"] if item["run"] == run["name"]]
        assert len(found) == len(real), run["name"]
        pairs += list(zip(found, real, strict=True))
    return pairs


def test_every_incident_is_found_and_none_invented(report: Json, truth: Json) -> None:
    """Kinds, attempts, secondary marks and steps are exact."""
    exact = "kind secondary attempts last_step resume_step verified_step steps_lost".split()
    for found, real in _pairs(report, truth):
        assert {name: found[name] for name in exact} == {name: real[name] for name in exact}


def test_moments(report: Json, truth: Json) -> None:
    """Detected and recovered to 2 s, the fault to the evidence there is."""
    for found, real in _pairs(report, truth):
        for name in ("detected_at", "first_step_at", "replaced_at"):
            assert abs(_at(found[name]) - _at(real[name])) <= 2.0, (found["id"], name)
        error = abs(_at(found["fault_at"]) - _at(real["fault_at"]))
        if real["fault_evidence"] in ("kernel", "watchdog", "stop"):
            assert error <= RESOLUTION_S, found["id"]
        else:
            assert error <= STEP_S[found["run"]], found["id"]
        low, high = found["bounds"].get("fault_at", [found["fault_at"]] * 2)
        assert _at(low) - RESOLUTION_S <= _at(real["fault_at"]) <= _at(high) + RESOLUTION_S


def test_verified_checkpoint_age(report: Json, truth: Json) -> None:
    """To 2 s, wherever the fault itself is dated."""
    for found, real in _pairs(report, truth):
        dated = real["fault_evidence"] != "undated"
        tolerance = 2.0 if dated else STEP_S[found["run"]]
        error = found["verified_checkpoint_age_s"] - real["verified_checkpoint_age_s"]
        assert abs(error) <= tolerance, found["id"]


def test_causes(report: Json, truth: Json) -> None:
    """The cause is the true one, or one that the evidence allows as well."""
    for found, real in _pairs(report, truth):
        assert found["cause"] in (real["cause"], *real.get("cause_also", [])), found["id"]


def test_durations(report: Json, truth: Json) -> None:
    """Detection, recovery and lost work of each incident."""
    for found, real in _pairs(report, truth):
        undated = real["fault_evidence"] == "undated"
        slack = STEP_S[found["run"]] if undated else 3 * RESOLUTION_S
        assert abs(found["recovery_s"] - real["recovery_s"]) <= 2.0, found["id"]
        assert abs(found["lost_work_s"] - real["lost_work_s"]) <= slack, found["id"]
        assert (found["detection_s"] is None) == (real["detection_s"] is None), found["id"]
        if real["detection_s"] is not None:
            assert abs(found["detection_s"] - real["detection_s"]) <= slack, found["id"]


def test_correlation(report: Json, truth: Json) -> None:
    """The leaf switch that struck both runs is one group; nothing else is called correlated."""
    real = {
        (pair[0]["run"], pair[0]["id"]): bool(pair[1]["correlated_with"])
        for pair in _pairs(report, truth)
    }
    labels = {
        (item["run"], item["id"]): (item["correlation"] or {}).get("label")
        for item in report["incidents"]
    }
    assert {key for key, label in labels.items() if label == "correlated"} == {
        key for key, is_group in real.items() if is_group
    }
    groups = {
        item["correlation"]["group"]
        for item in report["incidents"]
        if (item["correlation"] or {}).get("label") == "correlated"
    }
    assert len(groups) == 1
    cascades = {key[1] for key, label in labels.items() if label == "cascade"}
    assert cascades == {item["id"] for item in report["incidents"] if item["secondary"]}


def test_cost_of_a_save(site: Site, truth: Json) -> None:
    """C: every save of the month, its median and mean within 3%."""
    estimate = site.json("estimate", "--month", MONTH, "--config", SAMPLE / "ckpt-audit.toml")
    for run in truth["runs"]:
        found = next(item for item in estimate["runs"] if item["run"] == run["name"])["c"]
        real = run["checkpoint_cost"]
        assert found["n"] == real["n"]
        assert found["median_s"] == pytest.approx(real["median_s"], rel=0.03)
        assert found["mean_s"] == pytest.approx(real["mean_s"], rel=0.03)


def test_ledger(report: Json, truth: Json) -> None:
    """Each bucket within 1% of itself or 0.1% of the allocation; the sum exactly."""
    for run in truth["runs"]:
        real = run["ledger"]
        rows = [row for row in report["ledger"] if row["run"] == run["name"]]
        found = {row["bucket"]: row["observed_s"] for row in rows}
        assert sum(row["observed_acc_s"] for row in rows) == pytest.approx(real["allocated_acc_s"])
        spent = {name: value["seconds"] for name, value in real["buckets"].items()}
        allocated = real["allocated_s"]
        assert sum(found.values()) == pytest.approx(allocated, abs=1e-5)
        for name in set(found) | set(spent):
            error = abs(found.get(name, 0.0) - spent.get(name, 0.0))
            assert error <= max(0.01 * spent.get(name, 0.0), 0.001 * allocated), (run["name"], name)


def test_exposure_and_rate(site: Site, report: Json) -> None:
    """M is exposure over events, with the exact interval around it."""
    estimate = site.json("estimate", "--month", MONTH, "--config", SAMPLE / "ckpt-audit.toml")
    for run in estimate["runs"]:
        total = next(item for item in run["m"] if item["population"] == "all")
        events = [
            item
            for item in report["incidents"]
            if item["run"] == run["run"] and item["kind"] == "failure"
        ]
        assert total["incidents"] == len(events)
        assert total["m_s"] == pytest.approx(total["exposure_s"] / len(events))
        assert total["low_s"] < total["m_s"] < total["high_s"]


def test_only_unplanned_ends_have_a_detection(report: Json) -> None:
    """A planned end is not detected, and is no event."""
    for item in report["incidents"]:
        if item["kind"] not in UNPLANNED:
            assert item["detection_s"] is None


def test_same_input_same_bytes(new_site: Callable[[], Site], report: Json) -> None:
    """A second site that reads the files in another order says the same, but for paths."""
    other = new_site()
    config = ("--config", SAMPLE / "ckpt-audit.toml")
    for part in ("slurm", "kernel", "logs"):
        other.run("ingest", SAMPLE / part, *config)
    assert other.json("report", "--month", MONTH, *config)["incidents"] == report["incidents"]
