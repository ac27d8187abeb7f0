"""The one cost C that stands for a save that is asynchronous, random or sometimes useless.

Every function takes and gives times in one unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ckpt_audit.model.waste import checked


@dataclass(frozen=True)
class AsyncSave:
    """An asynchronous save as one that pauses.

    Attributes:
        c: equivalent exposed cost: what training is behind by, once the drain is over.
        lag: wall time from the capture to when it can be restored.
    """

    c: float
    lag: float


def of_throughput(pause: float, slowdown: float, drain: float, publish: float = 0.0) -> AsyncSave:
    """Give the equivalent cost where throughput is lower by a fraction for a stretch of wall time.

    Args:
        pause: time that training stands still.
        slowdown: fraction of throughput lost during the drain, 0.04 for "4 % slower"; below 1.
        drain: wall time of the drain.
        publish: wall time from the drain's end until the checkpoint can be restored.

    Raises:
        ValueError: an argument is out of range.

    Source: over the drain ``slowdown * drain`` of healthy time is not worked.

    >>> of_throughput(pause=60, slowdown=0.04, drain=600).c
    84.0
    """
    lost = float(checked("slowdown", slowdown))
    if lost >= 1.0:
        raise ValueError(f"slowdown must be below 1, got {slowdown}")
    pause_, drain_ = float(checked("pause", pause)), float(checked("drain", drain))
    return AsyncSave(pause_ + lost * drain_, pause_ + drain_ + float(checked("publish", publish)))


def of_step_time(pause: float, stretch: float, drain: float, publish: float = 0.0) -> AsyncSave:
    """Give the equivalent cost where steps take longer by a fraction for a stretch of wall time.

    Args:
        pause: time that training stands still.
        stretch: fraction by which a step takes longer, 0.04 for 4 %.
        drain: wall time of the drain.
        publish: wall time from the drain's end until the checkpoint can be restored.

    Raises:
        ValueError: an argument is out of range.

    Source: in the drain ``drain/(1 + stretch)`` of healthy time is worked.

    >>> round(of_step_time(pause=60, stretch=0.04, drain=600).c, 4)
    83.0769
    """
    longer = float(checked("stretch", stretch))
    return of_throughput(pause, longer / (1.0 + longer), drain, publish)


def of_steps(pause: float, steps: int, tax: float, step: float, publish: float = 0.0) -> AsyncSave:
    """Give the equivalent cost of a drain that takes a number of steps, each of them slower.

    Args:
        pause: time that training stands still.
        steps: steps that the drain takes.
        tax: fraction by which each of them takes longer.
        step: time of a healthy step.
        publish: wall time from the drain's end until the checkpoint can be restored.

    Raises:
        ValueError: an argument is out of range.

    Source: ``pause + tax * steps * step``; the drain lasts ``steps * step * (1 + tax)``.

    >>> round(of_steps(pause=0, steps=30, tax=0.03, step=7).c, 9)
    6.3
    """
    healthy = float(checked("steps", steps)) * float(checked("step", step))
    return of_step_time(pause, tax, healthy * (1.0 + float(checked("tax", tax))), publish)


def of_measured(pause: float, slow_steps: Sequence[float], healthy: float) -> float:
    """Give the equivalent cost from the steps of a drain as they were measured.

    Args:
        pause: time that training stood still.
        slow_steps: times of the steps while the save drained; those below healthy count too, so
            that noise does not add up to a cost.
        healthy: time of a step with no save in flight.

    Raises:
        ValueError: an argument is out of range.

    >>> of_measured(1.0, [7.5, 7.25, 6.75], healthy=7.0)
    1.5
    """
    excess = checked("slow_steps", np.asarray(slow_steps)) - checked("healthy", healthy)
    return float(checked("pause", pause)) + math.fsum(excess)


def effective(costs: ArrayLike, m: float, *, same_again: bool = False) -> float:
    """Give the constant cost that wastes as much as a random one.

    To first order it is the mean, whatever the spread: never the median.

    Args:
        costs: a sample of costs, shape ``(n,)``, n at least 1.
        m: mean up-time between incidents.
        same_again: a save that a failure cut short costs the same when it is repeated; otherwise a
            fresh one is drawn.

    Raises:
        ValueError: an argument is out of range, or the sample is empty.

    Source: -M ln E[exp(-C/M)] (fresh) and M ln E[exp(C/M)] (same), near the mean less, or plus,
    the variance over 2M.

    >>> [round(effective([1.0, 9.0], 1000.0, same_again=same), 4) for same in (False, True)]
    [4.992, 5.008]
    """
    values, mean = checked("costs", costs), float(checked("m", m, positive=True))
    if values.size == 0:
        raise ValueError("no cost is given")
    sign = 1.0 if same_again else -1.0
    powers = sign * values / mean
    top = float(powers.max())
    return sign * mean * (top + math.log(float(np.mean(np.exp(powers - top)))))


def retried(c: float, invalid: float) -> float:
    """Give the cost of a save that is repeated until it is valid, where that is seen at once.

    Args:
        c: cost of one try.
        invalid: probability that a try is invalid, below 1.

    Raises:
        ValueError: an argument is out of range.

    Source: the mean of a geometric number of tries, ``C/(1-q)``.

    >>> retried(30.0, 0.25)
    40.0
    """
    q = float(checked("invalid", invalid))
    if q >= 1.0:
        raise ValueError(f"invalid must be below 1, got {invalid}")
    return float(checked("c", c)) / (1.0 - q)


def cascade_extra(
    probability: float, window: float, *, after_restart: bool, d: float = 0.0, r: float = 0.0
) -> float:
    """Give the mean wall time that second failures add to each primary one.

    The interval needs M of the primaries alone: a cascade costs nothing that depends on it. Put
    the extra beside D + R.

    Args:
        probability: that a primary failure is followed by one second failure.
        window: it strikes evenly within this time.
        after_restart: the window begins when the restart is complete, not at the first failure.
        d: mean time from fault to detected.
        r: mean time from detected to the first step.

    Raises:
        ValueError: an argument is out of range, or a probability is above 1.

    Source: the second failure undoes half a window on average and, after a restart, needs D + R
    anew. Holds for windows shorter than a period.

    >>> [cascade_extra(0.1, 10, after_restart=late, r=10) for late in (False, True)]
    [0.5, 1.5]
    """
    p = float(checked("probability", probability))
    if p > 1.0:
        raise ValueError(f"probability must be at most 1, got {probability}")
    half = float(checked("window", window)) / 2.0
    return p * (half + (float(checked("d", d) + checked("r", r)) if after_restart else 0.0))


def latent_optimum(c: float, m: float, m_silent: float) -> float:
    """Give the first-order optimum where some faults are found late (silent corruption).

    How late does not move the interval: it costs, and needs more generations kept.

    Args:
        c: mean exposed cost of a save.
        m: mean up-time between fail-stop incidents.
        m_silent: mean up-time between silent faults.

    Raises:
        ValueError: an argument is not a positive finite number.

    Source: a fail-stop loses half a period and a silent fault as much again, so the rate is
    ``1/M + 1/M_s``.

    >>> latent_optimum(2.0, 300.0, 150.0)
    20.0
    """
    rate = 1.0 / checked("m", m, positive=True) + 1.0 / checked("m_silent", m_silent, positive=True)
    return math.sqrt(2.0 * float(checked("c", c, positive=True)) / float(rate))


def no_clean_generation(period: float, latency: float, kept: int) -> float:
    """Give the probability that none of the generations kept is from before a silent fault.

    Args:
        period: time between two checkpoints.
        latency: mean time from a silent fault to its detection (exponential).
        kept: number of newest checkpoints kept, at least 1.

    Raises:
        ValueError: an argument is out of range.

    Source: the detection falls evenly within a period, the oldest of ``kept`` is between
    ``(kept-1)`` and ``kept`` periods old.

    >>> round(no_clean_generation(3600, 3600, 2), 6)
    0.232544
    """
    ratio = float(
        checked("period", period, positive=True) / checked("latency", latency, positive=True)
    )
    if kept < 1:
        raise ValueError(f"kept must be at least 1, got {kept}")
    return math.exp(-(kept - 1) * ratio) * -math.expm1(-ratio) / ratio


def generations_needed(period: float, latency: float, risk: float) -> int:
    """Give how many checkpoints to keep so that one is clean but for a given risk.

    Args:
        period: time between two checkpoints.
        latency: mean time from a silent fault to its detection (exponential).
        risk: probability that may remain, above 0 and below 1.

    Raises:
        ValueError: an argument is out of range.

    >>> generations_needed(3600, 3600, 0.01), generations_needed(3600, 60, 0.5)
    (6, 1)
    """
    if not 0.0 < risk < 1.0:
        raise ValueError(f"risk must be between 0 and 1, got {risk}")
    one = no_clean_generation(period, latency, 1)
    return max(1, math.ceil(1.0 + latency / period * math.log(one / risk) - 1e-12))
