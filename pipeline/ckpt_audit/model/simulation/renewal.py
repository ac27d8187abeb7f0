"""Runs whose saves all cost the same and come at one interval: a stretch of up-time at a time.

What a stretch keeps, and where it fails, then follows from its length by division, so that whole
rows of failures are worked out at once. `events` gives the same runs save by save, and more kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.simulation.laws import Constant, Floats
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.recovery import Recovery, recover
from ckpt_audit.model.simulation.results import Runs
from ckpt_audit.model.simulation.scenario import Scenario
from ckpt_audit.model.simulation.streams import Rows, Streams

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
SLACK = 1e-9  # of an interval: what is left of the work and shorter belongs to the interval before


def applies(scenario: Scenario, policy: Policy) -> bool:
    """Say whether a policy's runs in a scenario are of this simple kind."""
    drain = scenario.drain
    return (
        policy.is_fixed
        and policy.n_tiers == 1
        and isinstance(scenario.saves[0], Constant)
        and scenario.spares is None
        and len(scenario.classes) == 1
        and (scenario.cascade is None or scenario.cascade.clock == "restart")
        and (
            drain is None
            or drain.training(policy.shortest_s) <= scenario.interval(policy.shortest_s)
        )
    )


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

    def stretches(self, up: Floats, unusable: Floats | None, retry_s: float) -> Stretches:
        """Work out stretches that a failure ends.

        Args:
            up: their lengths, any shape, seconds.
            unusable: how many of the newest saves will not load, the same shape.
            retry_s: what trying one costs, seconds.
        """
        shifted = up + self.tax if self.tax else up  # as if a drain slowed the first interval, too
        saves = np.floor(shifted / self.period)
        rest = shifted - saves * self.period
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


@dataclass(frozen=True)
class _Failures:
    """Rows of first failures, or of second ones, of which only some ``happened``.

    A second failure that did not happen ends a stretch of no length, which adds nothing.
    """

    stretches: Stretches
    d: Floats | float
    r: Floats | float
    happened: Bools | None = None

    def of(self, columns: Ints) -> _Failures:
        """Give those of some runs."""

        def some(values: Any) -> Any:
            return values[:, columns] if isinstance(values, np.ndarray) else values

        parts = [some(value) for value in vars(self.stretches).values()]
        return _Failures(Stretches(*parts), some(self.d), some(self.r), some(self.happened))

    def spent(self, counted: Bools | None = None) -> dict[str, Floats]:
        """Add up the rows of each run: all of them, or those that are counted."""
        rows, columns = self.stretches.up.shape
        mask = counted
        if self.happened is not None:
            mask = self.happened if mask is None else mask & self.happened
        count = np.full(columns, float(rows)) if mask is None else mask.sum(axis=0) * 1.0

        def total(values: Floats, which: Bools | None) -> Floats:
            return np.asarray((values if which is None else values * which).sum(axis=0))

        def cost(values: Floats | float) -> Floats:
            return count * values if isinstance(values, float) else total(values, mask)

        found = {
            "checkpoint": total(self.stretches.checkpoint, counted),
            "lost_work": total(self.stretches.lost, counted),
            "detection": cost(self.d),
            "restart": cost(self.r),
            "failures": count,
            "saves": total(self.stretches.saves, counted),
        }
        if self.stretches.tax is not None:
            found["tax"] = total(self.stretches.tax, counted)
        if self.stretches.retries is not None:
            found["restart"] = found["restart"] + total(self.stretches.retries, counted)
        up = total(self.stretches.up, counted)
        found["wall"] = up + found["detection"] + found["restart"]
        return found


