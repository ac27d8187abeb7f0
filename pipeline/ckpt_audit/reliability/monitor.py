"""Watching counts week after week for years, with a stated time to a false alarm.

A test at 5 % every week raises a false alarm within a year almost surely. Here each week's p value
becomes a bet against "nothing has changed"; evidence adds up over weeks and is reset by an alarm.
Whatever the number of weeks, the mean time to a false alarm is at least the threshold, in weeks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Method = Literal["binomial", "ranks"]

THRESHOLD: Final = 520.0  # weeks: ten years to a false alarm
RANKS_FROM: Final = 26  # weeks of history from which ranks replace the binomial form
RUNS: Final = 400


@dataclass(frozen=True)
class Week:
    """One week of one stream.

    Attributes:
        events: what is counted: incidents without their followers.
        exposure: accelerator up-time of the week, in any unit that is the same for all weeks.
    """

    events: int
    exposure: float

    def __post_init__(self) -> None:
        """Refuse what cannot be counted."""
        if self.events < 0:
            raise ValueError(f"events cannot be negative, got {self.events}")
        if not (math.isfinite(self.exposure) and self.exposure >= 0.0):
            raise ValueError(f"exposure must be finite and not negative, got {self.exposure}")
        if self.events and not self.exposure:
            raise ValueError("events without exposure have no rate")


@dataclass(frozen=True)
class Watch:
    """What the weeks say of a rise, each week judged by the weeks up to it.

    Attributes:
        p: p value of each week, one-sided: as many events or more; 1 where nothing can be said.
        e: each week's bet, ``p**-0.5 / 2``.
        evidence: the statistic after each week; an alarm sets it back to zero for the next.
        alarms: positions of the weeks that raised one.
        methods: how each p was made.
        threshold: evidence that raises an alarm; the mean time to a false alarm is at least this,
            in weeks.
    """

    p: tuple[float, ...]
    e: tuple[float, ...]
    evidence: tuple[float, ...]
    alarms: tuple[int, ...]
    methods: tuple[Method, ...]
    threshold: float


def e_value(p: float) -> float:
    """Turn a p value into a bet whose mean is at most 1 while nothing has changed.

    Args:
        p: above 0, at most 1.

    Raises:
        ValueError: p is not in that range.

    Source: calibrator ``k p**(k-1)`` at k = 1/2; Vovk and Wang 2021 (Ann. Statist. 49(3)).

    >>> e_value(0.25), e_value(1.0)
    (1.0, 0.5)
    """
    if not 0.0 < p <= 1.0:
        raise ValueError(f"p must be above 0 and at most 1, got {p}")
    return 0.5 / math.sqrt(p)


def accumulate(
    e_values: Sequence[float], threshold: float = THRESHOLD
) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Add up bets: ``R = (1 + R) e``, an alarm where R reaches the threshold, then from zero.

    Args:
        e_values: one for each week, of mean at most 1 given the weeks before it.
        threshold: at least 1.

    Returns:
        R after each week, and the positions of the alarms.

    Raises:
        ValueError: the threshold is below 1, or a value is negative or not finite.

    Source: Shiryaev-Roberts procedure on e-values; Shin, Ramdas and Rinaldo 2024 (e-detectors),
    New England J. Stat. Data Sci. 2(2): the mean time to a false alarm is at least the threshold.
    """
    if not threshold >= 1.0:
        raise ValueError(f"threshold must be at least 1, got {threshold}")
    total, values, alarms = 0.0, [], []
    for place, value in enumerate(e_values):
        if not (math.isfinite(value) and value >= 0.0):
            raise ValueError(f"an e-value must be finite and not negative, got {value}")
        total = (1.0 + total) * value
        values.append(total)
        if total >= threshold:
            alarms.append(place)
            total = 0.0
    return tuple(values), tuple(alarms)


def binomial_p(past: Week, week: Week) -> float:
    """Give the probability of as many events or more in a week, given those of all weeks together.

    The rate itself need not be known. It is exact for counts of a constant rate, and the values of
    successive weeks then are as good as independent. It says 1 where there is nothing to compare.

    Args:
        past: all weeks before, together.
        week: the week in question.

    Source: given their sum, two Poisson counts are binomial.

    >>> round(binomial_p(Week(40, 8.0), Week(12, 1.0)), 7)
    0.0103661
    """
    total = past.events + week.events
    if not past.exposure or not week.exposure or not week.events:
        return 1.0
    from scipy import special  # slow to import, and only needed here

    share = week.exposure / (past.exposure + week.exposure)
    return min(1.0, float(special.bdtrc(week.events - 1, total, share)))


def rank_p(values: Sequence[float], draw: float) -> float:
    """Give the randomised rank of the last value among all, as a p value for its being high.

    Uniform, and independent from week to week, whenever the values are exchangeable, whatever
    their law: weeks in which failures come in bursts are no exception.

    Args:
        values: one for each week, the last one is judged.
        draw: uniform between 0 and 1, by which ties are broken.

    Raises:
        ValueError: there is no value, or the draw is outside.

    Source: Vovk, Gammerman and Shafer 2005, Algorithmic Learning in a Random World, ch. 7.

    >>> rank_p([3.0, 1.0, 2.0, 5.0], draw=0.5)
    0.125
    """
    if not values:
        raise ValueError("there is no value to rank")
    if not 0.0 < draw <= 1.0:
        raise ValueError(f"draw must be above 0 and at most 1, got {draw}")
    last = values[-1]
    above = sum(value > last for value in values)
    level = sum(value == last for value in values)
    return (above + draw * level) / len(values)


