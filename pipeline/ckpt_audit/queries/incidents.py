"""Incidents with their evidence and bounds."""

from __future__ import annotations

from typing import Any

from ckpt_audit.facts import Evidence, Incident, Window
from ckpt_audit.queries.base import bounds_of, dicts
from ckpt_audit.queries.detection_bounds import detection_bounds
from ckpt_audit.units import seconds
from ckpt_audit.warehouse import Warehouse

_INCIDENTS = """
SELECT incident.*, run.n_accelerators,
    acc.loss_acc_us
FROM incident
INNER JOIN run ON incident.run = run.run
LEFT JOIN (
    SELECT run, incident, sum((end_at - start_at) * n_accelerators)::DOUBLE AS loss_acc_us
    FROM ledger
    WHERE incident IS NOT NULL
    GROUP BY run, incident
) AS acc ON incident.run = acc.run AND incident.incident = acc.incident
WHERE incident.fault_at >= $start_at AND incident.fault_at < $end_at
ORDER BY incident.fault_at, incident.run, incident.incident
"""

_EVIDENCE = """
SELECT incident_evidence.run, incident_evidence.incident, incident_evidence.moment,
    log_file.path, incident_evidence.line_no - log_file.line_offset AS line_no,
    incident_evidence.text, incident_evidence.strength
FROM incident_evidence
ASOF LEFT JOIN log_file ON incident_evidence.source_id = log_file.log_id
    AND incident_evidence.line_no > log_file.line_offset
ORDER BY incident_evidence.run, incident_evidence.incident, incident_evidence.place,
    log_file.path, incident_evidence.line_no, incident_evidence.text
"""


def incidents(
    warehouse: Warehouse, window: Window | None = None, run: str | None = None
) -> list[Incident]:
    """Incidents whose fault lies in the window, in the order of their faults."""
    evidence: dict[tuple[str, int], list[Evidence]] = {}
    for name, ordinal, moment, path, line, text, strength in warehouse.rows(_EVIDENCE):
        evidence.setdefault((name, ordinal), []).append(
            Evidence(moment=moment, file=path, line=line, text=text or "", strength=strength)
        )
    rows = [_without_hidden(row) for row in dicts(warehouse, _INCIDENTS, bounds_of(window))]
    return [
        _incident(row, tuple(evidence.get((row["run"], row["incident"]), ())))
        for row in rows
        if run is None or row["run"] == run
    ]


_HIDDEN = (
    "replaced_at launch_from_at launched_at launched_low launched_high load_started_at "
    "load_started_low load_started_high restored_at restored_low restored_high first_step_at "
    "caught_up_at lost_work_us repeated_us recovery_us replacement_us resume_step steps_lost"
).split()


def _without_hidden(row: dict[str, Any]) -> dict[str, Any]:
    """The incident without what a missing log hides.

    It resumed beyond the last step that was logged, and jobs lie in between, or the log of one of
    these was begun anew: they may have done work that no log tells of, so that neither the return
    nor the loss can be those of what is seen.
    """
    row["hidden_until_at"] = None
    resumed, n_between = row["resume_step"], row["attempts"] - 1
    if resumed is None or not n_between:
        return row
    if resumed <= row["reached_step"] and not row["is_hidden"]:
        return row
    known_until = row["first_step_at"]
    return row | dict.fromkeys(_HIDDEN) | {"hidden_until_at": known_until}


def _difference_s(later: int | None, earlier: int | None) -> float | None:
    return None if later is None or earlier is None else seconds(later - earlier)


def _between(low: int | None, high: int | None) -> tuple[float | None, float | None]:
    return (seconds(low), seconds(high))


