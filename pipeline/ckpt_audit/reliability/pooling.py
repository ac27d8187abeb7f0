"""Runs and epochs of different size: may their rates be pooled, and what M has another size?

Three questions in turn. Does one rate per accelerator-hour fit all? Does the rate of a job grow
with its accelerators as one to one (a slope of 1 on logarithms)? And what does that say of a job of
another size, with its interval? Where one rate does not fit, the interval is widened by how much it
does not, and far from any size that was seen it is said to be an extrapolation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.reliability.dispersion import mean_time_of_fraction
from ckpt_audit.reliability.drift import drift

Floats = NDArray[np.float64]
LEVEL: Final = 0.05
FEWEST: Final = 10  # events below which nothing is tested
_STEPS: Final = 60
_FAR: Final = 2.0


@dataclass(frozen=True)
class Stretch:
    """A run, or an epoch of one, of one size.

    Attributes:
        events: seen.
        exposure_h: hours of up-time.
        accelerators: of the job.
    """

    events: int
    exposure_h: float
    accelerators: int


@dataclass(frozen=True)
class Slope:
    """How the rate of a job grows with its size.

    Attributes:
        slope: of log rate on log accelerators; 1 is proportional.
        low, high: its interval.
        p_proportional: of a slope of 1.
        phi: Pearson's chi-square over its degrees of freedom, 1 at least; the interval allows
            for it.
    """

    slope: float
    low: float
    high: float
    p_proportional: float
    phi: float


@dataclass(frozen=True)
class Pooled:
    """One rate for stretches of several sizes.

    Attributes:
        events: in all.
        exposure_acc_h: accelerator-hours in all.
        per_1000_acc_h: incidents per 1,000 accelerator-hours; None with no event.
        low, high: its interval, widened where one rate does not fit; low is 0 with no event.
        p_same: of one rate per accelerator-hour for all; None with too few events or one stretch.
        phi: Pearson's chi-square over its degrees of freedom, 1 at least.
        pooled: whether pooling is not objected to.
        slope: on size; None with one size or fewer than ten events.
    """

    events: int
    exposure_acc_h: float
    per_1000_acc_h: float | None
    low: float
    high: float
    p_same: float | None
    phi: float
    pooled: bool
    slope: Slope | None


@dataclass(frozen=True)
class Projection:
    """M of a job of another size.

    Attributes:
        accelerators: of that job.
        m_h: mean hours of up-time between incidents; None with no event.
        low_h, high_h: its interval; no upper end (infinite) with no event.
        far: more than twice, or less than half, of any size that was seen.
        proportional: the rate was taken to grow as accelerators do; else the fitted slope was used.
    """

    accelerators: int
    m_h: float | None
    low_h: float
    high_h: float
    far: bool
    proportional: bool


def pool(stretches: Sequence[Stretch], confidence: float = 0.95, seed: int = 0) -> Pooled:
    """Pool stretches per accelerator-hour, and test whether that may be done.

    Args:
        stretches: at least one with exposure and accelerators.
        confidence: of the interval, as a fraction.
        seed: of the test's draws.

    Raises:
        ValueError: there is none, or a number is out of range.

    Source: Poisson counts with offset log(accelerator-hours); Pearson's chi-square over its
    degrees of freedom as scale (McCullagh and Nelder 1989).

    >>> found = pool([Stretch(10, 1000, 8), Stretch(20, 1000, 16)])
    >>> round(found.per_1000_acc_h, 2), found.pooled
    (1.25, True)
    """
    n, hours, size = _arrays(stretches)
    e = hours * size
    total, exposure = int(n.sum()), float(e.sum())
    tested = drift([int(x) for x in n], e.tolist(), seed)
    expected = total * e / exposure
    pearson = float(((n - expected) ** 2 / expected).sum()) if total else 0.0
    phi = max(1.0, pearson / (n.size - 1)) if n.size > 1 and total >= FEWEST else 1.0
    pooled = tested.p is None or tested.p > LEVEL
    scale = 1.0 if pooled else phi
    m_low, m_high = _interval(total, exposure, scale, confidence)
    return Pooled(
        events=total,
        exposure_acc_h=exposure,
        per_1000_acc_h=1000.0 * total / exposure if total else None,
        low=1000.0 / m_high,
        high=1000.0 / m_low,
        p_same=tested.p,
        phi=phi,
        pooled=pooled,
        slope=size_slope(stretches, confidence),
    )


def size_slope(stretches: Sequence[Stretch], confidence: float = 0.95) -> Slope | None:
    """Fit how the rate of a job grows with its accelerators.

    Args:
        stretches: of two sizes or more.
        confidence: of the interval, as a fraction.

    Returns:
        The slope; None with one size, fewer than ten events, or events of one size only.

    Raises:
        ValueError: as `pool`.

    Source: Poisson regression with log link and offset log(hours), by iterated weighted least
    squares; the interval is normal, or Student's with phi where counts vary more than chance.
    """
    n, hours, size = _arrays(stretches)
    struck = size[n > 0]
    if n.sum() < FEWEST or np.unique(size).size < 2 or np.unique(struck).size < 2:
        return None
    line = _regress(n, hours, size, confidence)
    error, slope = math.sqrt(line.covariance[1, 1]), float(line.beta[1])
    from scipy import special

    score = abs(slope - 1.0) / error
    wide = line.phi > 1.0
    p = 2.0 * float(special.stdtr(line.df, -score)) if wide else math.erfc(score / math.sqrt(2.0))
    reach = line.quantile * error
    return Slope(slope, slope - reach, slope + reach, p, line.phi)


@dataclass(frozen=True)
class _Line:
    """Log rate on log size: coefficients about the middle size, and their covariance."""

    beta: Floats
    covariance: Floats
    middle: float
    phi: float
    df: int
    quantile: float


def _regress(n: Floats, hours: Floats, size: Floats, confidence: float) -> _Line:
    from scipy import special

    middle = float(np.log(size).mean())
    x = np.log(size) - middle
    design = np.column_stack([np.ones_like(x), x])
    beta = np.array([math.log(float(n.sum()) / float(hours.sum())), 0.0])
    for _ in range(_STEPS):
        mu = hours * np.exp(design @ beta)
        step = np.linalg.solve(design.T @ (design * mu[:, None]), design.T @ (n - mu))
        beta = beta + np.clip(step, -2.0, 2.0)
        if float(np.abs(step).max()) < 1e-12:
            break
    mu = hours * np.exp(design @ beta)
    df = n.size - 2
    phi = max(1.0, float(((n - mu) ** 2 / mu).sum()) / df) if df else 1.0
    covariance = phi * np.linalg.inv(design.T @ (design * mu[:, None]))
    tail = 0.5 + confidence / 2.0
    quantile = float(special.stdtrit(df, tail)) if phi > 1.0 else float(special.ndtri(tail))
    return _Line(beta, covariance, middle, phi, df, quantile)


def project(
    stretches: Sequence[Stretch], accelerators: int, confidence: float = 0.95, seed: int = 0
) -> Projection:
    """Give the M that a job of another size is to have.

    Args:
        stretches: what was seen.
        accelerators: of the job.
        confidence: of the interval, as a fraction.
        seed: of the test's draws.

    Raises:
        ValueError: as `pool`; or the job has no accelerators.

    Source: rate per accelerator-hour times accelerators. Where several sizes were seen the fitted
    slope gives another answer; the interval holds both, since a test that does not object to a
    slope of 1 does not prove it, and far away a small difference is large. Where the slope is not
    1 the fitted one alone counts.

    >>> found = project([Stretch(10, 1000, 8), Stretch(20, 1000, 16)], 32)
    >>> round(found.m_h, 6), found.far
    (25.0, False)
    """
    if accelerators < 1:
        raise ValueError(f"a job has at least one accelerator, got {accelerators}")
    found = pool(stretches, confidence, seed)
    n, hours, size = _arrays(stretches)
    far = accelerators > _FAR * size.max() or accelerators < size.min() / _FAR
    straight = found.slope is None or found.slope.p_proportional > LEVEL
    m = None
    if found.per_1000_acc_h is not None:
        m = 1000.0 / found.per_1000_acc_h / accelerators
    low = 1000.0 / found.high / accelerators
    high = 1000.0 / found.low / accelerators if found.low > 0.0 else math.inf
    if found.slope is not None:
        line = _regress(n, hours, size, confidence)
        at = np.array([1.0, math.log(accelerators) - line.middle])
        fitted = math.exp(-float(at @ line.beta))
        reach = math.exp(line.quantile * math.sqrt(float(at @ line.covariance @ at)))
        if straight:
            low, high = min(low, fitted / reach), max(high, fitted * reach)
        else:
            m, low, high = fitted, fitted / reach, fitted * reach
    return Projection(accelerators, m, low, high, bool(far), straight)


def _interval(events: int, exposure: float, phi: float, confidence: float) -> tuple[float, float]:
    if events == 0:
        return exposure / -math.log(1.0 - confidence), math.inf
    return mean_time_of_fraction(events / phi, exposure / phi, confidence)


def _arrays(stretches: Sequence[Stretch]) -> tuple[Floats, Floats, Floats]:
    if not stretches:
        raise ValueError("there is nothing to pool")
    n = np.array([item.events for item in stretches], dtype=np.float64)
    hours = np.array([item.exposure_h for item in stretches], dtype=np.float64)
    size = np.array([item.accelerators for item in stretches], dtype=np.float64)
    if not (
        (n >= 0).all() and np.isfinite(hours).all() and (hours > 0).all() and (size >= 1).all()
    ):
        raise ValueError(
            "events must be 0 or more, hours positive and finite, accelerators 1 or more"
        )
    return n, hours, size
