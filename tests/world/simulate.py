"""Plays a run against its script and keeps everything that happened, to the microsecond."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

from . import endings
from .clock import DAY, HOUR, MINUTE, SECOND, ceil_second, floor_second, seconds
from .cluster import NodePool
from .neighbours import other_jobs
from .scenario import (
    DUMP_AT,
    HOWS,
    LLAMA,
    MOE,
    SECONDS_PER_HALF_HOUR,
    Event,
    RunSpec,
    llama_events,
    moe_events,
)
from .timeline import Attempt, Ending, OtherJob, Pause, Step

HALF = 30 * MINUTE


@dataclass(slots=True)
class World:
    """Everything that happened on the cluster."""

    seed: int
    specs: dict[str, RunSpec]
    attempts: dict[str, list[Attempt]]
    others: list[OtherJob]


class RunSim:
    """One run: plays attempt after attempt along its script."""

    def __init__(self, spec: RunSpec, seed: int) -> None:
        """Start before the first submission, with nothing saved."""
        self.spec = spec
        self.rng = random.Random(f"{seed}/{spec.name}")
        self.pool = NodePool(spec.pool)
        self.nodes: tuple[str, ...] = ()
        self.saved: list[int] = []
        self.resume = 0
        self.target = spec.target
        self.attempts: list[Attempt] = []
        self._limit = 0

    def play(self, events: list[Event]) -> list[Attempt]:
        """Play the whole script."""
        submit = self.spec.submit
        start = submit + SECOND * self.rng.randint(8, 40)
        requeued = False
        for scripted in events:
            fixed = not scripted.loose or scripted.how == "open"
            moved = 0 if fixed else self.rng.uniform(-1.5, 1.5)
            event = replace(scripted, at=scripted.at + round(moved * HOUR))
            attempt = self._allocate(submit, start, requeued)
            self._train(attempt, event)
            self._settle(attempt, event)
            submit, start = self._wait(attempt, event)
            for how in event.retries:
                failed = self._allocate(submit, start, False)
                endings.retry(failed, how, self.resume, self.rng)
                submit, start = self._wait(failed, replace(event, wait_s=(60, 900)))
            requeued = event.requeue
        return self.attempts

    def _allocate(self, submit: int, start: int, requeued: bool) -> Attempt:
        self.nodes = self.pool.pick(self.spec.n_nodes, start, self.nodes)
        attempt = Attempt(
            run=self.spec.name, index=len(self.attempts), nodes=self.nodes, submit=submit,
            eligible=submit + (121 * SECOND if requeued else 0), start=start, requeued=requeued,
        )  # fmt: skip
        self.attempts.append(attempt)
        return attempt

    def _wait(self, attempt: Attempt, event: Event) -> tuple[int, int]:
        """Submission and start of the next job."""
        if attempt.end is None:
            return 0, 0
        wait = self.rng.uniform(*event.wait_s)
        start = attempt.end + SECOND * round(wait)
        after = 0 if event.requeue else min(self.rng.randint(20, 600), round(wait) - 5)
        return attempt.end + SECOND * after, start

    def _settle(self, attempt: Attempt, event: Event) -> None:
        """Set the scheduler's view, drain suspect nodes, choose what is loaded next."""
        how = HOWS[event.how]
        attempt.state, attempt.exit_code = how.state, how.exit_code
        if how.state == "CANCELLED":
            attempt.state = f"CANCELLED by {self.spec.uid}"
        if attempt.end is None or attempt.ending is None:
            return
        if event.how != "leaf" or self.spec.name == MOE.name:
            until = attempt.end + (2 * HOUR if event.how == "leaf" else 2 * DAY)
            if how.cause != "host_memory":
                self.pool.drain(attempt.ending.nodes, until)
        if event.back_saves:
            self.saved = self.saved[: -event.back_saves]
        self.resume = self.saved[-1] if self.saved else 0

    def _launch(self, attempt: Attempt) -> int:
        """From the allocation to the moment when the first step begins."""
        rng = self.rng
        attempt.launched_at = attempt.start + seconds(rng.uniform(10, 60))
        attempt.initialized_at = attempt.launched_at + seconds(rng.uniform(20, 50))
        attempt.load_started_at = attempt.start + seconds(rng.uniform(125, 360))
        ready = attempt.load_started_at
        if self.resume:
            attempt.loads = self.resume
            ready = attempt.restored_at = ready + seconds(rng.uniform(60, 240))
        attempt.training_at = ready + seconds(rng.uniform(8, 30))
        return attempt.training_at

    def _duration(self) -> int:
        sigma = self.spec.step_sigma
        return seconds(self.spec.step_s * math.exp(self.rng.gauss(-sigma * sigma / 2, sigma)))

    def _save_cost(self) -> int:
        ratio = math.log1p((self.spec.save_sd / self.spec.save_s) ** 2)
        draw = self.rng.gauss(math.log(self.spec.save_s) - ratio / 2, math.sqrt(ratio))
        return seconds(math.exp(draw))

    def _train(self, attempt: Attempt, event: Event) -> None:
        """Step after step until the event ends the attempt."""
        now = self._launch(attempt)
        number = self.resume
        warm_up = seconds(self.rng.uniform(60, 120))
        self._limit = -(-(event.at - attempt.start) // HALF) * SECONDS_PER_HALF_HOUR
        if event.cascade_s:
            event = replace(event, at=now + warm_up + seconds(self.rng.uniform(*event.cascade_s)))
        while attempt.ending is None:
            healthy = self._duration()
            slow = self.spec.slow[0] <= now < self.spec.slow[1]
            duration = round(healthy * self.spec.slow_factor) if slow else healthy
            if attempt.steps:
                attempt.ending = self._cut_step(attempt, event, now, duration)
                if attempt.ending is not None:
                    return
            else:
                duration += warm_up
            number += 1
            attempt.steps.append(Step(number, now, now + duration, slow))
            now = self._between(attempt, event, now + duration)

    def _ripe(self, attempt: Attempt, event: Event, now: int) -> bool:
        """Whether the event may strike now: progress is plain and its record unambiguous."""
        if now < event.at:
            return False
        if event.cascade_s:
            return attempt.steps[-1].end == now
        saves = attempt.saves
        return bool(saves) and attempt.steps[-1].end == now and not self._odd(saves[-1].step)

    def _odd(self, step: int) -> bool:
        """Whether an evaluation lies between this step and its save."""
        return bool(self.spec.eval_every) and step % self.spec.eval_every == 0

    def _cut_step(self, attempt: Attempt, event: Event, now: int, length: int) -> Ending | None:
        """Strike inside the step that would run from ``now`` for ``length``, if it is time."""
        where = HOWS[event.how].where
        rng = self.rng
        if where == "open":
            if now + length <= DUMP_AT:
                return None
            return Ending(event.how, "running", "", DUMP_AT, DUMP_AT)
        if where == "after_save":
            saves = attempt.saves
            if now < event.at or not saves or saves[-1].end != now or self._odd(saves[-1].step):
                return None
            return endings.strike(event, attempt, ceil_second(now + seconds(rng.uniform(4, 25))))
        if where == "limit":
            return self._cut_limit(attempt, event, now, length)
        return self._cut_plain(attempt, event, now, length)

    def _cut_plain(self, attempt: Attempt, event: Event, now: int, length: int) -> Ending | None:
        """Strike somewhere inside the step, or let it be the one that never ends."""
        if not self._ripe(attempt, event, now):
            return None
        where, rng = HOWS[event.how].where, self.rng
        inside = now + round(rng.uniform(0.12, 0.9) * length)
        if where == "step":
            return endings.crash(event, self.spec, attempt, inside, rng)
        if where == "watchdog":
            return endings.watchdog(event, self.spec, attempt, inside, rng)
        if where == "overdue":
            return endings.silent(event, self.spec, attempt, now + length, rng)
        return endings.strike(event, attempt, ceil_second(inside)) if where == "stop" else None

    def _cut_limit(self, attempt: Attempt, event: Event, now: int, length: int) -> Ending | None:
        """The scheduler ends a job up to half a minute after its limit."""
        due = attempt.start + self._limit
        if now > due + 29 * SECOND:
            self._limit += SECONDS_PER_HALF_HOUR
            return None
        low = max(ceil_second(now + SECOND), due + SECOND)
        high = min(floor_second(now + length - SECOND), due + 29 * SECOND)
        if low > high or not self._ripe(attempt, event, now):
            return None
        return endings.strike(event, attempt, low)

    def _between(self, attempt: Attempt, event: Event, now: int) -> int:
        """Evaluation, save and a clean exit after a step; the moment when the next step begins."""
        spec, number = self.spec, attempt.steps[-1].number
        where = HOWS[event.how].where
        if self._odd(number):
            length = seconds(spec.eval_s * math.exp(self.rng.gauss(0, 0.02)))
            attempt.pauses.append(Pause("eval", number, now, now + length))
            now += length
        due = number % spec.save_every == 0
        leaving = where == "exit" and not due and not self._odd(number) and bool(attempt.saves)
        leaving = leaving and now >= event.at
        if not due and not leaving:
            return now
        now = self._save(attempt, event, now, number)
        if attempt.ending is not None:
            return now
        done = where == "target" and now >= event.at and not self._odd(number)
        if done:
            self.target = number
        if leaving or done:
            attempt.ending = endings.leave(event, attempt, now, self.rng)
        return now

    def _save(self, attempt: Attempt, event: Event, now: int, number: int) -> int:
        cost = self._save_cost()
        saves = attempt.saves
        where = HOWS[event.how].where
        if where == "save" and now >= event.at and saves and not self._odd(saves[-1].step):
            fault_at = now + round(self.rng.uniform(0.2, 0.85) * cost)
            attempt.pauses.append(Pause("save", number, now, fault_at, done=False))
            attempt.ending = endings.crash(event, self.spec, attempt, fault_at, self.rng)
            return fault_at
        if where == "open" and now + cost > DUMP_AT:
            attempt.pauses.append(Pause("save", number, now, DUMP_AT, done=False))
            attempt.ending = Ending(event.how, "running", "", DUMP_AT, DUMP_AT)
            return DUMP_AT
        attempt.pauses.append(Pause("save", number, now, now + cost))
        self.saved = [step for step in self.saved if step < number] + [number]
        return now + cost


def _number_jobs(world: World, rng: random.Random) -> None:
    """Give job ids in the order of submission; a requeued job keeps its own."""
    attempts = [attempt for run in world.attempts.values() for attempt in run]
    order: list[tuple[int, str, int]] = [(a.submit, a.run, a.index) for a in attempts]
    order += [(job.submit, "", place) for place, job in enumerate(world.others)]
    job_id = 481_200
    for _, run, place in sorted(order):
        job_id += rng.randint(1, 4)
        if not run:
            world.others[place] = replace(world.others[place], job_id=job_id)
            continue
        attempt = world.attempts[run][place]
        attempt.job_id = world.attempts[run][place - 1].job_id if attempt.requeued else job_id


def _leaf_fault(attempts: list[Attempt]) -> int:
    return next(a.ending.fault_at for a in attempts if a.ending and a.ending.how == "leaf")


def _both_runs(seed: int) -> tuple[RunSim, RunSim]:
    """Play both runs; move the leaf switch's failure until it finds both in plain progress."""
    for tries in range(40):
        llama, moe = RunSim(LLAMA, seed), RunSim(MOE, seed)
        leaf_at = _leaf_fault(llama.play(llama_events(tries * 7 * MINUTE)))
        if _leaf_fault(moe.play(moe_events(leaf_at + 3 * SECOND))) - leaf_at < 110 * SECOND:
            return llama, moe
    raise AssertionError("the leaf switch finds no moment for both runs")


def simulate(seed: int) -> World:
    """Play the whole month on the whole cluster."""
    llama, moe = _both_runs(seed)
    world = World(
        seed,
        {LLAMA.name: LLAMA, MOE.name: replace(MOE, target=moe.target)},
        {LLAMA.name: llama.attempts, MOE.name: moe.attempts},
        other_jobs(random.Random(f"{seed}/others")),
    )
    _number_jobs(world, random.Random(f"{seed}/ids"))
    return world
