"""Whether failures come in bursts, and whether those of two runs come together.

Both ask one question of the whole sequence and name no single pair: they hold where everything
shares one domain, and links by time would say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST: Final = 10  # events below which no test is made
DRAWS: Final = 1999
_MOST = 2_000_000  # random numbers held at once


@dataclass(frozen=True)
class BurstTest:
    """Count of something against what chance gives.

    Attributes:
        window_s: what counts as near, seconds.
        n: events.
        seen: near ones.
        expected: near ones by chance.
        p: chance of as many or more; None where there are too few events to ask.
    """

    window_s: float
    n: int
    seen: int
    expected: float
    p: float | None


def short_gap_test(
    strata: Sequence[tuple[ArrayLike, float]],
    window_s: float,
    beta: float = 1.0,
    seed: int = 0,
    draws: int = DRAWS,
) -> BurstTest:
    """Test whether more gaps are short than independent failures would leave.

    The number of events of each stratum is taken as given, so that no rate need be known: under
    the null the moments are uniform on its clock (of a power of it, where the rate has a trend),
    and the p value is exact but for the number of draws. Gaps over the border of two strata do not
    count.

    Args:
        strata: moments (shape ``(n,)``) and length of the clock of each epoch, seconds.
        window_s: gaps of at most this are short, seconds.
        beta: of the power law of the rate, 1 for a constant one. A flat null takes a high rate in
            the first days for bursts.
        seed: of the generator; the same seed gives the same p.
        draws: simulated sequences.

    Raises:
        ValueError: a moment lies outside its clock, or a length, the window or beta is not
            positive.

    Source: conditional Monte Carlo test of a Poisson process (Cox and Lewis 1966, ch. 6); p by
    Barnard's rule, (1 + as many or more)/(draws + 1).

    >>> test = short_gap_test([([10, 11, 50, 51, 90, 91, 130, 170, 171, 200], 1000.0)], 2.0)
    >>> test.seen, test.p < 0.01
    (4, True)
    """
    if not (window_s > 0.0 and beta > 0.0):
        raise ValueError("the window and beta must be more than zero")
    clocks = [(_sorted_on(moments, length), length) for moments, length in strata]
    n = sum(int(t.size) for t, _ in clocks)
    seen = sum(int((np.diff(t) <= window_s).sum()) for t, _ in clocks)
    if n < FEWEST:
        expected = sum(_short_by_chance(t.size, length, window_s) for t, length in clocks)
        return BurstTest(window_s, n, seen, expected, None)
    rng = np.random.default_rng(seed)
    by_chance = np.zeros(draws, dtype=np.int64)
    for t, length in clocks:
        by_chance += _drawn_short(rng, int(t.size), length, window_s, beta, draws)
    hits = int((by_chance >= seen).sum())
    return BurstTest(window_s, n, seen, float(by_chance.mean()), (1 + hits) / (draws + 1))


def _sorted_on(moments: ArrayLike, length: float) -> NDArray[np.float64]:
    t = np.sort(np.asarray(moments, dtype=np.float64).ravel())
    if not length > 0.0:
        raise ValueError("a clock must be longer than zero")
    if t.size and not (t[0] >= 0.0 and t[-1] <= length):
        raise ValueError("every moment must lie on the clock")
    return t


def _short_by_chance(n: int, length: float, window_s: float) -> float:
    """Return the short gaps of n uniform moments to be expected."""
    return max(0, n - 1) * (1.0 - max(0.0, 1.0 - window_s / length) ** n)


def _drawn_short(
    rng: np.random.Generator, n: int, length: float, window_s: float, beta: float, draws: int
) -> NDArray[np.int64]:
    """Count the short gaps of simulated sequences of n moments, shape ``(draws,)``."""
    if n < 2:
        return np.zeros(draws, dtype=np.int64)
    parts, left = [], draws
    while left:
        rows = min(left, max(1, _MOST // n))
        u = np.sort(length * rng.uniform(0.0, 1.0, (rows, n)) ** (1.0 / beta), axis=1)
        parts.append((np.diff(u, axis=1) <= window_s).sum(axis=1))
        left -= rows
    return np.concatenate(parts)


def co_occurrence(
    first_s: ArrayLike,
    second_s: ArrayLike,
    length_s: float,
    window_s: float,
    seed: int = 0,
    draws: int = DRAWS,
) -> BurstTest:
    """Test whether failures of two runs coincide more often than chance.

    The null shifts one sequence against the other around the circle of the common time: each keeps
    its own bursts and gaps, only their relation is broken.

    Args:
        first_s: moments of the one, seconds from the begin of their common time, shape ``(n,)``.
        second_s: moments of the other, shape ``(m,)``.
        length_s: length of the common time, seconds.
        window_s: two moments at most this far apart coincide, seconds.
        seed: of the generator.
        draws: shifts.

    Returns:
        The test; ``n`` is the number of both, ``seen`` the events of the first that coincide.

    Raises:
        ValueError: the length or the window is not positive, or a moment lies outside.

    Source: random circular shifts (Lotwick and Silverman 1982, J. R. Statist. Soc. B 44(3)).
    """
    a = np.sort(np.asarray(first_s, dtype=np.float64).ravel())
    b = np.sort(np.asarray(second_s, dtype=np.float64).ravel())
    if not (length_s > 0.0 and window_s > 0.0):
        raise ValueError("the common time and the window must be longer than zero")
    for moments in (a, b):
        if moments.size and not (moments[0] >= 0.0 and moments[-1] <= length_s):
            raise ValueError("every moment must lie in the common time")
    n = int(a.size + b.size)
    seen = _coincide(a, b, length_s, window_s)
    share = min(1.0, 2.0 * window_s / length_s)
    expected = a.size * (1.0 - (1.0 - share) ** b.size)
    if n < FEWEST or not (a.size and b.size):
        return BurstTest(window_s, n, seen, float(expected), None)
    rng = np.random.default_rng(seed)
    shifts = rng.uniform(0.0, length_s, draws)
    moved = (a[None, :] + shifts[:, None]) % length_s
    hits = int((_near(moved, b, length_s, window_s).sum(axis=1) >= seen).sum())
    return BurstTest(window_s, n, seen, float(expected), (1 + hits) / (draws + 1))


def _coincide(
    a: NDArray[np.float64], b: NDArray[np.float64], length_s: float, window_s: float
) -> int:
    """Count the moments of a with one of b within the window, around the circle."""
    return int(_near(a, b, length_s, window_s).sum()) if a.size and b.size else 0


def _near(
    a: NDArray[np.float64], b: NDArray[np.float64], length_s: float, window_s: float
) -> NDArray[np.bool_]:
    """Say of each moment of a, any shape, whether one of b is near; b sorted and not empty."""
    around = np.concatenate([[b[-1] - length_s], b, [b[0] + length_s]])
    place = np.clip(np.searchsorted(around, a), 1, around.size - 1)
    near: NDArray[np.bool_] = np.minimum(a - around[place - 1], around[place] - a) <= window_s
    return near
