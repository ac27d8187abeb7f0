"""When to save: one interval, intervals that change with age, and saves of several tiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ckpt_audit.model.waste import checked

Clock = Literal["restart", "run"]


@dataclass(frozen=True)
class Policy:
    """A rule for the next interval and the tier of the save after it.

    Attributes:
        intervals_s: useful training time between two pauses, seconds.
        starts_s: age from which each of them holds, seconds; the first is 0. An interval is
            chosen when it begins.
        clock: what age is: up-time since the last ``restart``, or wall clock since the ``run``
            began.
        every: for each further tier of storage the number of saves from one that goes there to
            the next; each a multiple of the one before. Saves count over the whole run.
        name: what tables call it; made of the numbers where it is empty.

    Raises:
        ValueError: an interval is not positive, ages do not rise from 0, or tiers do not nest.

    >>> Policy.tiered(465.0, 34).tier_of(68), Policy.tiered(465.0, 34).tier_of(69)
    (1, 0)
    """

    intervals_s: tuple[float, ...]
    starts_s: tuple[float, ...] = (0.0,)
    clock: Clock = "restart"
    every: tuple[int, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no rule."""
        checked("intervals_s", self.intervals_s, positive=True)
        checked("starts_s", self.starts_s)
        if len(self.intervals_s) != len(self.starts_s) or not self.starts_s:
            raise ValueError("a policy has one interval for each age that it changes at")
        if self.starts_s[0] != 0.0 or any(
            later <= earlier
            for earlier, later in zip(self.starts_s, self.starts_s[1:], strict=False)
        ):
            raise ValueError(f"ages must begin at 0 and rise, got {self.starts_s}")
        if self.clock not in ("restart", "run"):
            raise ValueError(f"a policy's clock is restart or run, got {self.clock!r}")
        for below, number in zip((1, *self.every), self.every, strict=False):
            if number < 1 or number % below:
                raise ValueError(f"each tier's number must be a multiple of the one before: "
                                 f"{self.every}")  # fmt: skip

    @classmethod
    def fixed(cls, interval_s: float) -> Policy:
        """Save after each interval of useful training, seconds."""
        return cls((interval_s,))

    @classmethod
    def by_age(
        cls, starts_s: tuple[float, ...], intervals_s: tuple[float, ...], clock: Clock = "restart"
    ) -> Policy:
        """Change the interval with age; see the attributes."""
        return cls(intervals_s, starts_s, clock)

    @classmethod
    def tiered(cls, interval_s: float, *every: int) -> Policy:
        """Save after each interval, and each so-many-th time to a further tier as well."""
        return cls((interval_s,), every=every)

    @property
    def is_fixed(self) -> bool:
        """Whether there is one interval."""
        return len(self.intervals_s) == 1

    @property
    def shortest_s(self) -> float:
        """The shortest interval, seconds."""
        return min(self.intervals_s)

    @property
    def n_tiers(self) -> int:
        """Number of tiers."""
        return len(self.every) + 1

    def tier_of(self, save: int) -> int:
        """Give the highest tier that a save goes to.

        Args:
            save: its number, counted from 1 over what the run has kept.
        """
        return sum(save % number == 0 for number in self.every)
