"""The command line: one file a command, and the one place where errors become exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from ckpt_audit import __version__
from ckpt_audit.alerts.line import unknown_line
from ckpt_audit.cli import (
    check,
    config_show,
    demo,
    estimate,
    explain,
    forget,
    formats,
    incidents,
    ingest,
    interval,
    model,
    report,
    runs,
)
from ckpt_audit.cli.command import ConfigFile, Db, Quiet, Verbose, Wait, help_text
from ckpt_audit.cli.session import Common, warn
from ckpt_audit.errors import EXIT_FAILED, EXIT_INTERRUPTED, CkptAuditError

PROGRAM = "ckpt-audit"
EXIT_UNKNOWN = 3
_TAKE_A_VALUE = ("--db", "--config", "--wait")
_EXAMPLES = (
    "ckpt-audit demo                         # the sample data and their report",
    "ckpt-audit ingest logs/ sacct.txt       # read logs into ./ckpt-audit.duckdb",
    "ckpt-audit report --month               # the report of the last complete month",
    "ckpt-audit model --c 4m --m 6h --r 10m  # no data needed",
)
_ABOUT = (
    "Audits the checkpoint interval of large training runs from the logs a site already has: what "
    "interruptions and checkpoints cost, and which interval would cost least."
)

app = typer.Typer(
    name=PROGRAM,
    help=help_text(_ABOUT, _EXAMPLES),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    ctx: typer.Context,
    db: Db = None,
    config: ConfigFile = None,
    wait: Wait = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    version: Annotated[  # noqa: ARG001 - its callback has done the work
        bool,
        typer.Option("--version", help="Show the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    ctx.obj = Common(db, config, wait, quiet, verbose)


for _module in (
    ingest,
    runs,
    incidents,
    explain,
    estimate,
    interval,
    model,
    report,
    check,
    forget,
    formats,
    demo,
):
    _module.register(app)
config_show.register(app)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: The words after the program's name, or None: those of the process.

    Returns:
        The exit code.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if called_command(words) == "check":
        return _run_check(words)
    return _run(words)


def called_command(words: Sequence[str]) -> str | None:
    """The command among the words of a call, or None.

    >>> called_command(["--db", "x.duckdb", "-q", "check", "--json"])
    'check'
    """
    takes_value = False
    for word in words:
        if not takes_value and not word.startswith("-"):
            return word
        takes_value = word in _TAKE_A_VALUE
    return None


def _run(words: list[str]) -> int:
    try:
        code = app(words, prog_name=PROGRAM, standalone_mode=False)
    except CkptAuditError as error:
        warn(f"error: {error}")
        return error.exit_code
    except typer.TyperException as error:
        return _wrong_use(error)
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except MemoryError:
        warn("error: out of memory")
        return EXIT_FAILED
    if code == EXIT_INTERRUPTED:
        warn("interrupted")
    return int(code or 0)


def _wrong_use(error: typer.TyperException) -> int:
    text = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None or text == context.get_help():  # called without a command
        warn(text if context is not None else f"error: {text}")
        return error.exit_code
    warn(f"error: {text[:1].lower()}{text[1:]}")
    warn(f"help: {context.command_path} --help")
    return error.exit_code


def _run_check(words: list[str]) -> int:
    """Runs ``check``: whatever goes wrong is UNKNOWN, and one line on stdout says so."""
    try:
        code = app(words, prog_name=PROGRAM, standalone_mode=False)
    except CkptAuditError as error:
        return _unknown(str(error))
    except typer.TyperException as error:
        return _unknown(error.format_message())
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BaseException as error:
        _unknown(f"unexpected {type(error).__name__}: {error}")
        raise SystemExit(EXIT_UNKNOWN) from error
    return int(code or 0)


def _unknown(why: str) -> int:
    typer.echo(unknown_line(why))
    return EXIT_UNKNOWN


__all__ = ["app", "main"]
