"""``ckpt-audit config show``: every value and where it came from."""

from __future__ import annotations

import typer

from ckpt_audit.cli.command import AsJson, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import table


def register(app: typer.Typer) -> None:
    """Adds the group and its command."""
    group = typer.Typer(
        name="config",
        help="Shows the configuration.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    add_command(
        group,
        show,
        name="show",
        examples=["ckpt-audit config show", "ckpt-audit config show --json"],
    )
    group.callback()(_group)
    app.add_typer(group)


def _group() -> None:
    """Shows the configuration."""


def show(session: Session, as_json: AsJson = False) -> None:
    """Shows every value of the configuration and where it came from."""
    config = session.config
    local = {
        key: (value, config.origins.get(key, "default"))
        for key, value in (("db", str(config.db)), ("wait", f"{config.wait_s:g} s"))
    }
    settings = local | config.settings()
    if as_json:
        from ckpt_audit.documents import document, dumps

        values = {key: {"value": v, "origin": o} for key, (v, o) in settings.items()}
        file = None if config.path is None else str(config.path)
        session.out(dumps(document("config", {"file": file, "settings": values})))
        return
    session.out(f"file: {config.path or 'none; every value is a default or was given'}")
    session.out(table(["key", "value", "from"], [[k, v, o] for k, (v, o) in settings.items()]))
