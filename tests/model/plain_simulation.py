"""The simulated model as one would write it by hand: one run, one save at a time, plain numbers.

It takes the same random numbers as the vectorised engines and must give the same runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ckpt_audit.model.simulation import Policy, Runs, Scenario
from ckpt_audit.model.simulation.pattern import SLACK
from ckpt_audit.model.simulation.streams import Streams
from ckpt_audit.model.simulation.walk import SAVES

BUCKETS = ("retained", "checkpoint", "tax", "lost_work", "detection", "restart", "spare_wait")
COUNTS = ("failures", "saves")


@dataclass
class Save:
    """One save: the training left after it, its number, its tier, when it can be restored."""

    left: float
    count: int
    tier: float
    ready: float
    drained: float
    valid: bool = True
    is_proved: bool = False  # restored before


@dataclass
class Draws:
    """The random numbers of one run, a block's column.

    ``per_failure``: unusable saves are drawn per failure, and not per save.
    """

    scenario: Scenario
    streams: Streams
    column: int
    per_failure: bool
    costs: Iterator[float] | None = None
    rows: list[dict[str, float]] = field(default_factory=list)
    ahead: list[float] = field(default_factory=list)

    def of(self, name: str, row: int, second: bool = False) -> float:
        while row >= len(self.rows):
            chunk = vars(self.streams.rows())
            height = chunk["up"].shape[0]
            for at in range(height):
                self.rows.append(
                    {
                        key: value[at, self.column] if isinstance(value, np.ndarray) else value
                        for key, value in chunk.items()
                    }
                )
        return self.rows[row][f"{name}_second" if second else name]

    def save(self, tier: int) -> float:
        if self.costs is not None:
            return next(self.costs)
        if not self.ahead:  # the engine that draws per failure draws saves ahead
            number = SAVES if self.per_failure else 1
            law = self.scenario.saves[tier]
            self.ahead = law.draw(self.streams.rng("save"), (number, 1))[::-1, 0].tolist()
        return self.ahead.pop()

    def is_valid(self) -> bool:
        if self.per_failure or self.scenario.invalid == 0.0:
            return True
        return self.streams.rng("valid").random() >= self.scenario.invalid

    def again(self, law_name: str) -> float:
        law = getattr(self.scenario, law_name)
        return float(law.draw(self.streams.rng("recovery"), (1,))[0])

    def kind_again(self) -> int:
        shares = np.cumsum([kind.share for kind in self.scenario.classes])[:-1]
        return int(np.searchsorted(shares, self.streams.rng("recovery").random(), side="right"))


class PlainRun:
    def __init__(self, scenario: Scenario, policy: Policy, draws: Draws, horizon_s: float) -> None:
        self.scenario, self.policy, self.draws = scenario, policy, draws
        self.horizon_s = horizon_s
        self.clock = 0.0
        self.left = scenario.work_s
        self.count = 0
        self.saves = [Save(scenario.work_s, 0, math.inf, -math.inf, -math.inf, is_proved=True)]
        self.spares = [0.0] * (0 if scenario.spares is None else scenario.spares.number)
        self.spent = dict.fromkeys((*BUCKETS, *COUNTS), 0.0)
        self.row, self.is_second = 0, False
        self.up = draws.of("up", 0)

    def play(self) -> dict[str, float]:
        finished = False
        while not finished and self.clock < self.horizon_s:
            finished = self.stretch()
        self.spent["retained"] = self.scenario.work_s - self.left
        return self.spent | {"wall": self.clock, "finished": float(finished)}

    def stretch(self) -> bool:
        t = 0.0
        slack = SLACK * min(self.scenario.interval(i) for i in self.policy.intervals_s)
        while True:
            age = t if self.policy.clock == "restart" else self.clock + t
            chosen = [i for i, s in enumerate(self.policy.starts_s) if s <= age][-1]
            asked = self.policy.intervals_s[chosen]
            interval = self.scenario.interval(asked)
            training = self.left if self.left - interval < slack else interval
            tier = self.policy.tier_of(self.count + 1)
            cost = self.draws.save(tier)
            valid = self.draws.is_valid()
            trained = self.after_training(t, training)
            if trained + cost > self.up:
                self.fail(t, training, trained)
                return False
            self.spent["tax"] += trained - t - training
            self.spent["checkpoint"] += cost
            self.spent["saves"] += 1
            t = trained + cost
            self.left = 0.0 if training == self.left else self.left - training
            self.count += 1
            drained = max([t + self.scenario.drain_s(asked), *(s.drained for s in self.saves)])
            ready = drained + self.scenario.lag_s
            self.saves.append(Save(self.left, self.count, tier, ready, drained, valid))
            if self.left <= 0.0:
                self.clock += t
                return True

    def drains(self, t: float) -> int:
        return sum(save.drained > t for save in self.saves)

    def after_training(self, t: float, todo: float) -> float:
        """The time at which so much training is done, each drain in flight slowing it."""
        while todo > 0.0:
            slow = 1.0 + self.scenario.tax * self.drains(t)
            change = min((s.drained for s in self.saves if s.drained > t), default=math.inf)
            if t + todo * slow <= change:
                return t + todo * slow
            todo -= (change - t) / slow
            t = change
        return t

    def trained_by(self, t: float, until: float, most: float) -> float:
        done = 0.0
        while t < until and done < most:
            slow = 1.0 + self.scenario.tax * self.drains(t)
            change = min([until, *(s.drained for s in self.saves if s.drained > t)])
            done += (change - t) / slow
            t = change
        return min(done, most)

    def fail(self, t: float, training: float, trained: float) -> None:
        useful = self.trained_by(t, self.up, training)
        pause = max(self.up - trained, 0.0)
        self.spent["checkpoint"] += pause
        self.spent["tax"] += self.up - t - useful - pause
        self.spent["failures"] += 1
        reached = self.left - useful
        self.clock += self.up
        need, second_in = self.recover()
        self.restore(need)
        self.spent["lost_work"] += self.left - reached
        self.next_stretch(second_in)

    def restore(self, need: int) -> None:
        """Go back to the newest save that is ready, survived and will load."""
        found = [s for s in self.saves if s.ready <= self.up and s.tier >= need]
        proved = max(at for at, s in enumerate(found) if s.is_proved)
        found = found[proved:]
        tried = 0
        if self.draws.per_failure and self.scenario.invalid > 0.0:
            uniform = self.draws.of("invalid", self.row, self.is_second)
            bad = math.floor(math.log(1.0 - uniform) / math.log(self.scenario.invalid))
            tried = min(bad, len(found) - 1)
            found = found[: len(found) - tried]
        while not found[-1].valid:
            found.pop()
            tried += 1
        self.spent["restart"] += tried * self.scenario.retry_s
        self.clock += tried * self.scenario.retry_s
        self.left, self.count = found[-1].left, found[-1].count
        # Copies on higher tiers stay as they are; lower ones begin anew from what was restored.
        kept = [s for s in self.saves if s.tier > need and s.ready <= self.up]
        here = Save(self.left, self.count, need, -math.inf, -math.inf, is_proved=True)
        self.saves = [*(replace(s, ready=-math.inf, drained=-math.inf) for s in kept), here]

    def recover(self) -> tuple[int, float]:
        scenario, draws = self.scenario, self.draws
        mode, cascade = scenario.recovery_failures, scenario.cascade
        d = draws.of("d", self.row, self.is_second)
        r = draws.of("r", self.row, self.is_second)
        kind = 0
        if len(scenario.classes) > 1:
            kind = int(draws.of("kind", self.row, self.is_second))
        second = math.inf
        in_recovery = cascade is not None and cascade.clock == "failure" and not self.is_second
        if in_recovery and draws.of("follows", self.row):
            second = draws.of("window", self.row)
        need = 0
        while True:
            of_kind = scenario.classes[kind]
            need = max(need, of_kind.tier)
            if of_kind.r is not None:
                r = float(of_kind.r.draw(draws.streams.rng("recovery"), (1,))[0])
            strike = min(second, draws.again("up")) if mode == "all" else second
            self.spend("detection", min(strike, d))
            detected = strike >= d
            restart = 0.0
            if detected:
                self.replace(of_kind.nodes)
            left = strike - d
            if mode == "restore":
                left = min(left, draws.again("up"))
            if detected:
                restart = min(left, r)
                self.spend("restart", restart)
            if detected and left >= r:
                return need, second - d - r
            is_second = second <= d + left
            second = math.inf if is_second else second - min(strike, d) - restart
            d, r = draws.again("d"), draws.again("r")
            if len(scenario.classes) > 1:
                kind = draws.kind_again()

    def replace(self, nodes: int) -> None:
        if self.scenario.spares is None or nodes == 0:
            return
        law = self.scenario.spares.repair
        repairs = law.draw(self.draws.streams.rng("recovery"), (nodes, 1))[:, 0]
        ready = sorted([*self.spares, *(self.clock + float(repair) for repair in repairs)])
        self.spend("spare_wait", max(ready[nodes - 1] - self.clock, 0.0))
        self.spares = ready[nodes:]

    def spend(self, bucket: str, duration_s: float) -> None:
        self.clock += duration_s
        self.spent[bucket] += duration_s

    def next_stretch(self, second_in: float) -> None:
        cascade = self.scenario.cascade
        follows = False
        if cascade is not None and cascade.clock == "restart":
            follows = not self.is_second and bool(self.draws.of("follows", self.row))
            second_in = self.draws.of("window", self.row) if follows else math.inf
        elif cascade is not None:
            follows = math.isfinite(second_in)
        if follows:
            self.up = second_in
        else:
            self.row += 1
            self.up = self.draws.of("up", self.row)
        self.is_second = follows


def plain_run(
    scenario: Scenario,
    policy: Policy,
    *,
    seed: int,
    size: int = 1,
    column: int = 0,
    per_failure: bool = False,
    costs: Iterator[float] | None = None,
    horizon_s: float = math.inf,
) -> dict[str, float]:
    """Play the run that is a column of a block.

    Args:
        scenario, policy, seed: as for a block of number 0.
        size, column: of the block.
        per_failure: whether unusable saves are drawn per failure.
        costs: of save after save; None: drawn from the block's stream, for a block of one run.
        horizon_s: when it is given up.
    """
    streams = Streams(scenario, seed, 0, size, draws_invalid=per_failure and scenario.invalid > 0.0)
    draws = Draws(scenario, streams, column, per_failure, costs)
    return PlainRun(scenario, policy, draws, horizon_s).play()


def compared(runs: Runs, at: int) -> dict[str, float]:
    """One run of an engine, in the form of `plain_run`."""
    names = ("wall", "finished", *BUCKETS, *COUNTS)
    return {name: float(getattr(runs, name)[at]) for name in names}
