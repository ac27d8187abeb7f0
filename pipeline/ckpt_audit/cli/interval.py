"""``ckpt-audit interval``: the best interval, recorded month by month."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, Month, RunNames, Since, Until, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import UNKNOWN, facts, hours, period, share, span, table
from ckpt_audit.errors import UsageError
from ckpt_audit.units import S_PER_H, format_duration, iso

if TYPE_CHECKING:
    from ckpt_audit.documents import Json

History = Annotated[
    bool, typer.Option("--history", help="Show what was recommended before, and compute nothing.")
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        interval,
        name="interval",
        examples=[
            "ckpt-audit interval --month",
            "ckpt-audit interval --month 2026-05 --json",
            "ckpt-audit interval --history",
        ],
    )


def interval(
    session: Session,
    month: Month = None,
    since: Since = None,
    until: Until = None,
    run: RunNames = None,
    history: History = False,
    as_json: AsJson = False,
) -> None:
    """Computes the interval that wastes least, says whether to change to it, and records that.

    Without a window, the last complete month that has data.
    """
    if history:
        if month or since or until:
            raise UsageError("--history shows every window; leave out --month, --since and --until")
        _show_history(session, run, as_json)
        return
    from ckpt_audit.documents import dumps, interval_document

    with session.warehouse(read_only=False) as warehouse:
        if not workflow.is_settled(warehouse, session.config):
            workflow.refresh(warehouse, session.config, session.machine_zone)
        window = workflow.choose_window(warehouse, session.config, session.now, month, since, until)
        data = workflow.load_report_data(warehouse, session.config, window, run)
        document = interval_document(data)
        workflow.record_intervals(warehouse, window, document)
    if as_json:
        session.out(dumps(document))
    else:
        session.out("\n\n".join([period(data), *(_row(row) for row in document["runs"])]))


def _row(row: Json) -> str:
    optimum = format_duration(row["exact_s"])
    if row["low_s"] is not None:
        optimum += f" ({span(row['low_s'], row['high_s'])})"
    saving = None if row["saving_h"] is None else f"{hours(row['saving_h'] * S_PER_H)} h"
    pairs = [
        ("configured", _steps(row["configured_steps"], row["configured_s"])),
        ("effective", format_duration(row["effective_s"])),
        ("best", optimum),
        ("recommended", _steps(row["recommended_steps"], row["recommended_s"])),
        ("as good within 5%", span(row["flat_low_s"], row["flat_high_s"])),
        ("waste now", share(row["waste_now"])),
        ("waste then", share(row["waste_recommended"])),
        ("better with p", UNKNOWN if row["p_better"] is None else f"{row['p_better']:.2f}"),
        ("saving in the window", saving),
        ("change", "yes" if row["change"] else "no"),
        ("why", row["reason"]),
    ]
    for assumption in row["assumptions"]:
        word = {True: "holds", False: "does not hold", None: "not tested"}[assumption["holds"]]
        name = assumption["name"].replace("_", " ")
        told = "" if assumption["evidence"] == word else f": {assumption['evidence']}"
        pairs.append((f"assumes {name}", word + told))
    return f"{row['run']}\n{facts(pairs)}"


def _steps(steps: int | None, value_s: float | None) -> str | None:
    if steps is None:
        return None if value_s is None else format_duration(value_s)
    return f"{steps:,} steps ({format_duration(value_s)})"


def _show_history(session: Session, run: list[str] | None, as_json: bool) -> None:
    from ckpt_audit.documents import document, dumps

    with session.warehouse(read_only=True) as warehouse:
        rows = workflow.interval_history(warehouse)
    rows = [row for row in rows if not run or row["run"] in run]
    if as_json:
        for row in rows:
            row["window"] = {
                "start": iso(row.pop("start_at")),
                "end": iso(row.pop("end_at")),
                "label": row.pop("label"),
            }
        session.out(dumps(document("interval", {"runs": rows})))
        return
    if not rows:
        session.say("nothing is recorded yet; `ckpt-audit interval --month` records a month")
        return
    cells = [
        [
            row["label"],
            row["run"],
            format_duration(row["effective_s"]),
            format_duration(row["recommended_s"]),
            span(row["flat_low_s"], row["flat_high_s"]),
            None if row["saving_h"] is None else f"{row['saving_h']:.1f}",
            row["change"],
        ]
        for row in rows
    ]
    headers = [
        "window",
        "run",
        "effective",
        "recommended",
        "as good within 5%",
        "saving h",
        "change",
    ]
    session.out(table(headers, cells, "  >>>>"))
