"""Runs save by save: any policy, costs that vary, tiers, drains side by side, spares.

All runs of a block move on together, each by one event: the next save, or the failure that comes
before it. Runs that fail in a round are taken out, rolled back and recovered, and put back.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.simulation.laws import Constant, Floats
from ckpt_audit.model.simulation.pattern import SLACK
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.recovery import Recovery, recover
from ckpt_audit.model.simulation.results import Runs
from ckpt_audit.model.simulation.saved import Saved
from ckpt_audit.model.simulation.scenario import Scenario
from ckpt_audit.model.simulation.streams import Streams, Table

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass
class State:
    """Runs under way, the last axis of each array; times in seconds.

    Attributes:
        column: place of the run in its block.
        row: number of the first failure that it runs towards.
        second: whether the stretch ends in a second failure.
        up: length of the stretch of up-time.
        t: time since the stretch began.
        began: wall clock at its beginning.
        left: training still to do, from the last save on.
        count: number of saves that led there.
        pool: wall clock at which each spare is ready, shape ``(spares, n)``.
        spent: seconds by bucket, and counts, in the order of ``_SPENT``.
        saved: what can be restored.
    """

    column: Ints
    row: Ints
    second: Bools
    up: Floats
    t: Floats
    began: Floats
    left: Floats
    count: Floats
    pool: Floats
    checkpoint: Floats
    tax: Floats
    lost_work: Floats
    detection: Floats
    restart: Floats
    spare_wait: Floats
    failures: Floats
    saves: Floats
    saved: Saved

    def take(self, which: Ints | Bools) -> State:
        """Copy some of the runs."""
        return State(*(_taken(getattr(self, part.name), which) for part in fields(self)))

    def put(self, which: Ints, runs: State) -> None:
        """Put runs back that were taken out."""
        for part in fields(self):
            mine, theirs = getattr(self, part.name), getattr(runs, part.name)
            if isinstance(mine, Saved):
                mine.put(which, theirs)
            else:
                mine[..., which] = theirs


def _taken(value: Any, which: Ints | Bools) -> Any:
    return value.take(which) if isinstance(value, Saved) else value[..., which]


class Events:
    """A block of runs.

    Args:
        scenario: what is simulated.
        policy: when to save.
        streams: random numbers of the block.
        size: runs in the block.
        horizon_s: wall clock at which a run is given up, seconds.
    """

    def __init__(
        self, scenario: Scenario, policy: Policy, streams: Streams, size: int, horizon_s: float
    ) -> None:
        self.scenario, self.policy, self.streams = scenario, policy, streams
        self.horizon_s = horizon_s
        self.table = Table(streams, lambda: int(self.state.row.min()))
        self.tax = scenario.tax
        intervals = [scenario.interval(interval) for interval in policy.intervals_s]
        self.intervals = np.array(intervals)
        self.starts = np.array(policy.starts_s)
        self.drains = np.array([scenario.drain_s(interval) for interval in policy.intervals_s])
        self.slack = SLACK * min(intervals)
        self.costs = [law.value if isinstance(law, Constant) else None for law in scenario.saves]
        flying = int(np.ceil((self.drains.max() + scenario.lag_s) / min(intervals)))
        if flying > _MOST_FLYING:
            raise ValueError(
                f"up to {flying} saves would be on their way at once; at most {_MOST_FLYING} are "
                "simulated: the interval is too short for the drain or the lag"
            )
        slots = flying + 1 if flying else 0
        zero = np.zeros(size)
        spares = 0 if scenario.spares is None else scenario.spares.number
        self.state = State(
            column=np.arange(size),
            row=np.zeros(size, dtype=np.int64),
            second=np.zeros(size, dtype=bool),
            up=np.zeros(size),
            left=np.full(size, scenario.work_s),
            pool=np.zeros((spares, size)),
            saved=Saved.none(scenario.work_s, policy.n_tiers, slots, size),
            **{name: zero.copy() for name in ("t", "began", "count", *_SPENT)},
        )
        self.state.up = self._drawn("up", self.state)
        self.needs_saved = bool(slots) or policy.n_tiers > 1 or scenario.invalid > 0.0

    def run(self) -> Runs:
        """Play all runs to their ends."""
        parts, columns = [], []
        while self.state.column.size:
            over, finished = self.step()
            if over.size:
                parts.append(self._ended(self.state.take(over), finished))
                columns.append(self.state.column[over])
                under_way = np.ones(self.state.column.size, dtype=bool)
                under_way[over] = False
                self.state = self.state.take(under_way)
        joined, order = Runs.joined(parts), np.argsort(np.concatenate(columns))
        return replace(
            joined, **{part.name: getattr(joined, part.name)[order] for part in fields(joined)}
        )

    def _ended(self, runs: State, finished: Bools) -> Runs:
        return Runs(
            wall=runs.began + runs.t,
            retained=self.scenario.work_s - runs.left,
            finished=finished,
            **{name: getattr(runs, name) for name in _SPENT},
        )

    def step(self) -> tuple[Ints, Bools]:
        """Move every run on by one event.

        Returns:
            Places of the runs that are over, and which of those have finished.
        """
        runs = self.state
        interval, drain_s = self._interval(runs)
        after = runs.left - interval
        after = np.where(after < self.slack, 0.0, after)
        training = runs.left - after
        tier = self._tier(runs)
        cost = self._cost(tier, runs.left.size)
        trained = self._trained(runs, training)
        end = trained + cost
        failed = np.flatnonzero(end > runs.up)
        fallen = None
        if failed.size:
            fallen = runs.take(failed)
            self._fail(fallen, training[failed], trained[failed])
        if self.tax:
            runs.tax += trained - runs.t - training
        runs.checkpoint += cost
        runs.t, runs.left = end, after
        runs.count += 1.0
        runs.saves += 1.0
        if self.needs_saved:
            self._note_save(runs, tier, drain_s)
        over = runs.left <= 0.0
        if fallen is not None:
            runs.put(failed, fallen)
            over[failed] = fallen.began >= self.horizon_s
        which = np.flatnonzero(over)
        return which, runs.left[which] <= 0.0

    def _interval(self, runs: State) -> tuple[Floats | float, Floats | float]:
        """The next interval, and the wall clock of the drain after it."""
        if self.policy.is_fixed:
            return float(self.intervals[0]), float(self.drains[0])
        age = runs.t if self.policy.clock == "restart" else runs.began + runs.t
        at = np.searchsorted(self.starts, age, side="right") - 1
        return self.intervals[at], self.drains[at]

    def _tier(self, runs: State) -> Ints | None:
        """The tier of the next save; None where there is one."""
        if self.policy.n_tiers == 1:
            return None
        tier = np.zeros(runs.count.size, dtype=np.int64)
        for number in self.policy.every:
            tier += (runs.count + 1.0) % number == 0.0
        return tier

    def _cost(self, tier: Ints | None, size: int) -> Floats | float:
        rng = self.streams.rng("save")
        if tier is None:
            known = self.costs[0]
            return known if known is not None else self.scenario.saves[0].draw(rng, (size,))
        cost = np.empty(size)
        for number, law in enumerate(self.scenario.saves[: self.policy.n_tiers]):
            of_tier = np.flatnonzero(tier == number)
            cost[of_tier] = law.draw(rng, (of_tier.size,))
        return cost

    def _trained(self, runs: State, training: Floats) -> Floats:
        """The time at which so much training is done."""
        if not self.tax:
            return np.asarray(runs.t + training)
        time, todo = runs.t.copy(), training.copy()
        slots = runs.saved.drained.shape[0]
        for slot in range(slots):
            slow = 1.0 + self.tax * (slots - slot)  # those behind this one end later
            done = np.minimum(todo, np.maximum(runs.saved.drained[slot] - time, 0.0) / slow)
            time += done * slow
            todo -= done
        return np.asarray(time + todo)

    def _trained_by(self, runs: State) -> Floats:
        """The training from `t` to the end of the stretch, were there no pause."""
        if not self.tax:
            return np.asarray(runs.up - runs.t)
        time, done = runs.t.copy(), np.zeros(runs.t.size)
        slots = runs.saved.drained.shape[0]
        for slot in range(slots):
            until = np.clip(runs.saved.drained[slot], time, runs.up)
            done += (until - time) / (1.0 + self.tax * (slots - slot))
            time = until
        return np.asarray(done + (runs.up - time))

    def _note_save(self, runs: State, tier: Ints | None, drain_s: Floats | float) -> None:
        valid = None
        if self.scenario.invalid > 0.0:
            draws = self.streams.rng("valid").random(runs.t.size)
            valid = draws >= self.scenario.invalid
        runs.saved.note(
            now=runs.t,
            drained=runs.t + drain_s,
            lag_s=self.scenario.lag_s,
            left=runs.left,
            count=runs.count,
            tier=tier,
            valid=valid,
        )

    def _fail(self, runs: State, training: Floats, trained: Floats) -> None:
        """Roll runs back and recover them; they begin a new stretch of up-time."""
        useful = np.minimum(self._trained_by(runs), training)
        pause = np.maximum(runs.up - trained, 0.0)
        runs.checkpoint += pause
        if self.tax:
            runs.tax += runs.up - runs.t - useful - pause
        runs.failures += 1.0
        recovery = self._recover(runs)
        reached = runs.left - useful
        if self.needs_saved:
            runs.saved.settle(runs.up)
            runs.left, runs.count, tried = runs.saved.restore(recovery.need)
            if self.scenario.retry_s:
                runs.restart += tried * self.scenario.retry_s
                recovery.at += tried * self.scenario.retry_s
        runs.lost_work += runs.left - reached
        runs.began, runs.t = recovery.at, np.zeros(runs.t.size)
        self._next_stretch(runs, recovery.second)

    def _recover(self, runs: State) -> Recovery:
        kind = None if len(self.scenario.classes) == 1 else self._drawn("kind", runs)
        second = None
        cascade = self.scenario.cascade
        if cascade is not None and cascade.clock == "failure":
            second = np.where(self._is_followed(runs), self._drawn("window", runs), np.inf)
        recovery = Recovery.begun(
            runs.began + runs.up,
            self._drawn("d", runs),
            self._drawn("r", runs),
            kind,
            second,
            runs.pool,
        )
        recover(self.scenario, self.streams.rng("recovery"), recovery)
        runs.detection += recovery.detection
        runs.restart += recovery.restart
        runs.spare_wait += recovery.spare_wait
        return recovery

    def _drawn(self, name: str, runs: State) -> Any:
        """What was drawn for the failure, first or second, that ends the stretch."""
        places = self.table.places(runs.row, runs.column)
        first = self.table.at(name, places)
        if name not in _OF_SECOND or not runs.second.any():
            return first
        return np.where(runs.second, self.table.at(f"{name}_second", places), first)

    def _is_followed(self, runs: State) -> Bools:
        return np.asarray(self._drawn("follows", runs) & ~runs.second)

    def _next_stretch(self, runs: State, second: Floats) -> None:
        """Begin the stretch to a second failure where one follows, else to the next first one."""
        cascade = self.scenario.cascade
        follows = np.zeros(runs.t.size, dtype=bool)
        window = np.zeros(runs.t.size)
        if cascade is not None and cascade.clock == "restart":
            follows, window = self._is_followed(runs), self._drawn("window", runs)
        elif cascade is not None:
            follows = np.isfinite(second)
            window = np.where(follows, second, 0.0)
        runs.row = runs.row + ~follows
        runs.up = np.where(follows, window, self._drawn("up", runs))
        runs.second = follows


_OF_SECOND = ("d", "r", "kind")
_MOST_FLYING = 64
_SPENT = (
    "checkpoint", "tax", "lost_work", "detection", "restart", "spare_wait", "failures", "saves",
)  # fmt: skip


def run_block(
    scenario: Scenario, policy: Policy, seed: int, block: int, size: int, horizon_s: float
) -> Runs:
    """Play a block of runs; the arguments are those of `renewal.run_block`."""
    streams = Streams(scenario, seed, block, size)
    return Events(scenario, policy, streams, size, horizon_s).run()
