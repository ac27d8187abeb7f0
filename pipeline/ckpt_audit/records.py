"""The shapes that readers of formats yield: one per raw table.

Clock readings are kept as they were printed, with their kind; a later step gives them a date
(``dating.py``), so that a zone which is learned or corrected afterwards changes nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ClockKind(StrEnum):
    """What a clock reading needs before it is an instant.

    ``clock_us`` means, by kind: ``utc`` microseconds since the epoch; ``naive`` the printed local
    reading taken as if it were UTC; ``no_year`` the same, printed without a year, put into the
    year 2000; ``monotonic`` microseconds since the host booted; ``undated`` nothing (None).
    """

    UTC = "utc"
    NAIVE = "naive"
    NO_YEAR = "no_year"
    MONOTONIC = "monotonic"
    UNDATED = "undated"


class EventKind(StrEnum):
    """What a line of a log says, besides completed steps."""

    LAUNCH = "launch"  # the program started (world size line, launcher banner)
    ANCHOR = "anchor"  # a dated line with no other meaning; it dates its neighbours
    TRAINING_START = "training_start"  # "before the start of training step"
    TRAINING_DONE = "training_done"  # "after training is done": the target was reached
    PROGRAM_EXIT = "program_exit"  # a clean stop by plan (exit interval, exit duration, signal)
    SAVE_STARTED = "save_started"
    SAVE_SCHEDULED = "save_scheduled"  # an asynchronous save was only scheduled
    SAVE_DONE = "save_done"  # the framework's own completion line
    SAVE_TIMER = "save_timer"  # duration_us = the slowest rank's time in the save
    LOAD_STARTED = "load_started"
    LOAD_DONE = "load_done"
    LOAD_NONE = "load_none"  # nothing to load: starts from scratch
    TRACKER_INVALID = "tracker_invalid"  # the pointer to the newest checkpoint is unusable
    EVALUATION = "evaluation"  # an evaluation has just ended
    EVALUATION_TIMER = "evaluation_timer"  # duration_us = the slowest rank's time in it
    JOB_CANCELLED = "job_cancelled"  # slurmstepd; code = reason or "", job_ref = the job's id
    TASK_EXIT = "task_exit"  # srun: a task ended; code = what it says
    NODE_FAILURE = "node_failure"
    OUT_OF_MEMORY = "out_of_memory"  # host memory: oom_kill, kernel OOM
    ACCELERATOR_OOM = "accelerator_oom"  # CUDA out of memory
    WATCHDOG = "watchdog"  # NCCL watchdog; duration_us = how long it had waited
    LAUNCHER_FAILURE = "launcher_failure"  # torchrun's failure line or table; code = exit code
    TRACEBACK = "traceback"  # last line of a traceback; code = exception type
    ACCELERATOR_ERROR = "accelerator_error"  # CUDA error, ECC error
    XID = "xid"  # kernel: code = number
    LINK_DOWN = "link_down"
    LINK_UP = "link_up"
    STORAGE_ERROR = "storage_error"
    HOST_MEMORY_ERROR = "host_memory_error"  # kernel: memory that could not be corrected
    SXID = "sxid"  # kernel: a fatal error of an NVSwitch; code = number
    KERNEL_FAULT = "kernel_fault"  # code = what; duration_us = how long it had been stuck
    NETWORK_ERROR = "network_error"  # NCCL/socket/IB error lines that are no watchdog time-out
    STAGED = "staged"  # an asynchronous save has its copy: training goes on
    SAVE_FAILED = "save_failed"  # the framework says that a save did not succeed
    SAVE_DELETED = "save_deleted"  # the framework removed a checkpoint
    UPLOADED = "uploaded"  # a save is durable in a store away from the nodes
    LOAD_FAILED = "load_failed"  # a checkpoint could not be loaded; step or path says which
    DATA_SKIP = "data_skip"  # data that were seen before are skipped; duration_us where told
    COMPILE = "compile"  # compiling or warming up; duration_us where told
    COMM_INIT = "comm_init"  # communicators are being set up; duration_us where told
    SETTING = "setting"  # code = "name=value" of a configuration that bears on the figures
    PREEMPTION_SIGNAL = "preemption_signal"  # a signal announces the end (SIGTERM, SIGUSR1)
    RESTART = "restart"  # a launcher or resiliency layer restarts the workers in the job
    CYCLE_END = "cycle_end"  # a resiliency layer's record says that a cycle ended
    REPLICA_GROUPS = "replica_groups"  # code = ranks of those that take part


@dataclass(frozen=True, slots=True)
class LogEvent:
    r"""One event line of a job log or kernel log.

    Attributes:
        line_no: 1-based line number in the file, counted as an editor would (``\n`` ends a line).
        kind: What the line says.
        clock_us: The clock reading (see ClockKind) or None.
        clock_kind: How to read it.
        resolution_us: How fine the stamp is printed: 1, 1000 or 1_000_000; 0 when undated.
        step: The optimizer step that the line names, or None.
        duration_us: A duration that the line states (timer, waiting time), or None.
        code: A short code: Xid number, reason, exit code, exception type.
        node: Host that the line names, or None.
        rank: Rank that printed or is named, or None.
        path: A path that the line names (checkpoint folder), or None.
        job_ref: A scheduler job id that the line names, or None.
        text: The line, stripped, cut to 400 characters.
    """

    line_no: int
    kind: EventKind
    clock_us: int | None
    clock_kind: ClockKind
    resolution_us: int
    step: int | None
    duration_us: int | None
    code: str | None
    node: str | None
    rank: int | None
    path: str | None
    job_ref: str | None
    text: str


@dataclass(slots=True)
class StepBatch:
    """Completed-step lines of one source, as columns of equal length (hot rows).

    Attributes:
        line_no: Line numbers.
        step: The step that the line reports as completed.
        target_step: The total that the line prints, or None.
        clock_us: Clock readings or None.
        clock_kind: Kinds (values of ClockKind).
        resolution_us: 1, 1000 or 1_000_000; 0 when undated.
        elapsed_us: Printed time per step in microseconds (mean since the last such line), or None.
        n_samples: Samples (or tokens) consumed so far, as printed, or None.
        emitter: Which kind of line: ``megatron``, ``neox``, ``deepspeed_pipe``, ``deepspeed_rank``.
    """

    line_no: list[int] = field(default_factory=list)
    step: list[int] = field(default_factory=list)
    target_step: list[int | None] = field(default_factory=list)
    clock_us: list[int | None] = field(default_factory=list)
    clock_kind: list[str] = field(default_factory=list)
    resolution_us: list[int] = field(default_factory=list)
    elapsed_us: list[int | None] = field(default_factory=list)
    n_samples: list[int | None] = field(default_factory=list)
    emitter: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.line_no)


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One scheduler record: a job's allocation or one of its steps.

    Attributes:
        line_no: First line of the record.
        cluster: Cluster name or "".
        job_id: The id as people write it (``123``, ``123_4``, ``123+0``).
        job_id_raw: The number the scheduler uses (array tasks differ from job_id), or "".
        step_id: "" for the job itself; else ``batch``, ``extern``, ``0``...
        name, user, account, partition, work_dir, reason, comment: As recorded, or "".
        state: First word of the state (``CANCELLED``), upper case, no trailing ``+``.
        cancelled_by: Who cancelled (``CANCELLED by 1001`` gives ``1001``), or None.
        exit_code, exit_signal: ``code:signal``, or None.
        submit_us, eligible_us, start_us, end_us: Clock readings or None (Unknown, None, empty).
        clock_kind: ``naive`` or ``utc`` (epoch numbers) for all four.
        elapsed_us: ElapsedRaw or Elapsed, or None.
        time_limit_us: Time limit, or None.
        n_nodes: Allocated nodes, or None.
        n_accelerators: From AllocTRES ``gres/gpu=``, or None.
        nodes: Expanded host list, in order; empty when none was assigned.
        restarts: Restart count where the version prints it, or None.
    """

    line_no: int
    cluster: str
    job_id: str
    job_id_raw: str
    step_id: str
    name: str
    user: str
    account: str
    partition: str
    work_dir: str
    reason: str
    comment: str
    state: str
    cancelled_by: str | None
    exit_code: int | None
    exit_signal: int | None
    submit_us: int | None
    eligible_us: int | None
    start_us: int | None
    end_us: int | None
    clock_kind: ClockKind
    elapsed_us: int | None
    time_limit_us: int | None
    n_nodes: int | None
    n_accelerators: int | None
    nodes: tuple[str, ...]
    restarts: int | None


