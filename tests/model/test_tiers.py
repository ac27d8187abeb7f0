"""Tiers: known answer, pooling, whole multiples, brute force and a simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model.interval import young
from ckpt_audit.model.tiers import Tier, TierPlan, plan, tiered_waste
from ckpt_audit.model.waste import first_order

steady = settings(deadline=None, derandomize=True, max_examples=60)
TWO = [Tier(c=10, m=3 * 3600, r=60), Tier(c=300, m=5 * 86400, r=600)]


def test_two_tiers() -> None:
    best = plan(TWO)
    assert best.free_intervals == pytest.approx((464.758, 15829.1), rel=1e-6)
    assert best.free_waste == pytest.approx(0.0866190, abs=5e-8)
    assert best.every == (1, 34)
    assert best.intervals[1] == pytest.approx(34 * best.intervals[0])
    n, (low, high) = 34, TWO
    again = math.sqrt(2 * ((n - 1) * low.c + high.c) / n / (1 / low.m + n / high.m))
    assert best.intervals[0] == pytest.approx(again)


def simulate(best: TierPlan, seed: int, n: int) -> float:
    """Wasted share of wall clock of n failures, with what failures really cost."""
    rng = np.random.default_rng(seed)
    first, every = best.intervals[0], best.every[1]
    rates = np.array([1 / tier.m for tier in TWO])
    lost = up_all = kept_all = 0.0
    position = 0  # saves since the last one to the upper tier
    for up, upper in zip(
        rng.exponential(1 / rates.sum(), n), rng.random(n) < rates[1] / rates.sum(), strict=True
    ):
        at, saved, since = 0.0, 0, position
        while True:
            is_top = (since + 1) % every == 0
            cost = TWO[1].c if is_top else TWO[0].c
            if at + first + cost > up:
                break
            at, saved, since = at + first + cost, saved + 1, since + 1
        back = (since % every) if upper else 0
        kept_all += (saved - back) * first
        position = since - back
        up_all += up + (TWO[1].r if upper else TWO[0].r)
        lost += back
    return 1 - kept_all / up_all


def test_two_tiers_by_simulation() -> None:
    waste = [simulate(plan(TWO), seed, 2000) for seed in range(8)]
    mean, se = float(np.mean(waste)), float(np.std(waste, ddof=1) / math.sqrt(len(waste)))
    assert mean == pytest.approx(0.0828, abs=4 * math.hypot(se, 0.0011))
    assert plan(TWO).waste == pytest.approx(mean, rel=0.1)  # the first order is 5 % high


@steady
@given(st.floats(1, 100), st.floats(1e3, 1e6), st.floats(0, 1e3), st.floats(0, 1e3))
def test_one_tier_is_young(c: float, m: float, d: float, r: float) -> None:
    best = plan([Tier(c, m, r)], d)
    assert best.intervals == pytest.approx((young(c, m),))
    assert best.waste == pytest.approx(first_order(young(c, m), c, m, d, r).waste)


tiers = st.lists(
    st.tuples(st.floats(1, 200), st.floats(1e3, 1e6), st.floats(0, 100)), min_size=1, max_size=4
).map(lambda rows: [Tier(sum(c for c, _, _ in rows[: i + 1]), m, r)
                    for i, (_, m, r) in enumerate(rows)])  # fmt: skip


@steady
@given(tiers, st.lists(st.floats(0.3, 3.0), min_size=4, max_size=4))
def test_no_rising_intervals_waste_less(rows: list[Tier], factors: list[float]) -> None:
    best = plan(rows)
    assert list(best.free_intervals) == sorted(best.free_intervals)
    moved = [t * f for t, f in zip(best.free_intervals, factors, strict=False)]
    rising = list(np.maximum.accumulate(moved))
    assert tiered_waste(rows, rising) >= best.free_waste * (1 - 1e-9)
    assert best.waste >= best.free_waste * (1 - 1e-9)
    multiples = np.cumprod(best.every) * best.intervals[0]
    assert best.intervals == pytest.approx(tuple(multiples))


def test_a_cheap_upper_tier_takes_the_lower_one_in() -> None:
    best = plan([Tier(10, 1e6), Tier(10.1, 1e4)])
    assert best.free_intervals[0] == best.free_intervals[1]
    assert best.every == (1, 1)
    assert best.intervals[0] == pytest.approx(math.sqrt(2 * 10.1 / (1e-6 + 1e-4)))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no tier"),
        ([Tier(10, 1e4), Tier(5, 1e5)], "costs must not fall"),
        ([Tier(0, 1e4)], "c must be"),
        ([Tier(1, 0)], "m must be"),
        ([Tier(1, 1, -1)], "r must be"),
    ],
)
def test_refuses(rows: list[Tier], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(rows)
