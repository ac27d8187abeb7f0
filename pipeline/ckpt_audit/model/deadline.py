"""When a given amount of work will be done, without a simulation: a normal approximation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_audit.model.waste import checked

# Below this share of M both moments of a short up-time are differences of what is nearly equal.
_SERIES_BELOW = 1e-3


class Segment(NamedTuple):
    """Wall time to keep one interval of training."""

    mean: float
    variance: float


@dataclass(frozen=True)
class FinishTime:
    """Wall time to do a given amount of work.

    Attributes:
        mean: of the finish.
        sd: standard deviation.
    """

    mean: float
    sd: float

    def probability_by(self, deadline: float) -> float:
        """Give the probability to finish by a deadline.

        >>> round(FinishTime(587.788, 5.075).probability_by(590.0), 4)
        0.6685
        """
        if self.sd == 0.0:
            return float(deadline >= self.mean)
        return 0.5 * math.erfc((self.mean - deadline) / (self.sd * math.sqrt(2.0)))


def segment(interval: float, c: float, m: float, d: float = 0.0, r: float = 0.0) -> Segment:
    """Give mean and variance of the wall time to keep one interval; D and R are constants.

    Args:
        interval: useful training time between two pauses.
        c: mean exposed cost of a save.
        m: mean up-time between incidents.
        d: time from fault to detected.
        r: time from detected to the first step.

    Raises:
        ValueError: a time is out of range.

    Source: failures before a period of length s = I + C is got through are geometric with
    success z = exp(-s/M); each takes D + R and an up-time cut to be below s, of mean m1 = M - s z
    / (1 - z) and variance v = M^2 - s^2 z / (1 - z)^2. Failures strike in up-time only.

    >>> mean, variance = segment(19.0, 1.0, 180.0, 0.0, 10.0)
    >>> round(mean, 6), round(variance, 6)
    (22.328623, 55.478694)
    """
    s = float(checked("interval", interval, positive=True) + checked("c", c))
    mean, fixed = float(checked("m", m, positive=True)), float(checked("d", d) + checked("r", r))
    z, strike = math.exp(-s / mean), -math.expm1(-s / mean)
    failed, x = strike / z, s / mean
    if x < _SERIES_BELOW:
        m1 = mean * x * (0.5 - x / 12.0 + x**3 / 720.0)
        v = mean * mean * x * x * (1.0 / 12.0 - x * x / 240.0)
    else:
        m1 = mean * (1.0 - x / math.expm1(x))
        v = mean * mean * (1.0 - x * x * z / strike**2)
    each = m1 + fixed
    return Segment(s + failed * each, failed * v + failed / z * each * each)


def finish_time(
    work: float, interval: float, c: float, m: float, d: float = 0.0, r: float = 0.0
) -> FinishTime:
    """Give the wall time to do a given amount of training.

    Args:
        work: useful training time to do.
        interval, c, m, d, r: as in `segment`.

    Raises:
        ValueError: a time is out of range.

    Source: a sum of independent segments is near normal.

    >>> finish = finish_time(500 * 60, 20.0, 1.0, 180.0, 0.0, 10.0)
    >>> round(finish.mean / 60, 2), round(finish.sd / 60, 2)
    (587.79, 5.08)
    """
    one = segment(interval, c, m, d, r)
    n = float(checked("work", work, positive=True)) / interval
    return FinishTime(n * one.mean, math.sqrt(n * one.variance))
