"""The checks: facts of a report and the clock in, one result each out.

Times of a run are judged as of the newest instant that the input speaks of, and not by the clock:
a nightly dump must not look like a dead run all day. That the input itself is old is a check of
its own, and what cannot be told from old input is UNKNOWN and never OK.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ckpt_audit.units import (
    S_PER_DAY,
    S_PER_H,
    S_PER_MIN,
    US_PER_DAY,
    US_PER_S,
    format_duration,
    seconds,
)

if TYPE_CHECKING:
    from ckpt_audit.audit.data import ReportData, RunReport
    from ckpt_audit.config import Thresholds
    from ckpt_audit.facts import Checkpoint, Incident, SaveCadence

CHECKPOINT_AGE_WARN_INTERVALS = 3.0
CHECKPOINT_AGE_CRITICAL_INTERVALS = 6.0
SAVE_MISSING_INTERVALS = 1.5
SAVE_MISSING_CRITICAL_INTERVALS = 3.0
RESTARTS_WARN = 3
RESTARTS_CRITICAL = 5
STALL_STEPS = 20.0
STALL_LEAST_S = 15.0 * S_PER_MIN
STALL_CRITICAL_TIMES = 4.0


class State(StrEnum):
    """How a check came out."""

    OK = "OK"
    WARNING = "WARNING"
    CRITICAL = "CRITICAL"
    UNKNOWN = "UNKNOWN"


GRAVITY = (State.OK, State.WARNING, State.UNKNOWN, State.CRITICAL)
EXIT_CODE = {State.OK: 0, State.WARNING: 1, State.CRITICAL: 2, State.UNKNOWN: 3}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found.

    Attributes:
        name: Name of the check.
        state: How it came out.
        summary: A sentence for a person.
        subject: The run, or the run and bucket, that it is about; empty: everything.
        value: The measured value in the unit of ``unit``, or None where it is not known.
        warn, critical: Limits of the value, or None.
        since: Instant since which it has been so (UTC microseconds), or None.
        unit: Unit of value and limits: ``s`` or empty for a count.
    """

    name: str
    state: State
    summary: str
    subject: str = ""
    value: float | None = None
    warn: float | None = None
    critical: float | None = None
    since: int | None = None
    unit: str = "s"


def worst(results: Iterable[CheckResult]) -> State:
    """The gravest state; UNKNOWN where nothing was checked.

    >>> worst([CheckResult("a", State.UNKNOWN, ""), CheckResult("b", State.WARNING, "")]).value
    'UNKNOWN'
    """
    states = [result.state for result in results]
    return max(states, key=GRAVITY.index) if states else State.UNKNOWN


def run_checks(
    data: ReportData, now: int, thresholds: Thresholds, unread: Sequence[tuple[str, str]] = ()
) -> list[CheckResult]:
    """Runs every check.

    Args:
        data: The report of the window to judge.
        now: The clock, UTC microseconds.
        thresholds: The site's limits.
        unread: Paths of inputs that could not be read when last tried, and why.
    """
    stale = input_stale(data, now, thresholds)
    results = [stale, *unreadable_sources(data, unread)]
    for run in data.runs:
        if run.run.is_running:
            live = _live_checks(run, data.as_of, thresholds)
            results += [_blind(check) for check in live] if stale.state is not State.OK else live
        results.append(interval_flat(run))
        results += residuals(run)
    return results


def input_stale(data: ReportData, now: int, thresholds: Thresholds) -> CheckResult:
    """Is the newest input recent enough? Only asked while a run is under way."""
    age = (now - data.as_of) / US_PER_S
    if not any(run.run.is_running for run in data.runs):
        return CheckResult("input_stale", State.OK, "no run is under way", value=age)
    state = State.WARNING if age > thresholds.stale_after_s else State.OK
    return CheckResult(
        "input_stale",
        state,
        f"the newest input is {format_duration(age)} old",
        value=age,
        warn=thresholds.stale_after_s,
        since=data.as_of,
    )


