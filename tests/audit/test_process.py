"""Clocks, epochs and months of a run's failures, and what they are asked."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import numpy as np
import pytest

from ckpt_audit.audit.fleet import fleet_of
from ckpt_audit.audit.process import clocks_of, process_of
from ckpt_audit.facts import Epoch, Lifetime

UTC = ZoneInfo("UTC")
H = 3_600_000_000
MAY = 1_777_593_600_000_000  # 2026-05-01T00:00Z


def life(
    start_h: float,
    end_h: float,
    kind: str | None = "failure",
    size: int | None = 8,
    cause: str = "gpu",
    secondary: bool = False,
) -> Lifetime:
    return Lifetime(
        run="r",
        attempt=1,
        start_at=MAY + round(start_h * H),
        end_at=MAY + round(end_h * H),
        n_accelerators=size,
        kind=kind,
        cause=cause if kind else None,
        is_secondary=secondary,
    )


def epoch(number: int, start_h: float, size: int | None = 8) -> Epoch:
    return Epoch("r", number, MAY + round(start_h * H), MAY + 10_000 * H, size)


def test_the_clock_leaves_outages_out_and_counts_what_was_cut_off() -> None:
    lives = [life(0, 10), life(15, 20, "planned"), life(30, 40)]
    (clock,) = clocks_of(lives, [])
    assert clock.at_s == (10 * 3600, 25 * 3600)
    assert clock.length_s == 25 * 3600


def test_epochs_have_clocks_of_their_own() -> None:
    lives = [life(0, 10), life(12, 20), life(25, 30, size=32)]
    one, two = clocks_of(lives, [epoch(1, 0), epoch(2, 24, 32)])
    assert (one.epoch, one.at_s, one.accelerators) == (1, (36_000, 64_800), 8)
    assert (two.epoch, two.at_s, two.accelerators) == (2, (18_000,), 32)


def test_accelerators_weigh_the_clock_and_an_unknown_size_does_not() -> None:
    lives = [life(0, 10, size=8), life(10, 20, size=24)]
    (clock,) = clocks_of(lives, [])
    assert clock.accelerators == 16
    assert clock.at_s == (18_000, 72_000)
    (plain,) = clocks_of([life(0, 10, size=None), life(10, 20, size=24)], [])
    assert (plain.accelerators, plain.at_s) == (None, (36_000, 72_000))


@pytest.mark.parametrize(
    ("kind", "secondary", "n"),
    [
        ("failure", False, 1),
        ("unknown", False, 1),
        ("failure", True, 0),
        ("preemption", False, 0),
        ("mitigation", False, 0),
        ("planned", False, 0),
        (None, False, 0),
    ],
)
def test_what_is_an_event(kind: str | None, secondary: bool, n: int) -> None:
    found = process_of([life(0, 10, kind, secondary=secondary)], [], UTC)
    assert found is not None
    assert (found.incidents, found.exposure_s) == (n, 36_000)


def test_months_share_the_exposure_exactly() -> None:
    lives = [life(0, 10), life(700, 800, cause="network"), life(900, 950, None)]
    found = process_of(lives, [], UTC)
    assert found is not None
    assert [(m.month, m.incidents) for m in found.months] == [("2026-05", 1), ("2026-06", 1)]
    assert [m.exposure_s / 3600 for m in found.months] == [54, 106]
    assert sum(m.exposure_s for m in found.months) == found.exposure_s
    assert {c.cause: c.events for c in found.causes} == {"gpu": 1, "network": 1}


def test_a_failure_at_the_border_of_a_month_belongs_to_the_month_it_ended() -> None:
    found = process_of([life(700, 744), life(744, 750)], [], UTC)
    assert found is not None
    assert [m.incidents for m in found.months] == [1, 1]


def test_nothing_comes_of_nothing_and_little_of_little() -> None:
    assert process_of([], [], UTC) is None
    assert process_of([life(5, 5)], [], UTC) is None
    found = process_of([life(0, 10), life(11, 30, None)], [], UTC)
    assert found is not None
    assert found.spread is None
    assert found.trend.p is None
    assert found.laws.fits == ()
    assert found.change is None
    assert found.drift.p is None


def test_a_change_of_size_is_no_trend() -> None:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(60):
        lives, at = [], 0.0
        for size, n in ((8, 12), (32, 40)):
            for gap in rng.exponential(160 / size, n):
                lives.append(life(at, at + gap, size=size))
                at += gap + 0.5
        begin = (lives[12].start_at - MAY) / H
        process = process_of(lives, [epoch(1, 0), epoch(2, begin, 32)], UTC)
        assert process is not None
        assert process.pooled is not None
        found.append((process.trend.p or 1, process.pooled.p_same or 1))
    trends, same = np.array(found).T
    assert (trends <= 0.05).mean() <= 0.12
    assert (same <= 0.05).mean() <= 0.12


def test_the_same_lifetimes_give_the_same_figures() -> None:
    lives = [life(i * 10, i * 10 + 1 + i % 7) for i in range(30)]
    assert process_of(lives, [], UTC).trend == process_of(lives, [], UTC).trend  # type: ignore[union-attr]


def test_of_a_single_run_nothing_else_is_said() -> None:
    process = process_of([life(0, 10)] * 1 + [life(20, 30)], [], UTC)
    fleet = fleet_of({"a": process, "b": None})
    assert fleet is not None
    assert fleet.rates["a"].prior.exposure == 0.0
    assert fleet.rates["a"].data_share == 1.0
    assert "b" not in fleet.rates
    assert fleet_of({"a": process_of([life(0, 10, size=None)], [], UTC)}) is None


def test_other_runs_are_the_prior_and_its_own_data_override_it() -> None:
    few = process_of([life(0, 10)], [], UTC)
    many = process_of([life(i * 10, i * 10 + 9) for i in range(200)], [], UTC)
    fleet = fleet_of({"few": few, "many": many, "more": many})
    assert fleet is not None
    assert fleet.rates["few"].prior.origin == "other runs"
    assert fleet.rates["few"].data_share < 0.1
    assert fleet.rates["many"].data_share > fleet.rates["few"].data_share
