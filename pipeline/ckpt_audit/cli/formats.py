"""``ckpt-audit formats``: what can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckpt_audit.cli.command import AsJson, add_command
from ckpt_audit.cli.session import Session

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        formats,
        name="formats",
        examples=["ckpt-audit formats", "ckpt-audit formats --json"],
    )


def formats(session: Session, as_json: AsJson = False) -> None:
    """Lists every format that can be read, what each gives, and an example."""
    from ckpt_audit.ingest import FORMATS

    if as_json:
        from ckpt_audit.documents import document, dumps

        rows = [
            {"format": one.name, "title": one.title, "gives": one.gives, "example": one.example}
            for one in FORMATS
        ]
        session.out(dumps(document("formats", {"formats": rows})))
        return
    for one in FORMATS:
        session.out(f"{one.name}: {one.title}\n  gives: {one.gives}")
        for line in one.example.rstrip("\n").split("\n"):
            session.out(f"  | {line}")
