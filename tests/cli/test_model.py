"""The calculator's command: what it says, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ckpt_audit import workflow
from ckpt_audit.audit.data import ReportData
from ckpt_audit.documents import schema
from tests.cli.conftest import Call

PLAIN = ("model", "--c", "4m", "--m", "6h", "--d", "5m", "--r", "10m")
DRAIN = ("--drain-steps", "30", "--tax", "0.03", "--step", "7s")


def document(call: Call, *words: str) -> dict[str, Any]:
    called = call(*words, "--json")
    assert called.code == 0, called.err
    loaded: dict[str, Any] = json.loads(called.out)
    Draft202012Validator(schema("model")).validate(loaded)
    return loaded


def test_45_minutes_beat_60_exactly_and_lose_to_first_order(call: Call) -> None:
    found = document(call, *PLAIN, "--interval", "45m,60m,120m")
    exact = [row["waste_exact"] for row in found["rows"]]
    first = [row["waste_first_order"] for row in found["rows"]]
    assert first == pytest.approx([0.193056, 0.191667, 0.241667], abs=1e-6)
    assert exact == pytest.approx([0.177007, 0.177631, 0.221801], abs=1e-6)
    assert found["exact_s"] == pytest.approx(51.0328 * 60, rel=1e-5)
    assert found["largest_term"] == "rework"
    assert found["what_if"] is None


def test_a_drain_keeps_its_bytes(call: Call) -> None:
    """53 steps and 91.5 % at 16,384 accelerators; only a drain that shrinks has the boundary."""
    m = f"{50_000 * 3600 / 16_384}s"
    found = document(
        call, "model", *DRAIN, "--m", m, "--d", "90s", "--r", "5m", "--drain-rule", "shrink"
    )
    rules = {row["rule"]: row for row in found["drain"]["rules"]}
    assert rules["serial"]["steps"] == rules["overlap"]["steps"] == 53
    assert rules["serial"]["goodput_exact"] == pytest.approx(0.915, abs=0.001)
    assert rules["shrink"]["steps"] < 10
    assert rules["shrink"]["bandwidth_factor"] >= 3.0
    assert not found["drain"]["boundary_binds"]
    (note,) = found["notes"]
    assert "a drain that shrinks moves the same bytes in fewer steps" in note
    assert "the best is 53 steps and 91." in note
    assert found["c_s"] == pytest.approx(6.3)


def test_saving_in_one_minute_and_not_in_five(call: Call) -> None:
    """Worth 11.2 points exactly and 12.8 to first order, at an M of 186 min."""
    at = []
    for c, interval in (("1m", "19.2873m"), ("5m", "43.1277m")):
        words = ("--c", c, "--m", "186m", "--r", "5m", "--interval", interval)
        found = document(call, "model", *words)
        assert found["young_s"] == pytest.approx(float(interval[:-1]) * 60, rel=1e-5)
        at += found["rows"]
    first = [row["goodput_first_order"] for row in at]
    assert first == pytest.approx([0.869423, 0.741249], abs=1e-6)
    exact = [row["goodput_exact"] for row in at]
    assert exact == pytest.approx([0.876248, 0.764615], abs=1e-6)
    assert exact[0] - exact[1] == pytest.approx(0.1116, abs=5e-5)


def test_m_of_a_fleet_is_not_the_sites_own(call: Call) -> None:
    found = document(call, "model", "--c", "1m", "--fleet-rate", "2e-5", "--accelerators", "16384")
    assert found["m_s"] == pytest.approx(183.105 * 60, rel=1e-5)
    assert "is from a rate that was given" in found["notes"][0]
    devices = document(call, "model", "--c", "1m", "--m", "50000h", "--accelerators", "16384")
    assert devices["notes"]


def test_bytes_and_bandwidth_set_a_floor(call: Call) -> None:
    words = ("--m", "3h", "--save-bytes", "1.2TB", "--save-bandwidth", "2GB")
    found = document(call, "model", *DRAIN, *words)
    assert found["floor"]["drain_s"] == pytest.approx(600.0)
    assert found["floor"]["floor_s"] <= 600.0
    assert any("and not the 30 that were given" in note for note in found["notes"])


def test_slowdown_is_of_throughput_or_of_steps(call: Call) -> None:
    words = ("model", "--m", "6h", "--async-pause", "10s", "--async-drain", "10m")
    by_rate = document(call, *words, "--async-slowdown", "0.04")
    by_step = document(call, *words, "--async-stretch", "0.04")
    assert by_rate["c_s"] == pytest.approx(10 + 0.04 * 600)
    assert by_step["c_s"] == pytest.approx(10 + 0.04 / 1.04 * 600)
    assert "C would be 33.08 s" in by_rate["notes"][0]
    assert by_rate["lag_s"] > 600.0
    close = document(call, *words, "--async-slowdown", "0.04", "--interval", "5m")
    assert close["rows"][0]["waste_exact"] is None  # saves would overlap
    assert "nothing is said" in close["notes"][-1]


def test_what_if_has_every_lever_and_size(call: Call) -> None:
    words = ("--accelerators", "1024", "--price", "2", "--what-if", "--scale", "2048,4096")
    more = ("--spares", "16", "--replacement", "5m", "--invalid", "0.02")
    found = document(call, *PLAIN, *words, *more)["what_if"]
    assert len(found["sensitivity"]) == 5 * 3
    levers = {row["lever"]: row for row in found["tornado"]}
    assert {"halve C", "halve D", "halve R", "double M", "keep spares", "verify saves"} <= set(
        levers
    )
    for row in levers.values():
        assert row["waste_exact"] == pytest.approx(found["waste_exact"] - row["gain"], abs=2e-6)
        hours = row["waste_exact"] * 1024 * 24
        assert row["wasted_acc_h_per_day"] == pytest.approx(hours, rel=1e-5)
        assert row["wasted_capacity_per_day"] == pytest.approx(2 * hours, rel=1e-5)
    assert [row["m_s"] for row in found["scale"]] == pytest.approx([10800.0, 5400.0])


def test_tiers_and_elastic_runs(call: Call) -> None:
    words = ("--tier", "10s:3h:1m", "--tier", "5m:120h:10m", "--elastic", "64:1m:6400s")
    found = document(call, *PLAIN, *words, "--now", "20m")
    first, second = found["tiers"]["tiers"]
    assert second["interval_s"] == pytest.approx(first["interval_s"] * second["every"])
    assert found["elastic"]["interval_s"] == 1200.0
    assert found["elastic"]["gain_s"] == pytest.approx(
        found["elastic"]["restart_s"] - found["elastic"]["elastic_s"]
    )


def test_a_law_with_shape_one_is_the_closed_form(call: Call) -> None:
    closed = document(call, *PLAIN)
    weibull = document(call, *PLAIN, "--law", "weibull:1")
    assert weibull["exact_s"] == pytest.approx(closed["exact_s"], rel=1e-4)
    for one, other in zip(closed["rows"], weibull["rows"], strict=True):
        assert other["waste_exact"] == pytest.approx(one["waste_exact"], rel=1e-6)


def test_every_part_has_its_text(call: Call) -> None:
    words = ("--what-if", "--scale", "64", "--accelerators", "128", "--price", "2")
    more = ("--tier", "10s:3h", "--elastic", "8:1m:1h")
    said = call(*PLAIN, *words, *more).out
    for title in ("Tiers: ", "Going on with one replica less", "If M and the interval were",
                  "Levers: at ", "At other sizes", "capacity wasted a day"):  # fmt: skip
        assert title in said
    drained = call("model", *DRAIN, "--m", "3h", "--save-bytes", "1TB", "--save-bandwidth", "9GB")
    for title in ("Asynchronous save", "Drains of 30 steps", "What bytes and bandwidth allow"):
        assert title in drained.out
    assert "M from a rate" in call("model", "--c", "1m", "--fleet-rate", "1e-5",
                                   "--accelerators", "64").out  # fmt: skip


def test_tables_for_a_spreadsheet(call: Call) -> None:
    rows = list(csv.DictReader(io.StringIO(call(*PLAIN, "--csv").out)))
    assert [float(row["interval_s"]) for row in rows] == [600.0, 1200.0, 2400.0, 3600.0, 7200.0]
    more = list(csv.DictReader(io.StringIO(call(*PLAIN, "--what-if", "--csv").out)))
    assert {float(row["m_s"]) for row in more} == {10800.0, 21600.0, 43200.0}


@pytest.mark.parametrize(("suffix", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_figure_is_the_same_bytes_again(
    call: Call, tmp_path: Path, suffix: str, begins: bytes
) -> None:
    written = []
    for name in ("a", "b"):
        target = tmp_path / f"{name}.{suffix}"
        assert call(*PLAIN, "--what-if", "--figure", str(target)).code == 0
        written.append(target.read_bytes())
    assert written[0] == written[1]
    assert written[0].startswith(begins)


@pytest.mark.usefixtures("loaded")
def test_what_was_measured(call: Call, facts: ReportData, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "say which with --run" in call("model", "--from-month", "2026-05").err
    run = facts.runs[0]
    monkeypatch.setattr(workflow, "load_report_data", lambda *_: replace(facts, runs=(run,)))
    found = document(call, "model", "--from-month", "2026-05", "--run", run.run.run, "--d", "1m")
    assert found["c_s"] == pytest.approx(run.advice.c_s, rel=1e-6)
    assert found["m_s"] == pytest.approx(run.advice.m_s, rel=1e-6)
    assert found["d_s"] == 60.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--c", "1m"], "missing option '--m'"),
        (["--c", "1m", "--m", "3h", "--csv", "--json"], "--json or --csv"),
        (["--c", "1m", "--m", "3h", "--price", "2"], "--price needs --accelerators"),
        (["--c", "1m", "--m", "3h", "--fleet-rate", "1e-5"], "either --m or --fleet-rate"),
        (["--c", "1m", "--fleet-rate", "1e-5"], "--fleet-rate needs --accelerators"),
        (["--c", "1m", "--m", "3h", "--async-pause", "1s"], "leave out --c"),
        (["--m", "3h", "--async-drain", "1m"], "--async-slowdown or --async-stretch"),
        (["--m", "3h", "--drain-steps", "3"], "belong together"),
        (["--c", "1m", "--m", "3h", "--save-bytes", "1TB"], "belong together"),
        (["--c", "1m", "--m", "3h", "--save-bytes", "x", "--save-bandwidth", "1GB"], "is no size"),
        (["--c", "1m", "--m", "3h", "--law", "normal"], "--law is exponential or weibull:SHAPE"),
        (["--c", "1m", "--m", "3h", "--law", "weibull:99"], "shape must be"),
        (["--c", "1m", "--m", "3h", "--invalid", "1.5"], "invalid"),
        (["--c", "1m", "--m", "3h", "--tier", "1m"], "--tier"),
        (["--c", "1m", "--m", "3h", "--elastic", "x:1m:1h"], "is no number of replicas"),
        (["--c", "1m", "--m", "3h", "--scale", "8"], "--scale needs --accelerators"),
        (["--c", "1m", "--m", "3h", "--drain-rule", "x"], "serial, overlap, shrink"),
        (["--c", "1m", "--m", "3h", "--run", "a"], "--run needs --from-month"),
        (["--c", "1m", "--m", "3h", "--figure", "a.pdf"], "should end in .svg or .png"),
        (["--c", "1m", "--m", "3h", "--spares", "3"], "belong together"),
    ],
)  # fmt: skip
def test_refuses(call: Call, words: list[str], message: str) -> None:
    called = call("model", *words)
    assert called.code == 2
    assert message in called.err


def shards(call: Call, file: Path, text: str, *words: str) -> Any:
    file.write_text(text)
    return call("model", "--shards", str(file), *words)


def test_a_torn_snapshot(call: Call, tmp_path: Path) -> None:
    rows = "".join(f"s{k},{100 + k},0.2\n" for k in range(16))
    called = shards(call, tmp_path / "a.csv", f"shard,step,guard\n{rows}", "--json")
    found = json.loads(called.out)
    Draft202012Validator(schema("shards")).validate(found)
    assert not found["consistent"]
    traffic = {row["target"]: row["traffic"] for row in found["reconcile"]}
    assert traffic == {"newest": 7.5, "median": 4.0, "oldest": 7.5}
    assert found["check"]["forward"] == dict.fromkeys(found["check"]["forward"], 0.0)
    assert max(found["check"]["back"].values()) < 3e-7
    assert found["longest_window_steps"] == 13
    grown = {row["window_steps"]: row["newest"] for row in found["growth"]}
    assert (grown[8], grown[16], grown[64]) == (3.5, 7.5, 31.5)
    said = shards(call, tmp_path / "a.csv", f"shard,step,guard\n{rows}x,101,0.99\n").out
    assert "1 shards (guard above 0.9): x" in said


def test_a_consistent_snapshot_and_json_input(call: Call, tmp_path: Path) -> None:
    one = json.dumps({"shards": [{"step": 7, "size": 2}, {"version": 7, "size": 1}],
                      "gradient_bytes": 4, "state_bytes": 16})  # fmt: skip
    assert shards(call, tmp_path / "a.json", one).out.startswith("consistent: all 2 shards")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no shard in it"),
        ("shard,step\n", "there is no shard in it"),
        ("shard,when\na,1\n", "a.csv:2: a shard without its captured step"),
        ("shard,step\na,1\nb,x\n", "a.csv:3: step 'x' is no number"),
        ("shard,step\na,1.5\n", "a.csv:2: step '1.5' is no whole number"),
        ("shard,step\na,-1\n", "must be finite and not negative"),
        ("shard,step,size\na,1,2\nb,2,\n", "every shard needs a size, or none"),
        ("{", "is no JSON"),
        ('{"a": 1}', "there should be a list of shards"),
        ("[1]", "there should be a list of shards"),
        ("[" * 100_000, "is no JSON"),
        ('{"shards": [{"step": 1}], "state_bytes": 0}', "state_bytes must be above zero"),
    ],
)
def test_shards_refuse(call: Call, tmp_path: Path, text: str, message: str) -> None:
    called = shards(call, tmp_path / "a.csv", text)
    assert called.code == 2
    assert message in called.err


def test_shards_that_are_not_there(call: Call, tmp_path: Path) -> None:
    called = call("model", "--shards", str(tmp_path / "none.csv"))
    assert (called.code, "cannot be read" in called.err) == (2, True)
