"""A rate that changes as a power of the up-time: its growth, and the rate now.

The power-law process (Crow 1974, "AMSAA"): the expected number of events up to t is (t/theta)^beta.
beta below 1 means that failures become rarer. A trend that is significant does not switch the rate
over at once: `blended_m` weighs the constant rate and the power law by how well each explains the
data, so that a trend just found moves it a little and an overwhelming one all the way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Truncation = Literal["time", "failure"]


@dataclass(frozen=True)
class PowerLaw:
    """A power-law process fitted to one clock, or to several with a common beta.

    Attributes:
        n: events.
        beta: growth; 1 is a constant rate.
        beta_unbiased: corrected for the bias of few events; None where there are too few.
        beta_low, beta_high: exact interval of beta.
        m_now_s: exposure between events at the end of the clock, from beta; unit of the clock.
        m_constant_s: that of a constant rate.
        weight: Akaike weight of the power law against a constant rate, 0 to 1.
        blended_m_s: mean exposure between events at the end, of the two rates so weighted.
    """

    n: int
    beta: float
    beta_unbiased: float | None
    beta_low: float
    beta_high: float
    m_now_s: float
    m_constant_s: float
    weight: float
    blended_m_s: float


def power_law(
    clock_s: ArrayLike,
    exposure_s: float,
    truncation: Truncation = "time",
    confidence: float = 0.95,
) -> PowerLaw | None:
    """Fit a power-law process to one sequence of events.

    Args:
        clock_s: moments on the clock of up-time, shape ``(n,)``. Moments at 0 have no likelihood
            under this law and count as no event of the fit.
        exposure_s: length of the clock.
        truncation: ``failure`` where observation ended at the last event.
        confidence: of the interval of beta, as a fraction.

    Returns:
        The fit; None with fewer than two events after 0 (three, where the last one ended it).

    Raises:
        ValueError: the length or the confidence is out of range, or a moment outside the clock.

    Source: Crow 1974; MIL-HDBK-189C, section 5: 2 n beta / beta_hat is chi-square with 2n degrees
    of freedom (2(n-1) with failure truncation).

    >>> fit = power_law([5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478], 1500)
    >>> round(fit.beta, 6), round(fit.beta_unbiased, 6), round(fit.m_now_s, 3)
    (0.537229, 0.483506, 279.211)
    """
    return pooled_power_law([(clock_s, exposure_s)], truncation, confidence)


def pooled_power_law(
    strata: Sequence[tuple[ArrayLike, float]],
    truncation: Truncation = "time",
    confidence: float = 0.95,
) -> PowerLaw | None:
    """Fit a common beta to several clocks, each of which has a scale of its own.

    ``m_now_s`` is that of the last one, whose end is now; where it has no event, of all together.

    Args:
        strata: moments and length of each clock, in the order of time.
        truncation: as in `power_law`, for each.
        confidence: of the interval of beta, as a fraction.

    Returns:
        As `power_law`.

    Raises:
        ValueError: as `power_law`.

    Source: Crow 1974, section on several systems; likelihoods of the strata add.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    counts, logs = [], 0.0
    for moments, length in strata:
        clock = np.asarray(moments, dtype=np.float64).ravel()
        if not (math.isfinite(length) and length > 0.0):
            raise ValueError(f"the clock must have a positive finite length, got {length}")
        if clock.size and not (clock.min() >= 0.0 and clock.max() <= length):
            raise ValueError("a moment lies outside the clock")
        clock = clock[clock > 0.0]
        counts.append(int(clock.size))
        logs += float(np.log(length / clock).sum()) if clock.size else 0.0
    n, fixed = sum(counts), (truncation == "failure") * sum(count > 0 for count in counts)
    if n - fixed < 2 or logs <= 0.0:
        return None
    return _fitted(strata, counts, logs, n - fixed, confidence)


def _fitted(
    strata: Sequence[tuple[ArrayLike, float]],
    counts: Sequence[int],
    logs: float,
    free: int,
    confidence: float,
) -> PowerLaw:
    from scipy import special

    n = sum(counts)
    beta = n / logs
    tail = (1.0 - confidence) / 2.0
    low, high = (float(special.chdtri(2 * free, p)) for p in (1.0 - tail, tail))
    total, last = sum(length for _, length in strata), strata[-1][1]
    constant = last / counts[-1] if counts[-1] else total / n
    # log-likelihoods differ by n log(beta) + (beta - 1) sum log(t/T); one parameter more
    gain = n * math.log(beta) - (beta - 1.0) * logs
    weight = 1.0 / (1.0 + math.exp(min(700.0, 1.0 - gain)))
    return PowerLaw(
        n=n,
        beta=beta,
        beta_unbiased=beta * (free - 1) / n if free > 1 else None,
        beta_low=beta * low / (2.0 * n),
        beta_high=beta * high / (2.0 * n),
        m_now_s=constant / beta,
        m_constant_s=constant,
        weight=weight,
        blended_m_s=1.0 / (weight * beta / constant + (1.0 - weight) / constant),
    )
