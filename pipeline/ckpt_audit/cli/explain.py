"""``ckpt-audit explain``: one incident with its evidence."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, IdCommand, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import facts, when
from ckpt_audit.errors import UsageError
from ckpt_audit.units import US_PER_S, format_duration

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from ckpt_audit.audit.data import Correlation, ReportData
    from ckpt_audit.facts import Evidence, Incident

Id = Annotated[
    str,
    typer.Argument(metavar="INCIDENT", help="Its id, as `incidents` shows it.", show_default=False),
]

# Moments in their order, and between them what only has evidence.
_MOMENTS = (
    ("verified_step", "verified save"),
    ("last_step_at", "last step"),
    ("torn_save", "torn save"),
    ("precursor_at", "precursor"),
    ("fault_at", "fault"),
    ("cause", "cause"),
    ("detected_at", "detected"),
    ("retry", "failed retry"),
    ("replaced_at", "nodes there"),
    ("launched_at", "launched"),
    ("load_started_at", "load begins"),
    ("restored_at", "restored"),
    ("first_step_at", "first step"),
    ("caught_up_at", "caught up"),
)
_DURATIONS = (
    ("detection_s", "detection"),
    ("replacement_s", "replacement"),
    ("retries_s", "failed retries"),
    ("launch_s", "launch"),
    ("restore_s", "restore"),
    ("warmup_s", "warm-up"),
    ("recovery_s", "recovery"),
    ("lost_work_s", "lost work"),
    ("loss_s", "loss"),
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        explain,
        name="explain",
        examples=["ckpt-audit explain llama-70b-s12345-1"],
        kind=IdCommand,
    )


def explain(session: Session, incident: Id, as_json: AsJson = False) -> None:
    """Shows one incident: its moments with their evidence, and the rule that classified it."""
    from ckpt_audit.documents import document, dumps, incident_row

    with session.settled_warehouse() as warehouse:
        window = workflow.whole_window(warehouse)
        data = workflow.load_report_data(warehouse, session.config, window)
    found, correlation = _find(data, incident)
    if as_json:
        row = incident_row(found, correlation)
        session.out(dumps(document("incidents", {"incidents": [row]})))
    else:
        session.out(explanation(found, correlation, session.config.display_zone))


def _find(data: ReportData, wanted: str) -> tuple[Incident, Correlation | None]:
    known = []
    for run in data.runs:
        for incident in run.incidents:
            if incident.id == wanted:
                return incident, run.correlations.get(wanted)
            known.append(incident.id)
    close = difflib.get_close_matches(wanted, known, n=1, cutoff=0.0)
    hint = f"; the nearest is '{close[0]}'" if close else "; there is none at all"
    raise UsageError(f"there is no incident '{wanted}'{hint}")


def explanation(incident: Incident, correlation: Correlation | None, zone: ZoneInfo) -> str:
    """The incident in words.

    Args:
        incident: The incident.
        correlation: How it stands to others, or None.
        zone: Display zone.
    """
    head = facts(
        [
            ("incident", incident.id),
            ("run", incident.run),
            ("kind", incident.kind + (", secondary" if incident.secondary else "")),
            ("cause", f"{incident.cause} ({incident.cause_strength})"),
            ("rule", incident.rule),
            ("phase", incident.phase),
            ("attempts", incident.attempts),
            ("jobs", ", ".join(incident.job_ids) or None),
            ("nodes", ", ".join(incident.nodes) or None),
            ("last step", incident.last_step),
            ("resumed from", incident.resume_step),
            ("verified then", _verified(incident)),
            ("state from", incident.recovery_source),
            ("correlation", f"{correlation.label}: {correlation.rule}" if correlation else None),
        ]
    )
    lines = [head, "", f"Timeline ({zone.key})"]
    known = {name for name, _ in _MOMENTS} | {"precursor"}
    others = dict.fromkeys(line.moment for line in incident.evidence if line.moment not in known)
    for name, label in (*_MOMENTS, *((other, other.replace("_", " ")) for other in others)):
        lines += _moment(incident, name, label, zone)
    lines += ["", "Durations", _durations(incident)]
    return "\n".join(lines)


def _verified(incident: Incident) -> str | None:
    if incident.verified_step is None:
        return None
    age = format_duration(incident.verified_checkpoint_age_s)
    return f"step {incident.verified_step}, by {incident.verified_grade}, {age} old at the fault"


def _moment(incident: Incident, name: str, label: str, zone: ZoneInfo) -> list[str]:
    evidence = [_evidence(line) for line in incident.evidence if line.moment in (name, label)]
    at = getattr(incident, name) if name.endswith("_at") else None
    if not evidence and at is None and (not name.endswith("_at") or name == "precursor_at"):
        return []
    if not name.endswith("_at"):
        return [f"  {label}", *evidence]
    low, high = incident.bounds.get(name, (None, None))
    bounds = ""
    if low is not None and high is not None and low != high:
        first, last = (when(round(end * US_PER_S), zone) for end in (low, high))
        bounds = f"  between {first} and {last}"
    return [f"  {label:<12} {when(at, zone)}{bounds}", *evidence]


def _evidence(line: Evidence) -> str:
    place = f"{line.file}:{line.line}: " if line.file is not None else ""
    return f"      {line.strength:<8} {place}{line.text}"


def _durations(incident: Incident) -> str:
    pairs = []
    for name, label in _DURATIONS:
        value = format_duration(getattr(incident, name))
        low, high = incident.bounds.get(name, (None, None))
        if low is not None or high is not None:
            value += f"  ({format_duration(low)} to {format_duration(high)})"
        pairs.append((f"  {label}", value))
    return facts(pairs)
