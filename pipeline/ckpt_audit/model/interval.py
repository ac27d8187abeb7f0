"""The interval that wastes least, and how flat the waste is around it.

All forms give *useful training time* between two pauses: the save is not inside it, and must not
be subtracted again. The optimum depends on the cost of a save and on the mean up-time only;
detection, recovery and whether failures strike there move the waste and not the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ckpt_audit.model.waste import checked, exact_waste

# Below this ratio of C to M the argument of Lambert's W is so near the branch point that rounding
# it costs more digits than the series leaves out (both about 1e-13 here).
_SERIES_BELOW = 1e-3


@dataclass(frozen=True)
class FlatRegion:
    """Intervals whose waste is within a tolerance of the least one.

    Attributes:
        eps: the tolerance, relative to the part of the waste that the interval decides.
        low: shortest such interval (0 where every shorter one qualifies).
        high: longest such interval (infinite where every longer one qualifies).
    """

    eps: float
    low: float
    high: float


def _cost_and_mean(c: float, m: float) -> tuple[float, float]:
    mean = float(checked("m", m, positive=True))
    cost = float(checked("c", c))
    if cost == 0.0:
        raise ValueError("c is zero: saves are free, the optimum interval is 0 and has no estimate")
    return cost, mean


def young(c: float, m: float) -> float:
    """Give Young's first-order optimum, ``sqrt(2CM)``.

    Args:
        c: mean exposed cost of a save.
        m: mean up-time between incidents.

    Raises:
        ValueError: ``c`` or ``m`` is not a positive finite number.

    Source: Young 1974 (Comm. ACM 17(9)).

    >>> round(young(c=4, m=360), 4)  # minutes
    53.6656
    """
    cost, mean = _cost_and_mean(c, m)
    return math.sqrt(2.0 * cost * mean)


def daly(c: float, m: float) -> float:
    """Give Daly's higher-order optimum; ``m`` where a save costs twice the mean up-time or more.

    Args:
        c: mean exposed cost of a save.
        m: mean up-time between incidents.

    Raises:
        ValueError: ``c`` or ``m`` is not a positive finite number.

    Source: Daly 2006 (FGCS 22(3)), equation 37.

    >>> round(daly(c=4, m=360), 4)  # minutes
    51.0321
    """
    cost, mean = _cost_and_mean(c, m)
    if cost >= 2.0 * mean:
        return mean
    half = cost / (2.0 * mean)
    return math.sqrt(2.0 * cost * mean) * (1.0 + math.sqrt(half) / 3.0 + half / 9.0) - cost


def exact(c: float, m: float) -> float:
    """Give the exact optimum for exponential up-times, ``M (1 + W(-exp(-1 - C/M)))``.

    At the optimum, with nothing else to pay per incident, the waste equals ``I/M``.

    Args:
        c: mean exposed cost of a save.
        m: mean up-time between incidents.

    Raises:
        ValueError: ``c`` or ``m`` is not a positive finite number.

    Source: the zero of the derivative of the exact waste, ``exp((I+C)/M)(1 - I/M) = 1``, by the
    principal branch of Lambert's W; for small C/M by its series at the branch point in
    sqrt(2C/M) (on both: Corless et al. 1996, Adv. Comput. Math. 5).

    >>> round(exact(c=4, m=360), 4)  # minutes
    51.0328
    """
    cost, mean = _cost_and_mean(c, m)
    ratio = cost / mean
    if ratio < _SERIES_BELOW:
        t = math.sqrt(2.0 * ratio)
        tail = 1 / 36 + t * (1 / 270 + t * (1 / 4320 - t / 17010))
        return mean * t * (1.0 + t * (-1 / 3 + t * tail))
    from scipy import special  # 0.3 s to import, and only needed here

    return mean * (1.0 + float(special.lambertw(-math.exp(-1.0 - ratio), k=0).real))


def regret(x: float) -> float:
    """Give the first-order excess of an interval ``x`` times the optimum, as a fraction.

    The fraction is of the part of the waste that the interval decides.

    Args:
        x: interval over optimum interval, without unit.

    Raises:
        ValueError: ``x`` is not a positive finite number.

    Source: ``C/I + I/(2M)`` at ``x sqrt(2CM)`` over its minimum.

    >>> regret(2.0)
    0.25
    """
    factor = float(checked("x", x, positive=True))
    return (factor + 1.0 / factor) / 2.0 - 1.0


def flat_factors(eps: float) -> tuple[float, float]:
    """Give the first-order flat region as two factors on the optimum.

    Args:
        eps: tolerance as a fraction, 0.05 for 5 %.

    Raises:
        ValueError: ``eps`` is not a positive finite number.

    Source: the two solutions of ``regret(x) = eps``.

    >>> [round(factor, 3) for factor in flat_factors(0.05)]
    [0.73, 1.37]
    """
    tolerance = 1.0 + float(checked("eps", eps, positive=True))
    root = math.sqrt(tolerance * tolerance - 1.0)
    return 1.0 / (tolerance + root), tolerance + root


def flat_region(c: float, m: float, eps: float = 0.05) -> FlatRegion:
    """Give the intervals whose exact waste is within a tolerance of the least one.

    The waste compared is the part that the interval decides, that is with detection and recovery
    left out.

    Args:
        c: mean exposed cost of a save.
        m: mean up-time between incidents.
        eps: tolerance as a fraction, 0.05 for 5 %.

    Raises:
        ValueError: an argument is not a positive finite number.

    >>> region = flat_region(c=4, m=360, eps=0.05)  # minutes
    >>> round(region.low, 2), round(region.high, 2)
    (36.2, 71.55)
    """
    cost, mean = _cost_and_mean(c, m)
    tolerance = float(checked("eps", eps, positive=True))
    best = exact(cost, mean)
    target = (1.0 + tolerance) * best / mean  # the least waste is best/mean
    if target >= 1.0:
        return FlatRegion(tolerance, 0.0, math.inf)

    def excess(interval: float) -> float:
        return float(exact_waste(interval, cost, mean)) - target

    # Waste is at least C/(I+C), which is the target here; and it tends to 1 for long intervals.
    floor = cost * (1.0 / target - 1.0)
    ceiling = 2.0 * best
    while excess(ceiling) <= 0.0:
        ceiling *= 2.0
    return FlatRegion(tolerance, root(excess, floor, best), root(excess, best, ceiling))


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Give where a function is zero between two points at which its signs differ.

    Raises:
        ValueError: they do not differ.
    """
    from scipy import optimize  # 0.2 s to import, and only needed here

    return float(optimize.brentq(function, low, high, rtol=1e-12, xtol=1e-12 * high))
