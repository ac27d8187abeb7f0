"""Runs whose saves all cost the same and come at one interval: a stretch of up-time at a time.

What a stretch keeps, and where it fails, then follows from its length by division, so that whole
rows of failures are worked out at once. `events` gives the same runs save by save, and more kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.simulation.laws import Constant, Floats
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.recovery import Recovery, recover
from ckpt_audit.model.simulation.results import Runs
from ckpt_audit.model.simulation.scenario import Scenario
from ckpt_audit.model.simulation.streams import ROWS, Rows, Streams

Bools = NDArray[np.bool_]
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
            slow = self.tax / self.drain * np.minimum(last, self.drain)
            time += np.where(saves > 1.0, np.maximum(saves - 2.0, 0.0) * self.tax + slow, 0.0)
        return time, saves

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

    kept: Floats
    checkpoint: Floats
    tax: Floats | None
    lost: Floats
    retries: Floats | None
    saves: Floats


class _Block:
    """The runs of a block that are under way, and what they have spent."""

    def __init__(self, scenario: Scenario, policy: Policy, streams: Streams, size: int) -> None:
        self.scenario, self.streams = scenario, streams
        self.pattern = Pattern.of(scenario, policy)
        self.left = np.full(size, scenario.work_s)
        self.spent = {name: np.zeros(size) for name in _SPENT}
        self.finished = np.zeros(size, dtype=bool)

    def advance(self, active: NDArray[np.int64]) -> None:
        """Play the next rows of failures of the active runs."""
        rows = _columns(self.streams.rows(), active, self.left.size)
        up = np.broadcast_to(np.asarray(rows.up), _shape(rows.up, active.size))
        first = self.pattern.stretches(up, self._unusable(rows.invalid), self.scenario.retry_s)
        second, window = None, up
        kept = first.kept
        if rows.follows is not None:
            window = np.where(rows.follows, rows.window, 0.0)
            second = self.pattern.stretches(
                window, self._unusable(rows.invalid_second), self.scenario.retry_s
            )
            kept = kept + second.kept
        left = self.left[active]
        before = np.empty((up.shape[0] + 1, active.size))
        before[0] = left
        for row in range(up.shape[0]):  # ten times as fast as a cumulative sum over this axis
            np.subtract(before[row], kept[row], out=before[row + 1])

        ends = self._ends(up, before[:-1])
        ends_second = None
        if second is not None and rows.follows is not None:
            ends_second = self._ends(window, before[:-1] - first.kept) & rows.follows
            ends_second &= ~ends
        any_end = ends if ends_second is None else ends | ends_second
        done = any_end.any(axis=0)
        last = np.where(done, any_end.argmax(axis=0), up.shape[0])
        columns = np.arange(active.size)
        in_second = np.zeros(active.size, dtype=bool)
        if ends_second is not None:
            in_second[done] = ends_second[last[done], columns[done]]

        counted = last + in_second
        self._spend(active, up, first, (rows.d, rows.r), counted, None)
        if second is not None:
            self._spend(active, window, second, (rows.d_second, rows.r_second), last, rows.follows)
        left = before[last, columns] - np.where(
            in_second, first.kept[np.minimum(last, up.shape[0] - 1), columns], 0.0
        )
        self.left[active] = np.where(done, 0.0, left)
        self._finish(active[done], left[done])

    def _unusable(self, uniform: Floats | None) -> Floats | None:
        """How many of the newest saves will not load: geometric."""
        if uniform is None:
            return None
        return np.asarray(np.floor(np.log(1.0 - uniform) / np.log(self.scenario.invalid)))

    def _ends(self, up: Floats, left: Floats) -> Bools:
        """Say in which stretches the work would be done before they fail."""
        ends = up >= left  # at least so long
        if ends.any():
            at = np.nonzero(ends)
            ends[at] = up[at] >= self.pattern.time_to_finish(left[at])[0]
        return ends

    def _spend(
        self,
        active: NDArray[np.int64],
        up: Floats,
        stretches: Stretches,
        costs: tuple[Floats | float, Floats | float],
        rows: NDArray[np.int64],
        happened: Bools | None,
    ) -> None:
        """Add up the first so many rows of each run."""
        n_rows = up.shape[0]
        mask = None
        if (rows < n_rows).any():
            mask = np.arange(n_rows)[:, None] < rows
        if happened is not None:
            mask = happened if mask is None else mask & happened

        def total(values: Floats | float) -> Floats:
            if isinstance(values, float):
                count = np.full(active.size, n_rows) if mask is None else mask.sum(axis=0)
                return np.asarray(values * count)
            return np.asarray((values if mask is None else values * mask).sum(axis=0))

        d, r = self._recoveries(costs, up.shape)
        found = {
            "checkpoint": total(stretches.checkpoint),
            "lost_work": total(stretches.lost),
            "detection": total(d),
            "restart": total(r),
            "failures": total(1.0),
            "saves": total(stretches.saves),
        }
        if stretches.tax is not None:
            found["tax"] = total(stretches.tax)
        if stretches.retries is not None:
            found["restart"] += total(stretches.retries)
        found["wall"] = total(up) + found["detection"] + found["restart"]
        for name, values in found.items():
            self.spent[name][active] += values

    def _recoveries(
        self, costs: tuple[Floats | float, Floats | float], shape: tuple[int, ...]
    ) -> tuple[Floats | float, Floats | float]:
        """Detection and restart of each failure, struck recoveries played again."""
        d, r = costs
        if self.scenario.recovery_failures == "none":
            return d, r
        d, r = (np.broadcast_to(np.asarray(cost), shape).ravel() for cost in (d, r))
        recovery = Recovery.begun(np.zeros(d.size), d, r)
        recover(self.scenario, self.streams.rng("recovery"), recovery)
        return recovery.detection.reshape(shape), recovery.restart.reshape(shape)

    def _finish(self, which: NDArray[np.int64], left: Floats) -> None:
        time, saves = self.pattern.time_to_finish(left)
        self.spent["wall"][which] += time
        self.spent["checkpoint"][which] += saves * self.pattern.pause
        self.spent["tax"][which] += time - left - saves * self.pattern.pause
        self.spent["saves"][which] += saves
        self.finished[which] = True


_SPENT = (
    "wall", "checkpoint", "tax", "lost_work", "detection", "restart", "failures", "saves",
)  # fmt: skip


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


def _shape(up: Floats | float, size: int) -> tuple[int, int]:
    return (ROWS, size) if isinstance(up, float) else (up.shape[0], up.shape[1])


def _columns(rows: Rows, active: NDArray[np.int64], size: int) -> Rows:
    """Keep the draws of the active runs."""
    if active.size == size:
        return rows
    kept = {
        name: value[:, active]
        for name, value in vars(rows).items()
        if isinstance(value, np.ndarray)
    }
    return replace(rows, **kept)
