"""Which of many parts had more incidents than their share of the exposure lets expect."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ckpt_audit.reliability.discovery import FALSE_DISCOVERY, q_values

_SMALL = 1e-18


@dataclass(frozen=True)
class Suspects:
    """Each part beside its share, in the order in which they were given.

    Attributes:
        expected: events that its exposure lets expect, shape ``(n,)``.
        p: chance of as many or more, shape ``(n,)``.
        q: false discovery rate at which it would be called suspect, shape ``(n,)``.
        suspect: it is called so, shape ``(n,)``.
    """

    expected: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    suspect: NDArray[np.bool_]


def find_suspects(
    counts: ArrayLike, exposures: ArrayLike, q: float = FALSE_DISCOVERY, levels: int = 1
) -> Suspects:
    """Test every part against the null that all fail alike, at a stated false discovery rate.

    Given the number of all events, that of one part is binomial with its share of the exposure.
    Parts without an event have p = 1 and count among the tests.

    Args:
        counts: events of each part, whole numbers, shape ``(n,)``.
        exposures: exposure of each, any unit, positive, shape ``(n,)``.
        q: false discovery rate over all levels.
        levels: kinds of part that are tested beside each other; each gets ``q/levels``.

    Raises:
        ValueError: shapes differ, a count is negative or not whole, or an exposure is not positive
            and finite.

    Source: conditional test of Poisson rates (Przyborowski and Wilenski 1940); Benjamini and
    Hochberg 1995. Counts are discrete and depend on each other negatively; both only make the
    test milder.

    >>> found = find_suspects([6, 1, 1, 0], [10, 10, 10, 10])
    >>> found.p.round(5).tolist(), found.suspect.tolist()
    ([0.00423, 0.89989, 0.89989, 1.0], [True, False, False, False])
    """
    k = np.asarray(counts, dtype=np.float64).ravel()
    e = np.asarray(exposures, dtype=np.float64).ravel()
    if k.size != e.size:
        raise ValueError("every part needs a count and an exposure")
    if not (np.isfinite(e) & (e > 0.0)).all():
        raise ValueError("exposures must be positive finite numbers")
    if not ((k >= 0.0) & (k == np.floor(k))).all():
        raise ValueError("counts must be whole numbers, 0 or more")
    total = int(k.sum())
    shares = e / e.sum() if e.size else e
    p = np.array(
        [binomial_tail(int(n), total, float(share)) for n, share in zip(k, shares, strict=True)]
    )
    qs = np.minimum(q_values(p) * levels, 1.0)
    return Suspects(total * shares, p, qs, (qs <= q) & (k > 0))


def binomial_tail(k: int, n: int, share: float) -> float:
    """Give the chance of k or more of n, each with the same chance.

    Args:
        k: so many or more.
        n: of so many.
        share: chance of each, 0 to 1.

    Raises:
        ValueError: a number is out of range.

    >>> round(binomial_tail(2, 3, 0.5), 6)
    0.5
    """
    if not (0 <= k <= n and 0.0 <= share <= 1.0):
        raise ValueError("k must be at most n, and the chance between 0 and 1")
    if k == 0 or share == 1.0:
        return 1.0
    if share == 0.0:
        return 0.0
    if k <= n * share:  # the lower sum, which is not the small one
        return max(0.0, 1.0 - _sum_down(k - 1, n, share))
    term = _term(k, n, share)
    total = term
    for i in range(k, n):
        term *= (n - i) / (i + 1) * share / (1.0 - share)
        total += term
        if term < _SMALL * total:
            break
    return min(1.0, total)


def _term(k: int, n: int, share: float) -> float:
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + k * math.log(share) + (n - k) * math.log1p(-share))


def _sum_down(k: int, n: int, share: float) -> float:
    term = _term(k, n, share)
    total = term
    for i in range(k, 0, -1):
        term *= i / (n - i + 1) * (1.0 - share) / share
        total += term
        if term < _SMALL * total:
            break
    return total