def watch(
    weeks: Sequence[Week],
    *,
    seed: int,
    threshold: float = THRESHOLD,
    ranks_from: int = RANKS_FROM,
) -> Watch:
    """Judge each week by the weeks before it.

    Until there are enough weeks the binomial form is used, which is exact for a constant rate only:
    count incidents without their followers. After that the rank of the week's count among all so
    far, each count as its place in the binomial law of the total, so that a week with less
    exposure is not taken for a quiet one.

    Args:
        weeks: in order of time, complete weeks only. A week without exposure counts for nothing.
        seed: of the draws that break ties; the same seed gives the same alarms.
        threshold: as in ``accumulate``.
        ranks_from: weeks before a week from which its rank is used.

    Raises:
        ValueError: as ``accumulate``.
    """
    draws = np.random.default_rng(seed).random((len(weeks), 2))
    p: list[float] = []
    methods: list[Method] = []
    past = Week(0, 0.0)
    seen: list[tuple[Week, float]] = []  # a week, and its own draw
    for week, (own, tie) in zip(weeks, draws.tolist(), strict=True):
        if week.exposure:
            seen.append((week, own))
        by_rank = week.exposure > 0.0 and len(seen) > ranks_from
        methods.append("ranks" if by_rank else "binomial")
        p.append(rank_p(_places(seen), 1.0 - tie) if by_rank else binomial_p(past, week))
        past = Week(past.events + week.events, past.exposure + week.exposure)
    e = tuple(e_value(value) for value in p)
    evidence, alarms = accumulate(e, threshold)
    return Watch(tuple(p), e, evidence, alarms, tuple(methods), threshold)


def _places(seen: Sequence[tuple[Week, float]]) -> list[float]:
    """Where each week's count lies in the law that the total gives it, between 0 and 1."""
    from scipy import special  # slow to import, and only needed here

    counts = np.array([week.events for week, _ in seen])
    shares = np.array([week.exposure for week, _ in seen])
    shares = shares / shares.sum()
    draws = np.array([draw for _, draw in seen])
    total = int(counts.sum())
    up_to = special.bdtr(counts, total, shares)
    below = np.where(counts > 0, special.bdtr(np.maximum(counts - 1, 0), total, shares), 0.0)
    return [float(value) for value in below + draws * (up_to - below)]


def together(streams: Sequence[Watch], threshold: float = THRESHOLD) -> Watch:
    """Watch several streams at one price: the mean of their bets, week by week.

    A mean of bets is a bet, so the time to a false alarm holds for all streams together.

    Args:
        streams: of the same weeks, at least one.
        threshold: as in ``accumulate``.

    Returns:
        A watch whose ``p`` are the least of each week's, times the number of streams.

    Raises:
        ValueError: there is no stream, or they are not of equal length.
    """
    if not streams:
        raise ValueError("there is no stream to watch")
    rows = list(zip(*(one.e for one in streams), strict=True))
    e = tuple(sum(row) / len(row) for row in rows)
    least = zip(*(one.p for one in streams), strict=True)
    p = tuple(min(1.0, len(streams) * min(row)) for row in least)
    evidence, alarms = accumulate(e, threshold)
    return Watch(p, e, evidence, alarms, streams[0].methods, threshold)


def odds_of_finding(
    per_week: float,
    factor: float,
    *,
    history: int,
    within: int,
    seed: int,
    threshold: float = THRESHOLD,
    streams: int = 1,
    runs: int = RUNS,
) -> float:
    """Estimate how often a rise of the rate is found within some weeks.

    Args:
        per_week: events expected in a week before the rise.
        factor: rate after it over rate before.
        history: weeks before the rise.
        within: weeks after it.
        seed: of the simulation.
        threshold: as in ``accumulate``.
        streams: watched together; the others do not change.
        runs: histories to simulate.

    Returns:
        Share of the histories with an alarm in those weeks. Its standard error is at most
        ``0.5 / sqrt(runs)``.

    Raises:
        ValueError: a number is negative, or there is no run or stream.
    """
    if min(per_week, factor) < 0.0 or min(history, within) < 0 or min(runs, streams) < 1:
        raise ValueError("rates and weeks cannot be negative, runs and streams not below 1")
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(runs):
        rates = np.full((streams, history + within), per_week)
        rates[0, history:] *= factor
        counts = rng.poisson(rates)
        watched = [watch(_weeks(row), seed=int(rng.integers(2**31))) for row in counts]
        seen = together(watched, threshold) if streams > 1 else watched[0]
        _, alarms = accumulate(seen.e, threshold)
        found += any(place >= history for place in alarms)
    return found / runs


def _weeks(counts: ArrayLike) -> list[Week]:
    values: NDArray[np.int64] = np.asarray(counts, dtype=np.int64)
    return [Week(int(count), 1.0) for count in values]
