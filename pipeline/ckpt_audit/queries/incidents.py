"""Incidents with their evidence and bounds."""

from __future__ import annotations

from typing import Any

from ckpt_audit.facts import Evidence, Incident, Window
from ckpt_audit.queries.base import bounds_of, dicts
from ckpt_audit.queries.incident_bounds import incident_bounds
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
        bounds=incident_bounds(row),
        evidence=evidence,
    )