class _Block:
    """The runs of a block that are under way, and what they have spent."""

    def __init__(self, scenario: Scenario, policy: Policy, streams: Streams, size: int) -> None:
        self.scenario, self.streams = scenario, streams
        self.pattern = Pattern.of(scenario, policy)
        self.left = np.full(size, scenario.work_s)
        self.spent = {name: np.zeros(size) for name in _SPENT}
        self.finished = np.zeros(size, dtype=bool)

    def advance(self, active: Ints) -> None:
        """Play the next rows of failures of the active runs."""
        kinds = self._failures(_columns(self.streams.rows(), active, self.left.size))
        left = self.left[active]
        for kind in kinds:
            left = left - kind.stretches.kept.sum(axis=0)
        # The last stretch of a run is at least as long as the work left at the end of these rows.
        longest = max(float(kind.stretches.up.max()) for kind in kinds)
        may_end = left <= longest + self.pattern.interval
        whole = np.flatnonzero(~may_end)
        if whole.size:
            for kind in kinds:
                self._add(active[whole], {k: v[whole] for k, v in kind.spent().items()})
            self.left[active[whole]] = left[whole]
        some = np.flatnonzero(may_end)
        if some.size:
            self._play(active[some], [kind.of(some) for kind in kinds])

    def _failures(self, rows: Rows) -> list[_Failures]:
        """Work out first failures, and second ones where a cascade brings some."""
        scenario = self.scenario
        up = np.asarray(rows.up)
        first = self.pattern.stretches(up, self._unusable(rows.invalid), scenario.retry_s)
        kinds = [_Failures(first, *self._recoveries(rows.d, rows.r, up.shape))]
        if rows.follows is not None:
            window = np.where(rows.follows, rows.window, 0.0)
            unusable = self._unusable(rows.invalid_second)
            second = self.pattern.stretches(window, unusable, scenario.retry_s)
            costs = self._recoveries(rows.d_second, rows.r_second, up.shape)
            kinds.append(_Failures(second, *costs, rows.follows))
        return kinds

    def _play(self, active: Ints, kinds: list[_Failures]) -> None:
        """Play rows of runs of which some may end there."""
        first, second = kinds[0].stretches, kinds[1].stretches if len(kinds) > 1 else None
        rows, columns = first.up.shape
        kept = first.kept if second is None else first.kept + second.kept
        before = np.empty((rows + 1, columns))
        before[0] = self.left[active]
        for row in range(rows):  # ten times as fast as a cumulative sum over this axis
            np.subtract(before[row], kept[row], out=before[row + 1])
        ends = self._ends(first.up, before[:-1])
        ends_second = np.zeros_like(ends)
        if second is not None:
            ends_second = self._ends(second.up, before[:-1] - first.kept) & ~ends
        self._end_early(first, before[:-1])
        if second is not None:
            self._end_early(second, before[:-1] - first.kept)
        done = (ends | ends_second).any(axis=0)
        last = np.where(done, (ends | ends_second).argmax(axis=0), rows)
        # What happens in the row where a run ends: its first failure, where the second stretch
        # is the one that lasts to the end; else nothing.
        place = (np.minimum(last, rows - 1), np.arange(columns))
        in_second = done & ends_second[place]
        for kind, number in zip(kinds, (last + in_second, last), strict=False):
            counted = np.arange(rows)[:, None] < number if done.any() else None
            self._add(active, kind.spent(counted))
        left = before[last, place[1]] - np.where(in_second, first.kept[place], 0.0)
        self.left[active] = np.where(done, 0.0, left)
        self._finish(active[done], left[done])

    def _end_early(self, stretches: Stretches, left: Floats) -> None:
        """Give time to the pause, in place, where the work was done before the interval was."""
        at = np.nonzero(stretches.kept + stretches.lost > left)
        if not at[0].size:
            return
        excess = (stretches.kept + stretches.lost)[at] - left[at]
        stretches.lost[at] -= excess
        if stretches.tax is not None:
            pattern, saves = self.pattern, stretches.saves[at]
            last = left[at] - saves * pattern.interval
            slowed = np.maximum(saves - 1.0, 0.0) * pattern.tax
            slowed += (saves > 0.0) * pattern.slowdown(last)
            excess += stretches.tax[at] - slowed
            stretches.tax[at] = slowed
        stretches.checkpoint[at] += excess

    def _unusable(self, uniform: Floats | None) -> Floats | None:
        return None if uniform is None else unusable(uniform, self.scenario.invalid)

    def _ends(self, up: Floats, left: Floats) -> Bools:
        """Say in which stretches the work would be done before they fail."""
        ends = up >= left  # at least so long
        if ends.any():
            at = np.nonzero(ends)
            ends[at] = up[at] >= self.pattern.time_to_finish(left[at])[0]
        return ends

    def _recoveries(
        self, d: Floats | float, r: Floats | float, shape: tuple[int, ...]
    ) -> tuple[Floats | float, Floats | float]:
        """Detection and restart of each failure, struck recoveries played again."""
        if self.scenario.recovery_failures == "none":
            return d, r
        d, r = (np.broadcast_to(np.asarray(cost), shape).ravel() for cost in (d, r))
        recovery = Recovery.begun(np.zeros(d.size), d, r)
        recover(self.scenario, self.streams.rng("recovery"), recovery)
        return recovery.detection.reshape(shape), recovery.restart.reshape(shape)

    def _add(self, which: Ints, found: dict[str, Floats]) -> None:
        for name, values in found.items():
            self.spent[name][which] += values

    def _finish(self, which: Ints, left: Floats) -> None:
        time, saves = self.pattern.time_to_finish(left)
        pauses = saves * self.pattern.pause
        found = {"wall": time, "checkpoint": pauses, "tax": time - left - pauses, "saves": saves}
        self._add(which, found)
        self.finished[which] = True


_SPENT = (
    "wall", "checkpoint", "tax", "lost_work", "detection", "restart", "failures", "saves",
)  # fmt: skip


def unusable(uniform: Floats, invalid: float) -> Floats:
    """Give how many of the newest saves will not load: geometric, from a uniform number."""
    return np.asarray(np.floor(np.log(1.0 - uniform) / np.log(invalid)))


def run_block(
    scenario: Scenario, policy: Policy, seed: int, block: int, size: int, horizon_s: float
) -> Runs:
    """Play a block of runs.

    Args:
        scenario, policy: for which `applies` holds.
        seed: of the simulation.
        block: number of the block.
        size: runs in it.
        horizon_s: wall clock at which a run is given up, seconds.
    """
    streams = Streams(scenario, seed, block, size, draws_invalid=scenario.invalid > 0.0)
    state = _Block(scenario, policy, streams, size)
    active = np.arange(size)
    while active.size:
        state.advance(active)
        under_way = ~state.finished & (state.spent["wall"] < horizon_s)
        active = np.flatnonzero(under_way)
    return Runs(
        retained=scenario.work_s - state.left,
        spare_wait=np.zeros(size),
        finished=state.finished,
        **state.spent,
    )


def _columns(rows: Rows, active: Ints, size: int) -> Rows:
    """Keep the draws of the active runs."""
    if active.size == size:
        return rows
    kept = {
        name: value[:, active]
        for name, value in vars(rows).items()
        if isinstance(value, np.ndarray)
    }
    return replace(rows, **kept)
