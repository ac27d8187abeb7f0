"""Which part of a loss is not as the baseline lets expect: counts, rollback, D, R or C.

The loss of a window is so many incidents, each with its rollback, detection and recovery, and so
many saves, each with its cost. Each part is tested against what was measured before; the level is
kept for all parts together, so that a sound window is flagged in one of twenty at most. The seconds
by which the parts differ add up to the difference of the loss, and so name what it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.waste import checked, up_time_split
from ckpt_audit.reliability.rate import predictive_count, predictive_p

Floats = NDArray[np.float64]
Part = Literal["incidents", "rollback", "detection", "recovery", "save_cost"]

PARTS: Final[tuple[Part, ...]] = ("incidents", "rollback", "detection", "recovery", "save_cost")
LEVEL: Final = 0.05
DRAWS: Final = 1999
FEWEST_VALUES: Final = 3  # in each stretch, below which its values are not compared
FEWEST_BASE: Final = 5  # incidents before, below which nothing is tested
BLOCKS: Final = 64  # saves follow each other: their costs are compared in blocks


@dataclass(frozen=True)
class Stretch:
    """What was seen over a stretch of one run's up-time.

    Attributes:
        incidents: that count for the mean up-time.
        exposure_s: up-time in which they struck, seconds.
        interval_s: useful training time between two pauses, seconds.
        rollback_s: training time that each incident threw away, seconds, where that is known.
        detection_s: from fault to detected, seconds, likewise.
        recovery_s: from detected to the first step, seconds, likewise.
        save_s: exposed cost of each save, in order of time, seconds.
    """

    incidents: int
    exposure_s: float
    interval_s: float
    rollback_s: tuple[float, ...] = ()
    detection_s: tuple[float, ...] = ()
    recovery_s: tuple[float, ...] = ()
    save_s: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot have been measured."""
        checked("incidents", self.incidents)
        checked("exposure_s", self.exposure_s)
        checked("interval_s", self.interval_s, positive=True)
        for name in ("rollback_s", "detection_s", "recovery_s", "save_s"):
            for value in getattr(self, name):
                checked(name, value)


@dataclass(frozen=True)
class PartTest:
    """One part of the loss of a window, beside what was expected of it.

    Attributes:
        part: which.
        n: incidents or saves in the window that it rests on.
        observed: incidents, or mean seconds of one incident or save.
        expected: the same as expected; None where nothing is.
        p: p value, two-sided but for rollback; None where there is too little to test.
        p_adjusted: the same, for all parts of the window together.
        excess_s: seconds of the window beyond those expected, for this part alone; None likewise.
        flag: differs at the level of all parts together.
    """

    part: Part
    n: int
    observed: float
    expected: float | None
    p: float | None
    p_adjusted: float | None
    excess_s: float | None
    flag: bool


