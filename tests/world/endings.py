"""How and when an attempt ends: the moments of each scripted fault, stop or exit."""

from __future__ import annotations

import random

from .clock import SECOND, ceil_second, floor_second, seconds
from .cluster import leaf_of
from .scenario import HOWS, Event, RunSpec
from .timeline import Attempt, Ending

LEAF_DOWN = 5


def culprits(event: Event, spec: RunSpec, nodes: tuple[str, ...], rng: random.Random) -> list[str]:
    """Choose the nodes at fault: never on the leaf switch that is to fail, but for that."""
    if event.how == "leaf":
        return [node for node in nodes if leaf_of(node) == LEAF_DOWN]
    if HOWS[event.how].cause not in ("gpu", "node", "network", "host_memory"):
        return []
    return [rng.choice([node for node in nodes if leaf_of(node) != LEAF_DOWN])]


def _rank(nodes: tuple[str, ...], bad: list[str], rng: random.Random) -> int:
    node = bad[0] if bad else rng.choice(nodes)
    return nodes.index(node) * 8 + rng.randrange(8)


def launcher_moment(fault_at: int, rng: random.Random) -> int:
    """When the launcher notices a dead rank: 5 to 60 s later, in milliseconds."""
    return (fault_at + seconds(rng.uniform(5, 60))) // 1000 * 1000


def crash(
    event: Event, spec: RunSpec, attempt: Attempt, fault_at: int, rng: random.Random
) -> Ending:
    """End an attempt by a crash at ``fault_at`` and set the job's end."""
    how = HOWS[event.how]
    bad = culprits(event, spec, attempt.nodes, rng)
    launcher_at = launcher_moment(fault_at, rng) if how.launcher else None
    last = launcher_at if launcher_at is not None else fault_at + seconds(rng.uniform(4, 40))
    attempt.end = ceil_second(last + seconds(rng.uniform(3, 15)))
    detected = launcher_at if launcher_at is not None else attempt.end
    return Ending(
        how=event.how, kind=how.kind, cause=how.cause, fault_at=fault_at, detected_at=detected,
        launcher_at=launcher_at, evidence=how.evidence, nodes=tuple(bad),
        rank=_rank(attempt.nodes, bad, rng),
    )  # fmt: skip


def watchdog(
    event: Event, spec: RunSpec, attempt: Attempt, fault_at: int, rng: random.Random
) -> Ending:
    """End an attempt by a collective that never finishes, reported by several ranks."""
    how = HOWS[event.how]
    fault_at -= fault_at % 1000
    first = rng.randrange(spec.accelerators)
    ranks = [first, *rng.sample([r for r in range(spec.accelerators) if r != first], 3)]
    waits: list[tuple[int, int, int]] = []
    for order, rank in enumerate(ranks):
        begun_ms = 0 if order == 0 else rng.randint(0, 30)
        waits.append((rank, begun_ms, event.timeout_ms + rng.randint(2, 9) + 40 * order))
    detected = fault_at + waits[0][2] * 1000
    launcher_at = (detected + seconds(rng.uniform(4, 20))) // 1000 * 1000
    attempt.end = ceil_second(launcher_at + seconds(rng.uniform(3, 12)))
    return Ending(
        how=event.how, kind=how.kind, cause=how.cause, fault_at=fault_at, detected_at=detected,
        launcher_at=launcher_at, evidence=how.evidence, rank=first,
        timeout_ms=event.timeout_ms, waits_ms=tuple(waits),
    )  # fmt: skip


def silent(
    event: Event, spec: RunSpec, attempt: Attempt, overdue_at: int, rng: random.Random
) -> Ending:
    """End an attempt that stopped without a line: found by a person or by the scheduler."""
    how = HOWS[event.how]
    bad = culprits(event, spec, attempt.nodes, rng)
    after = rng.uniform(*event.hang_s) if event.how == "hang" else rng.uniform(310, 470)
    attempt.end = ceil_second(overdue_at + seconds(after))
    return Ending(
        how=event.how, kind=how.kind, cause=how.cause, fault_at=overdue_at,
        detected_at=attempt.end, evidence=how.evidence, nodes=tuple(bad),
        rank=_rank(attempt.nodes, bad, rng),
    )  # fmt: skip


def strike(event: Event, attempt: Attempt, at: int) -> Ending:
    """End an attempt at a whole second: limit, preemption or a person."""
    how = HOWS[event.how]
    attempt.end = floor_second(at)
    return Ending(event.how, how.kind, how.cause, attempt.end, attempt.end)


def leave(event: Event, attempt: Attempt, at: int, rng: random.Random) -> Ending:
    """End an attempt by the program's own exit; the job ends some seconds later."""
    how = HOWS[event.how]
    attempt.end = ceil_second(at + seconds(rng.uniform(5, 18)))
    return Ending(event.how, how.kind, how.cause, at, at)


def retry(attempt: Attempt, how: str, loads: int, rng: random.Random) -> None:
    """Play a failed attempt that never reaches a step."""
    attempt.retry = how
    if how == "node_fail":
        attempt.state, attempt.has_log = "NODE_FAIL", False
        attempt.end = attempt.start + SECOND * rng.randint(70, 240)
        bad = (rng.choice([node for node in attempt.nodes if leaf_of(node) != LEAF_DOWN]),)
        attempt.ending = Ending(how, "failure", "node", attempt.end, attempt.end, nodes=bad)
        return
    if how == "rendezvous":
        fault_at = attempt.start + seconds(rng.uniform(915, 960))
        attempt.state, attempt.exit_code = "FAILED", "1:0"
    else:
        attempt.launched_at = attempt.start + seconds(rng.uniform(10, 60))
        attempt.initialized_at = attempt.launched_at + seconds(rng.uniform(20, 50))
        attempt.load_started_at = attempt.start + seconds(rng.uniform(130, 330))
        fault_at = attempt.load_started_at
        if how == "load_error":
            fault_at += seconds(rng.uniform(20, 90))
            attempt.loads = loads
            attempt.state, attempt.exit_code = "FAILED", "1:0"
        else:
            attempt.state = "COMPLETED"
    launcher_at = None if how == "zero_exit" else launcher_moment(fault_at, rng)
    end = ceil_second((launcher_at or fault_at) + seconds(rng.uniform(3, 12)))
    attempt.end = end
    attempt.ending = Ending(
        how, "failure", "storage", fault_at, launcher_at or end, launcher_at=launcher_at,
        rank=rng.randrange(len(attempt.nodes) * 8),
    )  # fmt: skip
