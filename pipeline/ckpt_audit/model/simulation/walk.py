"""Runs at one interval whose saves cost differently each time: a failure at a time.

A table of costs is drawn ahead, and the moments at which saves end are its sums. Where a stretch of
up-time ends is then looked up among them, so that a round of NumPy calls moves every run to its
next failure and not just to its next save. `events` gives the same kind of runs save by save, and
more kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.simulation.laws import Constant, Floats
from ckpt_audit.model.simulation.pattern import SLACK, unusable
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.recovery import Recovery, recover
from ckpt_audit.model.simulation.results import Runs
from ckpt_audit.model.simulation.scenario import Scenario
from ckpt_audit.model.simulation.streams import Streams, Table

Ints = NDArray[np.int64]
SAVES = 128  # drawn ahead for each run
_TILE = 1 << 15  # draws at a time


def applies(scenario: Scenario, policy: Policy) -> bool:
    """Say whether a policy's runs in a scenario are of this kind."""
    return (
        policy.is_fixed
        and policy.n_tiers == 1
        and scenario.spares is None
        and scenario.drain is None
        and scenario.lag_s == 0.0
        and len(scenario.classes) == 1
        and (scenario.cascade is None or scenario.cascade.clock == "restart")
    )


@dataclass
class _Stretch:
    """The stretch of up-time that each run is in, shape ``(n,)`` each; times in seconds.

    Attributes:
        row: number of the first failure that it runs towards.
        second: whether it ends in a second failure.
        up: its length.
        place: number of saves of the table that were done or struck when it began.
        begun: sum of the table there; negative where it began before the table did.
        saves: saves done in it before the table began.
        needed: saves that the run needed to finish when it began.
    """

    row: Ints
    second: NDArray[np.bool_]
    up: Floats
    place: Ints
    begun: Floats
    saves: Ints
    needed: Ints


