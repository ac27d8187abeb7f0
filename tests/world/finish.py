"""How and when a played attempt ends, and what the scheduler makes of it."""

from __future__ import annotations

import random

from .clock import SECOND, ceil_second, floor_second, seconds
from .draw import Act
from .endings import launcher_moment
from .played import Allocation, Try
from .scenario import HOWS, How
from .timeline import Ending

OWN_HOWS: dict[str, How] = {
    "maintenance": How(
        "planned", "scheduler", "after_save", "CANCELLED", "0:0", "stop", False, ("operator",)
    ),
    "mitigation": How(
        "mitigation", "node", "stop", "CANCELLED", "0:0", "stop", False, ("gpu", "operator")
    ),
    "hang_in_save": How(
        "failure", "unknown", "hang_in_save", "CANCELLED", "0:0", "overdue", False, ("storage",)
    ),
    "orphan": How("planned", "operator", "orphan", "CANCELLED", "0:0", "stop", False),
}


def how_of(name: str) -> How:
    """What is known of a way to end."""
    return OWN_HOWS.get(name) or HOWS[name]


def finish(
    act: Act, run: Try, start: int, end: int, rng: random.Random, *, left: bool = False
) -> Ending | None:
    """End an attempt in the step from ``start`` to ``end``, or between two steps (``left``).

    Returns:
        The ending, or None where this way to end cannot happen here.
    """
    where = how_of(act.how).where
    if left and where == "save":
        return _crash(act, run, start, rng)
    if left and where == "hang_in_save":
        return _silent(act, run, end, rng)
    if where == "exit" or act.how == "target":
        return _leave(act, run, start, rng) if left else None
    if where == "after_save":
        return _strike(act, run, ceil_second(start + seconds(rng.uniform(4, 15)))) if left else None
    if left and where != "step":
        return None
    return _inside(act, run, start, end, rng)


def _inside(act: Act, run: Try, start: int, end: int, rng: random.Random) -> Ending | None:
    where = how_of(act.how).where
    inside = start + round(rng.uniform(0.12, 0.9) * (end - start))
    if where == "step":
        return _crash(act, run, inside, rng)
    if where == "watchdog":
        return _watchdog(act, run, inside, rng)
    if where == "overdue":
        return _silent(act, run, end, rng)
    if where == "open":
        run.allocation.end = None
        return Ending(act.how, "running", "", inside, inside)
    return _strike(act, run, ceil_second(inside)) if where in ("stop", "limit") else None


def _record(act: Act, run: Try, end: int) -> None:
    """Write the end into the allocation, unless the program starts again inside it."""
    how = how_of(act.how)
    if act.restart == "in_job":
        return
    run.allocation.end = end
    run.allocation.state, run.allocation.exit_code = how.state, how.exit_code
    if act.restart in ("append", "truncate") and how.state not in ("NODE_FAIL", "PREEMPTED"):
        run.allocation.state = "REQUEUED"


def _nodes(act: Act, run: Try, rng: random.Random) -> tuple[str, ...]:
    if how_of(act.how).cause not in ("gpu", "node", "network", "host_memory"):
        return ()
    return (rng.choice(run.nodes),)


def _rank(run: Try, bad: tuple[str, ...], rng: random.Random) -> int:
    node = bad[0] if bad else rng.choice(run.nodes)
    return run.nodes.index(node) * 8 + rng.randrange(8)


def _crash(act: Act, run: Try, fault_at: int, rng: random.Random) -> Ending:
    how = how_of(act.how)
    bad = _nodes(act, run, rng)
    launcher_at = launcher_moment(fault_at, rng) if how.launcher else None
    last = launcher_at if launcher_at is not None else fault_at + seconds(rng.uniform(4, 40))
    end = ceil_second(last + seconds(rng.uniform(3, 15)))
    _record(act, run, end)
    return Ending(
        act.how, how.kind, how.cause, fault_at, launcher_at or end, launcher_at, how.evidence,
        bad, _rank(run, bad, rng),
    )  # fmt: skip


