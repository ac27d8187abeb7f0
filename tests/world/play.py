"""Plays a scenario, to the microsecond."""

from __future__ import annotations

import math
import random

from .clock import ceil_second, seconds
from .draw import Act, Plan, Scenario
from .finish import finish, overtaken, retry_of
from .played import Allocation, Played, PlayedRun, Try
from .timeline import Pause, Step

TOO_MANY = 5_000


class Player:
    """Plays one run."""

    def __init__(self, scenario: Scenario, plan: Plan, first_job: int) -> None:
        """Start with nothing done."""
        self.scenario = scenario
        self.plan = plan
        self.rng = random.Random(f"{scenario.seed}/{plan.name}/play")
        self.next_job = first_job
        self.n_nodes = plan.n_nodes
        self.bad: list[str] = []
        self.allocations: list[Allocation] = []
        self.tries: list[Try] = []
        self.saved: list[int] = []
        self.done_once: set[int] = set()
        self.slow_try: int | None = None
        self.array: tuple[int, int] | None = None

    def play(self) -> PlayedRun:
        """Play all acts; the run ends with the last of them."""
        plan = self.plan
        how = "array" if "array" in self.scenario.features else "job"
        at = plan.submit
        for name in plan.first_retries:
            failed = self._allocate(at, 20.0, how)
            self.tries.append(retry_of(len(self.tries), failed, name, None, self.rng))
            at = (failed.end or at) + seconds(90)
        allocation = self._allocate(at, 40.0, how)
        run, loads, scratch = self._launch(allocation, allocation.start, None), None, False
        for place, act in enumerate(plan.acts):
            run.act = act
            self._progress(run, act, scratch or loads is None)
            if place + 1 == len(plan.acts):
                break
            if act.n_nodes:
                self.n_nodes = act.n_nodes
            if act.scratch:
                self.saved = []
            self._forget_late(run)
            for _ in range(act.back_saves):
                self.saved[-1:] = []
            run = self._next(run, act)
            loads, scratch = run.loads, act.scratch
        target = self.tries[-1].steps[-1].number
        if plan.acts[-1].how != "target":
            target = 1_000_000
        return PlayedRun(plan, self.allocations, self.tries, target)

    def _nodes(self) -> tuple[str, ...]:
        first = self.plan.first_node
        names = [f"gpu{first + place:03d}" for place in range(20)]
        good = [name for name in names if name not in self.bad]
        return tuple(good[: self.n_nodes])

    def _allocate(self, after: int, queue_s: float, how: str) -> Allocation:
        submit = ceil_second(after)
        start = ceil_second(submit + seconds(queue_s))
        last = self.allocations[-1] if self.allocations else None
        if how in ("append", "truncate") and last is not None:
            job_id, label, nodes = last.job_id, last.label, self._nodes()
        else:
            job_id = self.next_job
            self.next_job += self.rng.randint(1, 5)
            label, nodes = str(job_id), self._nodes()
            if how == "array":
                array, task = self.array or (job_id + 10_000, -1)
                self.array = (array, task + 1)
                label = f"{array}_{task + 1}"
        if how == "array":
            submit = self.plan.submit
        found = Allocation(job_id, label, submit, start, nodes, truncates=how == "truncate")
        self.allocations.append(found)
        return found

    def _launch(self, allocation: Allocation, at: int, loads: int | None) -> Try:
        """Bring the program to the point where training starts."""
        rng = self.rng
        run = Try(len(self.tries), allocation, at)
        run.launched_at = at + seconds(rng.uniform(5, 40))
        run.initialized_at = run.launched_at + seconds(rng.uniform(15, 40))
        built = run.initialized_at + seconds(rng.uniform(20, 90))
        run.loads, run.from_scratch = loads, loads is None
        if loads is not None:
            run.load_started_at = built
            built += seconds(rng.uniform(20, 200))
            run.restored_at = built
        run.training_at = built + seconds(rng.uniform(5, 60))
        self.tries.append(run)
        return run

    def _next(self, ended: Try, act: Act) -> Try:
        """Failed retries, then the attempt that makes progress."""
        rng, ending = self.rng, ended.ending
        loads = self.saved[-1] if self.saved else None
        if act.how == "orphan":
            allocation = self._allocate(ended.steps[-1].end, act.queue_s, act.restart)
            return self._launch(allocation, allocation.start, loads)
        assert ending is not None
        if act.restart == "in_job":
            at = ending.detected_at + seconds(rng.uniform(3, 20))
            return self._launch(ended.allocation, at, loads)
        end = ended.allocation.end
        assert end is not None
        if act.how in ("xid79", "node", "ecc", "mitigation") and ending.nodes:
            self.bad += ending.nodes[:1]
        for name in act.retries:
            allocation = self._allocate(end + seconds(rng.uniform(20, 400)), 20, act.restart)
            failed = retry_of(len(self.tries), allocation, name, loads, rng)
            self.tries.append(failed)
            assert allocation.end is not None
            end = allocation.end
        wait_s = act.wait_s if act.restart in ("job", "array") else 1.0
        queue_s = act.queue_s if act.restart in ("job", "array") else 120 + act.queue_s
        allocation = self._allocate(end + seconds(wait_s), queue_s, act.restart)
        if act.how == "maintenance":
            allocation.reason = "ReqNodeNotAvail, Reserved for maintenance"
        return self._launch(allocation, allocation.start, loads)

    def _forget_late(self, ended: Try) -> None:
        """Asynchronous saves that were not durable when the attempt ended are no saves."""
        if ended.ending is not None:
            late = {save.step for save in ended.saves if not ended.is_final(save)}
            self.saved = [step for step in self.saved if step not in late]

    def _length(self, number: int) -> int:
        """How long a step takes."""
        plan = self.plan
        value = plan.step_s * math.exp(self.rng.gauss(0, plan.sigma))
        value *= plan.n_nodes / self.n_nodes
        if self._is_slow(number):
            value *= 1.3
        return seconds(value)

    def _is_slow(self, number: int) -> bool:
        low, high = self.plan.slow
        here = self.slow_try is None or self.slow_try == len(self.tries) - 1
        return here and low <= number < high and number not in self.done_once

    def _first(self, run: Try) -> int:
        assert run.training_at is not None
        return run.training_at + seconds(self.plan.step_s * self.rng.uniform(1.2, 2.0))

    def _progress(self, run: Try, act: Act, scratch: bool) -> None:
        """Steps, saves and evaluations until the act ends the attempt."""
        number = run.loads or 0
        high = max(self.done_once, default=0)
        goal = number + max(act.steps, 3)
        if act.how == "target":
            goal = max(goal, high + 1)  # no run does more steps than it was to do
        if "loop" in act.marks:
            last = next(item for item in reversed(self.tries[:-1]) if item.steps)
            goal = last.steps[-1].number
        now = run.training_at or 0
        while run.ending is None:
            number += 1
            slow = self._is_slow(number)
            if slow:
                self.slow_try = run.index
            start = now
            end = self._first(run) if not run.steps else now + self._length(number)
            if number in self._stalls() and number > high and run.steps:
                gap = seconds(12 * self.plan.step_s + 1500)
                run.healed.append((end, end + gap))
                end += gap
            if act.how == "orphan" and number > goal and number % self.plan.save_every == 4:
                return
            if run.steps and len(run.steps) > 2 and number > goal and self._may_end(run):
                run.ending = finish(act, run, start, end, self.rng)
                if run.ending is not None:
                    break
            if run.steps and run.commits.get(max(run.commits, default=0), 0) > start:
                more = round(0.06 * (end - start))
                run.drains[number] = more
                end += more
            if len(run.steps) > TOO_MANY:
                raise AssertionError(f"{act.how} never ends in {sorted(self.scenario.features)}")
            run.steps.append(Step(number, start, end, slow))
            self.done_once.add(number)
            if len(run.steps) == 1 and run.index and self.tries[-2].ending is None:
                self._overtake(self.tries[-2], end)
            now = self._between(run, act, end, number, goal)
        self._close(run)

    def _stalls(self) -> set[int]:
        """Steps that stall: none that follows a save or an evaluation."""
        plan = self.plan
        pauses = [every for every in (plan.save_every, plan.eval_every) if every]
        return {step + 2 * any((step - 1) % every == 0 for every in pauses) for step in plan.stalls}

    def _may_end(self, run: Try) -> bool:
        """An evaluation is not the last that was done, but in worlds that have it so."""
        features = self.scenario.features
        if run.steps[-1].slow and "ends_while_slow" not in features:
            return False
        last = run.pauses[-1] if run.pauses else None
        after = last is not None and last.kind == "eval" and last.step == run.steps[-1].number
        if last is not None and last.step == run.steps[-1].number in run.commits:
            return "ends_after_pause" in features
        if "ends_after_evaluation" in features and run.index == 0:
            return after or self.plan.eval_every % self.plan.save_every == 0
        return not after

    def _overtake(self, run: Try, at: int) -> None:
        """Let the attempt before go on for a while beside its successor, then be cancelled."""
        last = run.steps[-1]
        number, now = last.number, last.end
        while (number + 3) % self.plan.save_every:
            number += 1
            length = self._length(number)
            run.steps.append(Step(number, now, now + length))
            now += length
        overtaken(run, at, now + seconds(self.plan.step_s / 2))
        if now <= at:
            raise AssertionError("the orphan ended before it was one")

    def _between(self, run: Try, act: Act, now: int, number: int, goal: int) -> int:
        """Evaluation and save after a step; the moment when the next step begins."""
        plan = self.plan
        if plan.eval_every and number % plan.eval_every == 0 and number % plan.save_every:
            length = seconds(plan.eval_s * math.exp(self.rng.gauss(0, 0.02)))
            run.pauses.append(Pause("eval", number, now, now + length))
            now += length
        at_goal = number >= goal and len(run.steps) > 3
        leaving = at_goal and act.how in ("exit", "target", "stop", "maintenance")
        leaving = leaving or (at_goal and "at_last_step" in act.marks)
        if number % plan.save_every and not leaving:
            return now
        now = self._save(run, act, now, number, goal)
        if run.ending is None and leaving:
            if "double_final" in self.scenario.features and act.how == "target":
                now = self._save(run, act, now, number, goal)
            end = now + self._length(number)
            run.ending = finish(act, run, now, end, self.rng, left=True)
        return now

    def _save(self, run: Try, act: Act, now: int, number: int, goal: int) -> int:
        cost = seconds(self.plan.save_s * math.exp(self.rng.gauss(0, 0.05)))
        if number in self.plan.outages and number == max(self.done_once):
            usual = seconds(max(600, 5 * self.plan.save_s))
            more = seconds(max(1200, 9 * self.plan.save_s) + 120)
            run.healed.append((now + usual, now + cost + more))
            cost += more
        if act.how == "hang_in_save" and number >= goal and self.saved:
            usual = now + seconds(self.plan.save_s)
            run.pauses.append(Pause("save", number, now, usual, done=False))
            run.ending = finish(act, run, usual, usual, self.rng, left=True)
            return usual
        if self.plan.drain_steps and act.how not in ("exit", "target", "stop", "maintenance"):
            cost //= 4
            run.commits[number] = now + cost + seconds(self.plan.step_s * self.plan.drain_steps)
        if act.how in ("torn_storage", "torn_gpu") and number >= goal and self.saved:
            fault_at = now + round(self.rng.uniform(0.2, 0.85) * cost)
            run.pauses.append(Pause("save", number, now, fault_at, done=False))
            run.ending = finish(act, run, fault_at, fault_at, self.rng, left=True)
            return fault_at
        run.pauses.append(Pause("save", number, now, now + cost))
        self.saved = [step for step in self.saved if step < number] + [number]
        return now + cost

    def _close(self, run: Try) -> None:
        """Close the allocation, unless the next attempt runs in it too."""
        act, ending = run.act, run.ending
        assert act is not None
        assert ending is not None
        if act.restart == "in_job" and act.how not in ("open", "target"):
            run.closes = False


def play(scenario: Scenario) -> Played:
    """Play a whole world; the scheduler's records are taken when its last run is over or open."""
    runs = [
        Player(scenario, plan, 70_000 + 5_000 * place).play()
        for place, plan in enumerate(scenario.plans)
    ]
    ends = []
    for run in runs:
        last = run.tries[-1]
        assert last.ending is not None
        ends.append(last.allocation.end or last.ending.fault_at)
    return Played(scenario, runs, max(ends))
