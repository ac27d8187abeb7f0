"""What the page embeds for programs: the facts behind its numbers, as plain values."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

from ckpt_audit.audit.data import LedgerLine, Population, ReportData, RunReport
from ckpt_audit.facts import Evidence, Incident
from ckpt_audit.report.blocks import ROW_LIMIT
from ckpt_audit.units import iso, seconds

SCHEMA = "ckpt-audit/report/1"


def payload(data: ReportData) -> dict[str, Any]:
    """The report as one JSON-ready document: ISO times, units in names, null for unknown."""
    return {
        "schema": SCHEMA,
        "version": data.version,
        "window": {
            "label": data.window.label,
            "start": iso(data.window.start_at),
            "end": iso(data.window.end_at),
        },
        "complete": data.complete,
        "as_of": iso(data.as_of),
        "incidents": [_incident(one, i) for one in data.runs for i in one.incidents[:ROW_LIMIT]],
        "estimate": [_estimate(one) for one in data.runs],
        "intervals": [_interval(one) for one in data.runs],
        "ledger": [_ledger(line) for one in data.runs for line in one.ledger],
        "calendar": [
            {"run": x.run, "bucket": x.bucket, "observed_s": seconds(x.observed_us)}
            for one in data.runs
            for x in one.calendar
        ],
        "sources": [plain(s) for s in data.sources],
        "findings": [plain(f) for f in data.findings],
    }


def plain(value: Any) -> Any:
    """A value of facts as JSON-ready: dataclasses as mappings, instants as ISO, inf as null.

    >>> plain((1.5, float("inf"), None))
    [1.5, None, None]
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _named(f.name, getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _named(name: str, value: Any) -> Any:
    if name.endswith("_at") and (value is None or isinstance(value, int)):
        return iso(value)
    return plain(value)


def _incident(one: RunReport, incident: Incident) -> dict[str, Any]:
    found = one.correlations.get(incident.id)
    document: dict[str, Any] = plain(incident)
    document["correlation"] = {
        "label": found.label if found else None,
        "group": found.group if found else None,
        "rule": found.rule if found else None,
    }
    document["evidence"] = [_evidence(e) for e in incident.evidence]
    return document


def _evidence(evidence: Evidence) -> dict[str, Any]:
    document: dict[str, Any] = plain(evidence)
    return document


def _estimate(one: RunReport) -> dict[str, Any]:
    estimate = one.estimate
    return {
        "run": one.run.run,
        "m": [_population(p) for p in estimate.populations],
        "c": plain(estimate.c),
        "d": plain(estimate.d),
        "r": plain(estimate.r),
        "launches": {"n": estimate.launches, "reached_step": estimate.launches_reached_step},
    }


def _population(population: Population) -> dict[str, Any]:
    document: dict[str, Any] = {"population": population.population}
    document.update(plain(population.mean_time))
    document["calendar_s"] = plain(population.calendar_s)
    document["per_1000_acc_h"] = plain(population.per_1000_acc_h)
    return document


def _interval(one: RunReport) -> dict[str, Any]:
    cadence = one.cadence
    configured_s = None
    if cadence.configured_steps is not None and cadence.step_s is not None:
        configured_s = cadence.configured_steps * cadence.step_s
    document: dict[str, Any] = {"run": one.run.run}
    document.update(plain(one.advice))
    document["configured_steps"] = cadence.configured_steps
    document["configured_s"] = plain(configured_s)
    document["effective_s"] = plain(cadence.effective_s)
    document["mean_s"] = plain(cadence.mean_s)
    return document


def _ledger(line: LedgerLine) -> dict[str, Any]:
    return {
        "run": line.run,
        "bucket": line.bucket,
        "observed_s": seconds(line.observed_us),
        "observed_acc_s": seconds(line.observed_acc_us),
        "could_move_s": seconds(line.could_move_us),
        "n": line.n,
        "predicted_s": plain(line.predicted_s),
        "predicted_low_s": plain(line.predicted_low_s),
        "predicted_high_s": plain(line.predicted_high_s),
        "in_sample": line.in_sample,
        "residual_s": plain(line.residual_s),
        "flag": line.flag,
    }