def _least(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else min(one, other)


def _most(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)


def _bounds(row: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """What depends on a moment that is only bounded: instants in seconds since the epoch."""
    bounds: dict[str, tuple[float | None, float | None]] = {}
    low, high = row["fault_low"], row["fault_high"]
    if row["fault_strength"] == "bounded" and low is not None and low != high:
        bounds["fault_at"] = _between(low, high)
        captured = row["verified_captured_at"]
        if captured is not None:
            bounds["verified_checkpoint_age_s"] = _between(max(0, low - captured), high - captured)
        if row["detection_us"] is not None:
            bounds["detection_s"] = _between(row["detected_at"] - high, row["detected_at"] - low)
        if row["lost_work_us"] is not None:
            shift_low, shift_high = low - row["fault_at"], high - row["fault_at"]
            bounds["lost_work_s"] = _between(
                max(0, row["lost_work_us"] + shift_low), row["lost_work_us"] + shift_high
            )
    bounds.update(detection_bounds(row))
    bounds.update(_loop_bounds(row, bounds))
    bounds.update(_unstamped_bounds(row))
    for name, (low, high) in _sparse_bounds(row).items():
        before, after = bounds.get(name, (low, high))
        bounds[name] = (_least(low, before), _most(high, after))
    for name in ("launched", "load_started", "restored"):
        if row[f"{name}_at"] is None and row[f"{name}_low"] is not None:
            bounds[f"{name}_at"] = _between(row[f"{name}_low"], row[f"{name}_high"])
    bounds.update(_stage_bounds(row))
    if row["hidden_until_at"] is not None:
        bounds["first_step_at"] = _between(row["detected_at"], row["hidden_until_at"])
        bounds["recovery_s"] = _between(0, row["hidden_until_at"] - row["detected_at"])
        bounds["attempts"] = (1, row["attempts"])
    return bounds


def _loop_bounds(
    row: dict[str, Any], known: dict[str, tuple[float | None, float | None]]
) -> dict[str, tuple[float | None, float | None]]:
    """In a crash loop the step under way at each of its ends is lost work or recovery."""
    n_repeats, line_us = len(row["ends"] or ()) - 1, row["line_us"]
    if n_repeats < 1 or not line_us:
        return {}
    slack = 2 * n_repeats * line_us / 1e6
    found = {}
    for name, value_us in (
        ("lost_work_s", row["lost_work_us"]),
        ("recovery_s", row["recovery_us"]),
    ):
        if value_us is not None:
            low, high = known.get(name, _between(value_us, value_us))
            found[name] = (max(0.0, (low or 0.0) - slack), (high or 0.0) + slack)
    return found


def _unstamped_bounds(row: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """What depends on the last step where its line has no stamp.

    Its moment is the last dated line plus the times that the steps print. These may leave out the
    pauses of saves and evaluations, so that it was later rather than earlier.
    """
    low, high, at = row["last_step_low"], row["last_step_high"], row["last_step_at"]
    if low is None or high is None or at is None:
        return {}
    latest = max(at, min(high, row["detected_at"] or high))
    earliest = max(low, at - (at - low) // 100 - 1_000_000)
    found = {"last_step_at": _between(earliest, latest)}
    captured = row["verified_captured_at"]
    if row["fault_at"] is not None and row["detected_at"] is not None:
        until = row["detected_at"]
        found["fault_at"] = _between(min(earliest, row["fault_at"]), until)
        if row["detection_us"] is not None:
            found["detection_s"] = _between(0, until - earliest)
        if row["lost_work_us"] is not None:
            found["lost_work_s"] = _between(
                max(0, row["lost_work_us"] - (latest - earliest)),
                row["lost_work_us"] + (until - row["fault_at"]),
            )
        if captured is not None:
            age, slack = row["fault_at"] - captured, latest - earliest + until - row["fault_at"]
            found["verified_checkpoint_age_s"] = _between(max(0, age - slack), age + slack)
    return found


def _sparse_bounds(row: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """What depends on single steps where only every k-th is logged."""
    skipped, line_us = row["line_steps"] - 1, row["line_us"] or 0
    if skipped < 1 or row["last_step"] is None:
        return {}
    found: dict[str, tuple[float | None, float | None]] = {
        "last_step": (row["last_step"], row["last_step"] + skipped)
    }
    if row["last_step_at"] is not None:
        latest = row["last_step_at"] + line_us + line_us // 4  # steps differ
        ended = row["detected_at"]
        if ended is not None:
            latest = max(row["last_step_at"], min(latest, ended))
        found["last_step_at"] = _between(row["last_step_at"], latest)
    if row["steps_lost"] is not None:
        found["steps_lost"] = (row["steps_lost"], row["steps_lost"] + skipped)
    if row["verified_captured_at"] is not None and row["fault_at"] is not None:
        age = row["fault_at"] - row["verified_captured_at"]
        slack = row["fault_at"] - (row["fault_low"] or row["fault_at"])
        later = (row["fault_high"] or row["fault_at"]) - row["fault_at"]
        found["verified_checkpoint_age_s"] = _between(
            max(0, age - slack - line_us), age + later + line_us
        )
    first, first_high = row["first_step_at"], row["first_step_high"]
    if first is not None and first_high is not None:
        # after a change of size the steps before say nothing about these: not before the restore
        begun = [row[name] for name in ("restored_low", "restored_at", "launched_low")]
        low = min(first, first_high - line_us, *(at for at in begun[:2] if at is not None))
        low = max([low, *(at for at in begun if at is not None and at <= first)])
        if row["detected_at"] is not None:
            low = max(low, row["detected_at"])
            if row["recovery_us"] is not None:
                moved = first - low
                found["recovery_s"] = _between(
                    max(0, row["recovery_us"] - moved), row["recovery_us"] + first_high - first
                )
        found["first_step_at"] = _between(low, first_high)
        if first == row["detected_at"]:
            found.update(_takeover_bounds(row, first_high - first))
    if row["lost_work_us"] is not None:
        # the line at which it resumed is shared out by steps, and a pause in it is an estimate:
        # slow steps of the same line look like a longer pause
        step_us = max(line_us // row["line_steps"], 3 * line_us // 10)
        found["lost_work_s"] = _between(
            max(0, row["lost_work_us"] - step_us), row["lost_work_us"] + step_us
        )
    if row["unsaved_work_us"] is not None:
        found["unsaved_work_s"] = _between(
            max(0, row["unsaved_work_us"] - line_us), row["unsaved_work_us"] + line_us
        )
    return found


def _takeover_bounds(
    row: dict[str, Any], later_us: int
) -> dict[str, tuple[float | None, float | None]]:
    """Where a job went on beside its successor, all ends when that one's first step was complete.

    Args:
        row: A row of the incident table, microseconds.
        later_us: How much later that may have been, at most.
    """
    earliest = min(row["last_step_at"], row["fault_at"])
    found: dict[str, tuple[float | None, float | None]] = {
        name: _between(earliest, row["detected_at"] + later_us)
        for name in ("last_step_at", "fault_at", "detected_at", "replaced_at")
        if row[name] is not None
    }
    for name in ("last_step", "steps_lost"):
        if row[name] is not None:
            more = row["line_steps"] * (1 + later_us // max(1, row["line_us"] or later_us or 1))
            found[name] = (max(0, row[name] - row["line_steps"]), row[name] + more)
    return found


def _stage_bounds(row: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """Low and high of launch, restore and warm-up where the load is not stamped."""
    begin, first_step = row["launch_from_at"], row["first_step_at"]
    load_low, load_high = row["load_started_low"], row["load_started_high"]
    done_low, done_high = row["restored_low"], row["restored_high"]
    if None in (begin, first_step, load_low, load_high, done_low, done_high):
        return {}
    if load_high < begin:  # it was up before the run was its own: nothing of that is recovery
        return {}
    found = {}
    if row["load_started_at"] is None:
        found["launch_s"] = _between(max(0, load_low - begin), load_high - begin)
    if row["load_started_at"] is None or row["restored_at"] is None:
        found["restore_s"] = _between(max(0, done_low - load_high), done_high - load_low)
    if row["restored_at"] is None:
        found["warmup_s"] = _between(max(0, first_step - done_high), first_step - done_low)
    return found


def _stages(row: dict[str, Any]) -> tuple[float | None, float | None, float | None]:
    """Launch, restore and warm-up, seconds; with nothing to load the launch goes to the step."""
    begin, first_step = row["launch_from_at"], row["first_step_at"]
    if row["recovery_source"] == "scratch":
        return _difference_s(first_step, begin), 0.0, 0.0
    load, done = row["load_started_at"], row["restored_at"]
    return _difference_s(load, begin), _difference_s(done, load), _difference_s(first_step, done)


def _incident(row: dict[str, Any], evidence: tuple[Evidence, ...]) -> Incident:
    fault_at = row["fault_at"]
    launch_s, restore_s, warmup_s = _stages(row)
    loss = [row["lost_work_us"], row["recovery_us"]]
    loss_us = None if None in loss else sum(loss) + (row["detection_us"] or 0)
    loss_acc_us = row["loss_acc_us"]
    return Incident(
        id=row["incident_id"],
        run=row["run"],
        ordinal=row["incident"],
        kind=row["kind"],
        cause=row["cause"],
        cause_strength=row["cause_strength"],
        rule=row["rule"],
        phase=row["phase"],
        secondary=row["is_secondary"],
        attempts=1 if row["hidden_until_at"] is not None else row["attempts"],
        job_ids=tuple(row["job_ids"]),
        last_step=row["last_step"],
        last_step_at=row["last_step_at"],
        precursor_at=row["precursor_at"],
        fault_at=fault_at,
        detected_at=row["detected_at"],
        replaced_at=row["replaced_at"],
        launched_at=row["launched_at"],
        load_started_at=row["load_started_at"],
        restored_at=row["restored_at"],
        first_step_at=row["first_step_at"],
        caught_up_at=row["caught_up_at"],
        resume_step=row["resume_step"],
        verified_step=row["verified_step"],
        verified_grade=row["verified_grade"],
        verified_checkpoint_age_s=_difference_s(fault_at, row["verified_captured_at"]),
        verified_step_hindsight=row["verified_step_hindsight"],
        unsaved_work_s=seconds(row["unsaved_work_us"]),
        attempted_checkpoint_age_s=_difference_s(fault_at, row["attempted_captured_at"]),
        steps_lost=row["steps_lost"],
        lost_work_s=seconds(row["lost_work_us"]),
        repeated_s=seconds(row["repeated_us"]),
        detection_s=seconds(row["detection_us"]),
        replacement_s=seconds(row["replacement_us"]),
        retries_s=None
        if row["resumed_by"] is None or row["hidden_until_at"] is not None
        else seconds(row["retries_us"]),
        launch_s=launch_s,
        restore_s=restore_s,
        warmup_s=warmup_s,
        recovery_s=seconds(row["recovery_us"]),
        recovery_source=row["recovery_source"],
        loss_s=seconds(loss_us),
        loss_acc_s=None if loss_acc_us is None else loss_acc_us / 1e6,
        detector=row["detector"],
        detection_timeout_s=seconds(row["detection_timeout_us"]),
        precursor_lead_s=seconds(row["precursor_lead_us"]),
        data_s=seconds(row["data_us"]),
        compile_s=seconds(row["compile_us"]),
        comm_init_s=seconds(row["comm_init_us"]),
        ends=tuple(row["ends"] or ()),
        overruled=tuple(row["overruled"]),
        excluded=row["is_excluded"],
        nodes=tuple(row["nodes"]),
        domains=tuple(row["domains"]),
        bounds=_bounds(row),
        evidence=evidence,
    )
