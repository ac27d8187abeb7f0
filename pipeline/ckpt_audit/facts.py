"""What is known after the SQL stages, as frozen values: the seam between warehouse and judgement.

``queries.py`` fills these from the derived tables; ``audit``, ``report``, ``alerts`` and ``cli``
read nothing else. Instants (``*_at``) are integers, microseconds since 1970-01-01T00:00:00Z;
durations are float seconds (``*_s``), except ledger rows, whose sums must be exact (``*_us``).
None means unknown, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open stretch of time, [start_at, end_at), with the name people give it."""

    start_at: int
    end_at: int
    label: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line that supports one moment of an incident.

    Attributes:
        moment: Name of the moment (``fault_at``, ``detected_at``...) or ``precursor``.
        file, line: Where the line stands; line is 1-based; None where nothing was printed.
        text: The line itself, or a sentence that says what was derived from what.
        strength: ``stated``, ``derived``, ``bounded`` or ``absent``.
    """

    moment: str
    file: str | None
    line: int | None
    text: str
    strength: str


@dataclass(frozen=True, slots=True)
class Epoch:
    """A stretch of a run with one configuration.

    Attributes:
        settings: What the program says of its configuration, as ``name=value``.
        why: What changed where it begins, or None for the first.
    """

    run: str
    epoch: int
    started_at: int
    ended_at: int
    n_accelerators: int | None
    settings: tuple[str, ...] = ()
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One logical training run and what it was joined from."""

    run: str
    user: str | None
    work_dir: str | None
    joined_by: str
    n_jobs: int
    n_attempts: int
    n_launches_without_step: int
    n_accelerators: int | None
    accelerators_origin: str
    started_at: int | None
    ended_at: int | None
    is_running: bool
    first_step: int | None
    last_step: int | None
    target_step: int | None
    allocated_us: int
    missing: tuple[str, ...] = ()
    n_unrecorded: int = 0  # executions that the records leave out, though their log shows them
    n_unlogged: int = 0  # executions that may have done steps, and whose log is gone
    epochs: tuple[Epoch, ...] = ()


