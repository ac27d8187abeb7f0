"""Incidents with their evidence and bounds."""

from __future__ import annotations

from typing import Any

from ckpt_audit.facts import Evidence, Incident, Window
from ckpt_audit.queries.base import bounds_of, dicts
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
    rows = dicts(warehouse, _INCIDENTS, bounds_of(window))
    return [
        _incident(row, tuple(evidence.get((row["run"], row["incident"]), ())))
        for row in rows
        if run is None or row["run"] == run
    ]


def _difference_s(later: int | None, earlier: int | None) -> float | None:
    return None if later is None or earlier is None else seconds(later - earlier)


def _between(low: int | None, high: int | None) -> tuple[float | None, float | None]:
    return (seconds(low), seconds(high))


def _bounds(row: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """What depends on a moment that is only bounded: instants in seconds since the epoch."""
    bounds: dict[str, tuple[float | None, float | None]] = {}
    low, high = row["fault_low"], row["fault_high"]
    if row["fault_strength"] == "bounded" and low is not None and low != high:
        bounds["fault_at"] = _between(low, high)
        if row["detection_us"] is not None:
            bounds["detection_s"] = _between(row["detected_at"] - high, row["detected_at"] - low)
        if row["lost_work_us"] is not None:
            shift_low, shift_high = low - row["fault_at"], high - row["fault_at"]
            bounds["lost_work_s"] = _between(
                max(0, row["lost_work_us"] + shift_low), row["lost_work_us"] + shift_high
            )
    for name in ("launched", "load_started", "restored"):
        if row[f"{name}_at"] is None and row[f"{name}_low"] is not None:
            bounds[f"{name}_at"] = _between(row[f"{name}_low"], row[f"{name}_high"])
    bounds.update(_stage_bounds(row))
    return bounds


def _stage_bounds(row: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """Low and high of launch, restore and warm-up where the load is not stamped."""
    begin, first_step = row["launch_from_at"], row["first_step_at"]
    load_low, load_high = row["load_started_low"], row["load_started_high"]
    done_low, done_high = row["restored_low"], row["restored_high"]
    if None in (begin, first_step, load_low, load_high, done_low, done_high):
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
        attempts=row["attempts"],
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
        retries_s=seconds(row["retries_us"]) if row["resumed_by"] is not None else None,
        launch_s=launch_s,
        restore_s=restore_s,
        warmup_s=warmup_s,
        recovery_s=seconds(row["recovery_us"]),
        recovery_source=row["recovery_source"],
        loss_s=seconds(loss_us),
        loss_acc_s=None if loss_acc_us is None else loss_acc_us / 1e6,
        detector=row["detector"],
        detection_timeout_s=seconds(row["detection_timeout_us"]),
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
