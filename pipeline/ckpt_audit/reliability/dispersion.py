"""An interval of the mean time that holds where failures come in bursts.

The exact interval takes counts as Poisson. Bursts, episodes and uneven gaps make them vary more; by
how much is phi, the variance over the mean of the counts in windows of equal exposure. Events and
exposure are divided by it: a burst of three says little more than one event. phi from few windows
is itself unsure, and the interval allows for that too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ckpt_audit.reliability.rate import MeanTime, mean_time

FEWEST: Final = 5  # events below which the spread of counts says nothing
_LEAST, _MOST = 10, 20  # windows
_PER_WINDOW: Final = 2.0
LEVEL: Final = 0.05
WIDEN: Final = 0.2  # p of phi from which the interval allows for bursts: they are easily missed
DRAWS: Final = 1999


@dataclass(frozen=True)
class Dispersion:
    """How much more counts vary than those of a constant rate.

    Attributes:
        n: events.
        windows: windows of equal exposure that they were counted in.
        phi: variance over mean of the counts; 1 for a constant rate, below 1 for a clockwork.
        p: chance of as large a phi under a constant rate; exact but for the number of draws.
    """

    n: int
    windows: int
    phi: float
    p: float


def dispersion(
    strata: Sequence[tuple[ArrayLike, float]], seed: int = 0, draws: int = DRAWS
) -> Dispersion | None:
    """Measure the spread of counts over equal parts of the exposure.

    Args:
        strata: moments and length of the clock of each run or epoch; clocks are put end to end.
        seed: of the draws; the same seed gives the same p.
        draws: simulated sequences.

    Returns:
        The spread; None with fewer than five events.

    Raises:
        ValueError: a length is not positive and finite, or a moment lies outside its clock.

    Source: Cox and Lewis 1966, section 6.3; given their number, events of a constant rate fall
    uniformly, so counts are multinomial.

    >>> found = dispersion([([1, 1, 1, 1, 1, 1], 10.0)])
    >>> found.windows, round(found.phi, 2)
    (10, 6.0)
    """
    clock, total = _joined(strata)
    n = clock.size
    if n < FEWEST:
        return None
    windows = int(min(_MOST, max(_LEAST, n // _PER_WINDOW)))
    counts = np.bincount(np.minimum((clock / total * windows).astype(int), windows - 1))
    phi = _phi(np.pad(counts, (0, windows - counts.size)))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, np.full(windows, 1.0 / windows), size=draws)
    by_chance = drawn.var(axis=1, ddof=1) / (n / windows)
    p = (1.0 + float((by_chance >= phi * (1.0 - 1e-9)).sum())) / (draws + 1.0)
    return Dispersion(n, windows, phi, p)


def robust_mean_time(
    incidents: int, exposure_s: float, spread: Dispersion | None, confidence: float = 0.95
) -> MeanTime:
    """Estimate the mean time between incidents with an interval that allows for bursts.

    Args:
        incidents: events in the exposure.
        exposure_s: seconds of up-time in which one could have struck.
        spread: of the counts; None leaves the exact interval as it is.
        confidence: of the interval, as a fraction.

    Returns:
        The point estimates of `mean_time`; the interval contains the exact one.

    Raises:
        ValueError: as `mean_time`.

    Source: quasi-Poisson (McCullagh and Nelder 1989, section 6.2): the log of the rate has the
    variance phi/r, and Student's law with one degree of freedom less than windows, since phi is
    estimated.
    """
    exact = mean_time(incidents, exposure_s, confidence)
    if spread is None or spread.phi <= 1.0 or exact.m_s is None:
        return exact
    from scipy import special

    t = float(special.stdtrit(spread.windows - 1, 0.5 + confidence / 2.0))
    phi = spread.phi
    effective = mean_time_of_fraction(incidents / phi, exposure_s / phi, confidence)
    factor = math.exp(t * math.sqrt(phi / incidents))
    return MeanTime(
        m_s=exact.m_s,
        m_used_s=exact.m_used_s,
        low_s=min(exact.low_s, effective[0], exact.m_s / factor),
        high_s=max(exact.high_s, effective[1], exact.m_s * factor),
        confidence=confidence,
        incidents=incidents,
        exposure_s=exposure_s,
        method="overdispersed",
    )


def mean_time_of_fraction(
    events: float, exposure_s: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Give the exact interval for a number of events that need not be whole.

    Args:
        events: more than 0.
        exposure_s: exposure, divided as the events were.
        confidence: as a fraction.
    """
    from scipy import special

    tail = (1.0 - confidence) / 2.0
    return (
        exposure_s / float(special.gammainccinv(events + 1.0, tail)),
        exposure_s / float(special.gammaincinv(events, tail)),
    )


def _phi(counts: NDArray[np.int64]) -> float:
    return float(counts.var(ddof=1) / counts.mean())


def _joined(strata: Sequence[tuple[ArrayLike, float]]) -> tuple[NDArray[np.float64], float]:
    """Put clocks end to end."""
    parts, total = [], 0.0
    for moments, length in strata:
        clock = np.asarray(moments, dtype=np.float64).ravel()
        if not (math.isfinite(length) and length > 0.0):
            raise ValueError(f"the clock must have a positive finite length, got {length}")
        if clock.size and not (clock.min() >= 0.0 and clock.max() <= length):
            raise ValueError("a moment lies outside the clock")
        parts.append(clock + total)
        total += length
    return (np.concatenate(parts) if parts else np.zeros(0)), total
