"""Everything that one monthly report says, as frozen values; assembled once, shown many times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ckpt_audit.audit.advice import IntervalAdvice
from ckpt_audit.audit.components import PartTest
from ckpt_audit.audit.correlation import Correlation, Findings
from ckpt_audit.audit.diagnosis import Reason
from ckpt_audit.audit.fleet import Fleet
from ckpt_audit.audit.process import Process
from ckpt_audit.audit.suspects import KindOfPart
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
from ckpt_audit.reliability.cost_law import CostLaw
from ckpt_audit.reliability.drift import RateRatio
from ckpt_audit.reliability.rate import MeanTime
from ckpt_audit.reliability.sample import Sample

Cost = Literal["c", "d", "r"]
By = Literal["tier", "detector", "stage"]


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
        first_order_s: What the first-order model would have said, or None.
        percentile: Place of the observed among the simulated windows, or None.
        reasons: Why parts of it differ from the time before, where that is known.
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
    first_order_s: float | None = None
    percentile: float | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Population:
    """M of one population of incidents: ``all``, ``isolated``, ``correlated``, ``interval``.

    Attributes:
        mean_time: With the exact interval; with one that allows for bursts where counts vary more
            than a constant rate lets them.
        calendar_s: Calendar time; None for an epoch.
        epoch: Of which epoch; None for all of the window.
        robust: With an interval that allows for bursts, whether or not they are significant.
    """

    population: str
    mean_time: MeanTime
    calendar_s: float | None
    per_1000_acc_h: float | None
    epoch: int | None = None
    robust: MeanTime | None = None


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """M, C, D, R of one run in one window.

    Attributes:
        launches: Number of program launches; launches_reached_step: those that did a step.
        refusal: Why there is no M, or None.
        c_block, c_commit: Pause of a save, and time until it is durable, seconds.
        process: What kind of process the failures are, over all of the run's past; None where
            there is no up-time or M is refused.
        by_epoch: M of the populations by epoch, where the window holds several.
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
    process: Process | None = None
    by_epoch: tuple[Population, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedLaw:
    """The law of one cost.

    Attributes:
        cost: exposed cost of a save, time until noticed, or time until training goes on.
        by: what its values have in common; None for all of them.
        key: which one.
        law: of the values in order of time, seconds.
        shift_at: when the first value after the likeliest change was seen, UTC us; None where no
            change is significant.
        timeout_s: configured wait that most of the values equal; None but for a detector.
    """

    cost: Cost
    by: By | None
    key: str | None
    law: CostLaw
    shift_at: int | None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """All about one run in the window.

    Attributes:
        parts: Each part of its loss against the time before; empty where that is too little.
        costs: Laws of C, D and R.
        base_from_at: From when on the time before counts, or None where nothing is predicted
            from it.
    """

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
    parts: tuple[PartTest, ...] = ()
    costs: tuple[NamedLaw, ...] = ()
    base_from_at: int | None = None


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
        fleet: Rates of all runs together; None where no run has any.
        correlation: Which incidents of all runs belong together; None where there is no up-time.
        suspects: Nodes and switches by how unlikely their incidents are.
        early_by_node: Rate of nodes that are new to the runs over that of the others.
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
    fleet: Fleet | None = None
    correlation: Findings | None = None
    suspects: tuple[KindOfPart, ...] = ()
    early_by_node: RateRatio | None = None
