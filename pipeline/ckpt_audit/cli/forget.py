"""``ckpt-audit forget``: takes a source out again."""

from __future__ import annotations

from typing import Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import add_command
from ckpt_audit.cli.session import Session

SourcePath = Annotated[
    str,
    typer.Argument(metavar="SOURCE", help="Its path as it was ingested, or a folder above it."),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        forget,
        name="forget",
        examples=["ckpt-audit forget logs/slurm-481211.out", "ckpt-audit forget logs/"],
    )


def forget(session: Session, source: SourcePath) -> None:
    """Takes a source out of the warehouse, as if it had never been read."""
    from ckpt_audit.ingest.load import forget as take_out

    with session.warehouse(read_only=False) as warehouse:
        workflow.unsettle(warehouse)
        try:
            gone = take_out(warehouse, source)
        finally:
            workflow.refresh(warehouse, session.config, session.machine_zone)
    for path in gone:
        session.out(f"forgotten: {path}")
