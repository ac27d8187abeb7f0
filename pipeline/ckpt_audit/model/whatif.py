"""What would change: sensitivity to interval and M, levers one at a time, other sizes, money.

Times are in one unit; shares are of wall clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ckpt_audit.model.costs import retried
from ckpt_audit.model.elastic import idle_spares
from ckpt_audit.model.fleet import scaled
from ckpt_audit.model.laws import Exponential, UpTimeLaw, Weibull
from ckpt_audit.model.renewal import Failures, Shares, optimum, shares
from ckpt_audit.model.waste import RecoveryFailures, first_order

BEST_INTERVAL = "best interval"


@dataclass(frozen=True)
class Setting:
    """One job, as its five means and what else is known of it.

    Attributes:
        c: mean exposed cost of a save (the equivalent one, of an asynchronous save).
        m: mean up-time between incidents.
        d: mean time from fault to detected.
        r: mean time from detected to the first step.
        lag: from capture to when a state can be restored.
        invalid: probability that a checkpoint that is needed cannot be used.
        shape: of Weibull up-times; None for a constant rate.
        recovery_failures: where failures strike besides up-time.
    """

    c: float
    m: float
    d: float = 0.0
    r: float = 0.0
    lag: float = 0.0
    invalid: float = 0.0
    shape: float | None = None
    recovery_failures: RecoveryFailures = "none"

    @property
    def failures(self) -> Failures:
        """What failures cost."""
        law: UpTimeLaw = Exponential(self.m) if self.shape is None else Weibull(self.shape, self.m)
        return Failures(
            law,
            self.d,
            self.r,
            self.lag,
            self.invalid,
            recovery_failures=self.recovery_failures,
        )

    def best(self) -> float:
        """The interval that wastes least."""
        return optimum(self.c, self.failures)

    def at(self, interval: float) -> Shares | None:
        """Shares at an interval; None where it is so short that saves would overlap."""
        if self.lag > interval + self.c:
            return None
        return shares(interval, self.c, self.failures)

    def fits(self, interval: float) -> float:
        """The interval, or the shortest longer one at which saves do not overlap."""
        return max(interval, self.lag - self.c)

    def waste(self, interval: float) -> float:
        """Exact waste at an interval that is long enough."""
        return shares(self.fits(interval), self.c, self.failures).waste


@dataclass(frozen=True)
class SensitivityRow:
    """Waste at one interval and one M; exact is None where saves would overlap."""

    m: float
    interval: float
    first_order: float
    exact: float | None


@dataclass(frozen=True)
class Lever:
    """One thing changed.

    Attributes:
        name: which.
        waste: with nothing else changed, the interval neither.
        waste_best: with the interval chosen anew besides.
        interval: that interval.
        gain: share of wall clock saved with nothing else changed.
    """

    name: str
    waste: float
    waste_best: float
    interval: float
    gain: float


@dataclass(frozen=True)
class ScaleRow:
    """A size: accelerators, M there, the best interval and the waste at it and as it is now."""

    accelerators: int
    m: float
    interval: float
    waste_best: float
    waste_unchanged: float


@dataclass(frozen=True)
class Spares:
    """Spare accelerators kept, and the part of R that they save (waiting for nodes)."""

    spares: int
    used: int
    replacement: float


def sensitivity(
    setting: Setting, intervals: Sequence[float], means: Sequence[float]
) -> list[SensitivityRow]:
    """Give the waste at each interval for each M.

    Args:
        setting: the job.
        intervals: useful training times between two pauses.
        means: mean up-times.

    Raises:
        ValueError: a time is out of range.

    >>> rows = sensitivity(Setting(4, 360, 5, 10), [45, 60], [360])
    >>> [(round(row.first_order, 6), round(row.exact, 6)) for row in rows]
    [(0.193056, 0.177007), (0.191667, 0.177631)]
    """
    rows = []
    for mean in means:
        there = replace(setting, m=mean)
        for interval in intervals:
            first = first_order(interval, there.c, mean, there.d + there.lag, there.r)
            at = there.at(interval)
            rows.append(
                SensitivityRow(mean, interval, first.waste, None if at is None else at.waste)
            )
    return rows


def tornado(
    setting: Setting, interval: float | None = None, spares: Spares | None = None
) -> list[Lever]:
    """Give what each lever is worth, the most first.

    Args:
        setting: the job.
        interval: in use; None for the best one.
        spares: spares to be kept, if that is a lever.

    Raises:
        ValueError: a time is out of range, or waiting for nodes is longer than R.

    Source: each waste is exact. Verified saves are tried again until they are valid, at
    ``C/(1-q)``. Spares kept idle are wasted themselves.

    >>> [lever.name for lever in tornado(Setting(4, 360, 5, 10), 120.0)][:3]
    ['double M', 'best interval', 'halve C']
    """
    now = setting.fits(setting.best() if interval is None else interval)
    before = setting.waste(now)
    levers = [_lever(BEST_INTERVAL, setting, now, before)]
    for name in ("c", "d", "r", "lag"):
        if getattr(setting, name) > 0.0:
            halved = replace(setting, **{name: getattr(setting, name) / 2.0})
            levers.append(_lever(f"halve {_NAMES[name]}", halved, now, before))
    levers.append(_lever("double M", replace(setting, m=2.0 * setting.m), now, before))
    if setting.invalid > 0.0:
        sure = replace(setting, c=retried(setting.c, setting.invalid), invalid=0.0)
        levers.append(_lever("verify saves", sure, now, before))
    if spares is not None:
        if spares.replacement > setting.r:
            raise ValueError("waiting for nodes is a part of R and cannot be longer")
        faster = replace(setting, r=setting.r - spares.replacement)
        idle = idle_spares(spares.spares, spares.used)
        levers.append(_lever("keep spares", faster, now, before, idle))
    return sorted(levers, key=lambda lever: -lever.gain)


_NAMES = {"c": "C", "d": "D", "r": "R", "lag": "lag"}


def _lever(name: str, changed: Setting, now: float, before: float, idle: float = 0.0) -> Lever:
    best = changed.best()
    waste_best = idle + (1.0 - idle) * changed.waste(best)
    waste = waste_best if name == BEST_INTERVAL else idle + (1.0 - idle) * changed.waste(now)
    return Lever(name, waste, waste_best, best, before - waste)


def at_sizes(
    setting: Setting, measured_at: int, sizes: Sequence[int], interval: float | None = None
) -> list[ScaleRow]:
    """Give the waste at other sizes, with C, D and R as they are.

    Args:
        setting: the job.
        measured_at: its accelerators.
        sizes: accelerators to ask about.
        interval: in use; None for the best one at the size measured.

    Raises:
        ValueError: an argument is out of range.

    >>> [(row.m, round(row.interval, 4)) for row in at_sizes(Setting(1, 180), 16_384, [32_768])]
    [(90.0, 12.7582)]
    """
    now = setting.best() if interval is None else interval
    rows = []
    for size in sizes:
        there = replace(setting, m=scaled(setting.m, measured_at, size))
        best = there.best()
        rows.append(ScaleRow(size, there.m, best, there.waste(best), there.waste(now)))
    return rows


def largest_term(setting: Setting, interval: float) -> tuple[str, dict[str, float]]:
    """Give the waste by what causes it, and the largest part: where to work.

    ``restart`` is detection and recovery; ``rework`` what failures discard, the lag in it;
    ``saves`` pauses and taxes.

    Args:
        setting: the job.
        interval: in use, long enough that saves do not overlap.

    Raises:
        ValueError: a time is out of range.

    >>> name, parts = largest_term(Setting(1, 180, 0, 10), 18.3)
    >>> name, {part: round(share, 4) for part, share in parts.items()}
    ('restart', {'saves': 0.0466, 'rework': 0.0498, 'restart': 0.0526})
    """
    at = shares(setting.fits(interval), setting.c, setting.failures)
    parts = {
        "saves": at.checkpoint,
        "rework": at.lost_work,
        "restart": at.detection + at.recovery,
    }
    return max(parts, key=parts.__getitem__), parts
