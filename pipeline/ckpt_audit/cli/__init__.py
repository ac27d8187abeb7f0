"""The command line: one file a command, and the one place where errors become exit codes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.core import TyperArgument, TyperCommand

from ckpt_audit import __version__, interrupts
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
    simulate,
)
from ckpt_audit.cli.command import ConfigFile, Db, Quiet, Verbose, Wait, help_text
from ckpt_audit.cli.session import Common
from ckpt_audit.cli.streams import abandon, flush, warn, write
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
    simulate,
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
    run = _run_check if called_command(words) == "check" else _run
    return interrupts.run(lambda: run(words))


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


def _call(words: list[str]) -> int:
    """Calls the program; after Ctrl-C it ends with nothing but a KeyboardInterrupt."""
    try:
        code = app(words, prog_name=PROGRAM, standalone_mode=False)
        flush()
    except BaseException as error:
        if interrupts.came():
            raise KeyboardInterrupt from error
        raise
    return int(code or 0)


def _run(words: list[str]) -> int:
    try:
        return _call(words)
    except CkptAuditError as error:
        return _failed(str(error), error.exit_code)
    except typer.TyperException as error:
        return _wrong_use(error)
    except typer.Abort:
        return EXIT_INTERRUPTED
    except MemoryError:
        return _failed("out of memory")
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            abandon()
            return 0
        _give_up_stdout()
        return _failed(f"{error.filename or 'input or output'}: {error.strerror or error}")


def _failed(why: str, code: int = EXIT_FAILED) -> int:
    warn(f"error: {why}", kept="")
    return code


def _give_up_stdout() -> None:
    """Drops what cannot be printed, where that was what went wrong."""
    with contextlib.suppress(CkptAuditError):
        flush()


def _wrong_use(error: typer.TyperException) -> int:
    text = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None or text == context.get_help():  # called without a command
        warn(text if context is not None else f"error: {text}")
        return error.exit_code
    text = f"{text[:1].lower()}{text[1:]}"
    if text.startswith("no such option") and _takes_words(context.command):
        text = f"{text.rstrip('.')}; what begins with - and is no option goes after --"
    warn(f"error: {text}", kept="")
    warn(f"help: {context.command_path} --help")
    return error.exit_code


def _takes_words(command: TyperCommand) -> bool:
    return any(isinstance(parameter, TyperArgument) for parameter in command.params)


def _run_check(words: list[str]) -> int:
    """Runs ``check``: whatever goes wrong is UNKNOWN, and one line on stdout says so."""
    try:
        return _call(words)
    except CkptAuditError as error:
        return _unknown(str(error))
    except typer.TyperException as error:
        return _unknown(error.format_message())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        _unknown(f"unexpected {type(error).__name__}: {error}")
        raise SystemExit(EXIT_UNKNOWN) from error


def _unknown(why: str) -> int:
    """Says so on stdout, or on stderr where stdout takes nothing."""
    line = unknown_line(why)
    try:
        write(line)
        flush()
    except BrokenPipeError:
        abandon()
    except CkptAuditError:
        warn(line, kept="")
    return EXIT_UNKNOWN


__all__ = ["app", "main"]
