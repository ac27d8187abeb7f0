"""What the simulation produces: typed records of everything that happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

PauseKind = Literal["save", "eval"]


@dataclass(frozen=True, slots=True)
class Step:
    """One executed optimizer step."""

    number: int
    start: int
    end: int
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """A save or an evaluation after step ``step``; ``done`` is false where a fault cut it."""

    kind: PauseKind
    step: int
    start: int
    end: int
    done: bool = True


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended.

    Attributes:
        how: Key of the scenario, chooses the text that is written.
        kind: Kind of interruption; ``running`` and ``finished`` are none.
        cause: What was at fault.
        fault_at: Moment of the fault, stop or exit.
        detected_at: Moment when the system or a person acted.
        launcher_at: First dated line of the launcher, if there is one.
        evidence: What dates the fault: kernel, watchdog, overdue, undated or stop.
        nodes: Nodes at fault.
        rank: The first rank that failed.
        timeout_ms: Limit of the collective watchdog, where it fired.
        waits_ms: (rank, begun after the fault in ms, waited ms) of each rank that reported.
    """

    how: str
    kind: str
    cause: str
    fault_at: int
    detected_at: int
    launcher_at: int | None = None
    evidence: str = "stop"
    nodes: tuple[str, ...] = ()
    rank: int = 0
    timeout_ms: int = 0
    waits_ms: tuple[tuple[int, int, int], ...] = ()


@dataclass(slots=True)
class Attempt:
    """One execution of the training program inside one allocation."""

    run: str
    index: int
    nodes: tuple[str, ...]
    submit: int
    eligible: int
    start: int
    end: int | None = None
    requeued: bool = False
    job_id: int = 0
    state: str = "RUNNING"
    exit_code: str = "0:0"
    has_log: bool = True
    launched_at: int | None = None
    initialized_at: int | None = None
    load_started_at: int | None = None
    restored_at: int | None = None
    training_at: int | None = None
    loads: int | None = None
    steps: list[Step] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    ending: Ending | None = None
    retry: str = ""

    @property
    def first_step_at(self) -> int | None:
        """Moment when the first step of this attempt was complete."""
        return self.steps[0].end if self.steps else None

    @property
    def saves(self) -> list[Pause]:
        """The saves of this attempt, in order."""
        return [pause for pause in self.pauses if pause.kind == "save"]


@dataclass(frozen=True, slots=True)
class OtherJob:
    """A job of somebody else: context in the scheduler's dump."""

    name: str
    user: str
    account: str
    partition: str
    submit: int
    start: int
    end: int
    state: str
    exit_code: str
    nodes: tuple[str, ...]
    gpus_per_node: int
    job_id: int = 0
