"""``estimate --table`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ckpt_audit.documents import schema
from tests.cli.conftest import Call


@pytest.fixture
def tracker(tmp_path: Path) -> str:
    rows = [f"2026-05-{day:02d} {day % 24:02d}:00,n{day % 5},gpu" for day in range(1, 29)]
    path = tmp_path / "tracker.csv"
    path.write_text("\n".join(["opened,host,class", *rows]))
    return str(path)


def test_a_document_that_fits_its_schema(call: Call, tracker: str) -> None:
    called = call("estimate", "--table", tracker, "--nodes", "10", "--json")
    assert (called.code, called.err) == (0, "")
    found = json.loads(called.out)
    Draft202012Validator(schema("incident_table")).validate(found)
    assert found["schema"] == "ckpt-audit/incident_table/1"
    assert (found["incidents"], found["nodes"]) == (28, 5)
    days = found["exposure_s"] / 86400
    assert found["per_1000_node_days"]["value"] == pytest.approx(2800 / days, rel=1e-6)
    assert found["columns"] == {"start": "opened", "node": "host", "cause": "class"}
    assert found["window"]["start"] == "2026-05-01T01:00:00+00:00"
    assert found["trend"]["direction"] == "none"


def test_a_node_that_fails_too_often_is_suspect(call: Call, tmp_path: Path) -> None:
    """Eight of one node on days of their own; eight of another within an hour are one."""
    rows = [f"2026-05-{day:02d} 01:00,bad" for day in range(1, 9)]
    rows += [f"2026-05-20 01:{minute:02d},storm" for minute in range(8)]
    rows += [f"2026-05-{day:02d} 12:00,n{day}" for day in range(1, 20)]
    path = tmp_path / "tracker.csv"
    path.write_text("\n".join(["start,node", *rows]))
    words = ("estimate", "--table", str(path))
    found = json.loads(call(*words, "--nodes", "100", "--json").out)
    assert [(one["node"], one["incidents"]) for one in found["suspects"]] == [("bad", 8)]
    assert found["suspects"][0]["expected"] == pytest.approx(28 / 100)
    assert "bad 8 (0.3 expected)" in call(*words, "--nodes", "100").out
    assert "not tested (that takes ten" in call(*words).out
    assert json.loads(call(*words, "--json").out)["suspects"] is None


def test_sentences_and_a_stretch(call: Call, tracker: str) -> None:
    called = call(
        *("estimate", "--table", tracker, "--since", "2026-05-08", "--until", "2026-05-22"),
        *("--where", "host=n1", "--chain", "1h"),
    )
    assert called.code == 0
    assert "3 in 14.0 d, calendar time" in called.out or "3 in 336.0 h, calendar time" in called.out
    assert "not tested (3 events" in called.out
    assert "gpu 3 (100.0%)" in called.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--where", "host"], "--where takes NAME=VALUE"),
        (["--columns", "start=when"], "has no column 'when'"),
        (["--nodes", "0"], "--nodes must be 1 or more"),
        (["--unit", "w"], "a unit is one of"),
        (["--chain", "soon"], "--chain: "),
        (["--run", "a"], "--table goes with"),
        (["--since", "2027-01-01"], "not after --since"),
    ],
)
def test_wrong_use(call: Call, tracker: str, words: list[str], message: str) -> None:
    called = call("estimate", "--table", tracker, *words)
    assert called.code == 2
    assert message in called.err


def test_what_needs_a_table_and_what_is_none(call: Call, tmp_path: Path) -> None:
    assert "need --table" in call("estimate", "--nodes", "4").err
    missing = call("estimate", "--table", str(tmp_path / "none.csv"))
    assert missing.code == 1
    (tmp_path / "one.csv").write_text("start\n2026-05-01\n")
    assert "no time lies" in call("estimate", "--table", str(tmp_path / "one.csv")).err
    (tmp_path / "numbers.csv").write_text("start\n1\n2\n")
    called = call("estimate", "--table", str(tmp_path / "numbers.csv"), "--since", "2026-01-01")
    assert "whose moments are dates" in called.err


def test_sizes_are_numbers(call: Call) -> None:
    for word in ("0", "x", "-4", "1e3", "9" * 5000):
        called = call("estimate", "--accelerators", word)
        assert called.code == 2
        assert "--accelerators takes numbers" in called.err
