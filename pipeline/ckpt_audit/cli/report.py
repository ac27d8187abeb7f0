"""``ckpt-audit report``: the monthly report as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, Month, RunNames, Since, Until, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.whole_file import write_whole

FOLDER = Path("reports")

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write it. [default: reports/YYYY-MM.html]",
        show_default=False,
    ),
]
Open = Annotated[bool, typer.Option("--open", help="Show it in the browser.")]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        report,
        name="report",
        examples=[
            "ckpt-audit report --month",
            "ckpt-audit report --month 2026-05 -o may.html",
            "ckpt-audit report --month current --json",
            "ckpt-audit report --since 2026-05-04 --until 2026-05-11",
        ],
    )


def report(
    session: Session,
    month: Month = None,
    since: Since = None,
    until: Until = None,
    run: RunNames = None,
    output: Output = None,
    as_json: AsJson = False,
    open_it: Open = False,
) -> None:
    """Writes the self-contained HTML report of a month, or of another stretch.

    Without either, the last complete one that has data. With --json, the report's data go to
    stdout and no file is written, unless -o names one for them.
    """
    with session.settled_warehouse() as warehouse:
        window = workflow.choose_window(warehouse, session.config, session.now, month, since, until)
        data = workflow.load_report_data(warehouse, session.config, window, run)
    if as_json:
        from ckpt_audit.documents import dumps, report_document

        text = dumps(report_document(data))
        if output is None:
            session.out(text)
            return
        target = output
        text += "\n"
    else:
        from ckpt_audit.report import render_report

        target = output or FOLDER / f"{file_stem(window.label)}.html"
        text = render_report(data)
    write_whole(target, text)
    session.out(str(target))
    if open_it:
        typer.launch(target.resolve().as_uri())


def file_stem(label: str) -> str:
    """Name of a window as part of a file's name.

    >>> file_stem("2026-05"), file_stem("2026-05-04 to 2026-05-11 12:30")
    ('2026-05', '2026-05-04_2026-05-11T1230')
    """
    return label.replace(" to ", "_").replace(" ", "T").replace(":", "")
