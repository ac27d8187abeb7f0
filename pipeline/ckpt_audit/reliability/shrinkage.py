"""Rates of many domains at once, each drawn towards the rate of all by as much as they agree.

The rate of a domain with few events is mostly noise. Taking the rate of all instead makes domains
that do fail more often look as if their events came in clusters. The gamma-Poisson model lies
between, and the counts themselves say where.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LEAST, _MOST = 1e-3, 1e6  # shape of the gamma law: domains quite unlike, domains alike
_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True)
class ShrunkRates:
    """Rates of domains under one gamma law.

    Attributes:
        shape: of the gamma law of rates; the coefficient of variation of the true rates is
            ``1/sqrt(shape)``. `math.inf` where the counts do not speak of any difference.
        scale: exposure that the law counts for beside a domain's own, in the unit of exposure.
        pooled: events over exposure of all domains.
        rates: mean rate of each domain given its count, shape ``(n,)``, events per unit.
    """

    shape: float
    scale: float
    pooled: float
    rates: NDArray[np.float64]


def shrunk_rates(counts: ArrayLike, exposures: ArrayLike) -> ShrunkRates:
    """Estimate the rates of domains from their counts and exposures.

    Args:
        counts: events of each domain, shape ``(n,)``.
        exposures: exposure of each, any unit, positive, shape ``(n,)``.

    Raises:
        ValueError: shapes differ, there is no domain, a count is negative or an exposure is not a
            positive finite number.

    Source: the rate of a domain is Gamma(a, b) with b = a over the pooled rate, so that counts are
    negative binomial; a maximises their likelihood, and a domain's rate is (a + n)/(b + E)
    (Robbins 1956; Gaver and O'Muircheartaigh 1987, Technometrics 29(1)).

    >>> found = shrunk_rates([2, 3, 14, 5, 0], [100, 200, 150, 400, 80])
    >>> round(found.shape, 4), round(found.scale, 3), round(float(found.rates[2]), 6)
    (1.1673, 45.232, 0.077689)
    """
    n = np.asarray(counts, dtype=np.float64).ravel()
    e = np.asarray(exposures, dtype=np.float64).ravel()
    if n.size != e.size or n.size == 0:
        raise ValueError("every domain needs a count and an exposure")
    if not (np.isfinite(e) & (e > 0.0)).all():
        raise ValueError("exposures must be positive finite numbers")
    if not (np.isfinite(n) & (n >= 0.0)).all():
        raise ValueError("counts cannot be negative")
    pooled = float(n.sum() / e.sum())
    shape = likeliest_shape(n, e, pooled) if pooled > 0.0 and n.size > 1 else math.inf
    if math.isinf(shape):
        return ShrunkRates(math.inf, math.inf, pooled, np.full(n.size, pooled))
    scale = shape / pooled
    return ShrunkRates(shape, scale, pooled, (shape + n) / (scale + e))


def likeliest_shape(
    counts: NDArray[np.float64],
    exposures: NDArray[np.float64],
    pooled: float,
    caution: float = 0.0,
) -> float:
    """Maximise the negative binomial likelihood of counts over the shape of the law of rates.

    Args:
        counts: events of each domain, shape ``(n,)``, at least one in all.
        exposures: exposure of each, positive, shape ``(n,)``.
        pooled: events over exposure of all; the mean of the law.
        caution: how far the log-likelihood may be below its best for the smallest shape that is
            taken; 0 takes the likeliest.

    Returns:
        The shape; `math.inf` where the likelihood rises as far as is looked.
    """
    likelihood = _likelihood(counts, exposures, pooled)
    low, high = math.log(_LEAST), math.log(_MOST)
    best = _maximum(likelihood, np.linspace(low, high, 43))
    if caution <= 0.0:
        return math.inf if best >= high else math.exp(best)
    level, high = likelihood(best) - caution, best
    while high - low > 1e-6:
        middle = (low + high) / 2.0
        if likelihood(middle) < level:
            low = middle
        else:
            high = middle
    return math.exp(high)


def _likelihood(
    n: NDArray[np.float64], e: NDArray[np.float64], pooled: float
) -> Callable[[float], float]:
    """Return the log-likelihood as a function of the logarithm of the shape."""
    # ln Γ(a + n) - ln Γ(a) is a sum of ln(a + k) over k < n: domains with more than k events
    above = np.array([float((n > k).sum()) for k in range(int(n.max()))])
    k = np.arange(above.size)

    def likelihood(log_a: float) -> float:
        a = math.exp(log_a)
        b = a / pooled
        share = b / (b + e)
        held = a * np.log(share).sum() + (n * np.log1p(-share)).sum()
        return float((above * np.log(a + k)).sum() + held)

    return likelihood


def _maximum(function: Callable[[float], float], grid: NDArray[np.float64]) -> float:
    """Return the place of the maximum by a coarse grid, then a golden section; may be its end."""
    best = int(np.argmax([function(at) for at in grid]))
    if best == grid.size - 1:
        return float(grid[-1])
    left, right = float(grid[max(0, best - 1)]), float(grid[best + 1])
    while right - left > 1e-9:
        step = _GOLDEN * (right - left)
        if function(right - step) < function(left + step):
            left = right - step
        else:
            right = left + step
    return (left + right) / 2.0
