"""Simulation against the exact shares for any law, lag and unusable saves."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ckpt_audit.model import laws
from ckpt_audit.model.drain import Drain as FormulaDrain
from ckpt_audit.model.drain import DrainRule, drain_shares
from ckpt_audit.model.renewal import Failures, shares
from ckpt_audit.model.simulation import (
    Constant,
    Drain,
    Estimate,
    Exponential,
    Law,
    Measured,
    Policy,
    Scenario,
    Weibull,
    simulate,
)

SEEN = (0.09, 0.2, 0.31, 0.55, 0.83, 1.26, 1.9, 2.87)  # hours of up-time, say
LAWS: dict[str, tuple[Law, laws.UpTimeLaw]] = {
    "constant rate": (Exponential(1.0), laws.Exponential(1.0)),
    "early failures": (Weibull(1.0, 0.6), laws.Weibull(0.6, 1.0)),
    "wear": (Weibull(1.0, 1.5), laws.Weibull(1.5, 1.0)),
    "measured": (
        Measured(SEEN),
        laws.Steps(SEEN, tuple(1.0 - n / len(SEEN) for n in range(1, len(SEEN) + 1))),
    ),
}
WORK = 3000.0  # so many up-times that how the last one ends does not matter
EDGE = 1e-4


def near(found: Estimate, want: float) -> bool:
    return abs(found.value - want) <= 4.0 * math.hypot(found.se, EDGE)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    ("lag", "invalid", "retry"),
    [(0.0, 0.0, 0.0), (0.12, 0.0, 0.0), (0.0, 0.25, 0.04), (0.1, 0.4, 0.02)],
)
@pytest.mark.parametrize("interval", [0.137, 0.5])
def test_shares_of_any_law(
    name: str, lag: float, invalid: float, retry: float, interval: float
) -> None:
    drawn, law = LAWS[name]
    c, d, r = 0.02, 0.01, 0.05
    want = shares(interval, c, Failures(law, d=d, r=r, lag=lag, invalid=invalid, retry=retry))
    scenario = Scenario(
        WORK,
        drawn,
        (Constant(c),),
        d=Constant(d),
        r=Constant(r),
        lag_s=lag,
        invalid=invalid,
        retry_s=retry,
    )
    found = simulate(scenario, [Policy.fixed(interval)], runs=24).results[0]
    assert near(found.goodput, want.goodput)
    assert near(found.share("checkpoint"), want.checkpoint)
    assert near(found.share("lost_work"), want.lost_work)
    assert near(found.share("detection"), want.detection)
    assert near(found.share("restart"), want.recovery)


STEP, STEPS, TAX, PAUSE, MEAN = 7.0, 30, 0.03, 2.0, 11_000.0
COSTLY = Failures(laws.Exponential(MEAN), d=90.0, r=300.0)


def drained(rule: str, k: int) -> Estimate:
    """Goodput of saves k steps apart that drain."""
    scenario = Scenario(
        30_000 * STEP,
        Exponential(MEAN),
        (Constant(PAUSE),),
        d=Constant(COSTLY.d),
        r=Constant(COSTLY.r),
        drain=Drain(STEPS * STEP, TAX, rule),  # type: ignore[arg-type]
    )
    return simulate(scenario, [Policy.fixed(k * STEP)], runs=200).results[0].goodput


def is_a_little_better(found: Estimate, want: float) -> bool:
    """The formula has all of the tax from the first interval on.

    After a restart no drain is under way, which is worth at most two drains' tax a failure.
    """
    margin = 4 * found.se
    return -margin <= found.value - want < 2 * STEPS * STEP * TAX / MEAN + margin


@pytest.mark.parametrize(("rule", "k"), [("serial", 40), ("serial", 30), ("shrink", 12)])
def test_drains(rule: DrainRule, k: int) -> None:
    save = FormulaDrain(steps=STEPS, tax=TAX, step=STEP, pause=PAUSE)
    want = drain_shares(k, save, COSTLY, rule)
    assert is_a_little_better(drained(rule, k), want.goodput)


def test_drains_side_by_side() -> None:
    # Each takes the wall clock that it takes alone, so that a period P has lasts/P of them.
    interval, lasts = 12 * STEP, STEPS * STEP * (1.0 + TAX)
    period = interval
    for _ in range(50):
        period = PAUSE + interval * (1.0 + TAX * lasts / period)
    late = replace(COSTLY, lag=lasts, overlapping=True)
    want = shares(interval, period - interval, late).goodput
    assert is_a_little_better(drained("overlap", 12), want)