def compare_parts(
    base: Stretch, window: Stretch, *, seed: int, lag_s: float = 0.0, level: float = LEVEL
) -> tuple[PartTest, ...]:
    """Test each part of a window's loss against what was measured before it.

    Counts are held against the predictive law of the rate before; rollback against ages that a
    failure at a random moment has at the baseline's interval, so that saves that were left out
    or could not be loaded show (only older ones: failures in bursts find newer saves). D, R and C
    are held against their values before, by permutation of means of logarithms, which a single
    outlier does not rule.

    Args:
        base: the stretch before, of the same configuration.
        window: the stretch in question.
        seed: of the draws; the same seed gives the same p values.
        lag_s: time from a save's capture until it can be loaded, seconds.
        level: chance that a sound window has any flag at all.

    Returns:
        One test per part, in the order of ``PARTS``.

    Raises:
        ValueError: the level is not between 0 and 1, or there is no exposure before.

    Source: negative-binomial predictive of the Gamma(n + 1/2, exposure) posterior; permutation
    tests; Holm 1979 (Scand. J. Stat. 6(2)) for the level of all together.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    checked("base.exposure_s", base.exposure_s, positive=True)
    rng = np.random.default_rng(seed)
    age_s = _mean_age_s(base, lag_s)
    raw = [
        _incidents(base, window, age_s),
        _rollback(base, window, lag_s, age_s, rng),
        _values("detection", base.detection_s, window.detection_s, rng),
        _values("recovery", base.recovery_s, window.recovery_s, rng),
        _values("save_cost", base.save_s, window.save_s, rng, BLOCKS),
    ]
    adjusted = holm([test.p for test in raw])
    return tuple(
        PartTest(
            part=test.part,
            n=test.n,
            observed=test.observed,
            expected=test.expected,
            p=test.p,
            p_adjusted=p,
            excess_s=test.excess_s,
            flag=p is not None and p <= level,
        )
        for test, p in zip(raw, adjusted, strict=True)
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p values so that the chance of any false one among them is kept.

    Args:
        p_values: None for a test that was not made.

    Source: Holm 1979 (Scand. J. Stat. 6(2)).

    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    made = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(made):
        highest = max(highest, min(1.0, (len(made) - rank) * p))
        found[place] = highest
    return found


@dataclass(frozen=True)
class _Raw:
    part: Part
    n: int
    observed: float
    expected: float | None
    p: float | None
    excess_s: float | None


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _cost_s(base: Stretch) -> float:
    return _mean(base.save_s) or 0.0


def _m_s(base: Stretch) -> float:
    return base.exposure_s / (base.incidents + 0.5)


def _mean_age_s(base: Stretch, lag_s: float) -> float:
    """Mean rollback of a failure at a random moment, seconds."""
    m_s = _m_s(base)
    split = up_time_split(base.interval_s, _cost_s(base), m_s)
    # while a save does not count yet the interval before it is at stake too
    share = min(1.0, lag_s / (base.interval_s + _cost_s(base)))
    return float(split.lost_work) * m_s + share * base.interval_s


def _incidents(base: Stretch, window: Stretch, age_s: float) -> _Raw:
    """Their number; the excess is what so many more cost at the costs before."""
    before, now = (base.incidents, base.exposure_s), (window.incidents, window.exposure_s)
    expected = predictive_count(*before, window.exposure_s).mean
    each = age_s + (_mean(base.detection_s) or 0.0) + (_mean(base.recovery_s) or 0.0)
    return _Raw(
        "incidents",
        window.incidents,
        float(window.incidents),
        expected,
        predictive_p(*before, *now) if base.incidents >= FEWEST_BASE else None,
        (window.incidents - expected) * each,
    )


def _rollback(
    base: Stretch, window: Stretch, lag_s: float, age_s: float, rng: np.random.Generator
) -> _Raw:
    """Mean age of what was loaded, held against failures at random moments."""
    n, mean = len(window.rollback_s), _mean(window.rollback_s)
    if mean is None:
        return _Raw("rollback", 0, 0.0, age_s, None, None)
    excess_s = math.fsum(window.rollback_s) - n * age_s
    if n < FEWEST_VALUES:
        return _Raw("rollback", n, mean, age_s, None, excess_s)
    simulated = _ages(base, lag_s, (DRAWS, n), rng).mean(axis=1)
    p = (1 + int(np.count_nonzero(simulated >= mean))) / (DRAWS + 1)
    return _Raw("rollback", n, mean, age_s, p, excess_s)


def _ages(base: Stretch, lag_s: float, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Rollbacks of failures of a memoryless law, seconds."""
    period_s = base.interval_s + _cost_s(base)
    m_s = _m_s(base)
    # place in the period, given that the failure falls into it
    at = -m_s * np.log1p(rng.random(shape) * math.expm1(-period_s / m_s))
    late = np.where(at < min(lag_s, period_s), base.interval_s, 0.0)
    return np.asarray(np.minimum(at, base.interval_s) + late, dtype=np.float64)


def _values(
    part: Part,
    before: Sequence[float],
    now: Sequence[float],
    rng: np.random.Generator,
    blocks: int | None = None,
) -> _Raw:
    """Costs of one kind, held against those before by permutation."""
    expected, mean, n = _mean(before), _mean(now), len(now)
    if expected is None or mean is None:
        return _Raw(part, n, mean or 0.0, expected, None, None)
    excess_s = math.fsum(now) - n * expected
    if min(len(before), n) < FEWEST_VALUES:
        return _Raw(part, n, mean, expected, None, excess_s)
    size = 1 if blocks is None else math.ceil(max(len(before), n) / blocks)
    p = permutation_p(_blocks(before, size), _blocks(now, size), rng)
    return _Raw(part, n, mean, expected, p, excess_s)


def _blocks(values: Sequence[float], size: int) -> Floats:
    """Means of logarithms of successive values, a last block of at least half the size."""
    logs = np.log1p(np.asarray(values, dtype=np.float64))
    n_blocks = max(1, round(logs.size / size))
    return np.array([block.mean() for block in np.array_split(logs, n_blocks)])


def permutation_p(before: Floats, now: Floats, rng: np.random.Generator) -> float:
    """Give the two-sided p value of equal means, by exchange of the values.

    Args:
        before: shape ``(n,)``, with n at least 1.
        now: shape ``(m,)``, likewise.
        rng: of the exchanges.
    """
    both = np.concatenate([before, now])
    observed = now.mean() - before.mean()
    order = rng.permuted(np.tile(both, (DRAWS, 1)), axis=1)
    moved = order[:, before.size :].mean(axis=1) - order[:, : before.size].mean(axis=1)
    slack = 1e-12 * max(1.0, float(np.abs(both).max()))  # equal but for rounding is equal
    return float((1 + np.count_nonzero(np.abs(moved) >= abs(observed) - slack)) / (DRAWS + 1))
