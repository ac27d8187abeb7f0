"""What takes several lines of a job log: tracebacks, and the launcher's table of failures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_audit.ingest.formats._bounds import SMALL_LIMIT, whole
from ckpt_audit.ingest.formats._job_log_rules import Draft, short_code
from ckpt_audit.ingest.formats._job_log_text import Line
from ckpt_audit.ingest.formats._stamps import UNDATED, Stamp, checked, nearest_stamp, read_iso
from ckpt_audit.records import EventKind

TRACEBACK = "Traceback (most recent call last):"
ROOT_CAUSE = "Root Cause (first observed failure)"
_CHAINED = (
    "During handling of the above exception, another exception occurred",
    "The above exception was the direct cause of the following exception",
)
_FINAL = re.compile(r"(?P<type>[A-Za-z_][\w.]*?)(?P<colon>:)?(?:(?<=:)\s.*)?$")
_MAX_AFTER = 12  # lines after the last one in which the next of a chain may be announced
_MAX_OTHER = 200  # lines of others within a traceback
_MAX_BYTES = 48 << 10
_DATA_WORKER = "DataLoader worker"


class Found(NamedTuple):
    """An event of several lines: the line it stands for."""

    line_no: int
    offset: int
    text: str
    draft: Draft


def exception_type(text: str) -> str | None:
    """The type of an exception, from the last line of a traceback.

    >>> exception_type("torch.OutOfMemoryError: x"), exception_type("INFO: x")
    ('OutOfMemoryError', None)
    """
    match = _FINAL.match(text.rstrip())
    if match is None:
        return None
    name = match["type"].rpartition(".")[2]
    if not name[:1].isupper() or (name.isupper() and len(name) > 1):
        return None
    return "DataLoaderWorker" if _DATA_WORKER in text else name


@dataclass(slots=True)
class _Trace:
    """A traceback that is being printed, or several of ranks that cannot be told apart."""

    line_no: int
    offset: int
    text: str
    rank: int | None
    node: str | None
    stamp: Stamp
    n_open: int = 1
    n_other: int = 0
    is_over: bool = False
    is_chained: bool = False
    n_after: int = 0
    found: Found | None = None

    def event(self, line_no: int, offset: int, text: str, code: str | None) -> Found:
        draft = Draft(
            EventKind.TRACEBACK, code=code, rank=self.rank, node=self.node, stamp=self.stamp
        )
        return Found(line_no, offset, text, draft)


class Tracebacks:
    """Follows tracebacks, one for each set of prefixes; the last of a chain counts."""

    def __init__(self) -> None:
        self._open: dict[str, _Trace] = {}

    @property
    def is_open(self) -> bool:
        """Whether every line is of interest."""
        return bool(self._open)

    def start(self, line: Line, line_no: int, offset: int) -> list[Found]:
        """A traceback begins; gives what this ends.

        Raises:
            ImplausibleError: Its clock reading cannot be true.
        """
        key = _key(line)
        old = self._open.get(key)
        if old is not None and not old.is_over:
            old.n_open += 1
            return []
        stamp = nearest_stamp(line.text, len(line.text))[0]
        stamp = checked(line.stamp if stamp.clock_us is None else stamp)
        self._open[key] = _Trace(line_no, offset, line.text, line.rank, line.node, stamp)
        return [old.found] if old is not None and old.found and not old.is_chained else []

    def feed(self, line: Line, line_no: int, offset: int, is_covered: bool) -> list[Found]:
        """Looks at a line after the first.

        Args:
            line: The line.
            line_no: Its number.
            offset: Where it begins.
            is_covered: Whether the line is already an event of a kind that says more.
        """
        key = _key(line)
        trace = self._open.get(key)
        if trace is None or offset <= trace.offset:
            return []
        if trace.is_over:
            return self._after(key, trace, line)
        if not line.text.strip() or line.text[0] in " \t|":
            return []
        code = exception_type(line.text)
        if code is None:
            trace.n_other += 1
            return self._give_up(key) if trace.n_other > _MAX_OTHER else []
        found = None if is_covered else trace.event(line_no, offset, line.text, code)
        trace.n_open -= 1
        if trace.n_open:
            return [found] if found else []
        trace.is_over, trace.found = True, found
        return []

    def _after(self, key: str, trace: _Trace, line: Line) -> list[Found]:
        trace.n_after += 1
        if any(words in line.text for words in _CHAINED):
            trace.is_chained, trace.n_after = True, 0
        if trace.n_after <= _MAX_AFTER:
            return []
        del self._open[key]
        return [trace.found] if trace.found else []

    def _give_up(self, key: str) -> list[Found]:
        trace = self._open.pop(key)
        if trace.is_over:
            return [trace.found] if trace.found else []
        return [trace.event(trace.line_no, trace.offset, trace.text, None)]

    def expire(self, offset: int) -> list[Found]:
        """Ends the tracebacks that began too far before a place."""
        old = [key for key, trace in self._open.items() if offset - trace.offset > _MAX_BYTES]
        return [found for key in old for found in self._give_up(key)]

    def finish(self) -> list[Found]:
        """Ends all; a traceback that was cut off counts, without a type."""
        return [found for key in list(self._open) for found in self._give_up(key)]


def _key(line: Line) -> str:
    return "".join(line.prefix.split())


_ROW = re.compile(r"\s*(?P<name>time|host|rank|exitcode)\s*: (?P<value>\S+)")
_MAX_ROWS = 12


class RootCause:
    """Follows the launcher's table from ``Root Cause`` on; the rows before it are victims."""

    def __init__(self) -> None:
        self._key: str | None = None
        self._rows: dict[str, str] = {}
        self._n_rows = 0

    @property
    def is_open(self) -> bool:
        """Whether every line is of interest."""
        return self._key is not None

    def start(self, line: Line) -> None:
        """The table of the root cause begins."""
        self._key, self._rows, self._n_rows = _key(line), {}, 0

    def feed(self, line: Line, line_no: int, offset: int) -> list[Found]:
        """Looks at a line; the one with the exit code gives the event.

        Raises:
            ImplausibleError: The table has a number or a time that cannot be true.
        """
        if self._key != _key(line):
            return []
        self._n_rows += 1
        row = _ROW.match(line.text)
        if row is not None:
            self._rows[row["name"]] = row["value"]
        if row is None or row["name"] != "exitcode":
            if self._n_rows > _MAX_ROWS:
                self._key = None
            return []
        self._key = None
        rank = self._rows.get("rank", "")
        draft = Draft(
            EventKind.LAUNCHER_FAILURE,
            code=short_code(self._rows["exitcode"]),
            rank=whole(rank, "rank", SMALL_LIMIT) if rank.isdecimal() else None,
            node=self._rows.get("host"),
            stamp=checked(read_iso(self._rows["time"])) if "time" in self._rows else UNDATED,
        )
        return [Found(line_no, offset, line.text, draft)]
