"""How a stretch of up-time goes on at one interval, where every save costs the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ckpt_audit.model.simulation.laws import Floats
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.scenario import Scenario

SLACK = 1e-9  # of an interval: what is left of the work and shorter belongs to the interval before


@dataclass(frozen=True)
class Pattern:
    """How a stretch of up-time goes on: an interval, a pause, and the next one.

    From the second interval on, the drain of the save before slows the beginning of each.

    Attributes:
        interval, pause, period: seconds; the period holds all three.
        tax: slowdown by one drain, seconds.
        drain: training beside a drain, seconds.
        drain_s: wall clock of a drain, seconds.
        lag: from the end of a pause until the save can be restored, seconds.
    """

    interval: float
    pause: float
    tax: float
    drain: float
    drain_s: float
    lag: float

    @classmethod
    def of(cls, scenario: Scenario, policy: Policy) -> Pattern:
        """Give the pattern of a policy in a scenario."""
        asked = policy.shortest_s
        drain = 0.0 if scenario.drain is None else scenario.drain.training(asked)
        drain_s = scenario.drain_s(asked)
        return cls(
            interval=scenario.interval(asked),
            pause=scenario.saves[0].mean,
            tax=drain * scenario.tax,
            drain=drain,
            drain_s=drain_s,
            lag=drain_s + scenario.lag_s,
        )

    @property
    def period(self) -> float:
        """From the end of one pause to the end of the next, seconds."""
        return self.interval + self.tax + self.pause

    def time_to_finish(self, left: Floats) -> tuple[Floats, Floats]:
        """Give the time that so much work takes when nothing fails, and the number of saves."""
        slack = SLACK * self.interval
        saves = np.maximum(np.ceil((left - slack) / self.interval), 1.0)
        last = left - (saves - 1.0) * self.interval
        time = left + saves * self.pause
        if self.tax:
            slow = self.slowdown(last)
            time += np.where(saves > 1.0, np.maximum(saves - 2.0, 0.0) * self.tax + slow, 0.0)
        return time, saves

    def slowdown(self, training: Floats) -> Floats:
        """Give the slowdown of so much training that begins with a drain, seconds."""
        return np.asarray(self.tax / self.drain * np.minimum(training, self.drain))

    def split(self, shifted: Floats) -> tuple[Floats, Floats]:
        """Give the number of whole periods, and the time since the last of them, seconds."""
        saves = shifted / self.period
        np.floor(saves, out=saves)
        rest = saves * self.period
        return saves, np.subtract(shifted, rest, out=rest)

    def stretches(self, up: Floats, unusable: Floats | None, retry_s: float) -> Stretches:
        """Work out stretches that a failure ends.

        Args:
            up: their lengths, any shape, seconds.
            unusable: how many of the newest saves will not load, the same shape.
            retry_s: what trying one costs, seconds.
        """
        shifted = up + self.tax if self.tax else up  # as if a drain slowed the first interval, too
        saves, rest = self.split(shifted)
        if self.tax:
            useful, pause, slowed = self._slowed(up, rest, saves)
        else:
            useful = np.minimum(rest, self.interval)
            pause, slowed = rest - useful, None
        available = saves
        if self.lag:
            available = np.maximum(np.floor((shifted - self.lag) / self.period), 0.0)
        retries = None
        if unusable is not None:
            tried = np.minimum(unusable, available)
            available, retries = available - tried, tried * retry_s
        kept = available * self.interval
        return Stretches(
            up=up,
            kept=kept,
            checkpoint=saves * self.pause + pause,
            tax=slowed,
            lost=useful if available is saves else saves * self.interval + useful - kept,
            retries=retries,
            saves=saves,
        )

    def _slowed(self, up: Floats, rest: Floats, saves: Floats) -> tuple[Floats, Floats, Floats]:
        """Give training, pause and slowdown since the last save; all slowdown of the stretch."""
        is_first = saves == 0.0
        beside = np.minimum(rest, self.drain_s)
        alone = np.clip(rest - self.drain_s, 0.0, self.interval - self.drain)
        done = beside * (self.drain / self.drain_s) + alone
        useful = np.where(is_first, np.minimum(up, self.interval), done)
        pause = np.where(
            is_first,
            np.maximum(up - self.interval, 0.0),
            np.maximum(rest - self.interval - self.tax, 0.0),
        )
        slowed = np.where(
            is_first, 0.0, beside * (self.tax / self.drain_s) + (saves - 1.0) * self.tax
        )
        return useful, pause, slowed


@dataclass(frozen=True)
class Stretches:
    """Stretches of up-time that a failure ended: seconds, and ``saves`` done."""

    up: Floats
    kept: Floats
    checkpoint: Floats
    tax: Floats | None
    lost: Floats
    retries: Floats | None
    saves: Floats


def unusable(uniform: Floats, invalid: float) -> Floats:
    """Give how many of the newest saves will not load: geometric, from a uniform number."""
    return np.asarray(np.floor(np.log(1.0 - uniform) / np.log(invalid)))
