"""``ckpt-audit runs``: what was joined into which run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import hours, table, when
from ckpt_audit.units import seconds

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    import typer

    from ckpt_audit.facts import Run


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        runs,
        name="runs",
        examples=["ckpt-audit runs", "ckpt-audit runs --json"],
    )


def runs(session: Session, as_json: AsJson = False) -> None:
    """Lists the runs, how their jobs were joined, their steps and hours, and what is missing."""
    from ckpt_audit.documents import dumps, runs_document

    with session.settled_warehouse() as warehouse:
        found = workflow.load_runs(warehouse)
        refused = workflow.refused_runs(warehouse)
    for text in refused:
        session.say(text)
    if as_json:
        session.out(dumps(runs_document(found)))
    elif found:
        session.out(_text(found, session.config.display_zone))
    elif not refused:
        session.say("there is no run in the warehouse; ingest some logs first")


def _text(found: list[Run], zone: ZoneInfo) -> str:
    rows = [
        [
            run.run,
            run.n_jobs,
            run.n_attempts,
            run.n_accelerators,
            when(run.started_at, zone),
            "running" if run.is_running else when(run.ended_at, zone),
            run.last_step,
            "not set" if run.target_step is None else run.target_step,
            hours(seconds(run.allocated_us)),
            run.joined_by,
        ]
        for run in found
    ]
    headers = ["run", "jobs", "attempts", "accelerators", f"started ({zone.key})", "ended"]
    headers += ["last step", "target", "allocated h", "joined by"]
    missing = [f"{run.run}: missing: {what}" for run in found for what in run.missing]
    changed = [
        f"{run.run}: from {when(epoch.started_at, zone)}: {epoch.why}"
        for run in found
        for epoch in run.epochs
        if epoch.why is not None
    ]
    return "\n".join([table(headers, rows, " >>>  >>>"), *changed, *missing])
