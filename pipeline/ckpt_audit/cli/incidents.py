"""``ckpt-audit incidents``: the incident table."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, Month, RunNames, Since, Until, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import period, table, when
from ckpt_audit.errors import UsageError
from ckpt_audit.printable import printable
from ckpt_audit.units import format_duration

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from ckpt_audit.audit.data import ReportData
    from ckpt_audit.documents import Json
    from ckpt_audit.facts import Incident

AsCsv = Annotated[bool, typer.Option("--csv", help="Comma-separated values on stdout.")]

_LISTS = ("jobs", "nodes", "domains", "ends", "overruled")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a spreadsheet knows one
_NO_COLUMN = ("correlation", "evidence", "bounds")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        incidents,
        name="incidents",
        examples=[
            "ckpt-audit incidents --month",
            "ckpt-audit incidents --month 2026-05 --run llama-70b --json",
            "ckpt-audit incidents --since 2026-05-01 --until 2026-05-08 --csv > week.csv",
        ],
    )


def incidents(
    session: Session,
    month: Month = None,
    since: Since = None,
    until: Until = None,
    run: RunNames = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Lists the incidents of a month, or of all time.

    One line an incident, with every failed retry in it; see `explain` for one of them.
    """
    from ckpt_audit.documents import dumps, incidents_document

    if as_json and as_csv:
        raise UsageError("give either --json or --csv")
    with session.settled_warehouse() as warehouse:
        if month is None and since is None and until is None:
            window = workflow.whole_window(warehouse)
        else:
            window = workflow.choose_window(
                warehouse, session.config, session.now, month, since, until
            )
        data = workflow.load_report_data(warehouse, session.config, window, run)
    document = incidents_document(data)
    if as_json:
        session.out(dumps(document))
    elif as_csv:
        session.out(_csv(document))
    else:
        session.out(_text(data, session.config.display_zone))


def _csv(document: Json) -> str:
    """The table without the nested parts, one header line first."""
    from ckpt_audit.documents import INCIDENT_COLUMNS, plain

    stream = io.StringIO()
    columns = [name for name in INCIDENT_COLUMNS if name not in _NO_COLUMN]
    columns += ["correlation_label", "correlation_group"]
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in plain(document["incidents"]):
        correlation = row["correlation"] or {}
        cells = (
            row
            | {name: " ".join(row[name]) for name in _LISTS}
            | {f"correlation_{part}": correlation.get(part) for part in ("label", "group")}
        )
        writer.writerow({name: _inert(cell) for name, cell in cells.items()})
    return stream.getvalue().rstrip("\n")


def _inert(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula.

    >>> _inert("=1+1"), _inert("llama"), _inert(-1.5)
    ("'=1+1", 'llama', -1.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _detection(incident: Incident) -> str:
    if incident.kind == "planned" and incident.detection_s is None:
        return "\N{EN DASH}"  # nothing was there to detect
    return format_duration(incident.detection_s)


def _text(data: ReportData, zone: ZoneInfo) -> str:
    rows = []
    for run in data.runs:
        for incident in run.incidents:
            correlation = run.correlations.get(incident.id)
            rows.append(
                [
                    incident.id,
                    when(incident.fault_at, zone),
                    incident.kind,
                    incident.cause,
                    incident.last_step,
                    incident.resume_step,
                    format_duration(incident.lost_work_s),
                    _detection(incident),
                    format_duration(incident.recovery_s),
                    format_duration(incident.loss_s),
                    incident.attempts,
                    correlation.label if correlation else None,
                ]
            )
    if not rows:
        return f"no incident in {period(data)}"
    headers = ["id", f"fault ({zone.key})", "kind", "cause", "last step", "resumed at", "lost work"]
    headers += ["detection", "recovery", "loss", "attempts", "correlation"]
    return "\n".join([table(headers, rows, "    >>>>>>>"), *_overruled(data)])


def _overruled(data: ReportData) -> list[str]:
    """What persons overruled, a line each."""
    lines = [
        f"{incident.id}: overruled by a person ({printable(words)})"
        for run in data.runs
        for incident in run.incidents
        for words in incident.overruled
    ]
    return ["", *lines] if lines else []
