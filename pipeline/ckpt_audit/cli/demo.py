"""``ckpt-audit demo``: from the sample data to a report in one go."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import add_command
from ckpt_audit.cli.report import FOLDER, Output
from ckpt_audit.cli.session import Session, read_text
from ckpt_audit.cli.whole_file import write_whole
from ckpt_audit.config import Config
from ckpt_audit.config_load import load_config
from ckpt_audit.windows import parse_month

if TYPE_CHECKING:
    from ckpt_audit.audit.data import ReportData


Keep = Annotated[
    Path | None,
    typer.Option(
        "--keep",
        metavar="DIR",
        help="Keep the warehouse and its configuration in this folder, to ask it more.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        demo,
        name="demo",
        examples=[
            "ckpt-audit demo",
            "ckpt-audit demo --keep try",
            "cd try && ckpt-audit incidents --month",
        ],
    )


def demo(session: Session, output: Output = None, keep: Keep = None) -> None:
    """Ingests the packaged sample data into a temporary warehouse and writes its report.

    The sample is a month of a made-up site with two training runs.
    """
    from ckpt_audit.report import render_report
    from ckpt_audit.report.view import build_view

    folder = workflow.sample_data()
    config = load_config({}, {}, folder, read_text, folder / workflow.SAMPLE_CONFIG)
    session.say("ingesting the sample data of a made-up site")
    with _place(keep) as place:
        data = _audit(config, folder, place / Config().db)
        if keep is not None:
            shutil.copyfile(folder / workflow.SAMPLE_CONFIG, place / workflow.SAMPLE_CONFIG)
    target = output or FOLDER / f"{data.window.label}.html"
    session.say("drawing the report")
    write_whole(target, render_report(data))
    session.out(build_view(data).headline)
    session.out(f"report: {target}")
    if keep is not None:
        session.out(f"warehouse and configuration: {keep}")


@contextlib.contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="ckpt-audit-demo-") as name:
        yield Path(name)


def _audit(config: Config, folder: Path, db: Path) -> ReportData:
    """Ingests the sample and gives the facts of its last month.

    Paths are kept as seen from the folder above the sample, so that the report is the same
    wherever the program is installed; and its month does not depend on the clock.
    """
    from ckpt_audit.cli.ingest import hints_of
    from ckpt_audit.ingest.load import IngestOptions, ingest
    from ckpt_audit.warehouse import Warehouse

    with Warehouse.open(db) as warehouse:
        workflow.unsettle(warehouse)
        with contextlib.chdir(folder.parent):
            hints = hints_of(config, None, None, None)
            ingest(warehouse, [folder.name], IngestOptions(hints=hints, machine_zone="UTC"))
        workflow.refresh(warehouse, config, "UTC")
        span = workflow.whole_window(warehouse)
        long_after = 2 * span.end_at - span.start_at
        window = parse_month(
            None, long_after, config.display_zone, (span.start_at, span.end_at - 1)
        )
        return workflow.load_report_data(warehouse, config, window)
