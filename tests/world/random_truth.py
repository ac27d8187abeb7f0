"""The truth about a played world: incidents and ledger, by the definitions and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .ledger import BUCKETS
from .played import Allocation, Played, PlayedRun, Try
from .timeline import Ending, Pause, Step


@dataclass(slots=True)
class Chain:
    """One interruption: what ended, the failed retries, and what resumed."""

    ended: Try
    ending: Ending
    retries: list[Try] = field(default_factory=list)
    resumed: Try | None = None
    lost_us: int = 0
    lost_inside_us: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of an allocation that belongs to one bucket, and to an incident if it is lost."""

    bucket: str
    start: int
    end: int
    accelerators: int
    chain: int | None = None


@dataclass(frozen=True, slots=True)
class Incident:
    """The truth about one interruption; instants are microseconds UTC."""

    run: str
    how: str
    kind: str
    cause: str
    evidence: str
    secondary: bool
    attempts: int
    last_step: int
    last_step_at: int
    fault_at: int
    detected_at: int
    replaced_at: int | None
    launched_at: int | None
    load_started_at: int | None
    restored_at: int | None
    first_step_at: int | None
    resume_step: int | None
    verified_step: int | None
    verified_age_us: int | None
    steps_lost: int | None
    lost_work_us: int
    detection_us: int | None
    recovery_us: int | None
    restart: str
    is_seen: bool


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about one run."""

    run: str
    step_s: float
    incidents: list[Incident]
    ledger: dict[str, int]
    allocated_us: int
    launches: int
    without_step: int
    is_whole: bool


def _ends(run: Try) -> Ending:
    assert run.ending is not None
    return run.ending


def chains_of(tries: list[Try]) -> list[Chain]:
    """Join each interruption with its failed retries and the attempt that resumed."""
    chains: list[Chain] = []
    for attempt in tries:
        ending = _ends(attempt)
        if not attempt.steps:
            if chains:
                chains[-1].retries.append(attempt)
            continue
        if chains and _loops(chains[-1], attempt):
            chains[-1].retries.append(attempt)
            continue
        if chains:
            chains[-1].resumed = attempt
        if ending.kind not in ("running", "finished"):
            chains.append(Chain(attempt, ending))
    return chains


def _loops(chain: Chain, attempt: Try) -> bool:
    """The same step and the same signature again, before a newer checkpoint is whole."""
    return (
        chain.ending.kind == "failure"
        and chain.resumed is None
        and last_step(attempt).number == last_step(chain.ended).number
        and _ends(attempt).how == chain.ending.how
        and not any(save.done for save in attempt.saves)
    )


def _owner(chains: list[Chain], attempt: Try, step: int) -> int | None:
    """The interruption that discarded an execution, the first that did."""
    for place, chain in enumerate(chains):
        resumed = chain.resumed
        last = (chain.retries or [chain.ended])[-1]
        if resumed is None or last.index < attempt.index:
            continue
        if step > (resumed.loads or 0):
            return place
    return None


@dataclass(slots=True)
class Cutter:
    """Cuts the allocations of one run."""

    played: PlayedRun
    dump_at: int
    chains: list[Chain]

    def segments(self) -> list[Segment]:
        """Every segment, with no gap and no overlap inside an allocation."""
        found: list[Segment] = []
        for allocation in self.played.allocations:
            at = allocation.start
            for segment in self._cut(allocation):
                if segment.start != at or segment.end < at:
                    raise AssertionError(f"gap at {at} before {segment}")
                at = segment.end
                found.append(segment)
            if at != (self.dump_at if allocation.end is None else allocation.end):
                raise AssertionError(f"allocation {allocation.label} is not covered to its end")
        return found

    def _cut(self, allocation: Allocation) -> Iterator[Segment]:
        inside = [item for item in self.played.tries if item.allocation is allocation]
        end = self.dump_at if allocation.end is None else allocation.end
        at, size = allocation.start, allocation.accelerators
        for place, attempt in enumerate(inside):
            until = end
            if place + 1 < len(inside):
                until = _ends(attempt).detected_at
            for bucket, start, stop, chain in self._attempt(attempt, at, until):
                yield Segment(bucket, start, stop, size, chain)
            at = until

    def _inner(self, attempt: Try) -> int | None:
        """The interruption in which an attempt is a failed retry."""
        for place, chain in enumerate(self.chains):
            if any(attempt is item for item in chain.retries):
                return place
        return None

    def _opens(self, attempt: Try) -> str:
        before = [chain for chain in self.chains if chain.ended.index < attempt.index]
        return "restart" if before and before[-1].ending.kind != "planned" else "startup"

    def _attempt(
        self, attempt: Try, at: int, until: int
    ) -> Iterator[tuple[str, int, int, int | None]]:
        opens, ending = self._opens(attempt), _ends(attempt)
        if not attempt.steps:
            yield opens, at, until, None
            return
        yield opens, at, attempt.steps[0].end, None
        yield from self._work(attempt)
        last = last_activity(attempt)
        inner = self._inner(attempt)
        own = next((n for n, c in enumerate(self.chains) if c.ended is attempt), inner)
        under_way = "unknown" if ending.kind == "running" else "lost_work"
        yield under_way, last, ending.fault_at, own if under_way == "lost_work" else None
        if inner is not None:
            yield opens, ending.fault_at, until, None
            return
        yield "detection", ending.fault_at, ending.detected_at, None
        if ending.how == "orphan":
            yield "orphan", ending.detected_at, until, None
            return
        waits = ending.kind in ("failure", "preemption", "mitigation", "operator_rollback")
        yield "replacement" if waits else "planned", ending.detected_at, until, None

    def _work(self, attempt: Try) -> Iterator[tuple[str, int, int, int | None]]:
        """Steps after the first, evaluations and saves, in order of time."""
        items: list[tuple[int, int, int, str, bool]] = [
            (step.start, step.end, step.number, "step", step.slow)
            for step in attempt.steps[1:]
            if step.end <= _ends(attempt).fault_at
        ]
        items += [(p.start, p.end, p.step, p.kind, False) for p in attempt.pauses]
        for start, end, number, kind, slow in sorted(items):
            owner = _owner(self.chains, attempt, number)
            healed = [span for span in attempt.healed if start <= span[0] and span[1] <= end]
            stop = healed[0][0] if healed else end
            more = attempt.drains.get(number, 0) if kind == "step" else 0
            yield from self._piece(kind, start, stop - more, slow, owner)
            if more:
                yield "checkpoint", stop - more, stop, None
            if healed:
                yield "stall", stop, end, None

    @staticmethod
    def _piece(
        kind: str, start: int, end: int, slow: bool, owner: int | None
    ) -> Iterator[tuple[str, int, int, int | None]]:
        if kind == "save":
            yield "checkpoint", start, end, None
        elif owner is not None:
            yield "lost_work", start, end, owner
        elif kind == "eval":
            yield "evaluation", start, end, None
        else:
            healthy = start + (round((end - start) / 1.3) if slow else end - start)
            yield "productive", start, healthy, None
            yield "degraded", healthy, end, None


def last_activity(attempt: Try) -> int:
    """End of the last step, save or evaluation."""
    return max([last_step(attempt).end] + [pause.end for pause in attempt.pauses[-1:]])


def last_step(attempt: Try) -> Step:
    """The last step before the end, or before another attempt took over."""
    end = _ends(attempt).fault_at
    return [step for step in attempt.steps if step.end <= end][-1]


def _captured(attempt: Try, save: Pause) -> int:
    return attempt.steps[save.step - attempt.steps[0].number].end


def _verified(tries: list[Try], at: int) -> tuple[int, int] | None:
    """Step and capture of the newest checkpoint that was whole at an instant."""
    found = [
        (_captured(attempt, save), save.step)
        for attempt in tries
        for save in attempt.saves
        if attempt.is_whole(save, at)
    ]
    return max(found) if found else None


def _incident(played: PlayedRun, chains: list[Chain], place: int) -> Incident:
    chain = chains[place]
    ended, ending, resumed = chain.ended, chain.ending, chain.resumed
    verified = _verified(played.tries, ending.fault_at)
    last = last_step(ended)
    before = chains[place - 1] if place else None
    secondary = (
        before is not None
        and before.ending.kind == ending.kind == "failure"
        and not any(ended.is_whole(save, ending.fault_at) for save in ended.saves)
    )
    resume = None if resumed is None else resumed.loads or 0
    recovery = replaced = None
    if resumed is not None:
        recovery = resumed.steps[0].end - ending.detected_at - chain.lost_inside_us
        in_place = resumed.allocation is ended.allocation
        replaced = ending.detected_at if in_place else resumed.allocation.start
        replaced = max(replaced, ending.detected_at)
    return Incident(
        played.plan.name, ending.how, _kind(played, chain), ending.cause, ending.evidence,
        secondary,
        1 + len(chain.retries), last.number, last.end, ending.fault_at, ending.detected_at,
        replaced, resumed.launched_at if resumed else None,
        resumed.load_started_at if resumed else None, resumed.restored_at if resumed else None,
        resumed.steps[0].end if resumed else None, resume, verified and verified[1],
        verified and ending.fault_at - verified[0],
        None if resume is None else last.number - resume, chain.lost_us,
        ending.detected_at - ending.fault_at if ending.kind == "failure" else None, recovery,
        ended.act.restart if ended.act else "job",
        not _is_unlogged(played, ended),
    )  # fmt: skip


def _kind(run: PlayedRun, chain: Chain) -> str:
    """What the interruption was, as far as a log is left to tell it.

    That a person went back to an older checkpoint shows only in what the next attempt loads.
    """
    resumed = chain.resumed
    if chain.ending.kind == "operator_rollback" and resumed and _is_unlogged(run, resumed):
        return "planned"
    return chain.ending.kind


def _is_unlogged(run: PlayedRun, attempt: Try) -> bool:
    """Whether a later attempt of the same job began the log anew."""
    mine = run.allocations.index(attempt.allocation)
    return any(
        later.truncates and later.label == attempt.allocation.label
        for later in run.allocations[mine + 1 :]
    )


def truth_of(played: Played) -> list[Truth]:
    """The truth about every run of a world."""
    return [_run_truth(run, played.dump_at) for run in played.runs]


def _run_truth(run: PlayedRun, dump_at: int) -> Truth:
    chains = chains_of(run.tries)
    found = Cutter(run, dump_at, chains).segments()
    for segment in found:
        if segment.chain is not None:
            chain = chains[segment.chain]
            length = segment.end - segment.start
            chain.lost_us += length
            if segment.start >= chain.ending.detected_at:
                chain.lost_inside_us += length
    totals = dict.fromkeys(BUCKETS, 0)
    for segment in found:
        totals[segment.bucket] += segment.end - segment.start
    return Truth(
        run.plan.name,
        run.plan.step_s,
        [_incident(run, chains, place) for place in range(len(chains))],
        totals,
        sum(totals.values()),
        len(run.tries),
        sum(not attempt.steps for attempt in run.tries),
        not any(_is_unlogged(run, attempt) for attempt in run.tries),
    )
