"""Waste of wall clock at a given checkpoint interval: first order, and exact.

The exact forms hold for exponential up-times that start anew at every recovery. With the period
``s = I + C`` and ``z = exp(-s/M)``, a stretch of up-time retains ``z/(1-z)`` whole periods on
average before the failure that ends it, and all else is a matter of how long a stretch and its
recovery last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
RecoveryFailures = Literal["none", "restore", "all"]
"""Where failures can strike besides up-time: nowhere (A), while restoring (C), also while the
failure is being detected (B)."""


@dataclass(frozen=True)
class WasteShares:
    """First-order shares of wall clock (fractions).

    Attributes:
        checkpoint: ``C/I``.
        lost_work: ``I/(2M)``.
        recovery: ``(D+R)/M``; detection is inside.
        waste: the sum of the three, above 1 where the approximation has broken down.
        goodput: ``1 - waste``, below 0 in the same place.
    """

    checkpoint: float
    lost_work: float
    recovery: float
    waste: float
    goodput: float


@dataclass(frozen=True)
class ExactShares:
    """Exact shares of wall clock (fractions); the first four and goodput add up to 1.

    Attributes:
        checkpoint: pauses executed, whether the save was kept, repeated or cut short.
        lost_work: training that a failure discarded.
        detection: from fault to detected, also of failures that strike during a recovery.
        recovery: from detected to the first step, attempts that failed included.
        waste: ``1 - goodput``.
        goodput: retained training, ``I/E`` with E the mean wall clock per I of retained work.
        checkpoint_retained: the part of ``checkpoint`` whose save was kept, ``C/E``.
    """

    checkpoint: float
    lost_work: float
    detection: float
    recovery: float
    waste: float
    goodput: float
    checkpoint_retained: float


class UpTimeSplit(NamedTuple):
    """Fractions of up-time, each of the broadcast shape of the arguments."""

    retained: Floats
    checkpoint: Floats
    checkpoint_retained: Floats
    lost_work: Floats


def checked(name: str, value: ArrayLike, *, positive: bool = False) -> Floats:
    """Return a time as an array, or refuse it.

    Args:
        name: what the time is called in the message.
        value: one time or an array of them, any shape.
        positive: refuse zero as well.

    Raises:
        ValueError: a value is not finite, is negative, or is zero where that has no meaning.
    """
    array = np.asarray(value, dtype=np.float64)
    bad = ~np.isfinite(array) | ((array <= 0) if positive else (array < 0))
    if bad.any():
        kind = "a positive" if positive else "zero or a positive"
        raise ValueError(f"{name} must be {kind} finite number, got {array[bad].flat[0]}")
    return array


def first_order(interval: float, c: float, m: float, d: float = 0.0, r: float = 0.0) -> WasteShares:
    """Give the first-order waste: good for choosing an interval, not for predicting a loss.

    Args:
        interval: useful training time between two pauses.
        c: mean exposed cost of a save.
        m: mean up-time between incidents.
        d: mean time from fault to detected.
        r: mean time from detected to the first step.

    Raises:
        ValueError: a time is negative or not finite, or ``interval`` or ``m`` is zero.

    Source: Young 1974 (Comm. ACM 17(9)), with the fixed cost of an incident added.

    >>> shares = first_order(interval=60, c=4, m=360, d=5, r=10)  # minutes
    >>> round(shares.waste, 6)
    0.191667
    """
    i_, m_ = (
        float(checked("interval", interval, positive=True)),
        float(checked("m", m, positive=True)),
    )
    checkpoint = float(checked("c", c)) / i_
    lost_work = i_ / (2.0 * m_)
    recovery = float(checked("d", d) + checked("r", r)) / m_
    waste = checkpoint + lost_work + recovery
    return WasteShares(checkpoint, lost_work, recovery, waste, 1.0 - waste)


def up_time_split(interval: ArrayLike, c: ArrayLike, m: ArrayLike) -> UpTimeSplit:
    """Split up-time into retained training, pauses and discarded training.

    Args:
        interval: useful training time between two pauses, shape ``(n,)`` or a number.
        c: mean exposed cost of a save, likewise.
        m: mean up-time between incidents, likewise.

    Raises:
        ValueError: a time is negative or not finite, or ``interval`` or ``m`` is zero.

    Source: with S(t) = exp(-t/M), retained = I * sum S(n(I+C)) = I z/(1-z), and pauses are the
    integral of S over every [n(I+C)+I, (n+1)(I+C)] = M (exp(-I/M) - z)/(1-z); both over M.
    """
    i_, m_ = checked("interval", interval, positive=True), checked("m", m, positive=True)
    c_ = checked("c", c)
    strike = -np.expm1(-(i_ + c_) / m_)  # 1 - z
    kept = np.exp(-(i_ + c_) / m_) / strike  # whole periods kept per failure
    retained = i_ / m_ * kept
    pauses = np.exp(-i_ / m_) * -np.expm1(-c_ / m_) / strike
    return UpTimeSplit(retained, pauses, c_ / m_ * kept, np.maximum(1.0 - retained - pauses, 0.0))


def wall_split(
    m: ArrayLike, d: ArrayLike, r: ArrayLike, recovery_failures: RecoveryFailures = "none"
) -> tuple[Floats, Floats, Floats]:
    """Split wall clock into up-time, detection and recovery (three fractions that sum to 1).

    Args:
        m: mean up-time between incidents, shape ``(n,)`` or a number.
        d: mean time from fault to detected, likewise.
        r: mean time from detected to the first step, likewise.
        recovery_failures: where failures strike besides up-time. A struck recovery starts over,
            after a detection of its own.

    Raises:
        ValueError: a time is negative or not finite, ``m`` is zero, or the mode is not known.

    Source: per failure the wall clock is M+D+R (A), (M+D) exp(R/M) (C), M exp((D+R)/M) (B); B is
    the cost function of Daly 2006 (FGCS 22(3)).
    """
    m_, d_, r_ = checked("m", m, positive=True), checked("d", d), checked("r", r)
    if recovery_failures == "none":
        total = m_ + d_ + r_
        return m_ / total, d_ / total, r_ / total
    if recovery_failures == "restore":
        struck = -np.expm1(-r_ / m_)
        return m_ / (m_ + d_) * (1.0 - struck), d_ / (m_ + d_), m_ / (m_ + d_) * struck
    if recovery_failures == "all":
        safe = np.exp(-d_ / m_)
        return np.exp(-(d_ + r_) / m_), -np.expm1(-d_ / m_), safe * -np.expm1(-r_ / m_)
    raise ValueError(f"recovery_failures must be none, restore or all, got {recovery_failures!r}")


def exact_waste(
    interval: ArrayLike,
    c: ArrayLike,
    m: ArrayLike,
    d: ArrayLike = 0.0,
    r: ArrayLike = 0.0,
    recovery_failures: RecoveryFailures = "none",
) -> Floats:
    """Give the exact waste of an interval as a fraction of wall clock, for whole arrays.

    Arguments and errors are those of `exact_shares`; each may have shape ``(n,)``.

    >>> exact_waste([45, 60, 120], c=4, m=360, d=5, r=10).round(6).tolist()  # minutes
    [0.177007, 0.177631, 0.221801]
    """
    up, _, _ = wall_split(m, d, r, recovery_failures)
    return np.asarray(1.0 - up * up_time_split(interval, c, m).retained)


def expected_time(
    interval: float,
    c: float,
    m: float,
    d: float = 0.0,
    r: float = 0.0,
    recovery_failures: RecoveryFailures = "none",
) -> float:
    """Give the mean wall clock that it takes to retain one interval of training.

    Arguments and errors are those of `exact_shares`. The result is infinite where the interval is
    so long that keeping one is beyond floating point.

    >>> round(expected_time(1140, c=60, m=10800, d=90, r=510), 4)
    1339.7174
    """
    goodput = exact_shares(interval, c, m, d, r, recovery_failures).goodput
    return float(interval) / goodput if goodput > 0.0 else float("inf")


def exact_shares(
    interval: float,
    c: float,
    m: float,
    d: float = 0.0,
    r: float = 0.0,
    recovery_failures: RecoveryFailures = "none",
) -> ExactShares:
    """Give the exact shares of wall clock for exponential up-times.

    Failures during a save are included: the save is lost and its interval is done again.

    Args:
        interval: useful training time between two pauses.
        c: mean exposed cost of a save.
        m: mean up-time between incidents (not calendar time).
        d: mean time from fault to detected.
        r: mean time from detected to the first step.
        recovery_failures: ``none`` where the measured ``r`` already holds failed retries;
            ``restore`` or ``all`` where ``d`` and ``r`` are the times of one undisturbed recovery.

    Raises:
        ValueError: a time is negative or not finite, ``interval`` or ``m`` is zero, or the mode
            is not known.

    Source: E = (M+D+R)(e^((I+C)/M) - 1) for A, M e^((D+R)/M)(e^((I+C)/M) - 1) for B (Daly 2006,
    FGCS 22(3)), (M+D) e^(R/M)(e^((I+C)/M) - 1) for C; goodput is I/E.

    >>> shares = exact_shares(interval=60, c=4, m=360, d=5, r=10)  # minutes
    >>> round(shares.waste, 6), round(shares.lost_work, 6), round(shares.recovery, 6)
    (0.177631, 0.082501, 0.026667)
    """
    up, detection, recovery = wall_split(m, d, r, recovery_failures)
    split = up_time_split(interval, c, m)
    goodput = float(up * split.retained)
    return ExactShares(
        checkpoint=float(up * split.checkpoint),
        lost_work=float(up * split.lost_work),
        detection=float(detection),
        recovery=float(recovery),
        waste=1.0 - goodput,
        goodput=goodput,
        checkpoint_retained=float(up * split.checkpoint_retained),
    )
