"""Waste where up-times follow any law, checkpoints count late, and some cannot be loaded.

Everything starts anew after a recovery. A stretch of up-time has done its n-th save at ``n(I+C)``,
and that save counts from a lag L later; a failure after that keeps ``n I`` of training, unless the
newest n saves were all invalid. So the training kept per failure is a sum over n of survival
probabilities, and the rest of the stretch is pauses and lost work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ckpt_audit.model.interval import FlatRegion, exact, root
from ckpt_audit.model.laws import Exponential, UpTimeLaw
from ckpt_audit.model.waste import Floats, RecoveryFailures, checked, wall_split

_BLOCK = 1 << 18
_MOST_PERIODS = 1 << 25


@dataclass(frozen=True)
class Failures:
    """What failures cost besides the work since the last save; times in one unit.

    Attributes:
        law: of up-time.
        d: mean time from fault to detected.
        r: mean time from detected to the first step.
        lag: wall time from the capture of a state to when it can be restored.
        invalid: probability that a checkpoint that is needed cannot be used, below 1.
        retry: what each restore of an unusable one costs.
        recovery_failures: where failures strike besides up-time; only a constant rate can say.
        overlapping: saves may start before the one before counts (``lag`` above a period).
    """

    law: UpTimeLaw
    d: float = 0.0
    r: float = 0.0
    lag: float = 0.0
    invalid: float = 0.0
    retry: float = 0.0
    recovery_failures: RecoveryFailures = "none"
    overlapping: bool = False

    def __post_init__(self) -> None:
        for name in ("d", "r", "lag", "invalid", "retry"):
            checked(name, getattr(self, name))
        if self.invalid >= 1.0:
            raise ValueError(f"invalid must be below 1, got {self.invalid}: nothing could be kept")
        if self.recovery_failures != "none" and not isinstance(self.law, Exponential):
            raise ValueError("failures during a recovery need a constant rate (exponential)")


@dataclass(frozen=True)
class Shares:
    """Shares of wall clock (fractions); the first four and goodput add up to 1.

    Attributes:
        checkpoint: pauses executed, whether kept or not.
        lost_work: training that failures discarded.
        detection: from fault to detected.
        recovery: from detected to the first step, restores of unusable checkpoints included.
        waste: ``1 - goodput``.
        goodput: retained training over wall clock.
        lost_per_failure: up-time lost per failure over half a period, without unit; 1 to first
            order.
    """

    checkpoint: float
    lost_work: float
    detection: float
    recovery: float
    waste: float
    goodput: float
    lost_per_failure: float


class _Kept(NamedTuple):
    retained: float  # training kept per failure
    pauses: float  # pauses per failure
    bad_loads: float  # restores of unusable checkpoints per failure


def shares(interval: float, c: float, failures: Failures) -> Shares:
    """Give the exact shares of wall clock of an interval.

    Args:
        interval: useful training time between two pauses.
        c: mean exposed cost of a save.
        failures: what failures cost.

    Raises:
        ValueError: a time is out of range, the lag is longer than a period and saves may not
            overlap, or the interval is so short that the sum has too many terms.

    Source: renewal reward with S the survival of up-time: goodput = I sum (1 - q^n) S(n(I+C)+L) /
    (M + D + R + retry sum q^n S(n(I+C)+L)); for a constant rate the sums are geometric series, and
    with a lag and invalid checkpoints the mean wall clock per I kept is that of `exact_waste` times
    e^(L/M) (1 - q z)/(1 - q), z = exp(-(I+C)/M). The lag leaves the optimum where it is (Vaidya
    1997, IEEE Trans. Comput. 46(8)).

    >>> law = Exponential(6000.0)
    >>> at = shares(900.0, 30.0, Failures(law, d=90.0, r=300.0, lag=300.0, invalid=0.1))
    >>> round(at.waste, 6)
    0.213446
    """
    i_, c_ = float(checked("interval", interval, positive=True)), float(checked("c", c))
    if failures.lag > (i_ + c_) * (1.0 + 1e-12) and not failures.overlapping:
        raise ValueError(
            f"a save counts {failures.lag:g} after its capture, and the next one starts "
            f"{i_ + c_:g} after it: saves would overlap"
        )
    mean = failures.law.mean
    kept = _geometric(i_, c_, failures) if _is_constant(failures) else _summed(i_, c_, failures)
    up, detection, recovery = (
        float(part) for part in wall_split(mean, failures.d, failures.r, failures.recovery_failures)
    )
    # The wall clock per failure is mean/up; bad loads come on top of it.
    stretch = 1.0 + failures.retry * kept.bad_loads * up / mean
    up, detection, recovery = up / stretch, detection / stretch, recovery / stretch
    goodput = up * kept.retained / mean
    checkpoint = up * kept.pauses / mean
    return Shares(
        checkpoint=checkpoint,
        lost_work=max(up - goodput - checkpoint, 0.0),
        detection=detection,
        recovery=recovery + (1.0 - 1.0 / stretch),
        waste=1.0 - goodput,
        goodput=goodput,
        lost_per_failure=(mean - kept.retained * (i_ + c_) / i_) / ((i_ + c_) / 2.0),
    )


def optimum(c: float, failures: Failures) -> float:
    """Give the interval that wastes least.

    For a constant rate it is the root of a derivative, for other laws a search; with a lag that no
    two saves may share, it is at least ``lag - c``.

    Args:
        c: mean exposed cost of a save, above zero.
        failures: what failures cost.

    Raises:
        ValueError: an argument is out of range; c is zero.

    >>> round(optimum(30.0, Failures(Exponential(6000.0))), 3)
    580.169
    >>> round(optimum(30.0, Failures(Exponential(6000.0), invalid=0.2)), 3)
    481.081
    """
    mean, floor = failures.law.mean, 0.0 if failures.overlapping else failures.lag - float(c)
    if _is_constant(failures) and failures.retry == 0.0:
        best = _constant_optimum(float(c), mean, failures.invalid)
    else:
        best = _searched(float(c), failures, max(floor, 0.0))
    return max(best, floor)


def flat(c: float, failures: Failures, eps: float = 0.05) -> FlatRegion:
    """Give the intervals whose waste is within a tolerance of the least one.

    The waste compared is the part that the interval decides: detection and recovery are left out.

    Args:
        c: mean exposed cost of a save, above zero.
        failures: what failures cost.
        eps: tolerance as a fraction, 0.05 for 5 %.

    Raises:
        ValueError: an argument is out of range.

    >>> region = flat(4.0, Failures(Exponential(360.0), d=5.0, r=10.0))  # minutes
    >>> round(region.low, 2), round(region.high, 2)
    (36.2, 71.55)
    """
    tolerance = float(checked("eps", eps, positive=True))
    only = replace(failures, d=0.0, r=0.0, retry=0.0, recovery_failures="none")
    best = optimum(c, only)
    target = (1.0 + tolerance) * shares(best, c, only).waste
    if target >= 1.0:
        return FlatRegion(tolerance, 0.0, math.inf)
    floor = 0.0 if failures.overlapping else max(failures.lag - c, 0.0)
    low = max(floor, c * (1.0 / target - 1.0), best / 64.0)  # saves alone waste C/(I+C)

    def excess(interval: float) -> float:
        return shares(interval, c, only).waste - target

    high = 2.0 * best
    while excess(high) <= 0.0:
        high *= 2.0
    return FlatRegion(
        tolerance,
        low if low >= best or excess(low) <= 0.0 else root(excess, low, best),
        root(excess, best, high),
    )


def _is_constant(failures: Failures) -> bool:
    return isinstance(failures.law, Exponential)


def _geometric(interval: float, c: float, failures: Failures) -> _Kept:
    mean, q = failures.law.mean, failures.invalid
    period = (interval + c) / mean
    z, strike = math.exp(-period), -math.expm1(-period)
    late = math.exp(-failures.lag / mean)
    good = z / strike * (1.0 - q) / (1.0 - q * z)  # sum of (1 - q^n) z^n
    pauses = mean * math.exp(-interval / mean) * -math.expm1(-c / mean) / strike
    return _Kept(interval * late * good, pauses, late * q * z / (1.0 - q * z))


def _summed(interval: float, c: float, failures: Failures) -> _Kept:
    law, q, period = failures.law, failures.invalid, interval + c
    periods = math.ceil(law.horizon / period)
    if periods > _MOST_PERIODS:
        raise ValueError(f"an interval of {interval:g} is too short for a sum over up-times")
    retained = pauses = bad = 0.0
    for start in range(1, periods + 1, _BLOCK):
        n = np.arange(start, min(start + _BLOCK, periods + 1), dtype=np.float64)
        counts = law.survival(n * period + failures.lag)
        unusable = q**n
        retained += float(np.sum((1.0 - unusable) * counts))
        bad += float(np.sum(unusable * counts))
        ends = n * period
        pauses += float(np.sum(law.lived(ends) - law.lived(ends - c)))
    return _Kept(interval * retained, pauses, bad)


def _constant_optimum(c: float, mean: float, invalid: float) -> float:
    longest = exact(c, mean)
    if invalid == 0.0:
        return longest
    from scipy import optimize  # 0.2 s to import

    def slope(x: float) -> float:  # of ln(E/I), in units of the mean
        z = math.exp(-x - c / mean)
        return -1.0 / math.expm1(-x - c / mean) + invalid * z / (1.0 - invalid * z) - 1.0 / x

    high = longest / mean
    low = high * (1.0 - invalid) / 8.0
    while slope(low) > 0.0:
        low /= 8.0
    return mean * float(optimize.brentq(slope, low, high, rtol=1e-14, xtol=1e-300))


def _searched(c: float, failures: Failures, floor: float) -> float:
    """A grid finds the valley, since laws with steps have many; then a bounded search in it."""
    from scipy import optimize

    near = math.log(exact(c, failures.law.mean))
    low = math.log(floor) if floor > 0.0 else -math.inf
    grid: Floats = np.maximum(np.linspace(near - 3.0, near + 3.0, 61), low)

    def waste(x: float) -> float:
        return shares(max(math.exp(x), floor), c, failures).waste

    best = int(np.argmin([waste(float(x)) for x in grid]))
    left, right = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
    if left == right:
        return math.exp(left)
    found = optimize.minimize_scalar(
        waste, bounds=(left, right), method="bounded", options={"xatol": 1e-9}
    )
    return math.exp(float(found.x))