@dataclass(frozen=True, slots=True)
class DomainRecord:
    """Membership of a node in a failure domain, from a topology file.

    Attributes:
        line_no: Line of the record.
        node: Host name.
        kind: ``leaf`` (the switch that the node is cabled to), ``switch`` (a higher one), ``rack``,
            ``power``.
        name: Name of the domain.
    """

    line_no: int
    node: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """What a line says about the state of a node.

    Attributes:
        line_no: Line of the record.
        node: Host name.
        state: ``down``, ``drain``, ``fail``, ``reboot``, ``planned``, ``up``, ``unhealthy`` or
            ``healthy``.
        start_us: Clock reading since when, or None.
        end_us: Clock reading until when, or None: not over, or not told by this line.
        clock_kind: ``naive`` or ``utc`` for both.
        reason: Why, as recorded, or "".
        user: Who set the state, or "".
        text: The line, stripped, cut to 400 characters.
    """

    line_no: int
    node: str
    state: str
    start_us: int | None
    end_us: int | None
    clock_kind: ClockKind
    reason: str
    user: str
    text: str


@dataclass(frozen=True, slots=True)
class CheckpointRecord:
    """A checkpoint folder as it was found when somebody looked.

    Attributes:
        line_no: Line of the listing at which it begins.
        root: Folder that holds the checkpoints of a run.
        name: Name of the checkpoint below it, or "" for a root without any.
        step: Step by its name or metadata, or None.
        layout: ``megatron``, ``deepspeed``, ``dcp``, ``hf``, ``orbax``, ``nemo``, ``fairseq`` or
            ``unknown``.
        observed_us: When it was looked at (UTC microseconds), or None.
        written_us: When its newest file was written (UTC microseconds), or None.
        n_files: Files in it.
        n_bytes: Their size.
        grade: ``marker`` or ``shards`` where the files are positive evidence that it can be
            loaded, else None.
        why: Negative evidence, in words for a person, or None.
        bad_files: Names of the files that are missing, empty, short or temporary (at most 20).
        is_pointed: Whether the tracker file names it.
    """

    line_no: int
    root: str
    name: str
    step: int | None
    layout: str
    observed_us: int | None
    written_us: int | None
    n_files: int
    n_bytes: int
    grade: str | None
    why: str | None
    bad_files: tuple[str, ...]
    is_pointed: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that looked like one of the format's and could not be read.

    Attributes:
        line_no: Its number.
        reason: What is wrong and what to do, for a person.
        text: The line, cut to 200 characters.
    """

    line_no: int
    reason: str
    text: str


Record = LogEvent | JobRecord | DomainRecord | NodeRecord | CheckpointRecord | Rejected