@dataclass(frozen=True, slots=True)
class Incident:
    """One interruption with every failed retry after it, in the words of the glossary."""

    id: str
    run: str
    ordinal: int
    kind: str  # failure preemption mitigation planned operator_rollback unknown
    cause: str
    cause_strength: str
    rule: str  # the sentence that says why it is of this kind and cause
    phase: str  # step evaluation save load first_step launch unknown
    secondary: bool
    attempts: int
    job_ids: tuple[str, ...]
    last_step: int | None
    last_step_at: int | None
    precursor_at: int | None
    fault_at: int | None
    detected_at: int | None
    replaced_at: int | None
    launched_at: int | None
    load_started_at: int | None
    restored_at: int | None
    first_step_at: int | None
    caught_up_at: int | None
    resume_step: int | None
    verified_step: int | None
    verified_grade: str | None
    verified_checkpoint_age_s: float | None
    verified_step_hindsight: int | None
    unsaved_work_s: float | None
    attempted_checkpoint_age_s: float | None
    steps_lost: int | None
    lost_work_s: float | None
    repeated_s: float | None
    detection_s: float | None
    replacement_s: float | None
    retries_s: float | None
    launch_s: float | None
    restore_s: float | None
    warmup_s: float | None
    recovery_s: float | None
    recovery_source: str
    loss_s: float | None
    loss_acc_s: float | None
    detector: str | None  # watchdog launcher scheduler person
    nodes: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()  # failure domains of the culprit nodes, as "leaf:leaf3"
    detection_timeout_s: float | None = None  # configured wait that the detection was
    precursor_lead_s: float | None = None  # from the first fault line before the last step
    data_s: float | None = None  # parts of the return, where the log tells
    compile_s: float | None = None
    comm_init_s: float | None = None
    ends: tuple[str, ...] = ()  # ids of all ends in its chain, its own first
    overruled: tuple[str, ...] = ()  # what persons overruled in it
    excluded: bool = False  # its fault lies in a stretch that a person excluded
    # low and high of every value that is not exact; instants in seconds since the epoch
    bounds: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """Time of one run in one bucket inside a window."""

    run: str
    bucket: str
    observed_us: int  # allocation (or calendar) microseconds
    observed_acc_us: int  # accelerator-microseconds; 0 in the calendar view outside allocations
    could_move_us: int  # how much of it could belong elsewhere for lack of evidence
    n: int  # number of separate stretches


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One save of one step by one attempt."""

    run: str
    attempt: int
    step: int
    started_at: int | None
    blocking_done_at: int | None
    committed_at: int | None
    state: str  # started blocking_done committed verified torn invalid deleted
    grade: str | None  # marker shards checksum loaded
    is_async: bool
    is_final: bool
    cost_s: float | None  # exposed cost C from the step gap
    cost_origin: str | None  # gap or timer
    timer_s: float | None
    path: str | None
    file: str
    line: int
    why: str | None  # why it is not verified
    block_s: float | None = None  # pause of the training
    commit_s: float | None = None  # from its begin to durable
    deleted_at: int | None = None
    excluded: bool = False
    tier: str = "remote"  # local or remote


@dataclass(frozen=True, slots=True)
class UpTime:
    """Up-time of one attempt cut to a window: exposure, and how it ended."""

    run: str
    attempt: int
    start_at: int
    end_at: int
    kind: str | None  # kind of the incident that ended it inside the window; None: censored
    incident: str | None
    n_accelerators: int | None


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Up-time of one attempt from the first step on, and what ended it: the input of all rates.

    Attributes:
        n_accelerators: Of the attempt; None where it is not known.
        kind: Kind of the incident that ended it; None: it was cut off.
        cause: Of that incident.
        is_secondary: It struck before the recovery of another was complete.
    """

    run: str
    attempt: int
    start_at: int
    end_at: int
    n_accelerators: int | None
    kind: str | None
    cause: str | None
    is_secondary: bool


@dataclass(frozen=True, slots=True)
class NodeSpan:
    """Up-time of one attempt with what it ran on: the exposure of failure domains.

    Attributes:
        nodes: Host names; empty where nothing tells.
        storage: Root of the storage that it saves to, None where nothing tells.
        versions: What its program says of its version, as ``name=value``.
    """

    run: str
    attempt: int
    start_at: int
    end_at: int
    nodes: tuple[str, ...]
    storage: str | None
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """One point of the progress line of a run."""

    run: str
    at: int
    step: int


@dataclass(frozen=True, slots=True)
class State:
    """What a run was doing over one stretch (the strip under the progress plot)."""

    run: str
    start_at: int
    end_at: int
    bucket: str


@dataclass(frozen=True, slots=True)
class SaveCadence:
    """How often a run saves: configured if known, and as seen."""

    run: str
    configured_steps: int | None
    configured_s: float | None  # set as a time, or the configured steps at the healthy step time
    observed_steps: int | None  # most common distance in steps
    step_s: float | None  # healthy time of a step
    mean_s: float | None  # mean training time between captures of consecutive verified saves
    effective_s: float | None  # E[X^2]/E[X] of the same
    is_found: bool = False  # the configured interval stands in the log, not in the configuration


@dataclass(frozen=True, slots=True)
class Source:
    """One input file."""

    path: str
    format: str
    n_bytes: int
    n_lines: int
    n_rows: int
    n_rejected: int
    sha256: str
    tz: str | None
    tz_origin: str | None  # flag config proved machine utc
    first_at: int | None
    last_at: int | None
    run: str | None


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """One line that was not understood though its format should have."""

    file: str
    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the data that a reader of the numbers must know."""

    kind: (
        str  # assumed_zone conflict missing_source unmatched_source duplicate gap negative_duration
    )
    subject: str
    text: str
    could_move_s: float | None = None
    file: str | None = None
    line: int | None = None
