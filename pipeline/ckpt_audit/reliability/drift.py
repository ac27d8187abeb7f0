"""Counts in stretches of unequal exposure: is the rate the same in all, or in two of them?

Month against month, cause by cause, the first days against the rest. All tests are conditional on
the total count, so that the common rate need not be known; they are exact for a constant rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ckpt_audit.reliability.rate import MeanTime, mean_time

DRAWS: Final = 1999
FEWEST: Final = 10  # events in all below which no test is made
FEWEST_BY_CAUSE: Final = 30  # of one cause, below which its drift is not tested


@dataclass(frozen=True)
class RateRatio:
    """Rate in one stretch over that in another.

    Attributes:
        events, exposure_s: of the stretch in question.
        other_events, other_exposure_s: of what it is held against.
        ratio: rate over the other rate; None where the other has no event.
        low, high: exact interval of the ratio; high is infinite where the other has no event.
        p: exact, two-sided, of equal rates; None with fewer than ten events in both.
        confidence: of the interval, as a fraction.
    """

    events: int
    exposure_s: float
    other_events: int
    other_exposure_s: float
    ratio: float | None
    low: float
    high: float
    p: float | None
    confidence: float


@dataclass(frozen=True)
class Drift:
    """Whether one rate fits several stretches.

    Attributes:
        n: events in all.
        stretches: number of stretches with exposure.
        chi_square: Pearson's statistic of the counts.
        df: its degrees of freedom.
        p: by Monte Carlo, given the total; None with fewer than ten events or two stretches.
    """

    n: int
    stretches: int
    chi_square: float | None
    df: int
    p: float | None


@dataclass(frozen=True)
class CauseRate:
    """Events of one cause.

    Attributes:
        cause: its name.
        events: of this cause.
        share: of all events.
        mean_time: exposure between events of this cause, with its interval.
        drift: of this cause over the stretches; None with fewer than thirty events.
    """

    cause: str
    events: int
    share: float
    mean_time: MeanTime
    drift: Drift | None


def rate_ratio(
    events: int,
    exposure_s: float,
    other_events: int,
    other_exposure_s: float,
    confidence: float = 0.95,
) -> RateRatio:
    """Compare the rates of two stretches.

    Args:
        events, exposure_s: of the stretch in question.
        other_events, other_exposure_s: of what it is held against.
        confidence: of the interval, as a fraction.

    Raises:
        ValueError: a count is negative, an exposure is not positive and finite, or the confidence
            is out of range.

    Source: given their sum, the first count is binomial (Przyborowski and Wilenski 1940); ends by
    Clopper and Pearson 1934, p as twice the smaller tail.

    >>> found = rate_ratio(12, 1.0, 40, 8.0)
    >>> round(found.ratio, 2), round(found.low, 2), round(found.high, 2), round(found.p, 4)
    (2.4, 1.15, 4.67, 0.0207)
    """
    for count, exposure in ((events, exposure_s), (other_events, other_exposure_s)):
        mean_time(count, exposure, confidence)  # refuses what is no count or exposure
    from scipy import special

    n, tail = events + other_events, (1.0 - confidence) / 2.0
    odds = exposure_s / other_exposure_s
    low = float(special.betaincinv(events, other_events + 1.0, tail)) if events else 0.0
    high = float(special.betaincinv(events + 1.0, other_events, 1.0 - tail)) if other_events else 1
    share = exposure_s / (exposure_s + other_exposure_s)
    below = float(special.bdtr(events, n, share))
    above = float(special.bdtrc(events - 1, n, share)) if events else 1.0
    return RateRatio(
        events=events,
        exposure_s=exposure_s,
        other_events=other_events,
        other_exposure_s=other_exposure_s,
        ratio=events / exposure_s / (other_events / other_exposure_s) if other_events else None,
        low=low / (1.0 - low) / odds if low < 1.0 else math.inf,
        high=high / (1.0 - high) / odds if high < 1.0 else math.inf,
        p=min(1.0, 2.0 * min(below, above)) if n >= FEWEST else None,
        confidence=confidence,
    )


def drift(
    counts: Sequence[int], exposures_s: Sequence[float], seed: int = 0, draws: int = DRAWS
) -> Drift:
    """Test whether one rate fits all stretches.

    Args:
        counts: events in each stretch.
        exposures_s: exposure of each; stretches without exposure must have no events.
        seed: of the draws; the same seed gives the same p.
        draws: simulated tables.

    Raises:
        ValueError: lengths differ, a number is negative or not finite, or there are events where
            there is no exposure.

    Source: given the total the counts are multinomial with shares of exposure; p by Barnard's rule.

    >>> drift([3, 4, 20], [100.0, 100.0, 100.0]).p < 0.01
    True
    """
    if len(counts) != len(exposures_s):
        raise ValueError("every count needs an exposure")
    n, e = np.asarray(counts, dtype=np.int64), np.asarray(exposures_s, dtype=np.float64)
    if not (np.isfinite(e).all() and (e >= 0.0).all() and (n >= 0).all()):
        raise ValueError("counts and exposures must be 0 or more and finite")
    if n[e == 0.0].sum():
        raise ValueError("events in a stretch that has no exposure")
    n, e = n[e > 0.0], e[e > 0.0]
    total = int(n.sum())
    if e.size < 2 or total < FEWEST:
        return Drift(total, int(e.size), None, max(0, int(e.size) - 1), None)
    shares = e / e.sum()
    value = float(_pearson(n[None, :], total * shares)[0])
    drawn = np.random.default_rng(seed).multinomial(total, shares, size=draws)
    extreme = int((_pearson(drawn, total * shares) >= value * (1.0 - 1e-9)).sum())
    return Drift(total, int(e.size), value, int(e.size) - 1, (1.0 + extreme) / (draws + 1.0))


def _pearson(counts: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return np.asarray(((counts - expected) ** 2 / expected).sum(axis=1))


def cause_rates(
    counts: Mapping[str, Sequence[int]],
    exposures_s: Sequence[float],
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[CauseRate, ...]:
    """Give the rate of each cause, and whether it drifts.

    Args:
        counts: events in each stretch, by cause.
        exposures_s: exposure of each stretch.
        confidence: of the intervals, as a fraction.
        seed: of the drift tests.

    Returns:
        The causes, most frequent first; those that struck equally often by name.

    Raises:
        ValueError: as `drift`; or there is no exposure.
    """
    exposure, total = sum(exposures_s), sum(sum(values) for values in counts.values())
    found = []
    for cause, values in counts.items():
        n = sum(values)
        tested = drift(values, exposures_s, seed)  # refuses what does not fit
        found.append(
            CauseRate(
                cause=cause,
                events=n,
                share=n / total if total else 0.0,
                mean_time=mean_time(n, exposure, confidence),
                drift=tested if n >= FEWEST_BY_CAUSE else None,
            )
        )
    return tuple(sorted(found, key=lambda item: (-item.events, item.cause)))


def early_life(
    ages_s: Sequence[float],
    spans_s: Sequence[tuple[float, float]],
    early_s: float,
    confidence: float = 0.95,
) -> RateRatio | None:
    """Compare the rate early in life with the later one, over many lives (of runs, or of nodes).

    Args:
        ages_s: age at each event.
        spans_s: ages at which each life was watched, as from and to.
        early_s: up to which age is early.
        confidence: of the interval, as a fraction.

    Returns:
        Early rate over later rate; None where nothing was watched on one side.

    Raises:
        ValueError: the age is not positive, a span ends before it begins, or an event has an age
            that nothing was watched at.

    >>> found = early_life([1, 2, 3, 30, 70], [(0, 100)], early_s=10)
    >>> found.events, round(found.ratio, 3)
    (3, 13.5)
    """
    if not early_s > 0.0:
        raise ValueError(f"early must end at a positive age, got {early_s}")
    if any(end < start for start, end in spans_s):
        raise ValueError("a life ends before it begins")
    starts = np.array([start for start, _ in spans_s], dtype=np.float64)
    ends = np.array([end for _, end in spans_s], dtype=np.float64)
    ages = np.asarray(ages_s, dtype=np.float64)
    begun = np.searchsorted(np.sort(starts), ages, side="right")
    over = np.searchsorted(np.sort(ends), ages, side="left")
    if (begun <= over).any():
        raise ValueError("an event has an age at which nothing was watched")
    early = float(np.clip(np.minimum(ends, early_s) - starts, 0.0, None).sum())
    late = float((ends - starts).sum()) - early
    if not (early > 0.0 and late > 0.0):
        return None
    n = int((ages <= early_s).sum())
    return rate_ratio(n, early, ages.size - n, late, confidence)
