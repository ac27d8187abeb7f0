"""What each check makes of a month."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckpt_audit.alerts.checks import (
    CheckResult,
    State,
    captured_at,
    run_checks,
    worst,
)
from ckpt_audit.alerts.line import plugin_line
from ckpt_audit.audit.data import ReportData, RunReport
from ckpt_audit.config import Thresholds
from ckpt_audit.units import US_PER_H, US_PER_S
from tests.report.fixture_data import month

LIMITS = Thresholds()


@pytest.fixture(scope="module")
def run() -> RunReport:
    """A run that saved just before the newest input, and has no flag."""
    report = month().runs[0]
    calm = replace(report.advice, change=False)
    quiet = tuple(replace(line, flag=False) for line in report.ledger)
    return replace(report, advice=calm, ledger=quiet, incidents=())


def data_of(run: RunReport) -> ReportData:
    """The month when the run has just done its last step after its newest save."""
    newest = run.newest_verified
    assert newest is not None
    now = captured_at(newest)
    assert now is not None
    last = replace(run.progress[-1], at=now)
    going = replace(run.run, is_running=True, last_step=newest.step)
    return replace(
        month(), runs=(replace(run, run=going, progress=(last,)),), as_of=now + 60 * US_PER_S
    )


def states(data: ReportData, later_us: int = 0, limits: Thresholds = LIMITS) -> dict[str, str]:
    results = run_checks(data, data.as_of + later_us, limits)
    return {result.name: str(result.state) for result in results}


def test_all_is_well(run: RunReport) -> None:
    assert set(states(data_of(run)).values()) == {"OK"}


def test_stale_input_makes_the_rest_unknown(run: RunReport) -> None:
    found = states(data_of(run), later_us=48 * US_PER_H)
    assert found["input_stale"] == "WARNING"
    assert found["checkpoint_age"] == found["progress"] == found["save_missing"] == "UNKNOWN"
    assert found["interval"] == "OK"


def test_nothing_is_stale_where_no_run_is_under_way(run: RunReport) -> None:
    data = data_of(run)
    ended = replace(data.runs[0], run=replace(data.runs[0].run, is_running=False))
    found = states(replace(data, runs=(ended,)), later_us=480 * US_PER_H)
    assert found == {"input_stale": "OK", "interval": "OK", "residual": "OK"}


@pytest.mark.parametrize(("hours", "state"), [(1, "OK"), (3, "WARNING"), (5, "CRITICAL")])
def test_an_old_verified_checkpoint(run: RunReport, hours: int, state: str) -> None:
    limits = Thresholds(checkpoint_age_warn_s=7200.0, checkpoint_age_critical_s=14_400.0)
    data = data_of(run)
    found = states(replace(data, as_of=data.as_of + hours * US_PER_H), limits=limits)
    assert found["checkpoint_age"] == state


def test_a_run_without_any_verified_checkpoint(run: RunReport) -> None:
    data = data_of(run)
    never = replace(data.runs[0], newest_verified=None)
    assert states(replace(data, runs=(never,)))["checkpoint_age"] == "CRITICAL"


@pytest.mark.parametrize(("steps", "state"), [(1500, "OK"), (2000, "WARNING"), (4000, "CRITICAL")])
def test_a_save_that_did_not_come(run: RunReport, steps: int, state: str) -> None:
    data = data_of(run)
    newest = data.runs[0].newest_verified
    assert newest is not None
    ahead = replace(data.runs[0], run=replace(data.runs[0].run, last_step=newest.step + steps))
    assert states(replace(data, runs=(ahead,)))["save_missing"] == state


@pytest.mark.parametrize(("steps", "state"), [(999, "OK"), (1800, "WARNING"), (4000, "CRITICAL")])
@pytest.mark.parametrize("by_time", [False, True])
def test_a_first_save_that_did_not_come(
    run: RunReport, steps: int, state: str, by_time: bool
) -> None:
    data = data_of(run)
    began = replace(data.runs[0].run, first_step=50_001, last_step=50_001 + steps)
    cadence = replace(
        run.cadence,
        configured_steps=None if by_time else 1000,
        configured_s=5000.0,
        observed_steps=None,
        step_s=5.0,
    )
    never = replace(data.runs[0], run=began, cadence=cadence, checkpoints=(), newest_verified=None)
    assert states(replace(data, runs=(never,)))["save_missing"] == state


def test_how_often_it_saves_is_not_known(run: RunReport) -> None:
    data = data_of(run)
    unsaid = replace(run.cadence, configured_steps=None, configured_s=None, observed_steps=None)
    never = replace(data.runs[0], cadence=unsaid, checkpoints=(), newest_verified=None)
    assert states(replace(data, runs=(never,)))["save_missing"] == "UNKNOWN"


def test_a_restart_loop(run: RunReport) -> None:
    data = data_of(run)
    incident = replace(month().runs[0].incidents[0], fault_at=data.as_of - US_PER_H, attempts=4)
    looping = replace(data.runs[0], incidents=(incident,))
    assert states(replace(data, runs=(looping,)))["restart_loop"] == "WARNING"
    old = replace(incident, fault_at=data.as_of - 30 * US_PER_H)
    calm = replace(data.runs[0], incidents=(old,))
    assert states(replace(data, runs=(calm,)))["restart_loop"] == "OK"


def test_no_step_for_long(run: RunReport) -> None:
    data = data_of(run)
    found = states(replace(data, as_of=data.as_of + 30 * 60 * US_PER_S))
    assert found["progress"] == "WARNING"
    assert states(replace(data, as_of=data.as_of + 3 * US_PER_H))["progress"] == "CRITICAL"


def test_residuals_and_advice(run: RunReport) -> None:
    report = month().runs[0]
    data = data_of(run)
    told = replace(data.runs[0], ledger=report.ledger, advice=replace(report.advice, change=True))
    results = run_checks(replace(data, runs=(told,)), data.as_of, LIMITS)
    flagged = [result for result in results if result.state is State.WARNING]
    assert [(result.name, result.subject) for result in flagged] == [
        ("interval", "llama-70b"),
        ("residual", "llama-70b/detection"),
    ]


def test_a_source_of_which_nothing_was_read(run: RunReport) -> None:
    data = data_of(run)
    source = replace(data.sources[0], n_rows=0, n_rejected=9)
    assert states(replace(data, sources=(source,)))["input_unreadable"] == "UNKNOWN"


def test_inputs_that_could_not_be_read(run: RunReport) -> None:
    data = data_of(run)
    unread = [("a.gz", "damaged"), ("b.gz", "damaged")]
    (found,) = [
        result
        for result in run_checks(data, data.as_of, LIMITS, unread)
        if result.name == "input_unreadable"
    ]
    assert (found.state, found.subject, found.value) == (State.UNKNOWN, "a.gz", 2.0)
    assert found.summary == "2 inputs could not be read; the first is a.gz: damaged"


def test_gravity() -> None:
    def made(*found: State) -> State:
        return worst(CheckResult("x", state, "") for state in found)

    assert made(State.OK, State.WARNING) is State.WARNING
    assert made(State.UNKNOWN, State.WARNING) is State.UNKNOWN
    assert made(State.UNKNOWN, State.CRITICAL) is State.CRITICAL
    assert made() is State.UNKNOWN


def test_the_line_is_one_line_whatever_it_is_told() -> None:
    results = [
        CheckResult("age", State.CRITICAL, "old | very\nold", "a'b=c", 2.5, 1.0, None),
        *(CheckResult(f"n{n}", State.WARNING, f"w{n}", unit="") for n in range(4)),
    ]
    assert plugin_line(results) == (
        "CKPT-AUDIT CRITICAL - a'b=c: old / very old; w0; w1; and 2 more | 'age_ab_c'=2.5s;1"
    )
