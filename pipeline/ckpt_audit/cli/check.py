"""``ckpt-audit check``: one line for cron and monitoring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, Month, RunNames, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.errors import WarehouseError

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        check,
        name="check",
        examples=[
            "ckpt-audit check",
            "ckpt-audit check -q    # silent where all is well, for cron",
            "ckpt-audit check --json",
        ],
    )


def check(
    session: Session, month: Month = None, run: RunNames = None, as_json: AsJson = False
) -> int:
    """Checks the input, the checkpoints, the progress and the interval, and prints one line.

    Ends with 0 for OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, as monitoring plugins do. Without a month
    it judges the last 30 days of data.
    """
    from ckpt_audit.alerts.checks import EXIT_CODE, State, run_checks, worst
    from ckpt_audit.alerts.line import plugin_line
    from ckpt_audit.documents import check_document, dumps

    config = session.config
    with session.warehouse(read_only=True) as warehouse:
        if not workflow.is_settled(warehouse, config):
            raise WarehouseError(
                "made under another configuration, or its making was interrupted; "
                "run `ckpt-audit ingest` or `ckpt-audit runs` once",
                warehouse.path,
            )
        if month is None:
            window = workflow.recent_window(warehouse)
        else:
            window = workflow.choose_window(warehouse, config, session.now, month)
        data = workflow.load_check_data(warehouse, config, window, run)
        unread = workflow.unread_sources(warehouse)
    results = run_checks(data, session.now, config.thresholds, unread)
    state = worst(results)
    if as_json:
        session.out(dumps(check_document(state, results)))
    elif state is not State.OK or not session.common.quiet:
        session.out(plugin_line(results))
    return EXIT_CODE[state]
