"""Costs that were measured: their tail, how sure their mean is, and whether they have changed.

Costs are skewed: what they add up to is the mean, which a few long ones decide. The empirical law
is shown beside a lognormal one, which is tested; a fit that the values refuse is said to be none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ckpt_audit.reliability.levels import LEVEL
from ckpt_audit.reliability.sample import Sample, finite_values, summarise

Floats = NDArray[np.float64]

FEWEST_FOR_MEAN: Final = 5  # values below which the mean has no interval
FEWEST_FOR_LAW: Final = 10  # positive values, of which at least five differ
FEWEST_FOR_CHANGE: Final = 20
MOST: Final = 2000  # values that are looked at; more are thinned evenly in time
DRAWS: Final = 999
_EDGE: Final = 5  # a change leaves at least so many values on either side


@dataclass(frozen=True)
class Lognormal:
    """A lognormal law fitted to positive values.

    Attributes:
        n: values that it rests on.
        zeros: values of 0, which it cannot hold, left out.
        median: of the law, in the unit of the values.
        sigma: of the logarithms.
        mean: of the law.
        p99: of the law.
        p: of the values' distance from such a law; small where they are not of one.
        fits: the distance is not significant.
    """

    n: int
    zeros: int
    median: float
    sigma: float
    mean: float
    p99: float
    p: float
    fits: bool


@dataclass(frozen=True)
class Shift:
    """The likeliest single change of level.

    Attributes:
        place: number of values before it.
        before, after: medians on either side.
        p: of a change as clear as this anywhere, if the order means nothing.
        significant: p is at most the level of tests.
    """

    place: int
    before: float
    after: float
    p: float
    significant: bool


@dataclass(frozen=True)
class Drift:
    """Whether values rise or fall with time.

    Attributes:
        tau: Kendall's rank correlation with the order, -1 to 1.
        p: two-sided, by permutation.
        significant: p is at most the level of tests.
    """

    tau: float
    p: float
    significant: bool


@dataclass(frozen=True)
class CostLaw:
    """One cost: what was measured, and what can be said of it.

    Attributes:
        sample: the values themselves.
        mean_low, mean_high: ends of a 95 % interval of the mean; None with too few values.
        tail_share: share of the sum that the largest tenth of the values makes up; None likewise.
        lognormal: the fitted law; None with too few positive values.
        drift, shift: None with too few values.
    """

    sample: Sample
    mean_low: float | None = None
    mean_high: float | None = None
    tail_share: float | None = None
    lognormal: Lognormal | None = None
    drift: Drift | None = None
    shift: Shift | None = None


def cost_law(values: ArrayLike, *, seed: int = 0) -> CostLaw:
    """Describe a cost.

    Args:
        values: in order of time, shape ``(n,)``, any unit, not negative; n may be 0.
        seed: of the resamples and permutations; the same seed gives the same answer.

    Raises:
        ValueError: a value is not finite, or negative.

    >>> cost_law([30.0, 31.0, 29.0]).mean_low is None
    True
    """
    array = finite_values(values)
    if (array < 0.0).any():
        raise ValueError("a cost cannot be negative")
    sample = summarise(array)
    if array.size < FEWEST_FOR_MEAN:
        return CostLaw(sample)
    rng = np.random.default_rng(seed)
    looked_at = _thinned(array)
    low, high = _mean_interval(looked_at, rng)
    total = float(array.sum())
    largest = np.sort(array)[-math.ceil(array.size / 10) :]
    can_change = looked_at.size >= FEWEST_FOR_CHANGE and np.unique(looked_at).size > 1
    return CostLaw(
        sample=sample,
        mean_low=low,
        mean_high=high,
        tail_share=float(largest.sum()) / total if total > 0.0 else None,
        lognormal=fit_lognormal(looked_at, rng),
        drift=_drift(looked_at, rng) if can_change else None,
        shift=_shift(looked_at, array.size / looked_at.size, rng) if can_change else None,
    )


def _thinned(values: Floats) -> Floats:
    """At most so many values, evenly in time: the cost of a test must not grow with the log."""
    if values.size <= MOST:
        return values
    return values[np.linspace(0, values.size - 1, MOST).round().astype(np.int64)]


def _mean_interval(values: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """Give the studentised bootstrap interval of the mean.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, ch. 12. It allows for skew
    where a percentile interval does not; where all values are equal it is that value.
    """
    n, mean = values.size, float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(n)
    if error == 0.0:
        return mean, mean
    drawn = values[rng.integers(0, n, (DRAWS, n))]
    spread = drawn.std(axis=1, ddof=1) / math.sqrt(n)
    usable = spread > 0.0
    t = (drawn.mean(axis=1)[usable] - mean) / spread[usable]
    if t.size < DRAWS // 2:
        t = np.array([-4.0, 4.0])  # nearly all values are equal: nothing narrower can be said
    upper, lower = np.quantile(t, [0.975, 0.025]).tolist()
    return max(0.0, mean - upper * error), mean - lower * error


def fit_lognormal(values: Floats, rng: np.random.Generator) -> Lognormal | None:
    """Fit a lognormal law and test it.

    Args:
        values: not negative, shape ``(n,)``.
        rng: of the test's draws.

    Returns:
        The law; None with fewer than ten positive values, or fewer than five different ones.

    Source: maximum likelihood of the logarithms; Anderson-Darling distance with the law of the
    distance under fitted parameters by parametric bootstrap (Stephens 1974, JASA 69).
    """
    positive = values[values > 0.0]
    if positive.size < FEWEST_FOR_LAW or np.unique(positive).size < 5:
        return None
    logs = np.log(positive)
    mu, sigma = float(logs.mean()), float(logs.std(ddof=1))
    if sigma == 0.0:
        return None
    standard = rng.standard_normal((DRAWS // 3, logs.size))
    distances = _anderson_darling(standard)
    distance = float(_anderson_darling(logs[None, :])[0])
    p = (1 + int(np.count_nonzero(distances >= distance))) / (distances.size + 1)
    return Lognormal(
        n=int(positive.size),
        zeros=int(values.size - positive.size),
        median=math.exp(mu),
        sigma=sigma,
        mean=math.exp(mu + sigma**2 / 2.0),
        p99=math.exp(mu + 2.3263478740408408 * sigma),
        p=p,
        fits=p > LEVEL,
    )


def _anderson_darling(samples: Floats) -> Floats:
    """Distance of each row from a normal law with the row's own mean and deviation."""
    from scipy import special  # slow to import, and only needed here

    n = samples.shape[1]
    center = samples.mean(axis=1, keepdims=True)
    spread = samples.std(axis=1, ddof=1, keepdims=True)
    z = np.sort((samples - center) / spread, axis=1)
    weights = 2.0 * np.arange(1, n + 1) - 1.0
    both = special.log_ndtr(z) + special.log_ndtr(-z[:, ::-1])
    return np.asarray(-n - (weights * both).sum(axis=1) / n, dtype=np.float64)


