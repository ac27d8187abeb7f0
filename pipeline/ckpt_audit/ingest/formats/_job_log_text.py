"""Cleans a line of a job log: colours, the prefixes of launchers and consoles, quotations."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from ckpt_audit.ingest.formats._bounds import SMALL_LIMIT, whole
from ckpt_audit.ingest.formats._stamps import UNDATED, Stamp, read_iso

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*\x07)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_MAX_PREFIXES = 6
_PREFIX = re.compile(
    r"(?:\s{0,6}(?P<task>\d{1,6}):(?=\s) ?"  # srun -l: "  12: "
    r"|\[(?P<host>[A-Za-z][\w.-]*?(?<!\.py)):(?P<local>\d{1,3})\]:? ?"  # "[lrdn3321:3]:"
    r"|\[default(?P<default>\d+)\]:"  # torchrun --tee
    r"|\[rank(?P<rank>\d+)\]: ?"
    r"|\[[a-z_]+(?P<role>\d+)\]:"  # torchrun --tee --role
    r"|\d+_\w+/\d+\s+(?=\S)"  # "28_worker0/0   "
    r"|(?P<pdsh>[A-Za-z][\w.-]*): (?=\s*\[?20\d\d-|\s+(?:iteration|successfully|loading)\b)"
    r"|[A-Z]+ (?P<console>\d{4}-\d\d-\d\dT[\d:.]+Z) (?=\[)"  # a cloud console
    r"|\[resource\.labels\.[\w.]+: (?P<container>[^\]]*)\] ?"
    r")"
)
_TRACED = re.compile(r"\s*(?:\++ |#|//|>>> )")
_OPENING = re.compile(r"(?:(?<![\w.\])}!?'\"])|(?<=\b[bfr]))'(?=\S)")
_CLOSING = re.compile(r"(?<=[\w.\])}!?'\"%/>-])'(?!\w)")
_WARNING = re.compile(
    r"(?:\[[^\]]*\]\s*|\d{4}-\d\d-\d\d[ T][\d:.,]+\s*(?:- \S+ - )?)*"
    r"(?:WARNING|WARN|[\w.]*Warning)\b|.{0,60}\[WARN(?:ING)?\]"
    r"|.*Retrying \(Retry\(|.*: \w+Warning: "
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a piece of one, without what launchers and terminals add.

    Attributes:
        text: What the program printed.
        rank: Rank or task of the prefixes, or None.
        node: Host of the prefixes, or None.
        prefix: The prefixes, for telling apart the lines of several ranks.
        stamp: A clock reading of a prefix that was taken off.
    """

    text: str
    rank: int | None = None
    node: str | None = None
    prefix: str = ""
    stamp: Stamp = UNDATED


def plain(raw: bytes) -> str:
    """Bytes as text without colours and control characters."""
    text = raw.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _CONTROL.sub("", text)


def peel(text: str) -> Line:
    """Takes off the prefixes of a plain line, one after the other.

    Raises:
        ImplausibleError: A prefix has a rank that cannot be true.

    >>> peel("  12: [rank3]: RuntimeError: x")
    Line(text='RuntimeError: x', rank=3, node=None, prefix='  12: [rank3]: ', \
stamp=Stamp(clock_us=None, kind=<ClockKind.UNDATED: 'undated'>, resolution_us=0))
    """
    line = Line(text)
    for _ in range(_MAX_PREFIXES):
        match = _PREFIX.match(line.text)
        if match is None or not match.group():
            break
        line = _without(line, match)
    return line


def _without(line: Line, match: re.Match[str]) -> Line:
    groups = match.groupdict()
    local = groups["task"] or groups["rank"] or groups["default"] or groups["role"]
    local = local or groups["local"]
    rank = whole(local, "rank", SMALL_LIMIT) if local else line.rank
    node = groups["host"] or groups["pdsh"] or line.node
    text = line.text[match.end() :]
    if groups["console"]:
        return replace(line, text=text, stamp=read_iso(groups["console"]))
    return replace(line, text=text, rank=rank, node=node, prefix=line.prefix + match.group())


class _Marks(NamedTuple):
    """Where a line has marks of quotation, in order."""

    is_traced: bool
    doubled: tuple[list[int], ...]
    opening: list[int]
    closing: list[int]
    last_single: int


@lru_cache(maxsize=4)
def _marks(text: str) -> _Marks:
    """The marks of a line, found once however many places of it are asked about."""
    return _Marks(
        _TRACED.match(text) is not None,
        tuple([match.start() for match in re.finditer(mark, text)] for mark in '"`'),
        [match.start() for match in _OPENING.finditer(text)],
        [match.start() for match in _CLOSING.finditer(text)],
        text.rfind("'"),
    )


def is_quoted(text: str, start: int) -> bool:
    """Whether a place in a line lies in source code, a shell trace or a quotation.

    >>> is_quoted('raise RuntimeError("CUDA error: x")', 20)
    True
    >>> is_quoted("can't allocate: CUDA error: x", 16)
    False
    """
    marks = _marks(text)
    if marks.is_traced:
        return True
    for places in marks.doubled:
        n_before = bisect_left(places, start)
        if n_before % 2 and n_before < len(places):
            return True
    opened, closed = bisect_left(marks.opening, start), bisect_left(marks.closing, start)
    return opened > closed and marks.last_single >= start


def is_warning(text: str) -> bool:
    """Whether a line says itself that it is only a warning."""
    return _WARNING.match(text) is not None
