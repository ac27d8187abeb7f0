"""Cuts every allocation into buckets, without a gap, from the known timeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .scenario import DUMP_AT, RunSpec
from .timeline import Attempt, Ending

BUCKETS = (
    "productive", "checkpoint", "lost_work", "detection", "replacement", "restart", "startup",
    "stall", "degraded", "evaluation", "spare_idle", "orphan", "planned", "unknown",
)  # fmt: skip


@dataclass(slots=True)
class Chain:
    """One interruption: the attempt that ended, the failed retries, the attempt that resumed."""

    ended: Attempt
    ending: Ending
    retries: list[Attempt] = field(default_factory=list)
    resumed: Attempt | None = None
    lost_us: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one allocation that belongs to one bucket."""

    bucket: str
    start: int
    end: int


@dataclass(slots=True)
class Fate:
    """What became of every execution of a run."""

    chains: list[Chain]
    discarded: set[tuple[int, int]]


def chains_of(attempts: list[Attempt]) -> list[Chain]:
    """Join each interruption with its failed retries and the attempt that resumed."""
    chains: list[Chain] = []
    for attempt in attempts:
        if attempt.retry:
            chains[-1].retries.append(attempt)
            continue
        if chains:
            chains[-1].resumed = attempt
        ending = attempt.ending
        assert ending is not None
        if ending.kind not in ("running", "finished"):
            chains.append(Chain(attempt, ending))
    return chains


def judge(attempts: list[Attempt]) -> Fate:
    """Decide which executions each interruption discarded, each of them once."""
    chains = chains_of(attempts)
    discarded: set[tuple[int, int]] = set()
    for chain in chains:
        assert chain.resumed is not None
        resume = chain.resumed.loads or 0
        for attempt in attempts[: chain.ended.index + 1]:
            for place, step in enumerate(attempt.steps):
                key = (attempt.index, step.number)
                if step.number <= resume or key in discarded:
                    continue
                discarded.add(key)
                if place:
                    chain.lost_us += step.end - step.start
            for pause in attempt.pauses:
                key = (attempt.index, pause.step)
                if pause.kind == "eval" and key in discarded and pause.step > resume:
                    chain.lost_us += _owned(chain, chains, attempt, pause.step) * (
                        pause.end - pause.start
                    )
        chain.lost_us += tail(chain.ended)
    return Fate(chains, discarded)


def _owned(chain: Chain, chains: list[Chain], attempt: Attempt, step: int) -> int:
    """1 when this interruption is the first that discarded the step, else 0."""
    for earlier in chains:
        assert earlier.resumed is not None
        if earlier.ended.index >= attempt.index and step > (earlier.resumed.loads or 0):
            return 1 if earlier is chain else 0
    return 0


def _last_activity(attempt: Attempt) -> int:
    last = attempt.steps[-1].end
    return max([last] + [pause.end for pause in attempt.pauses[-1:]])


def tail(attempt: Attempt) -> int:
    """Length of the step under way when the attempt's progress ended."""
    assert attempt.ending is not None
    return attempt.ending.fault_at - _last_activity(attempt)


def segments(attempt: Attempt, fate: Fate, opens: str, spec: RunSpec) -> Iterator[Segment]:
    """Cut one allocation into consecutive segments from its start to its end.

    Args:
        attempt: The attempt that holds the allocation.
        fate: What became of the run's executions.
        opens: Bucket of the time up to the first step, ``restart`` or ``startup``.
        spec: The run.

    Yields:
        Segments in order, with no gap between them.
    """
    end = DUMP_AT if attempt.end is None else attempt.end
    if not attempt.steps:
        yield Segment(opens, attempt.start, end)
        return
    ending = attempt.ending
    assert ending is not None
    first = attempt.steps[0]
    yield Segment(opens, attempt.start, first.end)
    yield from _work(attempt, fate, spec)
    at = _last_activity(attempt)
    under_way = "unknown" if ending.kind == "running" else "lost_work"
    yield Segment(under_way, at, ending.fault_at)
    yield Segment("detection", ending.fault_at, ending.detected_at)
    closing = "replacement" if ending.kind in ("failure", "preemption") else "planned"
    yield Segment(closing, ending.detected_at, end)


def _work(attempt: Attempt, fate: Fate, spec: RunSpec) -> Iterator[Segment]:
    """Steps after the first, evaluations and saves, in order of time."""
    items = [(step.start, step.end, step.number, "step", step.slow) for step in attempt.steps[1:]]
    items += [(p.start, p.end, p.step, p.kind, False) for p in attempt.pauses]
    for start, end, number, kind, slow in sorted(items):
        gone = (attempt.index, number) in fate.discarded
        if kind == "save":
            yield Segment("checkpoint", start, end)
        elif gone:
            yield Segment("lost_work", start, end)
        elif kind == "eval":
            yield Segment("evaluation", start, end)
        else:
            healthy = start + (round((end - start) / spec.slow_factor) if slow else end - start)
            yield Segment("productive", start, healthy)
            yield Segment("degraded", healthy, end)


def all_segments(attempts: list[Attempt], fate: Fate, spec: RunSpec) -> list[Segment]:
    """Every segment of every allocation of a run, and a check that nothing is left out."""
    found: list[Segment] = []
    opens = "startup"
    for attempt in attempts:
        at = attempt.start
        for segment in segments(attempt, fate, opens, spec):
            if segment.start != at or segment.end < at:
                raise AssertionError(f"gap in job {attempt.job_id} at {at}: {segment}")
            at = segment.end
            found.append(segment)
        if at != (DUMP_AT if attempt.end is None else attempt.end):
            raise AssertionError(f"job {attempt.job_id} is not covered to its end")
        if not attempt.retry and attempt.ending is not None:
            opens = "startup" if attempt.ending.kind == "planned" else "restart"
    return found


def clip(found: list[Segment], window: tuple[int, int]) -> dict[str, int]:
    """Microseconds per bucket inside a window."""
    totals = dict.fromkeys(BUCKETS, 0)
    for segment in found:
        inside = min(segment.end, window[1]) - max(segment.start, window[0])
        totals[segment.bucket] += max(0, inside)
    return totals
