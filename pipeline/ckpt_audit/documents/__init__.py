"""The JSON documents: what every command says, for programs.

ISO 8601 times with offset (UTC), seconds rounded to microseconds, null for what is not known (an
infinite bound too). Each document has a JSON Schema in ``schemas/`` that is named like it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

from ckpt_audit import __version__
from ckpt_audit.alerts.checks import CheckResult, State
from ckpt_audit.audit.components import PartTest
from ckpt_audit.audit.correlation import Correlation
from ckpt_audit.audit.data import LedgerLine, ReportData, RunReport
from ckpt_audit.documents.correlation import correlation_section, suspects_section
from ckpt_audit.documents.estimate import epoch_row, run_estimate
from ckpt_audit.documents.process import fleet_section
from ckpt_audit.facts import Finding, Incident, LedgerRow, Run, Source, Window
from ckpt_audit.units import US_PER_S, iso

DOCUMENTS = (
    *("incidents", "estimate", "incident_table", "interval", "report", "check", "model"),
    *("shards", "simulate", "runs"),
)

Json = dict[str, Any]

_INSTANTS = (
    "last_step_at precursor_at fault_at detected_at replaced_at launched_at load_started_at "
    "restored_at first_step_at caught_up_at"
).split()
_VALUES = (
    "resume_step verified_step verified_grade verified_checkpoint_age_s verified_step_hindsight "
    "unsaved_work_s attempted_checkpoint_age_s steps_lost lost_work_s repeated_s detection_s "
    "replacement_s retries_s launch_s restore_s warmup_s data_s compile_s comm_init_s recovery_s "
    "recovery_source loss_s loss_acc_s detector detection_timeout_s precursor_lead_s "
    "excluded"
).split()


INCIDENT_COLUMNS = [
    *"id run kind cause cause_strength rule phase correlation secondary attempts jobs".split(),
    *(
        "last_step",
        *_INSTANTS,
        *_VALUES,
        "nodes",
        "domains",
        "ends",
        "overruled",
        "bounds",
        "evidence",
    ),
]


def document(name: str, body: Mapping[str, Any]) -> Json:
    """Puts the two lines on top that every document has."""
    return {"schema": f"ckpt-audit/{name}/1", "version": __version__, **body}


def dumps(value: Json) -> str:
    r"""The text of a document; the same document gives the same bytes.

    >>> dumps({"a_s": 0.1 + 0.2})
    '{\n  "a_s": 0.3\n}'
    """
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def schema(name: str) -> Json:
    """The JSON Schema of a document.

    Args:
        name: One of ``DOCUMENTS``.
    """
    file = resources.files("ckpt_audit").joinpath("schemas", f"{name}.json")
    loaded: Json = json.loads(file.read_text(encoding="utf-8"))
    return loaded


def plain(value: Any) -> Any:
    """Rounds numbers to millionths and makes null of what JSON has no word for.

    Small p and q values keep six digits: none of them is 0.

    >>> plain({"p": 1.234567891e-9, "gap_s": 1.2e-9})
    {'p': 1.23457e-09, 'gap_s': 0.0}
    """
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {
            key: float(f"{inner:.6g}") if _is_small(key, inner) else plain(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def _is_small(key: object, value: object) -> bool:
    return key in ("p", "q") and isinstance(value, float) and 0.0 < value < 1e-3


def _window(window: Window) -> Json:
    return {"start": iso(window.start_at), "end": iso(window.end_at), "label": window.label}


def incidents_document(data: ReportData) -> Json:
    """The incident table."""
    return document(
        "incidents",
        {
            "window": _window(data.window),
            "incidents": [
                incident_row(incident, run.correlations.get(incident.id))
                for run in data.runs
                for incident in run.incidents
            ],
        },
    )


def incident_row(incident: Incident, correlation: Correlation | None) -> Json:
    """One incident as a row of the table.

    Args:
        incident: The incident.
        correlation: How it stands to others; None where that was not looked at.
    """
    return {
        "id": incident.id,
        "run": incident.run,
        "kind": incident.kind,
        "cause": incident.cause,
        "cause_strength": incident.cause_strength,
        "rule": incident.rule,
        "phase": incident.phase,
        "correlation": None
        if correlation is None
        else {
            "label": correlation.label,
            "group": correlation.group,
            "rule": correlation.rule,
        },
        "secondary": incident.secondary,
        "attempts": incident.attempts,
        "jobs": list(incident.job_ids),
        "last_step": incident.last_step,
        **{name: iso(getattr(incident, name)) for name in _INSTANTS},
        **{name: getattr(incident, name) for name in _VALUES},
        "nodes": list(incident.nodes),
        "domains": list(incident.domains),
        "ends": list(incident.ends) if len(incident.ends) > 1 else [],
        "overruled": list(incident.overruled),
        "bounds": {
            name: [_instant(low), _instant(high)] if name.endswith("_at") else [low, high]
            for name, (low, high) in sorted(incident.bounds.items())
        },
        "evidence": [
            {
                "moment": line.moment,
                "file": line.file,
                "line": line.line,
                "text": line.text,
                "strength": line.strength,
            }
            for line in incident.evidence
        ],
    }


def _instant(since_epoch_s: float | None) -> str | None:
    """An instant that came as seconds since the epoch (bounds do)."""
    return None if since_epoch_s is None else iso(round(since_epoch_s * US_PER_S))


def estimate_document(data: ReportData, accelerators: Sequence[int] = ()) -> Json:
    """M, C, D and R of every run.

    Args:
        data: The report.
        accelerators: Sizes of jobs that M is projected to, besides those of the runs.
    """
    body = {
        "window": _window(data.window),
        "runs": [run_estimate(run, data) for run in data.runs],
        "fleet": fleet_section(data, tuple(accelerators)),
        "correlation": correlation_section(data.correlation),
        "suspects": suspects_section(data.suspects),
        "early_by_node": None if data.early_by_node is None else asdict(data.early_by_node),
    }
    return document("estimate", body)


def interval_document(data: ReportData) -> Json:
    """The interval of every run, and whether to change it."""
    body = {"window": _window(data.window), "runs": [interval_row(run) for run in data.runs]}
    return document("interval", body)


def interval_row(run: RunReport) -> Json:
    """The interval of one run."""
    advice, cadence = run.advice, run.cadence
    by_time = cadence.configured_steps is None and cadence.configured_s is not None
    return {
        "run": run.run.run,
        "epoch": None,
        "interval_kind": "time" if by_time else "steps",
        "configured_s": cadence.configured_s,
        "configured_steps": cadence.configured_steps,
        "observed_steps": cadence.observed_steps,
        "step_s": cadence.step_s,
        "effective_s": cadence.effective_s,
        "mean_s": cadence.mean_s,
        "current_s": advice.current_s,
        "young_s": advice.young_s,
        "daly_s": advice.daly_s,
        "exact_s": advice.exact_s,
        "recommended_s": advice.recommended_s,
        "recommended_steps": advice.recommended_steps,
        "low_s": advice.low_s,
        "high_s": advice.high_s,
        "flat_low_s": advice.flat_low_s,
        "flat_high_s": advice.flat_high_s,
        "floor_s": None,
        "waste_now": advice.waste_now,
        "waste_recommended": advice.waste_recommended,
        "p_better": advice.p_better,
        "saving_h": advice.saving_h,
        "change": advice.change,
        "basis": advice.basis,
        "reason": advice.reason,
        "assumptions": [
            {"name": a.name, "holds": a.holds, "evidence": a.evidence} for a in advice.assumptions
        ],
    }


def runs_document(runs: Iterable[Run]) -> Json:
    """The runs and what they were joined from."""
    return document("runs", {"runs": [_run(run) for run in runs]})


def _run(run: Run) -> Json:
    return {
        "run": run.run,
        "user": run.user,
        "work_dir": run.work_dir,
        "joined_by": run.joined_by,
        "jobs": run.n_jobs,
        "attempts": run.n_attempts,
        "launches_without_step": run.n_launches_without_step,
        "accelerators": run.n_accelerators,
        "accelerators_origin": run.accelerators_origin,
        "started_at": iso(run.started_at),
        "ended_at": iso(run.ended_at),
        "is_running": run.is_running,
        "first_step": run.first_step,
        "last_step": run.last_step,
        "target_step": run.target_step,
        "allocated_s": run.allocated_us / US_PER_S,
        "missing": list(run.missing),
        "epochs": [epoch_row(epoch) for epoch in run.epochs],
    }


def report_document(data: ReportData) -> Json:
    """Everything that the monthly report says."""
    body: Json = {
        "as_of": iso(data.as_of),
        "window": _window(data.window),
        "complete": data.complete,
        "runs": [_run(run.run) for run in data.runs],
        "incidents": incidents_document(data)["incidents"],
        "estimate": _without_head(estimate_document(data)),
        "interval": _without_head(interval_document(data)),
        "ledger": [_ledger(line) for run in data.runs for line in run.ledger],
        "parts": [_part(run.run.run, test) for run in data.runs for test in run.parts],
        "calendar": [_calendar(row) for run in data.runs for row in run.calendar],
        "sources": [_source(source) for source in data.sources],
        "findings": [_finding(finding) for finding in data.findings],
        "rejected": len(data.rejected),
        "context_jobs": data.context_jobs,
        "settings": {
            name: {"value": value, "origin": origin}
            for name, (value, origin) in data.settings.items()
        },
    }
    return document("report", body)


def _without_head(inner: Json) -> Json:
    return {key: value for key, value in inner.items() if key != "version"}


def _ledger(line: LedgerLine) -> Json:
    return {
        "run": line.run,
        "bucket": line.bucket,
        "observed_s": line.observed_us / US_PER_S,
        "observed_acc_s": line.observed_acc_us / US_PER_S,
        "could_move_s": line.could_move_us / US_PER_S,
        "n": line.n,
        "predicted_s": line.predicted_s,
        "predicted_low_s": line.predicted_low_s,
        "predicted_high_s": line.predicted_high_s,
        "in_sample": line.in_sample,
        "residual_s": line.residual_s,
        "flag": line.flag,
        "first_order_s": line.first_order_s,
        "percentile": line.percentile,
        "explained": [
            {
                "part": reason.part,
                "cause": reason.cause,
                "seconds": reason.seconds,
                "evidence": reason.evidence,
            }
            for reason in line.reasons
        ],
    }


def _part(run: str, test: PartTest) -> Json:
    return {
        "run": run,
        "part": test.part,
        "n": test.n,
        "observed": test.observed,
        "expected": test.expected,
        "p": test.p,
        "p_adjusted": test.p_adjusted,
        "excess_s": test.excess_s,
        "flag": test.flag,
    }


def _calendar(row: LedgerRow) -> Json:
    return {"run": row.run, "bucket": row.bucket, "observed_s": row.observed_us / US_PER_S}


def _source(source: Source) -> Json:
    return {
        "path": source.path,
        "format": source.format,
        "sha256": source.sha256,
        "bytes": source.n_bytes,
        "lines": source.n_lines,
        "rows": source.n_rows,
        "rejected": source.n_rejected,
        "tz": source.tz,
        "tz_origin": source.tz_origin,
        "first_at": iso(source.first_at),
        "last_at": iso(source.last_at),
        "run": source.run,
    }


def _finding(finding: Finding) -> Json:
    return {
        "kind": finding.kind,
        "subject": finding.subject,
        "text": finding.text,
        "could_move_s": finding.could_move_s,
        "file": finding.file,
        "line": finding.line,
    }


def check_document(state: State, results: Sequence[CheckResult]) -> Json:
    """The checks and the gravest state of them."""
    checks = [
        {
            "name": result.name,
            "state": str(result.state),
            "summary": result.summary,
            "value": result.value,
            "warn": result.warn,
            "critical": result.critical,
            "unit": result.unit,
            "subject": result.subject,
            "since": iso(result.since),
        }
        for result in results
    ]
    return document("check", {"state": str(state), "checks": checks})
