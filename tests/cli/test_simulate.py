"""The simulator's command: what it says, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ckpt_audit import workflow
from ckpt_audit.audit.data import ReportData
from ckpt_audit.audit.samples import measured_laws
from ckpt_audit.documents import schema
from ckpt_audit.model.waste import exact_waste
from tests.cli.conftest import Call

Asked = list[tuple[object, ...]]
PLAIN = ("simulate", "--c", "1m", "--m", "3h", "--r", "10m", "--work", "190h", "--runs", "100")


def document(call: Call, *words: str) -> dict[str, Any]:
    called = call(*words, "--json")
    assert (called.code, called.err) == (0, "")
    loaded: dict[str, Any] = json.loads(called.out)
    Draft202012Validator(schema("simulate")).validate(loaded)
    return loaded


def test_rows_are_the_intervals_with_error_bars(call: Call) -> None:
    found = document(call, *PLAIN, "--interval", "2m,5m", "--interval", "19m", "--deadline", "223h")
    assert [row["interval_s"] for row in found["rows"]] == [120.0, 300.0, 1140.0]
    for row in found["rows"]:
        exact = 1 - float(exact_waste(row["interval_s"], 60.0, 10800.0, 0.0, 600.0))
        assert row["goodput_exact"] == pytest.approx(exact, abs=1e-6)
        assert abs(row["goodput"] - exact) < 4 * row["goodput_se"]
        parts = ("goodput", "checkpoint", "tax", "lost_work", "recovery")
        assert sum(row[part] for part in parts) == pytest.approx(1.0, abs=5e-6)
        parts = ("detection", "restart", "spare_wait")
        assert sum(row[part] for part in parts) == pytest.approx(row["recovery"], abs=5e-6)
        assert row["finish_median_s"] < row["finish_p90_s"]
        assert row["distribution"]["finish_s"]["p50"] == pytest.approx(
            row["finish_median_s"], rel=0.01
        )
        assert row["waste"] == pytest.approx(1 - row["goodput"], abs=2e-6)
    assert [row["p_deadline"] for row in found["rows"][:2]] == [0.0, 0.0]
    late = found["rows"][2]
    assert 0.0 < late["p_deadline_low"] < late["p_deadline"] < late["p_deadline_high"] < 1.0
    assert found["best"] == 2


def test_the_same_call_says_the_same_and_another_seed_does_not(call: Call) -> None:
    words = [*PLAIN, "--interval", "19m", "--c-law", "lognormal:1", "--json"]
    first = call(*words).out
    assert call(*words, "--workers", "3").out == first
    assert call(*words, "--seed", "2").out != first


def test_text_for_people(call: Call) -> None:
    called = call(*PLAIN, "--interval", "5m,19m", "--deadline", "9d")
    assert called.code == 0
    lines = called.out.splitlines()
    assert lines[0].split() == ["work", "190.0", "h"]
    (head,) = (at for at, line in enumerate(lines) if line.startswith("policy"))
    assert "done by deadline" in lines[head]
    assert [line.split()[0] for line in lines[head + 1 : head + 3]] == ["5.0", "19.0"]
    assert any(line.startswith("best: 19.0 min, goodput 8") for line in lines)
    one = call(*PLAIN, "--interval", "5m").out
    assert "best:" not in one
    assert "done by deadline" not in one
    tiers = call(*PLAIN, "--by-age", "0:10m,2h:30m", "--tier", "5m:4").out
    assert "10.0 min, 30.0 min from 2.0 h after restart; every 4 saves to tier 1" in tiers.replace(
        "120.0 min", "2.0 h"
    )


WORK = ("--work", "100h", "--runs", "60", "--interval", "20m")


@pytest.mark.parametrize(
    "words",
    [
        ["--invalid", "0.3", "--retry", "5m"],
        ["--cascade", "0.5:10m"],
        ["--cascade", "0.5:10m:failure"],
        ["--recovery-failures", "all"],
        ["--lag", "10m"],
        ["--spares", "1", "--repair", "12h"],
        ["--spares", "0", "--repair", "1h"],
        ["--spares", "8", "--repair", "1d", "--failures", "0.5:8"],
        ["--tier", "5m:6", "--failures", "0.1:8:1:30m"],
        ["--mode", "async", "--drain-steps", "30", "--step", "10s", "--tax", "0.1"],
        ["--by-age", "0:1m,6h:2m", "--age", "run"],
    ],
)
def test_what_can_happen_costs_goodput(call: Call, words: list[str]) -> None:
    basis = ["simulate", "--c", "1m", "--m", "3h", "--d", "1m", "--r", "10m", *WORK]
    plain = document(call, *basis)["rows"][0]
    found = document(call, *basis, *words)["rows"][-1]
    assert found["goodput"] < plain["goodput"]  # against the same failures
    assert (found["spare_wait"] > 0.0) == ("--spares" in words)
    assert (found["tax"] > 0.0) == ("--mode" in words)
    by_formula = words[0] in ("--recovery-failures",)
    assert (found["goodput_exact"] is not None) == by_formula


@pytest.mark.parametrize(
    ("words", "laws"),
    [
        (["--law", "weibull:0.6"], {"up": "weibull:0.6"}),
        (["--law", "constant"], {"up": "constant"}),
        (["--c-law", "lognormal:1"], {"c": "lognormal:1"}),
        (["--d-law", "exponential", "--r-law", "lognormal:0.5"], {"d": "exponential"}),
    ],
)
def test_laws(call: Call, words: list[str], laws: dict[str, str]) -> None:
    basis = ["simulate", "--c", "1m", "--m", "3h", "--d", "1m", "--r", "10m", *WORK]
    plain, found = document(call, *basis), document(call, *basis, *words)
    assert found["laws"].items() >= laws.items()
    assert found["rows"][0]["finish_median_s"] != plain["rows"][0]["finish_median_s"]
    for name in ("c_s", "m_s", "d_s", "r_s"):
        assert found[name] == plain[name]


def test_everything_at_once(call: Call) -> None:
    found = document(
        call,
        *"simulate --c 1m --m 3h --d 0 --r 10m --work 500h --interval 2m,5m,19m".split(),
        *"--law weibull:0.7 --mode async --drain-steps 30 --tax 0.03 --step 7s".split(),
        *"--drain-rule serial --cascade 0.1:10m --invalid 0.02 --deadline 30d".split(),
        *"--runs 200 --seed 1".split(),
    )
    goodput = [row["goodput"] for row in found["rows"]]
    assert goodput == sorted(goodput)
    assert found["rows"][0]["interval_used_s"] == 210.0
    assert [row["tax"] > 0.0 for row in found["rows"]] == [True] * 3


def test_the_docs_name_every_key_of_a_row(call: Call) -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "simulation.md").read_text()
    found = document(call, *PLAIN, "--interval", "19m")
    for key in (*found, *found["rows"][0]):
        if key in ("schema", "version", "rows"):
            continue
        bounds = key.replace("_low_s", "_s").replace("_high_s", "_s")
        assert f"`{key}`" in text or f"`{bounds}`" in text, key


def test_without_failures(call: Call) -> None:
    words = ["simulate", "--c", "1m", "--m", "never", "--work", "10h", "--interval", "20m"]
    (row,) = document(call, *words, "--runs", "5")["rows"]
    assert row["finish_median_s"] == 36000.0 + 30 * 60.0
    assert (row["failures"], row["lost_work"], row["goodput_se"]) == (0.0, 0.0, 0.0)
    assert "never (never)" in call(*words, "--runs", "5").out


def test_saves_longer_than_the_up_time_are_said(call: Call) -> None:
    words = ["simulate", "--c", "10m", "--m", "5m", "--work", "1h", "--interval", "2m"]
    found = document(call, *words, "--runs", "20")
    assert "a save takes longer than the mean up-time" in found["notes"][0]
    assert found["rows"][0]["goodput"] < 0.2
    never = document(call, *words, "--runs", "20", "--law", "constant", "--deadline", "2h")
    (row,) = never["rows"]
    assert (row["finished"], row["goodput"], row["p_deadline"]) == (0.0, 0.0, 0.0)
    assert (row["finish_median_s"], row["finish_mean_s"]) == (None, None)
    assert "20 of 20 runs were given up" in never["notes"][1]
    text = call(*words, "--runs", "20", "--law", "constant", "--interval", "3m").out
    assert " never " in text
    assert "best: none; no policy keeps any training" in text
    assert "cannot tell" not in text


def test_a_deadline_that_no_policy_can_meet_is_said(call: Call) -> None:
    found = document(call, *PLAIN, "--interval", "19m", "--deadline", "100h")
    assert found["rows"][0]["p_deadline"] == 0.0
    assert found["notes"] == ["the deadline is shorter than the work alone: no policy can meet it"]


def test_an_interval_shorter_than_a_drain_is_stretched_and_that_is_said(call: Call) -> None:
    drain = (
        "--work",
        "20h",
        "--mode",
        "async",
        "--drain-steps",
        "30",
        "--step",
        "10s",
        "--tax",
        "0.1",
    )
    found = document(call, *PLAIN, *drain, "--interval", "1m,5m")
    assert [row["interval_used_s"] for row in found["rows"]] == [300.0, 300.0]
    assert "row 1: the interval is shorter than a drain" in found["notes"][0]
    assert found["rows"][0]["goodput"] == found["rows"][1]["goodput"]
    side_by_side = document(call, *PLAIN, *drain, "--drain-rule", "overlap", "--interval", "1m")
    assert side_by_side["rows"][0]["interval_used_s"] == 60.0
    assert not any("shorter than a drain" in note for note in side_by_side["notes"])


def test_policies_that_cannot_be_told_apart_are_said(call: Call) -> None:
    found = document(call, *PLAIN, "--interval", "18m,19m,2m", "--runs", "20")
    assert any("cannot tell it from row" in note and "3" not in note for note in found["notes"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--m", "3h"], "--c is needed"),
        (["--c", "1m"], "--m is needed"),
        (["--c", "1m", "--m", "soon"], "--m: 'soon' is no duration"),
        (["--c", "1m", "--m", "0"], "mean"),
        (["--c", "1m", "--m", "3h", "--law", "gamma:2"], "--law: 'gamma:2' is no law"),
        (["--c", "1m", "--m", "3h", "--interval", "0"], "positive"),
        (["--c", "1m", "--m", "3h", "--invalid", "1"], "never ends"),
        (["--c", "1m", "--m", "3h", "--invalid", "1.5"], "from 0 to 1"),
        (["--c", "1m", "--m", "3h", "--cascade", "0.1"], "--cascade: '0.1' has not the form"),
        (["--c", "1m", "--m", "3h", "--cascade", "x:1m"], "'x' is no number"),
        (["--c", "1m", "--m", "3h", "--cascade", "0.1:1m:soon"], "restart or failure"),
        (["--c", "1m", "--m", "3h", "--spares", "1"], "--spares needs --repair"),
        (["--c", "1m", "--m", "3h", "--repair", "1h"], "--repair needs --spares"),
        (["--c", "1m", "--m", "3h", "--tax", "0.1"], "--tax goes with --mode async"),
        (["--c", "1m", "--m", "3h", "--mode", "async"], "needs --drain-steps and --step"),
        (["--c", "1m", "--m", "3h", "--mode", "slow"], "blocking or async"),
        (["--c", "1m", "--m", "3h", "--tier", "1m"], "--tier: '1m' has not the form"),
        (["--c", "1m", "--m", "3h", "--tier", "1m:x"], "'x' is no whole number"),
        (["--c", "1m", "--m", "3h", "--failures", "0.6:1", "--failures", "0.6:1"], "more than 1"),
        (["--c", "1m", "--m", "3h", "--failures", "0.6:1:1"], "a tier that no save goes to"),
        (["--c", "1m", "--m", "3h", "--by-age", "5m:5m"], "must begin at 0"),
        (["--c", "1m", "--m", "3h", "--by-age", "0:5m", "--age", "moon"], "restart or run"),
        (["--c", "1m", "--m", "3h", "--recovery-failures", "some"], "none, restore or all"),
        (["--c", "1m", "--m", "3h", "--month", "2026-05"], "go with a measured law"),
        (["--c", "1m", "--m", "3h", "--work", "0"], "work_s must be a positive"),
    ],
)
def test_wrong_use(call: Call, words: list[str], said: str) -> None:
    called = call("simulate", "--work", "10h", "--runs", "2", *words)
    assert called.code == 2
    assert said in called.err
    assert called.out == ""


def test_work_is_needed(call: Call) -> None:
    called = call("simulate", "--c", "1m", "--m", "3h")
    assert called.code == 2
    assert "--work" in called.err


def single(facts: ReportData, monkeypatch: pytest.MonkeyPatch, **change: Any) -> ReportData:
    """The facts of the first run alone, changed."""
    alone = replace(facts, runs=(replace(facts.runs[0], **change),))
    monkeypatch.setattr(workflow, "load_report_data", lambda *_: alone)
    return alone


def test_measured_laws_come_from_the_window(
    call: Call, loaded: Asked, facts: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = single(facts, monkeypatch).runs[0]
    laws = measured_laws(run)
    words = ["simulate", "--law", "measured", "--month", "2026-05", "--run", run.run.run, *WORK]
    found = document(call, *words)
    assert loaded == [("2026-05", None, None)]
    assert found["laws"] == dict.fromkeys(("up", "c", "d", "r"), "measured")
    for name in "cdr":
        law = getattr(laws, name)
        assert found[f"{name}_s"] == pytest.approx(law.mean, abs=1e-5)
    assert laws.up is not None
    assert found["m_s"] == pytest.approx(laws.up.mean, abs=1e-5)
    (note,) = (note for note in found["notes"] if "up-times" in note)
    assert note.startswith(f"up-times were measured by {laws.n_failures} failures")
    given = document(call, *words, "--c", "2m", "--r", "0")
    assert (given["c_s"], given["r_s"], given["laws"]["c"]) == (120.0, 0.0, "constant")
    only = document(call, "simulate", "--m", "3h", "--c-law", "measured", *WORK)
    assert only["laws"] == {"up": "exponential", "c": "measured", "d": "constant", "r": "constant"}


def test_too_little_measured_is_refused(
    call: Call, loaded: Asked, facts: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["simulate", "--law", "measured", *WORK]
    both = call(*words)
    assert both.code == 2
    assert "say --run (in this window: " in both.err
    single(facts, monkeypatch, uptime=facts.runs[0].uptime[:1])
    assert "measured up-times ended in a failure" in call(*words).err
    single(facts, monkeypatch, checkpoints=())
    no_cost = call(*words)
    assert no_cost.code == 2
    assert "no C was measured in this window: give --c" in no_cost.err
    assert "give either --m, or --law measured" in call(*words, "--m", "3h").err
