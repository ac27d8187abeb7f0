"""Whether failures come in bursts, and whether those of two runs come together.

Both ask one question of the whole sequence and name no single pair: they hold where everything
shares one domain, and links by time would say nothing.
"""

from __future__ import annotations

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
    clock_s: ArrayLike, exposure_s: float, window_s: float, seed: int = 0, draws: int = DRAWS
) -> BurstTest:
    """Test whether more gaps are short than independent failures of constant rate would leave.

    The number of events is taken as given, so that the rate need not be known: under the null the
    moments are uniform on the clock, and the p value is exact but for the number of draws.

    Args:
        clock_s: moments on the up-time clock, seconds, shape ``(n,)``.
        exposure_s: length of the clock, seconds.
        window_s: gaps of at most this are short, seconds.
        seed: of the generator; the same seed gives the same p.
        draws: simulated sequences.

    Raises:
        ValueError: a moment lies outside the clock, or the window or the clock is not positive.

    Source: conditional Monte Carlo test of a Poisson process (Cox and Lewis 1966, ch. 6); p by
    Barnard's rule, (1 + as many or more)/(draws + 1).

    >>> test = short_gap_test([10, 11, 50, 51, 90, 91, 130, 170, 171, 200], 1000.0, 2.0)
    >>> test.seen, test.p < 0.01
    (4, True)
    """
    t = np.sort(np.asarray(clock_s, dtype=np.float64).ravel())
    if not (exposure_s > 0.0 and window_s > 0.0):
        raise ValueError("the clock and the window must be longer than zero")
    if t.size and not (t[0] >= 0.0 and t[-1] <= exposure_s):
        raise ValueError("every moment must lie on the clock")
    n = int(t.size)
    seen = int((np.diff(t) <= window_s).sum())
    expected = max(0, n - 1) * (1.0 - max(0.0, 1.0 - window_s / exposure_s) ** n)
    if n < FEWEST:
        return BurstTest(window_s, n, seen, expected, None)
    rng = np.random.default_rng(seed)
    hits, left = 0, draws
    while left:
        rows = min(left, max(1, _MOST // n))
        u = np.sort(rng.uniform(0.0, exposure_s, (rows, n)), axis=1)
        hits += int(((np.diff(u, axis=1) <= window_s).sum(axis=1) >= seen).sum())
        left -= rows
    return BurstTest(window_s, n, seen, expected, (1 + hits) / (draws + 1))


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
    hits = sum(
        _coincide(np.sort((a + shift) % length_s), b, length_s, window_s) >= seen
        for shift in shifts
    )
    return BurstTest(window_s, n, seen, float(expected), (1 + hits) / (draws + 1))


def _coincide(
    a: NDArray[np.float64], b: NDArray[np.float64], length_s: float, window_s: float
) -> int:
    """Count the moments of a with one of b within the window, around the circle."""
    if not (a.size and b.size):
        return 0
    around = np.concatenate([[b[-1] - length_s], b, [b[0] + length_s]])
    place = np.clip(np.searchsorted(around, a), 1, around.size - 1)
    near = np.minimum(a - around[place - 1], around[place] - a)
    return int((near <= window_s).sum())
