"""Simulating policies: in blocks of runs, on as many processes as there are cores."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import active_children, get_context

import numpy as np

from ckpt_audit.model.simulation import events, renewal, walk
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.results import PolicyResult, Runs, Simulation
from ckpt_audit.model.simulation.scenario import Scenario

LEAST_BLOCK, MOST_BLOCK = 512, 4096
BLOCKS = 8  # into so many a simulation is cut where that gives blocks of a good size
GIVEN_UP_AFTER = (10.0, 100.0)  # times the work, by how often failures come
_MOST_EVENTS = 1e7  # of a run
_MOST_FAILURES = 1e5  # of a run, before it is given up
_KEPT_BYTES = 24 << 20
_WORTH_A_POOL = 1.5  # seconds; shorter ones are done before other processes have started


@dataclass(frozen=True)
class _Task:
    """One policy's runs of one block."""

    scenario: Scenario
    policy: Policy
    seed: int
    block: int
    size: int
    horizon_s: float

    def run(self) -> Runs:
        _keep_freed_memory()
        if renewal.applies(self.scenario, self.policy):
            play = renewal.run_block
        elif walk.applies(self.scenario, self.policy):
            play = walk.run_block
        else:
            play = events.run_block
        return play(self.scenario, self.policy, self.seed, self.block, self.size, self.horizon_s)


def simulate(
    scenario: Scenario,
    policies: Sequence[Policy],
    *,
    runs: int = 1000,
    seed: int = 1,
    workers: int = 1,
    horizon_s: float | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Simulate policies in one scenario, all against the same failures.

    Args:
        scenario: work, laws and what can happen.
        policies: rules for when to save.
        runs: how often the work is done with each policy.
        seed: of all draws. The same seed gives the same result, whatever ``workers`` is.
        workers: processes at most. A small simulation, or a machine that allows none, uses one.
        horizon_s: wall clock at which a run is given up as never finishing, seconds; see
            `give_up_after`. It is looked at after failures only.
        tell: is called with the numbers of blocks done and in all.

    Raises:
        ValueError: there is no policy, a number is out of range, a policy has other tiers than
            the scenario, or a run has more saves or failures than anyone would wait for.

    >>> from ckpt_audit.model.simulation import Constant, Exponential, Policy, Scenario
    >>> day = Scenario(86400.0, Exponential(10800.0), (Constant(60.0),), r=Constant(600.0))
    >>> found = simulate(day, [Policy.fixed(300.0), Policy.fixed(1140.0)], runs=2000)
    >>> [round(result.goodput.value, 2) for result in found.results]
    [0.78, 0.85]
    """
    if runs < 1 or workers < 1 or seed < 0:
        raise ValueError("runs and workers must be 1 or more, and the seed 0 or more")
    _check(scenario, policies)
    horizon = give_up_after(scenario) if horizon_s is None else horizon_s
    sizes = _block_sizes(runs)
    tasks = [
        _Task(scenario, policy, seed, block, size, horizon)
        for policy in policies
        for block, size in enumerate(sizes)
    ]
    done = _run_all(tasks, workers, tell)
    n = len(sizes)
    results = [
        PolicyResult(policy, Runs.joined(done[at * n : (at + 1) * n]))
        for at, policy in enumerate(policies)
    ]
    return Simulation(scenario, tuple(results), seed)


def give_up_after(scenario: Scenario) -> float:
    """Give the wall clock at which a run counts as never finishing, seconds.

    100 times the work; less, but at least 10 times, where that would be more than 100,000
    failures.
    """
    least, most = (times * scenario.work_s for times in GIVEN_UP_AFTER)
    return max(least, min(most, _MOST_FAILURES * scenario.up.mean))


def _check(scenario: Scenario, policies: Sequence[Policy]) -> None:
    """Refuse policies that do not fit the scenario."""
    if not policies:
        raise ValueError("there is no policy to simulate")
    for policy in policies:
        if policy.n_tiers != len(scenario.saves):
            raise ValueError(
                f"the policy saves to {policy.n_tiers} tiers, and the scenario has costs for "
                f"{len(scenario.saves)}"
            )
        _check_length(scenario, policy)


def _check_length(scenario: Scenario, policy: Policy) -> None:
    """Refuse runs that would not end before the one who asks does."""
    events = {"failures": scenario.work_s / scenario.up.mean}
    if not renewal.applies(scenario, policy):
        events["saves"] = scenario.work_s / scenario.interval(policy.shortest_s)
    for name, number in events.items():
        if number > _MOST_EVENTS:
            raise ValueError(
                f"a run would have {number:.0e} {name}, and at most {_MOST_EVENTS:.0e} are "
                "simulated: simulate less work"
            )


def _block_sizes(runs: int) -> list[int]:
    """Cut runs into blocks, by their number alone: results must not depend on the machine."""
    size = min(max(-(-runs // BLOCKS), LEAST_BLOCK), MOST_BLOCK)
    return [min(size, runs - start) for start in range(0, runs, size)]


def _time_ahead(task: _Task) -> float:
    """Guess how long a task takes, seconds."""
    scenario = task.scenario
    failures = scenario.work_s / scenario.up.mean
    saves = scenario.work_s / scenario.interval(task.policy.shortest_s)
    if renewal.applies(scenario, task.policy):
        return task.size * failures * 3e-8
    if walk.applies(scenario, task.policy):
        return task.size * (saves * 2e-8 + failures * 1e-7)
    return task.size * (saves + failures) * 2e-7


def _run_all(
    tasks: Sequence[_Task], workers: int, tell: Callable[[int, int], None] | None
) -> list[Runs]:
    workers = min(workers, len(tasks))
    if workers > 1 and sum(map(_time_ahead, tasks)) > _WORTH_A_POOL:
        try:
            with ProcessPoolExecutor(
                workers, mp_context=get_context("spawn"), initializer=_ignore_interrupts
            ) as pool:
                return _in_pool(pool, tasks, tell)
        except (OSError, ImportError, BrokenProcessPool):
            pass  # no processes or no semaphores here: one does it as well
    done = []
    for task in tasks:
        done.append(task.run())
        if tell is not None:
            tell(len(done), len(tasks))
    return done


def _in_pool(
    pool: Executor, tasks: Sequence[_Task], tell: Callable[[int, int], None] | None
) -> list[Runs]:
    others = set(active_children())
    waiting = [pool.submit(task.run) for task in tasks]
    done = []
    try:
        for future in waiting:
            done.append(future.result())
            if tell is not None:
                tell(len(done), len(tasks))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:  # what they have begun can take minutes
            process.terminate()
        raise
    return done


def _keep_freed_memory() -> None:
    """Make the C library keep freed memory for the next array, which makes a run twice as fast.

    glibc gives blocks above a threshold back to the system at once, and the next array of that
    size costs a page fault a page. Freeing one block, never written to, raises the threshold to
    its size. Elsewhere this does nothing.
    """
    block = np.empty(_KEPT_BYTES, dtype=np.uint8)
    del block


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
