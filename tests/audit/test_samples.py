"""Measured times of a run as laws: what is an event, what was cut off, what is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckpt_audit.audit.data import RunReport
from ckpt_audit.audit.samples import measured_laws
from ckpt_audit.facts import UpTime
from ckpt_audit.units import US_PER_H
from tests.report.fixture_data import month


@pytest.fixture(scope="module")
def run() -> RunReport:
    """A run whose incidents are five failures and no other."""
    whole = month().runs[0]
    failures = [item for item in whole.incidents if item.kind == "failure"]
    made = [
        replace(failures[0], id=f"f{n}", secondary=False, excluded=False, detection_s=10.0 * n,
                recovery_s=100.0)
        for n in range(1, 6)
    ]  # fmt: skip
    return replace(
        whole,
        incidents=tuple(made),
        uptime=tuple(up(n, f"f{n}") for n in range(1, 6)),
        estimate=replace(whole.estimate, refusal=None),
    )


def up(hours: float, incident: str | None) -> UpTime:
    kind = None if incident is None else "failure"
    return UpTime("run", 1, 0, round(hours * US_PER_H), kind, incident, 8)


def changed(run: RunReport, number: int, **change: object) -> RunReport:
    """One incident changed."""
    incidents = list(run.incidents)
    incidents[number - 1] = replace(incidents[number - 1], **change)  # type: ignore[arg-type]
    return replace(run, incidents=tuple(incidents))


def test_every_failure_ends_an_up_time(run: RunReport) -> None:
    laws = measured_laws(run)
    assert laws.up is not None
    assert laws.up.mean == pytest.approx(3 * 3600.0)
    assert laws.n_failures == 5
    assert laws.d is not None
    assert laws.d.values == (10.0, 20.0, 30.0, 40.0, 50.0)
    assert laws.r is not None
    assert laws.r.mean == 100.0


def test_what_was_cut_off_makes_up_times_longer(run: RunReport) -> None:
    going_on = measured_laws(replace(run, uptime=(*run.uptime, up(20.0, None))))
    assert going_on.up is not None
    assert going_on.up.mean > 3 * 3600.0
    assert going_on.n_failures == 5


@pytest.mark.parametrize("change", [{"secondary": True}, {"kind": "planned"}, {"excluded": True}])
def test_what_does_not_set_the_interval_is_no_event(
    run: RunReport, change: dict[str, object]
) -> None:
    laws = measured_laws(changed(run, 3, **change))
    assert laws.n_failures == 4
    assert laws.up is None
    assert "only 4 measured up-times ended in a failure" in (laws.why or "")


def test_a_preemption_that_lost_work_is_an_event(run: RunReport) -> None:
    lost = changed(run, 2, kind="preemption", steps_lost=7)
    assert measured_laws(lost).n_failures == 5
    kept = changed(run, 2, kind="preemption", steps_lost=0)
    assert measured_laws(kept).n_failures == 4


def test_unknown_durations_are_left_out(run: RunReport) -> None:
    laws = measured_laws(changed(run, 1, detection_s=None, recovery_s=None))
    assert laws.d is not None
    assert laws.d.values == (20.0, 30.0, 40.0, 50.0)
    nothing = measured_laws(replace(run, incidents=(), checkpoints=()))
    assert (nothing.c, nothing.d, nothing.r) == (None, None, None)


def test_an_up_time_of_no_length_counts(run: RunReport) -> None:
    laws = measured_laws(replace(run, uptime=(up(0.0, "f1"), *run.uptime[1:])))
    assert laws.up is not None
    assert laws.up.mean == pytest.approx(14 / 5 * 3600.0)


def test_incomplete_records_give_no_up_times(run: RunReport) -> None:
    laws = measured_laws(replace(run, estimate=replace(run.estimate, refusal="incomplete")))
    assert (laws.up, laws.why) == (None, "incomplete")