def unreadable_sources(
    data: ReportData, unread: Sequence[tuple[str, str]] = ()
) -> list[CheckResult]:
    """Inputs that could not be read, and sources of which not one line could be."""
    rejected = [
        CheckResult(
            "input_unreadable",
            State.UNKNOWN,
            "its one line was rejected"
            if source.n_rejected == 1
            else f"all its {source.n_rejected} lines were rejected",
            subject=source.path,
            value=float(source.n_rejected),
            unit="",
        )
        for source in data.sources
        if source.n_rejected > 0 and source.n_rows == 0
    ]
    return ([_unread(unread)] if unread else []) + rejected


def _unread(unread: Sequence[tuple[str, str]]) -> CheckResult:
    n, (path, reason) = len(unread), unread[0]
    text = f"{path} could not be read: {reason}"
    if n > 1:
        text = f"{n} inputs could not be read; the first is {path}: {reason}"
    return CheckResult(
        "input_unreadable", State.UNKNOWN, text, subject=path, value=float(n), unit=""
    )


def _live_checks(run: RunReport, as_of: int, thresholds: Thresholds) -> list[CheckResult]:
    return [
        verified_checkpoint_age(run, as_of, thresholds),
        expected_save_missing(run),
        restart_loop(run, as_of),
        progress_stalled(run, as_of),
    ]


def _blind(check: CheckResult) -> CheckResult:
    return CheckResult(
        check.name, State.UNKNOWN, "cannot be told: the input is stale", subject=check.subject
    )


def captured_at(checkpoint: Checkpoint) -> int | None:
    """When the state of a checkpoint was captured, as near as the log tells."""
    return checkpoint.started_at or checkpoint.blocking_done_at or checkpoint.committed_at


def verified_checkpoint_age(run: RunReport, as_of: int, thresholds: Thresholds) -> CheckResult:
    """How long ago was the newest verified checkpoint captured?"""
    interval = run.cadence.effective_s or run.cadence.mean_s
    warn, critical = thresholds.checkpoint_age_warn_s, thresholds.checkpoint_age_critical_s
    if warn is None:
        warn = CHECKPOINT_AGE_WARN_INTERVALS * interval if interval else 6.0 * S_PER_H
    if critical is None:
        critical = CHECKPOINT_AGE_CRITICAL_INTERVALS * interval if interval else 1.0 * S_PER_DAY
    newest = run.newest_verified
    since = captured_at(newest) if newest is not None else run.run.started_at
    if since is None:
        text = "there is no time of any verified checkpoint"
        return CheckResult("checkpoint_age", State.UNKNOWN, text, subject=run.run.run)
    age = (as_of - since) / US_PER_S
    what = (
        f"newest verified checkpoint (step {newest.step}) is {format_duration(age)} old"
        if newest is not None
        else f"no verified checkpoint in the {format_duration(age)} since the run began"
    )
    return CheckResult(
        "checkpoint_age",
        _level(age, warn, critical),
        what,
        subject=run.run.run,
        value=age,
        warn=warn,
        critical=critical,
        since=since,
    )


def expected_save_missing(run: RunReport) -> CheckResult:
    """How many steps were done since the newest save that finished, verified or not?

    Where none ever did, they count from the first step, if it is configured how often to save.
    """
    distance = run.cadence.configured_steps or run.cadence.observed_steps
    done = [save.step for save in run.checkpoints if save.state not in ("started", "torn")]
    if run.newest_verified is not None:
        done.append(run.newest_verified.step)
    since = "the newest save"
    if not done:
        distance, since = _configured_distance(run.cadence), "the first, and no save"
        done = [] if run.run.first_step is None else [run.run.first_step]
    if distance is None or run.run.last_step is None or not done:
        text = "how often the run saves is not known"
        return CheckResult("save_missing", State.UNKNOWN, text, subject=run.run.run, unit="")
    steps = run.run.last_step - max(done)
    warn = SAVE_MISSING_INTERVALS * distance
    critical = SAVE_MISSING_CRITICAL_INTERVALS * distance
    return CheckResult(
        "save_missing",
        _level(steps, warn, critical),
        f"{steps} steps since {since}, which comes every {distance}",
        subject=run.run.run,
        value=float(steps),
        warn=warn,
        critical=critical,
        unit="",
    )


