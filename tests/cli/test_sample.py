"""The sample data from end to end, as a person would go through them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ckpt_audit.cli import main
from ckpt_audit.documents import schema
from tests.cli.conftest import Call

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which ``demo --keep`` has left its warehouse."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["-q", "demo", "--keep", "kept"]) == 0
    return folder


@pytest.fixture
def kept(made: Path, own_place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a copy of what was kept."""
    shutil.copytree(made / "kept", own_place / "kept")
    monkeypatch.chdir(own_place / "kept")
    return own_place / "kept"


def test_the_demo_says_the_headline_and_the_place(
    made: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    (report,) = (made / "reports").glob("*.html")
    first = report.read_bytes()
    called = call("demo", "-o", "again.html")
    assert called.out.splitlines()[-1] == "report: again.html"
    assert "went into new steps" in called.out
    assert Path("again.html").read_bytes() == first
    assert [path.name for path in Path().iterdir() if path.is_file()] == ["again.html"]


@pytest.mark.parametrize("command", ["incidents", "estimate", "interval", "report"])
def test_documents_of_the_month(kept: Path, call: Call, command: str) -> None:
    called = call(command, "--month", "--json")
    assert (called.code, called.err) == (0, "")
    document = json.loads(called.out)
    Draft202012Validator(schema(command)).validate(document)
    assert document["window"]["label"] == "2026-05"
    assert call(command, "--month", "2026-05", "--json").out == called.out


def test_every_incident_can_be_explained(kept: Path, call: Call) -> None:
    rows = json.loads(call("incidents", "--json").out)["incidents"]
    assert rows
    for row in rows[:3]:
        called = call("explain", row["id"])
        assert called.code == 0
        for line in row["evidence"]:
            if line["file"] is not None and line["line"] is not None:
                assert f"{line['file']}:{line['line']}: " in called.out
    assert call("explain", "nothing").code == 2


def test_intervals_are_recorded_once_a_month(kept: Path, call: Call) -> None:
    assert json.loads(call("interval", "--history", "--json").out)["runs"] == []
    assert "nothing is recorded" in call("interval", "--history").err
    now = json.loads(call("interval", "--month", "--json").out)["runs"]
    call("interval", "--month")
    history = json.loads(call("interval", "--history", "--json").out)
    Draft202012Validator(schema("interval")).validate(history)
    assert [row["window"]["label"] for row in history["runs"]] == ["2026-05"] * len(now)
    assert [row["exact_s"] for row in history["runs"]] == [row["exact_s"] for row in now]
    assert len(call("interval", "--history").out.splitlines()) == 1 + len(now)


def test_runs_and_check(kept: Path, call: Call) -> None:
    runs = json.loads(call("runs", "--json").out)
    Draft202012Validator(schema("runs")).validate(runs)
    assert [row["run"] for row in runs["runs"]] == ["llama-70b", "moe-24b"]
    called = call("check")
    assert called.code in (0, 1, 2, 3)
    assert called.out.startswith("CKPT-AUDIT ")
    assert Draft202012Validator(schema("check")).is_valid(json.loads(call("check", "--json").out))


def test_a_month_without_data_names_those_with(kept: Path, call: Call) -> None:
    called = call("report", "--month", "2025-01")
    assert called.code == 1
    assert "no data in 2025-01" in called.err
    assert call("incidents", "--run", "nobody", "--month").code == 2


def test_a_changed_configuration_is_noticed(kept: Path, call: Call) -> None:
    with (kept / "ckpt-audit.toml").open("a") as file:
        file.write("\n[runs.llama-70b.match]\nname = 'llama-70b*'\n")
    assert call("check").code == 3
    called = call("runs", "--json")
    assert "working the numbers out anew" in called.err
    assert call("runs", "--json").err == ""


def test_forget_takes_a_source_out(kept: Path, call: Call) -> None:
    before = json.loads(call("report", "--json").out)["sources"]
    path = next(row["path"] for row in before if "kern" in row["path"])
    assert call("forget", path).out == f"forgotten: {path}\n"
    after = json.loads(call("report", "--json").out)["sources"]
    assert [row for row in before if row["path"] != path] == after
    assert call("forget", "nothing").code == 1
