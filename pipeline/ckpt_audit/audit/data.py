"""Everything that one monthly report says, as frozen values; assembled once, shown many times."""

from __future__ import annotations

from dataclasses import dataclass, field

from ckpt_audit.audit.advice import IntervalAdvice
from ckpt_audit.facts import (
    Checkpoint,
    Epoch,
    Finding,
    Incident,
    LedgerRow,
    Progress,
    RejectedLine,
    Run,
    SaveCadence,
    Source,
    State,
    UpTime,
    Window,
)
from ckpt_audit.reliability.rate import MeanTime
from ckpt_audit.reliability.sample import Sample


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One bucket of one run in the window: observed beside predicted.

    Attributes:
        run, bucket: Whose time and which bucket.
        observed_us, observed_acc_us: Exact sums.
        could_move_us: How much could belong elsewhere for lack of evidence.
        n: Number of separate stretches.
        predicted_s, predicted_low_s, predicted_high_s: From the exact model; None where the model
            says nothing about the bucket.
        in_sample: The parameters were measured in the same window.
        residual_s: Observed less predicted, or None.
        flag: The residual lies outside the interval and is large enough to matter.
    """

    run: str
    bucket: str
    observed_us: int
    observed_acc_us: int
    could_move_us: int
    n: int
    predicted_s: float | None
    predicted_low_s: float | None
    predicted_high_s: float | None
    in_sample: bool
    residual_s: float | None
    flag: bool


@dataclass(frozen=True, slots=True)
class Population:
    """M of one population of incidents: ``all``, ``isolated``, ``correlated``, ``interval``."""

    population: str
    mean_time: MeanTime
    calendar_s: float
    per_1000_acc_h: float | None


@dataclass(frozen=True, slots=True)
class Correlation:
    """How one incident stands to others: isolated, correlated or cascade, and by which rule."""

    incident: str
    label: str
    group: str | None
    rule: str


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """M, C, D, R of one run in one window.

    Attributes:
        launches: Number of program launches; launches_reached_step: those that did a step.
        refusal: Why there is no M, or None.
        c_block, c_commit: Pause of a save, and time until it is durable, seconds.
    """

    populations: tuple[Population, ...]
    c: Sample
    d: Sample
    r: Sample
    launches: int
    launches_reached_step: int
    refusal: str | None = None
    c_block: Sample | None = None
    c_commit: Sample | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """All about one run in the window."""

    run: Run
    incidents: tuple[Incident, ...]
    correlations: dict[str, Correlation]
    ledger: tuple[LedgerLine, ...]
    calendar: tuple[LedgerRow, ...]
    checkpoints: tuple[Checkpoint, ...]
    uptime: tuple[UpTime, ...]
    progress: tuple[Progress, ...]
    states: tuple[State, ...]
    cadence: SaveCadence
    estimate: RunEstimate
    advice: IntervalAdvice
    newest_verified: Checkpoint | None
    price_per_acc_h: float | None
    epochs: tuple[Epoch, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportData:
    """The whole report.

    Attributes:
        window: The month (or other stretch).
        complete: Data covers the whole window; False prints "so far".
        as_of: Newest instant that any source speaks of.
        version: Version of the program.
        runs: By name.
        sources, rejected, findings: Data quality.
        settings: Effective configuration: name to (value, where it came from).
        context_jobs: Jobs of the scheduler records that belong to no run.
    """

    window: Window
    complete: bool
    as_of: int
    version: str
    runs: tuple[RunReport, ...]
    sources: tuple[Source, ...]
    rejected: tuple[RejectedLine, ...]
    findings: tuple[Finding, ...]
    settings: dict[str, tuple[str, str]] = field(default_factory=dict)
    context_jobs: int = 0
