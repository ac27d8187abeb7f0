"""Saves that drain while training goes on: how often they can be made, and what each rule says.

A drain takes S steps because its bytes have to pass through a bandwidth; meanwhile steps take
(1 + tax) times as long. What happens when saves are k < S steps apart is a matter of three rules,
and the optimum hangs on which is assumed:

* ``shrink``: the drain of a save lasts min(k, S) steps. An often quoted simulation does this. It
  gives away bandwidth for nothing: with k = 3 the bytes of 30 steps go out in 3. It is here to
  reproduce such figures, and to refute them; it is true only of saves that carry fewer bytes.
* ``overlap``: drains keep their bytes and S steps; S/k of them are in flight at once, and need so
  many times the bandwidth, and tax.
* ``serial``: one drain at a time, hence k >= S. This is what a link that is full can do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ckpt_audit.model.costs import AsyncSave
from ckpt_audit.model.renewal import Failures, Shares, optimum, shares
from ckpt_audit.model.waste import checked

DrainRule = Literal["shrink", "overlap", "serial"]
DRAIN_RULES: tuple[DrainRule, ...] = ("shrink", "overlap", "serial")


@dataclass(frozen=True)
class Drain:
    """How a save drains.

    Attributes:
        steps: steps that a drain takes where there is room for it (S), at least 1.
        tax: fraction by which a step takes longer while one drain is in flight.
        step: time of a healthy step.
        pause: time that training stands still at a save.
    """

    steps: int
    tax: float
    step: float
    pause: float = 0.0

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"a drain takes at least one step, got {self.steps}")
        checked("tax", self.tax)
        checked("step", self.step, positive=True)
        checked("pause", self.pause)

    def in_flight(self, k: int, rule: DrainRule) -> float:
        """Give the drains in flight on average, for saves ``k`` steps apart."""
        return min(self.steps / k, 1.0) if rule == "shrink" else self.steps / k

    def as_save(self, k: int, rule: DrainRule) -> AsyncSave:
        """Give the equivalent cost of a save and the lag until it counts.

        Args:
            k: steps between two saves.
            rule: what happens where the drain is longer than that.

        Raises:
            ValueError: ``k`` is below 1, the rule is not known, or it is ``serial`` and ``k`` is
                below the steps of a drain.

        Source: cost ``pause + tax * steps in which it drains * step``. A step with n drains in
        flight takes ``1 + n tax``, so that the lag of overlapping drains is longer.
        """
        if k < 1:
            raise ValueError(f"saves are at least one step apart, got {k}")
        if rule not in DRAIN_RULES:
            raise ValueError(f"the rule is one of {', '.join(DRAIN_RULES)}, got {rule!r}")
        if rule == "serial" and k < self.steps:
            raise ValueError(
                f"a drain takes {self.steps} steps and one is in flight at a time: saves cannot be "
                f"{k} steps apart (rule overlap needs {math.ceil(self.steps / k)} times the "
                "bandwidth)"
            )
        lasts = min(k, self.steps) if rule == "shrink" else self.steps
        stretch = 1.0 + self.tax * max(self.in_flight(k, rule), 1.0)
        pauses = self.pause * math.ceil(lasts / k)
        return AsyncSave(
            self.pause + self.tax * lasts * self.step, lasts * self.step * stretch + pauses
        )


def drain_shares(k: int, drain: Drain, failures: Failures, rule: DrainRule) -> Shares:
    """Give the exact shares of wall clock for saves ``k`` steps apart.

    ``checkpoint`` is pauses and the tax of drains. The lag of the drain is added to that of
    ``failures``.

    Args:
        k: steps between two saves.
        drain: how a save drains.
        failures: what failures cost.
        rule: what happens where the drain is longer than ``k`` steps.

    Raises:
        ValueError: as in `Drain.as_save` and `ckpt_audit.model.renewal.shares`.

    >>> from ckpt_audit.model.laws import Exponential
    >>> drain = Drain(steps=30, tax=0.03, step=7.0)
    >>> failures = Failures(Exponential(50_000 * 3600 / 16_384), d=90.0, r=300.0)
    >>> round(drain_shares(53, drain, failures, "serial").waste, 6)
    0.084816
    """
    save = drain.as_save(k, rule)
    return shares(k * drain.step, save.c, _with_lag(failures, save.lag, rule))


def drain_optimum(drain: Drain, failures: Failures, rule: DrainRule) -> int:
    """Give the steps between two saves that waste least under a rule.

    Args:
        drain: how a save drains.
        failures: what failures cost.
        rule: what happens where the drain is longer than the interval.

    Raises:
        ValueError: a rule is not known, or a save costs nothing.

    Source: beyond S steps the lag does not move the optimum, so it is that of the equivalent cost,
    or the boundary; below, each k is tried.

    >>> from ckpt_audit.model.laws import Exponential
    >>> drain = Drain(steps=30, tax=0.03, step=7.0)
    >>> failures = Failures(Exponential(50_000 * 3600 / 16_384), d=90.0, r=300.0)
    >>> [drain_optimum(drain, failures, rule) for rule in ("shrink", "overlap", "serial")]
    [1, 53, 53]
    """
    save = drain.as_save(drain.steps, rule)
    near = optimum(save.c, _with_lag(failures, save.lag, "overlap")) / drain.step
    beyond = {max(drain.steps, math.floor(near)), max(drain.steps, math.ceil(near))}
    below = () if rule == "serial" else range(1, drain.steps)
    wastes: dict[int, float] = {
        k: drain_shares(k, drain, failures, rule).waste for k in sorted({*below, *beyond})
    }
    return min(wastes, key=wastes.__getitem__)


def boundary_binds(drain: Drain, m: float) -> bool:
    """Tell whether the best interval is as short as one drain allows, to first order.

    Only then is "as often as the drain lets you" right, and only with drains of the stated length.

    Args:
        drain: how a save drains.
        m: mean up-time between incidents.

    Source: Young's interval of the equivalent cost is shorter than S steps; with no pause that is
    ``2 tax M / step < S``.

    >>> drain = Drain(steps=30, tax=0.03, step=7.0)
    >>> boundary_binds(drain, 3499.0), boundary_binds(drain, 3501.0)
    (True, False)
    """
    mean = float(checked("m", m, positive=True))
    cost = drain.pause + drain.tax * drain.steps * drain.step
    return 2.0 * cost * mean < (drain.steps * drain.step) ** 2


@dataclass(frozen=True)
class Floor:
    """The shortest interval that bytes and bandwidth allow.

    Attributes:
        drain: time that the bytes take, with one drain in flight.
        interval: training time between two saves: what is trained while the bytes go out.
    """

    drain: float
    interval: float


def feasible_floor(n_bytes: float, bandwidth: float, tax: float = 0.0) -> Floor:
    """Give the shortest interval at which the bytes of a save are out before the next one.

    Args:
        n_bytes: bytes of a save, in all or per node (as the bandwidth).
        bandwidth: bytes a unit of time that drains get, above zero.
        tax: fraction by which a step takes longer while a save drains.

    Raises:
        ValueError: an argument is out of range.

    >>> floor = feasible_floor(1.2e12, 5e9, tax=0.2)  # 1.2 TB at 5 GB/s
    >>> floor.drain, floor.interval
    (240.0, 200.0)
    """
    lasts = float(checked("n_bytes", n_bytes) / checked("bandwidth", bandwidth, positive=True))
    return Floor(lasts, lasts / (1.0 + float(checked("tax", tax))))


def _with_lag(failures: Failures, lag: float, rule: DrainRule) -> Failures:
    return Failures(
        failures.law,
        failures.d,
        failures.r,
        failures.lag + lag,
        failures.invalid,
        failures.retry,
        failures.recovery_failures,
        overlapping=failures.overlapping or rule == "overlap",
    )