def _watchdog(act: Act, run: Try, fault_at: int, rng: random.Random) -> Ending:
    how = how_of(act.how)
    fault_at -= fault_at % 1000
    world = 8 * len(run.nodes)
    count = world if "followers" in act.marks else min(4, world)
    ranks = rng.sample(range(world), count)
    waits = [
        (rank, rng.randint(0, 30) if place else 0, act.timeout_ms + rng.randint(2, 9) + 40 * place)
        for place, rank in enumerate(ranks)
    ]
    detected = fault_at + waits[0][2] * 1000
    launcher_at = (detected + seconds(rng.uniform(5, 20))) // 1000 * 1000
    _record(act, run, ceil_second(launcher_at + seconds(rng.uniform(3, 12))))
    return Ending(
        act.how, how.kind, how.cause, fault_at, detected, launcher_at, how.evidence,
        rank=ranks[0], timeout_ms=act.timeout_ms, waits_ms=tuple(waits),
    )  # fmt: skip


def _silent(act: Act, run: Try, due: int, rng: random.Random) -> Ending:
    how = how_of(act.how)
    bad = _nodes(act, run, rng)
    after = act.hang_s if act.how in ("hang", "hang_in_save") else rng.uniform(310, 470)
    if act.how == "hang":
        after += 8 * (due - run.steps[-1].start) / SECOND
    end = ceil_second(due + seconds(after))
    _record(act, run, end)
    rank = _rank(run, bad, rng)
    return Ending(act.how, how.kind, how.cause, due, end, None, how.evidence, bad, rank)


def _strike(act: Act, run: Try, at: int) -> Ending:
    how = how_of(act.how)
    at = floor_second(at)
    _record(act, run, at)
    if act.how == "mitigation":
        run.drained_at = at - 45 * SECOND
    if act.how == "limit":
        run.allocation.limit_s = (at - run.allocation.start) // SECOND // 60 * 60
    bad = run.nodes[-1:] if act.how == "mitigation" else ()
    return Ending(act.how, how.kind, how.cause, at, at, nodes=bad)


def _leave(act: Act, run: Try, at: int, rng: random.Random) -> Ending:
    how = how_of(act.how)
    _record(act, run, ceil_second(at + seconds(rng.uniform(5, 18))))
    return Ending(act.how, how.kind, how.cause, at, at)


def overtaken(run: Try, at: int, end: int) -> None:
    """Let a successor take the run over at ``at``; the allocation goes on to ``end``."""
    run.allocation.end = ceil_second(end)
    run.allocation.state = "CANCELLED"
    run.ending = Ending("orphan", "planned", "operator", at, at)


def retry_of(
    index: int, allocation: Allocation, name: str, loads: int | None, rng: random.Random
) -> Try:
    """Play a failed attempt that never reaches a step."""
    run = Try(index, allocation, allocation.start, retry=name, loads=loads)
    start = allocation.start
    if name == "node_fail":
        run.has_log = False
        allocation.end = start + SECOND * rng.randint(70, 240)
        allocation.state = "NODE_FAIL"
        run.ending = Ending(
            name, "failure", "node", allocation.end, allocation.end, nodes=run.nodes[:1]
        )
        return run
    if name == "rendezvous":
        fault_at = start + seconds(rng.uniform(915, 960))
    else:
        run.launched_at = start + seconds(rng.uniform(10, 60))
        run.initialized_at = run.launched_at + seconds(rng.uniform(20, 50))
        run.load_started_at = run.initialized_at + seconds(rng.uniform(20, 90))
        fault_at = run.load_started_at + seconds(rng.uniform(10, 60))
    allocation.state, allocation.exit_code = "FAILED", "1:0"
    launcher_at: int | None = launcher_moment(fault_at, rng)
    if name == "zero_exit":
        allocation.state, allocation.exit_code, launcher_at = "COMPLETED", "0:0", None
    end = ceil_second((launcher_at or fault_at) + seconds(rng.uniform(3, 12)))
    allocation.end = end
    run.ending = Ending(
        name, "failure", "storage", fault_at, launcher_at or end, launcher_at,
        rank=rng.randrange(8 * len(run.nodes)),
    )  # fmt: skip
    return run