class Walk:
    """A block of runs.

    Args:
        scenario, policy: for which `applies` holds.
        streams: random numbers of the block.
        size: runs in the block.
        horizon_s: wall clock at which a run is given up, seconds.
    """

    def __init__(
        self, scenario: Scenario, policy: Policy, streams: Streams, size: int, horizon_s: float
    ) -> None:
        self.scenario, self.streams, self.horizon_s = scenario, streams, horizon_s
        self.interval = policy.shortest_s
        needed = max(int(np.ceil(scenario.work_s / self.interval - SLACK)), 1)
        self.short = needed * self.interval - scenario.work_s  # of the last interval
        nothing = np.zeros(size, dtype=np.int64)
        self.live = np.arange(size)
        self.table = Table(streams, lambda: int(self.now.row[self.live].min()))
        self.now = _Stretch(
            row=nothing,
            second=np.zeros(size, dtype=bool),
            up=np.zeros(size),
            place=nothing.copy(),
            begun=np.zeros(size),
            saves=nothing.copy(),
            needed=np.full(size, needed),
        )
        self.now.up[...] = self.table.at("up", self.table.places(nothing, self.live))
        self.finished = np.zeros(size, dtype=bool)
        known = scenario.recovery_failures == "none"
        self._constant = tuple(
            law.value if known and isinstance(law, Constant) and not tried else None
            for law, tried in ((scenario.d, 0.0), (scenario.r, scenario.invalid * scenario.retry_s))
        )
        self.spent = {name: np.zeros(size) for name in _SPENT}

    def run(self) -> Runs:
        """Play all runs to their ends."""
        while self.live.size:
            ends = self._draw()
            under_way = np.arange(self.live.size)
            over = np.zeros(self.live.size, dtype=bool)
            while under_way.size:
                under_way = self._fail(ends, under_way, over)
            self._settle()
            over |= self.spent["wall"][self.live] >= self.horizon_s
            live = self.live = self.live[~over]
            self.now.begun[live] -= ends[-2, ~over]
            self.now.saves[live] += SAVES - self.now.place[live]
            self.now.place[live] = 0
        size = self.finished.size
        left = np.maximum(self.now.needed * self.interval - self.short, 0.0)
        return Runs(
            retained=np.where(self.finished, self.scenario.work_s, self.scenario.work_s - left),
            tax=np.zeros(size),
            spare_wait=np.zeros(size),
            finished=self.finished,
            **{name: values for name, values in self.spent.items() if name != "up"},
        )

    def _draw(self) -> Floats:
        """Draw costs, and give the sums of intervals and costs: from 0 to that of all of them.

        One row more, which no stretch reaches, stops the search.
        """
        law, rng, width = self.scenario.saves[0], self.streams.rng("save"), self.live.size
        ends = np.empty((SAVES + 2, width))
        ends[0], ends[-1] = 0.0, np.inf
        height = max(_TILE // width, 1)
        for top in range(0, SAVES, height):  # so many that they stay in the cache
            rows = min(height, SAVES - top)
            costs = law.draw(rng, (rows, width))
            for row in range(rows):
                np.add(costs[row], self.interval, out=ends[top + row + 1])
                ends[top + row + 1] += ends[top + row]
        return ends

    def _fail(self, ends: Floats, at: Ints, over: NDArray[np.bool_]) -> Ints:
        """Move runs to the end of their stretch, and return those that the table goes on for.

        Args:
            ends: sums of the table.
            at: columns of the runs in it.
            over: columns of runs that have ended; more are marked.
        """
        run, now = self.live[at], self.now
        place, up = now.place[run], now.up[run]
        limit = now.begun[run] + up
        flat, width = ends.reshape(-1), ends.shape[1]
        done, key = self._search(flat, width, at, place, limit)
        saves = now.saves[run] + done - place
        needed = now.needed[run]
        goes_on = done < SAVES
        near = np.flatnonzero(saves + 1 >= needed)
        if near.size:
            last = (place + needed - now.saves[run])[near]
            near, last = near[last <= SAVES], last[last <= SAVES]
            end = ends[last, at[near]] - self.short
            in_time = end <= limit[near]
            near, end = near[in_time], end[in_time]
            self._finish(run[near], end - now.begun[run[near]], needed[near])
            over[at[near]] = True
            goes_on[near] = False
        if not goes_on.all():
            some = np.flatnonzero(goes_on)
            at, run, done, key, saves = at[some], run[some], done[some], key[some], saves[some]
            up, limit = up[some], limit[some]
        places = self.table.places(now.row[run], run)
        self._book(run, places, up, saves, limit - flat.take(key))
        done += 1
        now.begun[run] = flat.take(key + width)
        now.place[run] = done
        now.saves[run] = 0
        self._next(run, places)
        return at

    def _search(
        self, flat: Floats, width: int, at: Ints, place: Ints, limit: Floats
    ) -> tuple[Ints, Ints]:
        """Find the last sum that is no larger than the limit: by a guess, and steps from there.

        Returns:
            Its number, and its place in the flat table.
        """
        mean = self.interval + self.scenario.saves[0].mean
        key = place * width + at
        guess = (limit - flat.take(key)) / mean
        steps = np.minimum(guess, SAVES - place).astype(np.int64)
        found = place + steps
        key += steps * width
        off = np.flatnonzero(flat.take(key) > limit)
        while off.size:
            key[off] -= width
            found[off] -= 1
            off = off[flat.take(key[off]) > limit[off]]
        off = np.flatnonzero(flat.take(key + width) <= limit)
        while off.size:
            key[off] += width
            found[off] += 1
            off = off[flat.take(key[off] + width) <= limit[off]]
        return found, key

    def _book(self, run: Ints, places: Ints, up: Floats, saves: Ints, rest: Floats) -> None:
        """Book a stretch that a failure ended, and the recovery from it.

        Args:
            run: the runs.
            places: of what was drawn for the failure.
            up: length of the stretch, seconds.
            saves: done in it.
            rest: time since the last of them, seconds.
        """
        is_last = saves + 1 >= self.now.needed[run]
        useful = np.minimum(rest, self.interval - self.short * is_last)
        lost: Floats = useful
        detection, restart = self._costs(run, places)
        kept = saves
        if self.scenario.invalid > 0.0:
            draws = self._drawn("invalid", run, places)
            tried = np.minimum(unusable(draws, self.scenario.invalid), saves)
            lost = useful + tried * self.interval
            if self.scenario.retry_s:
                restart = restart + tried * self.scenario.retry_s
            kept = saves - tried.astype(np.int64)
        self.now.needed[run] -= kept
        spent = self.spent
        spent["up"][run] += up
        spent["checkpoint"][run] += np.maximum(up - saves * self.interval - useful, 0.0)
        spent["lost_work"][run] += lost
        spent["failures"][run] += 1.0
        spent["saves"][run] += saves
        for name, cost in (("detection", detection), ("restart", restart)):
            if not isinstance(cost, float):  # those are counted when all are settled
                spent[name][run] += cost

    def _settle(self) -> None:
        """Count costs that are the same for every failure, and add wall clock up."""
        d, r = self._constant
        spent = self.spent
        if d is not None:
            spent["detection"] = spent["failures"] * d
        if r is not None:
            spent["restart"] = spent["failures"] * r
        spent["wall"] = spent["up"] + spent["detection"] + spent["restart"]

    def _costs(self, run: Ints, places: Ints) -> tuple[Floats | float, Floats | float]:
        """Detection and restart, struck recoveries played again."""
        d, r = self._drawn("d", run, places), self._drawn("r", run, places)
        if self.scenario.recovery_failures == "none":
            return d, r
        recovery = Recovery.begun(np.zeros(run.size), d, r)
        recover(self.scenario, self.streams.rng("recovery"), recovery)
        return recovery.detection, recovery.restart

    def _drawn(self, name: str, run: Ints, places: Ints) -> Any:
        """What was drawn for the failure, first or second, that ends the stretch."""
        first = self.table.at(name, places)
        which = np.flatnonzero(self.now.second[run]) if isinstance(first, np.ndarray) else ()
        if len(which):
            first[which] = self.table.at(f"{name}_second", places[which])
        return first

    def _next(self, run: Ints, places: Ints) -> None:
        """Begin the stretch to a second failure where one follows, else to the next first one."""
        now, table = self.now, self.table
        if self.scenario.cascade is None:
            now.row[run] += 1
            now.up[run] = table.at("up", table.places(now.row[run], run))
            return
        follows = table.at("follows", places) & ~now.second[run]
        which = np.flatnonzero(follows)
        window = table.at("window", places[which])
        now.row[run] += ~follows
        up = table.at("up", table.places(now.row[run], run))
        up[which] = window
        now.up[run] = up
        now.second[run] = follows

    def _finish(self, run: Ints, up: Floats, saves: Ints) -> None:
        """Book the stretch in which the work was done."""
        trained = saves * self.interval - self.short
        self.spent["up"][run] += up
        self.spent["checkpoint"][run] += np.maximum(up - trained, 0.0)
        self.spent["saves"][run] += saves
        self.finished[run] = True


_SPENT = ("up", "wall", "checkpoint", "lost_work", "detection", "restart", "failures", "saves")


def run_block(
    scenario: Scenario, policy: Policy, seed: int, block: int, size: int, horizon_s: float
) -> Runs:
    """Play a block of runs; the arguments are those of `renewal.run_block`."""
    streams = Streams(scenario, seed, block, size, draws_invalid=scenario.invalid > 0.0)
    return Walk(scenario, policy, streams, size, horizon_s).run()
