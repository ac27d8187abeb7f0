"""C, D and R as laws, by tier, detector and stage."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckpt_audit.audit.cost_laws import cost_laws
from ckpt_audit.audit.data import NamedLaw
from ckpt_audit.audit.estimate import Observed
from ckpt_audit.cli.cost_text import cost_lines
from ckpt_audit.facts import Incident
from ckpt_audit.units import US_PER_H
from tests.report.fixture_data import month, unknown_incident


def observed(**changes: object) -> Observed:
    run = month().runs[0]
    values = {
        "incidents": run.incidents, "correlations": run.correlations, "uptime": run.uptime,
        "calendar": run.calendar, "checkpoints": run.checkpoints, "launches": (1, 1),
    }  # fmt: skip
    return Observed(**(values | changes))  # type: ignore[arg-type]


def named(laws: tuple[NamedLaw, ...], cost: str, key: str | None = None) -> NamedLaw:
    (found,) = (one for one in laws if (one.cost, one.key) == (cost, key))
    return found


def failures(n: int, **changes: object) -> tuple[Incident, ...]:
    usual = {
        "kind": "failure", "detector": "watchdog", "detection_s": 60.0, "recovery_s": 600.0,
        "detection_timeout_s": None, "excluded": False,
    }  # fmt: skip
    return tuple(
        replace(
            unknown_incident(),
            **(usual | {"fault_at": k * US_PER_H, "detected_at": k * US_PER_H} | changes),  # type: ignore[arg-type]
        )
        for k in range(n)
    )


def test_every_cost_of_a_month() -> None:
    laws = cost_laws(observed())
    run = month().runs[0]
    assert named(laws, "c").law.sample == run.estimate.c
    assert named(laws, "d").law.sample.n == run.estimate.d.n
    assert named(laws, "r").law.sample.n == run.estimate.r.n
    assert not [one for one in laws if one.by == "tier"]


def test_tiers_are_told_apart() -> None:
    saves = [
        replace(save, tier="local", cost_s=5.0) if k % 2 else save
        for k, save in enumerate(month().runs[0].checkpoints)
    ]
    laws = cost_laws(observed(checkpoints=tuple(saves)))
    assert named(laws, "c", "local").law.sample.max == 5.0
    whole = named(laws, "c").law.sample.n
    assert named(laws, "c", "local").law.sample.n + named(laws, "c", "remote").law.sample.n == whole


def test_a_wait_that_is_configured_is_named() -> None:
    waits = failures(5, detection_s=1800.0, detection_timeout_s=1800.0)
    others = failures(4, detector="launcher")
    laws = cost_laws(observed(incidents=(*waits, *others)))
    assert named(laws, "d", "watchdog").timeout_s == 1800.0
    assert named(laws, "d", "launcher").timeout_s is None
    told = dict(cost_lines(laws))
    assert told["D, watchdog"] == "is a configured wait of 30.0 min"


def test_a_stage_that_changed_is_told_with_its_moment() -> None:
    events = [
        replace(item, restore_s=(30.0 if k < 15 else 300.0) + k % 3)
        for k, item in enumerate(failures(30))
    ]
    laws = cost_laws(observed(incidents=tuple(events)))
    found = named(laws, "r", "restore")
    assert found.law.shift is not None
    assert found.law.shift.significant
    assert found.shift_at == 15 * US_PER_H
    told = dict(cost_lines(laws))
    assert told["R, restore"].startswith(
        "was 31.0 s and is 5.0 min from 1970-01-01 15:00:00 UTC on"
    )


def test_what_a_person_excluded_does_not_count() -> None:
    events = failures(6, excluded=True)
    assert [one for one in cost_laws(observed(incidents=events)) if one.cost != "c"] == []


@pytest.mark.parametrize("n", [0, 1, 4])
def test_few_values_say_nothing_more(n: int) -> None:
    laws = cost_laws(observed(incidents=failures(n), checkpoints=()))
    assert cost_lines(laws) == []
