"""What is simulated: work, failures, costs of saves and of recoveries. All times are seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ckpt_audit.model.simulation.laws import Constant, Law
from ckpt_audit.model.waste import RecoveryFailures, checked

DrainRule = Literal["shrink", "overlap", "serial"]
MODES = ("none", "restore", "all")
NO_TIME: Final = Constant(0.0)


def _fraction(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be from 0 to 1, got {value}")


@dataclass(frozen=True)
class Drain:
    """A save that goes on beside training after its pause, as long as its bytes need.

    Attributes:
        work_s: training that a drain lasts for at the healthy rate: its steps times their time.
        tax: while a drain is in flight a step takes ``1 + tax`` times as long; two at once, twice
            the tax.
        rule: what happens where the interval is shorter than the drain. ``serial``: one drain at
            a time, the interval is stretched to it. ``overlap``: drains run side by side, each for
            the wall clock that it takes alone. ``shrink``: the drain gets as short as the interval,
            as if it had fewer bytes or more bandwidth; kept to show what that assumption does.

    Raises:
        ValueError: a number is negative, or there is no such rule.
    """

    work_s: float
    tax: float
    rule: DrainRule = "serial"

    def __post_init__(self) -> None:
        """Refuse what is no drain."""
        checked("work_s", self.work_s)
        checked("tax", self.tax)
        if self.rule not in ("shrink", "overlap", "serial"):
            raise ValueError(f"a drain's rule is shrink, overlap or serial, got {self.rule!r}")

    def interval(self, interval_s: float) -> float:
        """Give the interval that the rule makes of one, seconds."""
        return max(interval_s, self.work_s) if self.rule == "serial" else interval_s

    def training(self, interval_s: float) -> float:
        """Give the training that goes on during the drain of a save at that interval, seconds."""
        return min(interval_s, self.work_s) if self.rule == "shrink" else self.work_s


@dataclass(frozen=True)
class Cascade:
    """A failure that brings another one soon after.

    Attributes:
        probability: that a second failure follows a first; a second one brings no third.
        window_s: the second strikes at any moment of this window alike.
        clock: the window begins when the ``restart`` completes, or with the first ``failure``; in
            the second case it can strike the recovery, which then starts over.

    The mean up-time of the scenario is that of first failures only.
    """

    probability: float
    window_s: float
    clock: Literal["restart", "failure"] = "restart"

    def __post_init__(self) -> None:
        """Refuse what is no cascade."""
        _fraction("probability", self.probability)
        checked("window_s", self.window_s)
        if self.clock not in ("restart", "failure"):
            raise ValueError(f"a cascade's clock is restart or failure, got {self.clock!r}")


@dataclass(frozen=True)
class FailureClass:
    """A kind of failure: what copies it destroys, and how many nodes it takes.

    Attributes:
        share: of all failures, as a fraction; those of a scenario add up to 1.
        tier: lowest tier of storage that survives it (0: local copies do).
        nodes: nodes to replace: one, or all of a rack that shares a fault.
        r: from detected to the first step, where it differs from the scenario's.
    """

    share: float
    tier: int = 0
    nodes: int = 1
    r: Law | None = None

    def __post_init__(self) -> None:
        """Refuse what is no class."""
        _fraction("share", self.share)
        if self.tier < 0 or self.nodes < 0:
            raise ValueError("tier and nodes of a failure class cannot be negative")


@dataclass(frozen=True)
class Spares:
    """Nodes that stand by, and how long a repair takes.

    A failed node goes into repair when the failure is detected and is a spare afterwards. With too
    few spares, the run waits for the next repaired nodes.
    """

    number: int
    repair: Law

    def __post_init__(self) -> None:
        """Refuse a negative number."""
        if self.number < 0:
            raise ValueError(f"the number of spares cannot be negative, got {self.number}")


@dataclass(frozen=True)
class Scenario:
    """A run and what happens to it.

    Attributes:
        work_s: useful training until the run is finished. It ends with a save.
        up: up-time from a restart to the next failure; drawn anew after each restart.
        saves: exposed pause of a save, for each tier of storage.
        d: from a fault to its detection.
        r: from detection to the first step.
        recovery_failures: where failures strike besides up-time: nowhere (``none``; measured R
            holds the failed retries), in R (``restore``), or in D and R (``all``). A struck
            recovery starts over; when the next failure comes is drawn anew.
        lag_s: from the end of a save, or of its drain, until it can be restored, wall clock.
        drain: how saves go on beside training; None: they block it.
        cascade: failures that follow others.
        invalid: probability that a checkpoint needed at restore is unusable; then the one before
            it is tried.
        retry_s: what trying an unusable one costs.
        classes: kinds of failures.
        spares: None: there is always a node.

    Raises:
        ValueError: a number is out of its range, or the classes do not fit the tiers.
    """

    work_s: float
    up: Law
    saves: tuple[Law, ...]
    d: Law = NO_TIME
    r: Law = NO_TIME
    recovery_failures: RecoveryFailures = "none"
    lag_s: float = 0.0
    drain: Drain | None = None
    cascade: Cascade | None = None
    invalid: float = 0.0
    retry_s: float = 0.0
    classes: tuple[FailureClass, ...] = (FailureClass(1.0),)
    spares: Spares | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        checked("work_s", self.work_s, positive=True)
        checked("mean of up", self.up.mean, positive=True)
        checked("lag_s", self.lag_s)
        checked("retry_s", self.retry_s)
        _fraction("invalid", self.invalid)
        if self.invalid == 1.0:
            raise ValueError("with no usable checkpoint (invalid = 1) a run never ends")
        if self.recovery_failures not in MODES:
            raise ValueError(f"recovery_failures must be none, restore or all, got "
                             f"{self.recovery_failures!r}")  # fmt: skip
        if not self.saves:
            raise ValueError("a scenario needs the cost of a save, one for each tier")
        if abs(sum(kind.share for kind in self.classes) - 1.0) > 1e-9:
            raise ValueError("the shares of failure classes must add up to 1")
        if any(kind.tier >= len(self.saves) for kind in self.classes):
            raise ValueError("a failure class needs a tier that no save goes to")

    @property
    def tax(self) -> float:
        """Slowdown per drain in flight."""
        return 0.0 if self.drain is None else self.drain.tax

    def interval(self, interval_s: float) -> float:
        """Give the interval that is possible in place of one, seconds."""
        return interval_s if self.drain is None else self.drain.interval(interval_s)

    def drain_s(self, interval_s: float) -> float:
        """Give the wall clock that a drain takes, alone and beside training, seconds."""
        if self.drain is None:
            return 0.0
        return self.drain.training(interval_s) * (1.0 + self.drain.tax)