def _configured_distance(cadence: SaveCadence) -> int | None:
    """Steps between saves as configured, in steps or as a time."""
    if cadence.configured_steps or not cadence.configured_s or not cadence.step_s:
        return cadence.configured_steps
    return max(1, round(cadence.configured_s / cadence.step_s))


def restart_loop(run: RunReport, as_of: int) -> CheckResult:
    """Did the run fail again and again in the last day?"""
    recent = [
        incident
        for incident in run.incidents
        if incident.kind in ("failure", "unknown")
        and not incident.excluded
        and as_of - _began(incident) < US_PER_DAY
    ]
    failed = sum(incident.attempts for incident in recent)
    return CheckResult(
        "restart_loop",
        _level(failed, RESTARTS_WARN - 1, RESTARTS_CRITICAL - 1),
        f"{failed} failed attempts in the last 24 h",
        subject=run.run.run,
        value=float(failed),
        warn=float(RESTARTS_WARN - 1),
        critical=float(RESTARTS_CRITICAL - 1),
        since=_began(recent[0]) if recent else None,
        unit="",
    )


def _began(incident: Incident) -> int:
    return incident.fault_at or incident.detected_at or incident.last_step_at or 0


def progress_stalled(run: RunReport, as_of: int) -> CheckResult:
    """How long ago was the last step done?"""
    if not run.progress:
        text = "there is no step in the window"
        return CheckResult("progress", State.UNKNOWN, text, subject=run.run.run)
    last = run.progress[-1]
    silent = (as_of - last.at) / US_PER_S
    warn = max(STALL_LEAST_S, STALL_STEPS * (run.cadence.step_s or 0.0))
    critical = STALL_CRITICAL_TIMES * warn
    return CheckResult(
        "progress",
        _level(silent, warn, critical),
        f"step {last.step} was {format_duration(silent)} before the newest input",
        subject=run.run.run,
        value=silent,
        warn=warn,
        critical=critical,
        since=last.at,
    )


def interval_flat(run: RunReport) -> CheckResult:
    """Is a change of the interval advised?"""
    advice = run.advice
    known = advice.flat_low_s is not None and advice.flat_high_s is not None
    best = (
        f"best {format_duration(advice.recommended_s)}, as good as best from "
        f"{format_duration(advice.flat_low_s)} to {format_duration(advice.flat_high_s)}"
    )
    if advice.change:
        text = f"saves every {format_duration(advice.current_s)}; {best}; {advice.reason}"
    else:
        text = f"no change advised: {advice.reason}"
    return CheckResult(
        "interval",
        State.WARNING if advice.change else State.OK,
        text,
        subject=run.run.run,
        value=advice.current_s if known else None,
    )


def residuals(run: RunReport) -> list[CheckResult]:
    """Buckets that took more or less time than the model expects, by enough to matter."""
    results = [
        CheckResult(
            "residual",
            State.WARNING,
            f"{line.bucket} took {format_duration(seconds(line.observed_us))}, expected were "
            f"{format_duration(line.predicted_s)} ({format_duration(line.predicted_low_s)} to "
            f"{format_duration(line.predicted_high_s)})",
            subject=f"{run.run.run}/{line.bucket}",
            value=line.residual_s,
        )
        for line in run.ledger
        if line.flag
    ]
    text = "every bucket is as the model expects"
    return results or [CheckResult("residual", State.OK, text, subject=run.run.run)]


def _level(value: float, warn: float, critical: float) -> State:
    if value > critical:
        return State.CRITICAL
    return State.WARNING if value > warn else State.OK
