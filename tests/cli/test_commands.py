"""What each command prints, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ckpt_audit import workflow
from ckpt_audit.audit.data import ReportData
from ckpt_audit.documents import dumps, report_document, schema
from tests.cli.conftest import Call

Asked = list[tuple[object, ...]]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["incidents", "--month"], "incidents"),
        (["explain", "ID"], "incidents"),
        (["estimate"], "estimate"),
        (["report"], "report"),
        (["check"], "check"),
        (["runs"], "runs"),
        (["model", "--c", "4m", "--m", "6h"], "model"),
    ],
)
def test_json_fits_its_schema(
    call: Call, loaded: Asked, facts: ReportData, words: list[str], name: str
) -> None:
    words = [facts.runs[0].incidents[0].id if word == "ID" else word for word in words]
    called = call(*words, "--json")
    Draft202012Validator(schema(name)).validate(json.loads(called.out))


@pytest.mark.parametrize("command", ["incidents", "estimate", "report"])
def test_month_may_be_bare_or_have_a_value(call: Call, loaded: Asked, command: str) -> None:
    for words, month in ((["--month", "--json"], "last"), (["--json", "--month"], "last")):
        assert call(command, *words).code == 0
        assert loaded.pop()[0] == month
    call(command, "--month", "2026-05", "--json")
    assert loaded.pop()[0] == "2026-05"
    call(command, "--month=current", "--json")
    assert loaded.pop()[0] == "current"


def test_incidents_are_one_line_each(call: Call, loaded: Asked, facts: ReportData) -> None:
    lines = call("incidents", "--month").out.splitlines()
    found = [incident for run in facts.runs for incident in run.incidents]
    assert len(lines) == 1 + len(found)
    assert lines[0].split()[:3] == ["id", "fault", "(UTC)"]
    assert [line.split()[0] for line in lines[1:]] == [incident.id for incident in found]
    assert all(line == line.rstrip() for line in lines)


def test_a_planned_end_was_not_to_be_detected(
    call: Call, loaded: Asked, facts: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = facts.runs[0]
    first = replace(run.incidents[0], kind="planned", cause="time_limit", detection_s=None)
    second = replace(run.incidents[1], detection_s=None)
    changed = replace(facts, runs=(replace(run, incidents=(first, second)),))
    monkeypatch.setattr(workflow, "load_report_data", lambda *_: changed)
    planned, failed = call("incidents").out.splitlines()[1:]
    assert " \N{EN DASH} " in planned
    assert " unknown " in failed
    (row, _) = json.loads(call("incidents", "--json").out)["incidents"]
    assert row["detection_s"] is None


def test_incidents_as_csv(call: Call, loaded: Asked, facts: ReportData) -> None:
    rows = list(csv.DictReader(io.StringIO(call("incidents", "--csv").out)))
    first = facts.runs[0].incidents[0]
    assert rows[0]["id"] == first.id
    assert float(rows[0]["detection_s"]) == first.detection_s
    assert rows[0]["correlation_label"] == "isolated"
    assert rows[0]["nodes"] == first.nodes[0]
    assert not any("[" in cell for name, cell in rows[0].items() if name != "rule"), "no list"
    assert "evidence" not in rows[0]


def test_explain_shows_the_evidence_and_the_rule(
    call: Call, loaded: Asked, facts: ReportData
) -> None:
    incident = facts.runs[0].incidents[0]
    out = call("explain", incident.id).out
    assert incident.rule in out
    for line in incident.evidence:
        assert f"{line.file}:{line.line}: {line.text}" in out
    assert "recovery" in out


def test_explain_names_the_nearest_incident(call: Call, loaded: Asked, facts: ReportData) -> None:
    known = facts.runs[0].incidents[0].id
    called = call("explain", f"{known}9")
    assert called.code == 2
    assert f"the nearest is '{known}" in called.err


def test_estimate_in_words(call: Call, loaded: Asked, facts: ReportData) -> None:
    out = call("estimate").out
    assert "llama-70b (2048 accelerators)" in out
    assert "C, exposed cost of a save" in out
    assert "launches reached a step" in out


def test_report_writes_one_file(
    call: Call, loaded: Asked, facts: ReportData, own_place: Path
) -> None:
    called = call("report", "--month")
    assert called.code == 0
    assert called.out == "reports/2026-05.html\n"
    text = (own_place / "reports" / "2026-05.html").read_text()
    assert text.startswith(("<!DOCTYPE html>", "<!doctype html>"))
    assert call("report", "-o", "sub/a.html").out == "sub/a.html\n"
    assert (own_place / "sub" / "a.html").read_text() == text
    assert [path.name for path in (own_place / "sub").iterdir()] == ["a.html"]


def test_report_as_json_writes_no_file_unless_told(
    call: Call, loaded: Asked, facts: ReportData, own_place: Path
) -> None:
    whole = dumps(report_document(facts)) + "\n"
    assert call("report", "--json").out == whole
    assert not (own_place / "reports").exists()
    call("report", "--json", "-o", "a.json")
    assert (own_place / "a.json").read_text() == whole


def test_a_report_that_cannot_be_written_is_1(call: Call, loaded: Asked, own_place: Path) -> None:
    (own_place / "reports").write_text("in the way")
    called = call("report")
    assert called.code == 1
    assert called.err.startswith("error: reports/2026-05.html: cannot be written")


def test_check_is_one_line_with_values(call: Call, loaded: Asked) -> None:
    called = call("check")
    assert called.code == 3  # the month of the facts is long past: stale
    assert len(called.out.splitlines()) == 1
    state, _, values = called.out.partition(" | ")
    assert state.startswith("CKPT-AUDIT UNKNOWN - ")
    assert "'input_stale'=" in values


def test_model_in_words(call: Call) -> None:
    called = call("model", "--c", "4m", "--m", "6h", "--interval", "45m,60m", "--interval", "2h")
    lines = called.out.splitlines()
    assert lines[0].split() == ["exact", "optimum", "51.0", "min"]
    assert [line.split()[0] for line in lines[-3:]] == ["45.0", "60.0", "2.0"]


def test_model_with_a_price(call: Call) -> None:
    words = ["model", "--c", "4m", "--m", "6h", "--accelerators", "1000", "--price", "2"]
    row = json.loads(call(*words, "--interval", "1h", "--json").out)["rows"][0]
    assert row["wasted_acc_h_per_day"] == pytest.approx(row["waste_exact"] * 24_000, abs=0.1)
    assert row["wasted_capacity_per_day"] == pytest.approx(2 * row["wasted_acc_h_per_day"])


def test_formats_are_listed(call: Call) -> None:
    from ckpt_audit.ingest import FORMATS

    listed = json.loads(call("formats", "--json").out)["formats"]
    assert [row["format"] for row in listed] == [one.name for one in FORMATS]
    text = call("formats").out
    assert all(f"{one.name}: {one.title}" in text for one in FORMATS)


def test_config_show_as_json(call: Call, own_place: Path) -> None:
    (own_place / "ckpt-audit.toml").write_text("accelerators_per_node = 4\n")
    shown = json.loads(call("config", "show", "--json").out)
    assert shown["settings"]["accelerators_per_node"] == {"value": "4", "origin": "ckpt-audit.toml"}


def find(facts: ReportData, monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    """Commands find one incident, with these changes."""
    run = facts.runs[0]
    incident = replace(run.incidents[0], **changes)
    known = replace(run, run=replace(run.run, run=incident.run), incidents=[incident])
    changed = replace(facts, runs=[known])
    monkeypatch.setattr(workflow, "load_report_data", lambda *_: changed)
    monkeypatch.setattr(workflow, "load_runs", lambda *_: [known.run])


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_csv_form_is_a_formula(
    call: Call, loaded: Asked, facts: ReportData, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    find(facts, monkeypatch, rule=f"{start}1+1")
    row = next(csv.DictReader(io.StringIO(call("incidents", "--csv").out, newline="")))
    assert row["rule"].startswith("'")
    assert row["rule"].endswith("1+1")


def test_an_id_may_begin_with_a_dash(
    call: Call, loaded: Asked, facts: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    find(facts, monkeypatch, id="-2+3-s55-1")
    for words in (["--", "-2+3-s55-1"], ["-2+3-s55-1"], ["-q", "-2+3-s55-1", "--json"]):
        called = call("explain", *words)
        assert called.code == 0
        assert "-2+3-s55-1" in called.out
    called = call("explain", "-zed")
    assert called.code == 2
    assert "goes after --" in called.err
    assert "goes after --" not in call("runs", "--foo").err


def test_names_of_jobs_cannot_command_the_terminal(
    call: Call, loaded: Asked, facts: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "lla\x1b[31m\u2028\x9b\x7fma"
    find(facts, monkeypatch, run=name, id=f"{name}-1")
    for words in (["runs"], ["incidents"], ["incidents", "--csv"], ["runs", "--json"]):
        out = call(*words).out
        assert not set("\x1b\u2028\x9b\x7f") & set(out)
        assert "[31m" in out
    assert json.loads(call("runs", "--json").out)["runs"][0]["run"] == name
    assert not set("\x1b\u2028\x9b\x7f") & set(call("explain", "\x1b\u2028\x9b\x7f").err)
