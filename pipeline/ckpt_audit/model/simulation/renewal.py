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
from ckpt_audit.model.simulation.pattern import SLACK, Pattern, Stretches, unusable
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.recovery import Recovery, recover
from ckpt_audit.model.simulation.results import Runs
from ckpt_audit.model.simulation.scenario import Scenario
from ckpt_audit.model.simulation.streams import Rows, Streams

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


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
        self.is_light = (
            scenario.cascade is None
            and scenario.invalid == 0.0
            and scenario.recovery_failures == "none"
            and self.pattern.lag == self.pattern.tax == 0.0
        )

    def advance(self, active: Ints) -> None:
        """Play the next rows of failures of the active runs."""
        rows = _columns(self.streams.rows(), active, self.left.size)
        if self.is_light:
            some = self._advance_light(active, rows)
            if some.size:
                self._play(active[some], self._failures(_columns(rows, some, active.size)))
            return
        kinds = self._failures(rows)
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

    def _advance_light(self, active: Ints, rows: Rows) -> Ints:
        """Play rows where nothing but saves and failures happens, and with few passes over them.

        Returns:
            Places of the runs that may end there; those have not been played.
        """
        pattern, up = self.pattern, rows.up
        saves, rest = pattern.split(up)
        done, since = saves.sum(axis=0), rest.sum(axis=0)
        useful = np.minimum(rest, pattern.interval, out=rest).sum(axis=0)
        left = self.left[active] - done * pattern.interval
        may_end = left <= float(up.max()) + pattern.interval
        whole = np.flatnonzero(~may_end)
        d, r = (
            np.full(active.size, up.shape[0] * cost)
            if isinstance(cost, float)
            else cost.sum(axis=0)
            for cost in (rows.d, rows.r)
        )
        found = {
            "wall": up.sum(axis=0) + d + r,
            "checkpoint": done * pattern.pause + (since - useful),
            "lost_work": useful,
            "detection": d,
            "restart": r,
            "failures": np.full(active.size, float(len(up))),
            "saves": done,
        }
        self._add(active[whole], {name: values[whole] for name, values in found.items()})
        self.left[active[whole]] = left[whole]
        return np.flatnonzero(may_end)

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
        ends = self._ends(first, before[:-1])
        any_end, ends_second = ends, np.zeros_like(ends) if second is None else ends
        if second is not None:
            ends_second = self._ends(second, before[:-1] - first.kept) & ~ends
            any_end = ends | ends_second
        done = any_end.any(axis=0)
        last = np.where(done, any_end.argmax(axis=0), rows)
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

    def _unusable(self, uniform: Floats | None) -> Floats | None:
        return None if uniform is None else unusable(uniform, self.scenario.invalid)

    def _ends(self, stretches: Stretches, left: Floats) -> Bools:
        """Say in which stretches the work would be done before they fail.

        Where the work was done, but not the pause, before the whole interval would have been over,
        time is given to the pause, in place.
        """
        ends = stretches.up >= left  # at least so long; and rows after the last one do not matter
        ends &= left > -SLACK * self.pattern.interval
        near = np.flatnonzero(ends)
        if near.size:
            at = np.unravel_index(near, ends.shape)
            ends[at] = stretches.up[at] >= self.pattern.time_to_finish(left[at])[0]
            self._end_early(stretches, left, at)
        return ends

    def _end_early(self, stretches: Stretches, left: Floats, at: tuple[Any, ...]) -> None:
        excess = np.maximum(stretches.kept[at] + stretches.lost[at] - left[at], 0.0)
        stretches.lost[at] -= excess
        if stretches.tax is not None:
            pattern, saves = self.pattern, stretches.saves[at]
            last = left[at] - saves * pattern.interval
            slowed = np.maximum(saves - 1.0, 0.0) * pattern.tax
            slowed += (saves > 0.0) * pattern.slowdown(last)
            slowed = np.where(excess > 0.0, slowed, stretches.tax[at])
            excess += stretches.tax[at] - slowed
            stretches.tax[at] = slowed
        stretches.checkpoint[at] += excess

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
