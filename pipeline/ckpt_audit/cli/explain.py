"""``ckpt-audit explain``: one incident with its evidence."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, IdCommand, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import facts, when
from ckpt_audit.errors import UsageError
from ckpt_audit.printable import printable
from ckpt_audit.units import US_PER_S, format_duration

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from ckpt_audit.audit.correlation import Correlation
    from ckpt_audit.audit.data import ReportData, RunReport
    from ckpt_audit.audit.story import MeanTimes
    from ckpt_audit.facts import Evidence, Incident

Id = Annotated[
    str,
    typer.Argument(metavar="INCIDENT", help="Its id, as `incidents` shows it.", show_default=False),
]

WIDTH = 100

# Moments in their order, and between them what only has evidence.
_MOMENTS = (
    ("verified_step", "verified save"),
    ("last_step_at", "last step"),
    ("torn_save", "torn save"),
    ("doubtful_save", "save that does not count"),
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
    """Tells one incident: what happened, with the evidence of each moment and the rule behind it.

    It ends with what would change if a moment, the kind or the chain were not what is said.
    """
    from ckpt_audit.documents import document, dumps, incident_row

    with session.settled_warehouse() as warehouse:
        window = workflow.whole_window(warehouse)
        data = workflow.load_report_data(warehouse, session.config, window)
    found, correlation, means = _find(data, incident)
    if as_json:
        row = incident_row(found, correlation)
        session.out(dumps(document("incidents", {"incidents": [row]})))
    else:
        session.out(explanation(found, correlation, means, session.config.display_zone))


def _find(data: ReportData, wanted: str) -> tuple[Incident, Correlation | None, MeanTimes | None]:
    known = []
    for run in data.runs:
        for incident in run.incidents:
            if incident.id == wanted:
                return incident, run.correlations.get(wanted), _means(run)
            known.append(incident.id)
    close = difflib.get_close_matches(wanted, known, n=1, cutoff=0.0)
    hint = f"; the nearest is '{close[0]}'" if close else "; there is none at all"
    raise UsageError(f"there is no incident '{wanted}'{hint}")


def _means(run: RunReport) -> MeanTimes | None:
    from ckpt_audit.audit.story import MeanTimes

    for item in run.estimate.populations:
        if item.population == "all":
            return MeanTimes(item.mean_time.exposure_s, item.mean_time.incidents)
    return None


def explanation(
    incident: Incident, correlation: Correlation | None, means: MeanTimes | None, zone: ZoneInfo
) -> str:
    """The incident in words.

    Args:
        incident: The incident.
        correlation: How it stands to others, or None.
        means: M of its run over all time, or None where there is none.
        zone: Display zone.
    """
    from ckpt_audit.audit.story import telling, what_if

    def say(at: int) -> str:
        return when(at, zone)

    head = facts(
        [
            ("incident", incident.id),
            ("run", incident.run),
            ("kind", incident.kind + (", secondary" if incident.secondary else "")),
            ("cause", f"{incident.cause} ({incident.cause_strength})"),
            ("rule", incident.rule),
            ("phase", incident.phase),
            ("attempts", incident.attempts),
            *((("ends", ", ".join(incident.ends)),) if len(incident.ends) > 1 else ()),
            ("jobs", ", ".join(incident.job_ids) or None),
            ("nodes", ", ".join(incident.nodes) or None),
            ("last step", incident.last_step),
            ("resumed from", incident.resume_step),
            ("verified then", _verified(incident)),
            ("state from", incident.recovery_source),
            ("correlation", f"{correlation.label}: {correlation.rule}" if correlation else None),
        ]
    )
    lines = [head, "", "What happened", *_wrapped(telling(incident, say))]
    lines += ["", f"Timeline ({zone.key})"]
    known = {name for name, _ in _MOMENTS} | {"precursor"}
    others = dict.fromkeys(line.moment for line in incident.evidence if line.moment not in known)
    for name, label in (*_MOMENTS, *((other, other.replace("_", " ")) for other in others)):
        lines += _moment(incident, name, label, zone)
    lines += ["", "Durations", _durations(incident)]
    doubts = what_if(incident, means, say)
    if doubts:
        lines += ["", "If it were otherwise"]
        lines += [line for doubt in doubts for line in _wrapped([doubt])]
    return "\n".join(lines)


def _wrapped(sentences: Iterable[str]) -> list[str]:
    """Sentences as a paragraph, two spaces from the left."""
    return textwrap.wrap(
        printable(" ".join(sentences)), WIDTH, initial_indent="  ", subsequent_indent="  "
    )


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
