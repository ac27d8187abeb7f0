"""What a drawn scenario becomes when it is played: allocations, and the attempts in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .draw import Act, Plan, Scenario
from .timeline import Ending, Pause, Step


@dataclass(slots=True)
class Allocation:
    """An interval in which the scheduler gave the run its nodes."""

    job_id: int
    label: str
    submit: int
    start: int
    nodes: tuple[str, ...]
    end: int | None = None
    state: str = "RUNNING"
    exit_code: str = "0:0"
    reason: str = "None"
    limit_s: int = 0
    truncates: bool = False

    @property
    def accelerators(self) -> int:
        """Number of its accelerators."""
        return 8 * len(self.nodes)


@dataclass(slots=True)
class Try:
    """One execution of the training program; ``retry`` names how it failed without a step."""

    index: int
    allocation: Allocation
    begun: int
    launched_at: int | None = None
    initialized_at: int | None = None
    load_started_at: int | None = None
    restored_at: int | None = None
    training_at: int | None = None
    loads: int | None = None
    from_scratch: bool = False
    steps: list[Step] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    commits: dict[int, int] = field(default_factory=dict)
    drains: dict[int, int] = field(default_factory=dict)
    healed: list[tuple[int, int]] = field(default_factory=list)
    ending: Ending | None = None
    act: Act | None = None
    retry: str = ""
    has_log: bool = True
    closes: bool = True
    drained_at: int | None = None

    @property
    def nodes(self) -> tuple[str, ...]:
        """Its nodes."""
        return self.allocation.nodes

    @property
    def job_id(self) -> str:
        """What the scheduler calls its job."""
        return self.allocation.label

    @property
    def end(self) -> int | None:
        """End of its allocation."""
        return self.allocation.end

    def is_whole(self, save: Pause, at: int) -> bool:
        """Whether a save was durable at an instant."""
        return save.done and self.commits.get(save.step, save.end) <= at and self.is_final(save)

    def is_final(self, save: Pause) -> bool:
        """Whether the training loop came round again to make an asynchronous save final."""
        return self.commits.get(save.step, 0) <= self.steps[-1].end

    @property
    def saves(self) -> list[Pause]:
        """Its saves, in order."""
        return [pause for pause in self.pauses if pause.kind == "save"]


@dataclass(slots=True)
class PlayedRun:
    """All that happened in one run."""

    plan: Plan
    allocations: list[Allocation]
    tries: list[Try]
    target: int


@dataclass(slots=True)
class Played:
    """All that happened in one world."""

    scenario: Scenario
    runs: list[PlayedRun]
    dump_at: int