def _drift(values: Floats, rng: np.random.Generator) -> Drift:
    """Give Kendall's tau of value against order, with its permutation p.

    Source: Kendall 1938 (Biometrika 30); ties count for neither side.
    """
    ranks = _thin_ranks(values)
    tau = float(_tau(ranks[None, :])[0])
    shuffled = rng.permuted(np.tile(ranks, (DRAWS // 3, 1)), axis=1)
    p = (1 + int(np.count_nonzero(np.abs(_tau(shuffled)) >= abs(tau) - 1e-12))) / (DRAWS // 3 + 1)
    return Drift(tau, p, p <= LEVEL)


def _thin_ranks(values: Floats, most: int = 200) -> Floats:
    """Ranks of block medians: the test is of slow change, and pairs grow with the square."""
    if values.size > most:
        values = np.array([np.median(block) for block in np.array_split(values, most)])
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.float64)


def _tau(rows: Floats) -> Floats:
    n = rows.shape[1]
    concordant = np.zeros(rows.shape[0])
    for lag in range(1, n):
        concordant += np.sign(rows[:, lag:] - rows[:, :-lag]).sum(axis=1)
    return np.asarray(2.0 * concordant / (n * (n - 1)), dtype=np.float64)


def _shift(values: Floats, scale: float, rng: np.random.Generator) -> Shift:
    """Give the likeliest single change of level, by ranks.

    Args:
        values: thinned, in order of time.
        scale: values measured for each of these.
        rng: of the permutations.

    Source: largest standardised sum of ranks over all places (Pettitt 1979, Appl. Stat. 28), its p
    by permutation.
    """
    order = np.argsort(values, kind="stable")
    ranks = np.empty(values.size)
    ranks[order] = np.arange(1.0, values.size + 1.0)
    unique, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    sums = np.bincount(inverse, weights=ranks, minlength=unique.size)
    ranks = (sums / counts)[inverse]
    observed = _standardised(ranks[None, :])[0]
    place = int(np.argmax(observed)) + _EDGE
    shuffled = rng.permuted(np.tile(ranks, (DRAWS // 3, 1)), axis=1)
    highest = _standardised(shuffled).max(axis=1)
    p = (1 + int(np.count_nonzero(highest >= observed.max() - 1e-12))) / (highest.size + 1)
    before, after = float(np.median(values[:place])), float(np.median(values[place:]))
    return Shift(round(place * scale), before, after, p, p <= LEVEL)


def _standardised(rows: Floats) -> Floats:
    """Distance of the sum of the first k ranks from its mean, in deviations, for each k."""
    n = rows.shape[1]
    k = np.arange(_EDGE, n - _EDGE + 1, dtype=np.float64)
    sums = np.cumsum(rows, axis=1)[:, _EDGE - 1 : n - _EDGE]
    mean = k * (n + 1) / 2.0
    variance = rows.var(axis=1, keepdims=True) * k * (n - k) / (n - 1)
    return np.asarray(np.abs(sums - mean) / np.sqrt(np.maximum(variance, 1e-12)))
