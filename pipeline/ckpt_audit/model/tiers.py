"""Saves to several tiers: fast ones that survive few failures, slow ones that survive most.

A failure of class l needs a checkpoint of tier l or above: a process crash finds the copy in local
memory, the loss of a node needs its peer's, the loss of a rack needs remote storage. Times are in
one unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ckpt_audit.model.waste import checked


@dataclass(frozen=True)
class Tier:
    """One tier of storage and the failures that need it.

    Attributes:
        c: mean exposed cost of a save that reaches this tier, those below included.
        m: mean up-time between the failures for which this is the lowest tier that survives.
        r: mean time from detected to the first step, after such a failure.
        lag: from capture to when this tier can be restored from.
    """

    c: float
    m: float
    r: float = 0.0
    lag: float = 0.0


@dataclass(frozen=True)
class TierPlan:
    """How often to save to each tier.

    Attributes:
        intervals: training time between saves, one a tier, not falling; equal where tiers are
            pooled.
        every: every how many saves of the tier below one goes on to this tier (1 for the first).
        waste: first-order waste, detection and recovery included.
        free_intervals, free_waste: the same where intervals need not be multiples of each other.
    """

    intervals: tuple[float, ...]
    every: tuple[int, ...]
    waste: float
    free_intervals: tuple[float, ...]
    free_waste: float


@dataclass
class _Pool:
    cost: float
    rate: float
    size: int

    @property
    def interval(self) -> float:
        return math.sqrt(2.0 * self.cost / self.rate)


def plan(tiers: Sequence[Tier], d: float = 0.0) -> TierPlan:
    """Give the intervals of all tiers that waste least, to first order.

    Args:
        tiers: fastest first; their costs must not fall.
        d: mean time from fault to detected.

    Raises:
        ValueError: there is no tier, an argument is out of range, or a tier costs less than the
            one below it.

    Source: each tier adds ``C/T + rate (T/2 + lag + D + R)`` with C its cost beyond the tier below,
    hence ``T = sqrt(2 C / rate)`` (Benoit et al. 2017). Where an upper tier would be saved to more
    often than the one below, the two are pooled: costs and rates add (pool adjacent violators).
    Then counts are rounded to the better neighbour from the bottom up, and the first interval is
    solved again: ``sqrt(2 sum(C/n) / sum(rate n))`` with n the saves of tier 1 to one of the tier.

    >>> rows = [Tier(c=10, m=10_800, r=60), Tier(c=300, m=432_000, r=600)]
    >>> best = plan(rows)
    >>> [round(t, 3) for t in best.free_intervals], round(best.free_waste, 7), best.every
    ([464.758, 15829.087], 0.086619, (1, 34))
    """
    costs, rates = _extra_costs(tiers), [1.0 / float(t.m) for t in tiers]
    free = _free_intervals(costs, rates)
    every = _rounded(costs, rates, free)
    saves = [math.prod(every[: at + 1]) for at in range(len(every))]
    first = _first_interval(costs, rates, saves)
    intervals = tuple(first * n for n in saves)
    return TierPlan(
        intervals,
        tuple(every),
        tiered_waste(tiers, intervals, d),
        tuple(free),
        tiered_waste(tiers, free, d),
    )


def tiered_waste(tiers: Sequence[Tier], intervals: Sequence[float], d: float = 0.0) -> float:
    """Give the first-order waste of given intervals.

    Args:
        tiers: fastest first; their costs must not fall.
        intervals: training time between saves, one a tier.
        d: mean time from fault to detected.

    Raises:
        ValueError: an argument is out of range, or there are not as many intervals as tiers.
    """
    costs, detection = _extra_costs(tiers), float(checked("d", d))
    checked("intervals", intervals, positive=True)
    return math.fsum(
        cost / at + (at / 2.0 + tier.lag + detection + tier.r) / tier.m
        for tier, cost, at in zip(tiers, costs, intervals, strict=True)
    )


def _extra_costs(tiers: Sequence[Tier]) -> list[float]:
    if not tiers:
        raise ValueError("no tier is given")
    checked("m", [tier.m for tier in tiers], positive=True)
    checked("r", [tier.r for tier in tiers])
    checked("lag", [tier.lag for tier in tiers])
    costs = checked("c", [tier.c for tier in tiers], positive=True).tolist()
    extra = [costs[0], *(b - a for a, b in pairwise(costs))]
    if min(extra) < 0.0:
        raise ValueError("a tier's cost has those below in it: costs must not fall")
    return extra


def _free_intervals(costs: Sequence[float], rates: Sequence[float]) -> list[float]:
    pools: list[_Pool] = []
    for cost, rate in zip(costs, rates, strict=True):
        pools.append(_Pool(cost, rate, 1))
        while len(pools) > 1 and pools[-2].interval > pools[-1].interval:
            last = pools.pop()
            pools[-1] = _Pool(
                pools[-1].cost + last.cost, pools[-1].rate + last.rate, pools[-1].size + last.size
            )
    return [pool.interval for pool in pools for _ in range(pool.size)]


def _rounded(costs: Sequence[float], rates: Sequence[float], free: Sequence[float]) -> list[int]:
    every = [1]
    for upper in range(1, len(costs)):
        ratio = free[upper] / free[upper - 1]
        choices = {max(1, math.floor(ratio)), max(1, math.ceil(ratio))}
        below = math.prod(every)
        known = [math.prod(every[: at + 1]) for at in range(upper)]
        every.append(
            min(
                sorted(choices),
                key=lambda n: _overhead(
                    costs[: upper + 1], rates[: upper + 1], [*known, below * n]
                ),
            )
        )
    return every


def _first_interval(costs: Sequence[float], rates: Sequence[float], saves: Sequence[int]) -> float:
    cost = math.fsum(c / n for c, n in zip(costs, saves, strict=True))
    rate = math.fsum(r * n for r, n in zip(rates, saves, strict=True))
    return math.sqrt(2.0 * cost / rate)


def _overhead(costs: Sequence[float], rates: Sequence[float], saves: Sequence[int]) -> float:
    cost = math.fsum(c / n for c, n in zip(costs, saves, strict=True))
    rate = math.fsum(r * n for r, n in zip(rates, saves, strict=True))
    return math.sqrt(2.0 * cost * rate)
