"""Mean time between incidents, rates and counts to expect, each with an exact interval.

All of it takes a number of incidents and the exposure in which they could strike, and assumes a
constant rate over that exposure (a Poisson process). Exposure is up-time for the mean time of a
job, accelerator time for rates of different sizes, calendar time for "one per X hours".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Truncation = Literal["time", "failure"]


@dataclass(frozen=True)
class MeanTime:
    """Mean time between incidents.

    Attributes:
        m_s: exposure over incidents, seconds; None with no incident.
        m_used_s: exposure over (incidents + 1/2), seconds: what an interval is computed from.
        low_s: lower end, seconds.
        high_s: upper end, seconds; infinite with no incident.
        confidence: of the interval, as a fraction; one-sided with no incident.
        incidents: events counted.
        exposure_s: seconds in which one could have struck.
        method: ``time-truncated``, ``failure-truncated`` or ``one-sided bound``.
    """

    m_s: float | None
    m_used_s: float
    low_s: float
    high_s: float
    confidence: float
    incidents: int
    exposure_s: float
    method: str


@dataclass(frozen=True)
class Rate:
    """Incidents per 1,000 accelerator-hours, with its interval.

    Attributes:
        value: the point estimate (0 with no incident).
        low: lower end.
        high: upper end.
        confidence: of the interval, as a fraction; one-sided with no incident.
        incidents: events counted.
        exposure_acc_h: accelerator-hours in which one could have struck.
    """

    value: float
    low: float
    high: float
    confidence: float
    incidents: int
    exposure_acc_h: float


@dataclass(frozen=True)
class PredictiveCount:
    """Number of incidents to expect in a further exposure.

    Attributes:
        mean: expected number.
        low: smallest count of the interval.
        high: largest count of the interval; both ends belong to it.
        level: probability that the interval is meant to hold, as a fraction.
    """

    mean: float
    low: int
    high: int
    level: float


def mean_time(
    incidents: int,
    exposure_s: float,
    confidence: float = 0.95,
    truncation: Truncation = "time",
) -> MeanTime:
    """Estimate the mean time between incidents with an exact interval.

    The estimate is total exposure over events, never the mean of the observed gaps: stretches that
    ended for another reason count in the exposure and not as events.

    Args:
        incidents: events in the exposure.
        exposure_s: seconds of up-time in which one could have struck.
        confidence: of the two-sided interval, as a fraction. With no incident it is that of a
            one-sided lower bound, ``exposure / -ln(1 - confidence)``.
        truncation: ``time`` where observation ended at a time (the usual case), ``failure`` where
            it ended at the last event.

    Raises:
        ValueError: exposure is not a positive finite number, the count is negative, confidence is
            not between 0 and 1, or observation ended at an event and there is none.

    Source: 2T/M is chi-square (Epstein and Sobel 1953, JASA 48); ``m_used_s`` is one over the mean
    of the posterior Gamma(r + 1/2, T) of the rate, from Jeffreys' prior.

    >>> hour = 60 * 60
    >>> m = mean_time(419, exposure_s=54 * 24 * hour)
    >>> [round(x / hour, 3) for x in (m.m_s or 0, m.low_s, m.high_s)]
    [3.093, 2.811, 3.412]
    """
    _check(incidents, exposure_s, confidence)
    used = exposure_s / (incidents + 0.5)
    if incidents == 0:
        if truncation == "failure":
            raise ValueError("observation cannot have ended at an event: there is none")
        low = exposure_s / -math.log(1.0 - confidence)
        return MeanTime(None, used, low, math.inf, confidence, 0, exposure_s, "one-sided bound")
    extra = 2 if truncation == "time" else 0
    tail = (1.0 - confidence) / 2.0
    return MeanTime(
        m_s=exposure_s / incidents,
        m_used_s=used,
        low_s=2.0 * exposure_s / _chi_square_above(2 * incidents + extra, tail),
        high_s=2.0 * exposure_s / _chi_square_above(2 * incidents, 1.0 - tail),
        confidence=confidence,
        incidents=incidents,
        exposure_s=exposure_s,
        method=f"{truncation}-truncated",
    )


def per_1000_acc_h(incidents: int, exposure_acc_h: float, confidence: float = 0.95) -> Rate:
    """Give incidents per 1,000 accelerator-hours, to pool stretches of different sizes.

    Args:
        incidents: events in the exposure.
        exposure_acc_h: accelerator-hours of up-time in which one could have struck.
        confidence: of the interval, as a fraction.

    Raises:
        ValueError: as `mean_time`.

    >>> round(per_1000_acc_h(419, exposure_acc_h=16_384 * 54 * 24).value, 5)
    0.01973
    """
    m = mean_time(incidents, exposure_acc_h, confidence)
    return Rate(
        value=1000.0 * incidents / exposure_acc_h,
        low=1000.0 / m.high_s,
        high=1000.0 / m.low_s,
        confidence=confidence,
        incidents=incidents,
        exposure_acc_h=exposure_acc_h,
    )


def calendar_s_per_incident(incidents: int, calendar_s: float) -> float | None:
    """Give the calendar seconds per incident: "one per X hours", which is not M.

    Args:
        incidents: events in the window.
        calendar_s: seconds of calendar time, outages and queues included.

    Returns:
        Seconds, or None with no incident.

    Raises:
        ValueError: calendar time is not a positive finite number, or the count is negative.

    >>> calendar_s_per_incident(4, 86400.0)
    21600.0
    """
    _check(incidents, calendar_s, 0.5)
    return calendar_s / incidents if incidents else None


def predictive_count(r0: int, e0: float, e1: float, level: float = 0.95) -> PredictiveCount:
    """Give the number of incidents to expect in an exposure, from those in another.

    The spread holds both the chance of the count and how little ``r0`` events say of the rate.

    Args:
        r0: events in the baseline.
        e0: exposure of the baseline, in any unit.
        e1: exposure to predict for, in the same unit; may be zero.
        level: probability that the interval is meant to hold, as a fraction.

    Raises:
        ValueError: the baseline's exposure is not a positive finite number, ``e1`` or the count is
            negative, or the level is not between 0 and 1.

    Source: Poisson counts mixed over Gamma(r0 + 1/2, e0), which is the negative binomial with
    size r0 + 1/2 and probability e0/(e0 + e1); its distribution function is the regularised
    incomplete beta function I_p(size, k + 1).

    >>> count = predictive_count(20, 720, 168)
    >>> round(count.mean, 5), count.low, count.high
    (4.78333, 1, 10)
    """
    _check(r0, e0, level)
    if not (math.isfinite(e1) and e1 >= 0.0):
        raise ValueError(f"the exposure to predict for must be 0 or more and finite, got {e1}")
    tail = (1.0 - level) / 2.0
    size, p = r0 + 0.5, e0 / (e0 + e1)
    return PredictiveCount(
        mean=size * e1 / e0,
        low=_smallest_count(size, p, tail),
        high=_smallest_count(size, p, 1.0 - tail),
        level=level,
    )


def predictive_p(r0: int, e0: float, k: int, e1: float) -> float:
    """Give the two-sided p value of a count, from the incidents in another exposure.

    Args:
        r0, e0, e1: as in ``predictive_count``.
        k: incidents observed in ``e1``.

    Raises:
        ValueError: as ``predictive_count``, or k is negative.

    Source: twice the smaller tail of the law of ``predictive_count``, at most 1.

    >>> round(predictive_p(20, 720, 11, 168), 3)
    0.039
    """
    _check(r0, e0, 0.5)
    _check(k, e0, 0.5)
    if not (math.isfinite(e1) and e1 >= 0.0):
        raise ValueError(f"the exposure must be 0 or more and finite, got {e1}")
    if e1 == 0.0:
        return 1.0
    from scipy import special  # slow to import, and only needed here

    size, p = r0 + 0.5, e0 / (e0 + e1)
    up_to = float(special.betainc(size, k + 1.0, p))
    below = float(special.betainc(size, k, p)) if k else 0.0
    return min(1.0, 2.0 * min(up_to, 1.0 - below))


def _check(incidents: int, exposure: float, confidence: float) -> None:
    if incidents < 0:
        raise ValueError(f"a number of incidents cannot be negative, got {incidents}")
    if not (math.isfinite(exposure) and exposure > 0.0):
        raise ValueError(f"exposure must be a positive finite number, got {exposure}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")


def _chi_square_above(df: int, p: float) -> float:
    """Return the value that a chi-square variable exceeds with probability ``p``."""
    from scipy import special  # a tenth of the import time of scipy.stats

    return float(special.chdtri(df, p))


def _smallest_count(size: float, p: float, probability: float) -> int:
    """Return the smallest count whose negative binomial distribution function is that or more."""
    from scipy import special

    low, high = -1, 1
    while special.betainc(size, high + 1.0, p) < probability:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if special.betainc(size, middle + 1.0, p) < probability:
            low = middle
        else:
            high = middle
    return high
