"""How a command is made: common options, examples first in its help, a bare ``--month``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from ckpt_audit.cli.session import Common, Session
from ckpt_audit.cli.streams import abandon, flush
from ckpt_audit.windows import BARE

Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="Warehouse (also CKPT_AUDIT_DB). [default: ckpt-audit.duckdb]",
        show_default=False,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration file (also CKPT_AUDIT_CONFIG). [default: the nearest ckpt-audit.toml]",
        show_default=False,
    ),
]
Wait = Annotated[
    str | None,
    typer.Option(
        "--wait",
        metavar="DURATION",
        help="How long to wait for a warehouse in use, such as 60s. [default: 0]",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No messages.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="More messages.")]

Month = Annotated[
    str | None,
    typer.Option(
        "--month",
        metavar="[MONTH]",
        help="2026-05, last or current; without a value the last complete month with data.",
        show_default=False,
    ),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="From this date on.", show_default=False),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="DATE", help="Before this date.", show_default=False),
]
RunNames = Annotated[
    list[str] | None,
    typer.Option(
        "--run", metavar="RUN", help="Only this run; may be given again.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]

_COMMON: dict[str, tuple[Any, object]] = {
    "db": (Db, None),
    "config": (ConfigFile, None),
    "wait": (Wait, None),
    "quiet": (Quiet, False),
    "verbose": (Verbose, False),
}

_DASHED_ID = re.compile(r"-[^=]*-\d+", re.ASCII)

Command = Callable[..., int | None]


class MonthCommand(TyperCommand):
    """A command whose ``--month`` may stand without a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the value in where it was left out, and parses as usual."""
        return super().parse_args(ctx, with_month(args))


class IdCommand(TyperCommand):
    """A command whose argument is an id, which may begin with ``-``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts such an id behind a ``--``, and parses as usual."""
        return super().parse_args(ctx, with_id_last(args))


def with_id_last(args: Sequence[str]) -> list[str]:
    """Moves what begins with ``-`` and looks like an id where it cannot be an option.

    >>> with_id_last(["-2+3-s55-1", "--json"]), with_id_last(["--db=x-1", "llama-s5-1"])
    (['--json', '--', '-2+3-s55-1'], ['--db=x-1', 'llama-s5-1'])
    """
    found = [word for word in args if _DASHED_ID.fullmatch(word)]
    if len(found) != 1 or "--" in args:
        return list(args)
    return [*(word for word in args if word != found[0]), "--", *found]


def with_month(args: Sequence[str]) -> list[str]:
    """Gives a bare ``--month`` its value.

    >>> with_month(["--month", "--json"]), with_month(["--month", "2026-05"])
    (['--month', 'last', '--json'], ['--month', '2026-05'])
    """
    filled: list[str] = []
    for position, word in enumerate(args):
        filled.append(word)
        following = args[position + 1] if position + 1 < len(args) else "-"
        if word == "--month" and following.startswith("-"):
            filled.append(BARE)
    return filled


def add_command(
    app: typer.Typer,
    function: Command,
    *,
    name: str,
    examples: Sequence[str],
    kind: type[TyperCommand] = TyperCommand,
) -> None:
    """Adds a function as a command.

    The first parameter of the function gets the session; the others are options and arguments.
    The common options are added, and may stand before the command's name as well. What the
    function returns is the exit code, None meaning 0.

    Args:
        app: Where to add it.
        function: The command; its docstring is the help.
        name: What people type.
        examples: Lines that the help begins with.
        kind: How it reads its words.
    """
    parameters = _parameters(function)

    def call(ctx: typer.Context, **values: Any) -> int | None:
        common = Common(**{option: values.pop(option) for option in _COMMON})
        before = ctx.find_object(Common) or Common()
        try:
            code = function(Session(common.over(before)), **values)
            flush()
        except BrokenPipeError:  # the reader has seen enough
            abandon()
            return 0
        return code

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    text = inspect.getdoc(function) or ""
    if any(parameter.name == "month" for parameter in parameters):
        kind = MonthCommand
    app.command(
        name,
        cls=kind,
        help=help_text(text, examples),
        short_help=text.partition("\n")[0],
    )(call)


def _parameters(function: Command) -> list[inspect.Parameter]:
    """The context, what the function takes besides the session, and the common options."""
    hints = get_type_hints(function, include_extras=True)
    own = list(inspect.signature(function).parameters.values())[1:]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter("ctx", keyword, annotation=typer.Context),
        *(parameter.replace(kind=keyword, annotation=hints[parameter.name]) for parameter in own),
        *(
            inspect.Parameter(option, keyword, annotation=annotation, default=default)
            for option, (annotation, default) in _COMMON.items()
        ),
    ]


def help_text(text: str, examples: Sequence[str]) -> str:
    r"""The help of a command: examples, then what it does.

    >>> help_text("Does it.", ["ckpt-audit it"])
    '\x08\nExamples:\n  ckpt-audit it\n\nDoes it.'
    """
    lines = "\n".join(f"  {example}" for example in examples)
    return f"\b\nExamples:\n{lines}\n\n{text}"
