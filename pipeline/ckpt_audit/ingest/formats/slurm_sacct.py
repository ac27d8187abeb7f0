"""``sacct --parsable2`` text: jobs, their steps, and how each ended.

The columns are the user's, in any order. Nothing is escaped in this output: a name or comment may
hold the delimiter or a line end, and rows are put together again by the number of their fields and
by what the fields must look like.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._slurm_job import make_job
from ckpt_audit.ingest.formats._slurm_values import parse_job_id
from ckpt_audit.records import JobRecord, Rejected

_HEADER_WITHIN = 50  # lines
_LONGEST_ROW = 256 << 10
_TEXT_LIMIT = 200
_MOST_EXTRA_FIELDS = 8
_MOST_ARRANGEMENTS = 2000
_DELIMITERS = (b"|#", b"|", b"\t", b";", b",")
_FREE = frozenset(
    {
        *("jobname", "comment", "admincomment", "systemcomment", "submitline", "workdir"),
        *("container", "constraints", "extra", "reason", "stdin", "stdout", "stderr", "wckey"),
    }
)
_SPAN = frozenset({"state", "start", "end", "submit", "elapsed", "elapsedraw"})
_NAMES = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_SEPARATORS = re.compile(rb"[^A-Za-z0-9_]+")
_RULER = re.compile(rb"-{2,}[+]?( +-{2,}[+]?)+ *")
_HEADERLESS = re.compile(
    rb"(?m)^\d[_\d+.\w\[\]%-]*+(?=\|)(?=[^\n]*\|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\|)"
    rb"(?=[^\n]*\|(?:COMPLETED|FAILED|TIMEOUT|NODE_FAIL|CANCELLED|RUNNING|PREEMPTED|REQUEUED|"
    rb"OUT_OF_MEMORY|PENDING)\b)"
)


@dataclass(frozen=True, slots=True)
class _Table:
    """The shape of the rows that follow a header.

    Attributes:
        columns: Names in lower case, in order.
        delimiter: What stands between fields.
        trailing: Whether a delimiter stands after the last field too.
        quoted: Whether fields may be quoted as in CSV.
    """

    columns: tuple[str, ...]
    delimiter: bytes
    trailing: bool = False
    quoted: bool = False

    @property
    def job_at(self) -> int:
        """Position of the job's id."""
        name = "jobid" if "jobid" in self.columns else "jobidraw"
        return self.columns.index(name)

    def split(self, row: bytes) -> list[str]:
        """Splits a row into fields, without the empty one after a trailing delimiter."""
        text = row.decode("utf-8", "replace").replace("\n", " ")
        delimiter = self.delimiter.decode()
        if self.quoted:
            return next(csv.reader([text], delimiter=delimiter), [])
        fields = text.split(delimiter)
        if self.trailing and not fields[-1].strip():
            fields.pop()
        return fields

    def n_missing(self, row: bytes) -> int:
        """How many fields a row still needs; zero or less when it has them all."""
        if self.quoted:
            return len(self.columns) - len(self.split(row))
        return len(self.columns) - 1 + self.trailing - row.count(self.delimiter)

    def starts_row(self, line: bytes) -> bool:
        """Whether a line alone has all fields, with an id where one must be."""
        return self.n_missing(line) <= 0 and self.has_id(line)

    def has_id(self, line: bytes) -> bool:
        """Whether the line has a job's id in its place."""
        fields = self.split(line)
        if len(fields) <= self.job_at:
            return False
        try:
            parse_job_id(fields[self.job_at].strip())
        except ValueError:
            return False
        return True


def parse_columns(text: str) -> tuple[str, ...]:
    """Reads the value of sacct's ``--format``.

    >>> parse_columns("JobID%30,State,End")
    ('JobID', 'State', 'End')
    """
    return tuple(name.partition("%")[0].strip() for name in text.split(",") if name.strip())


def _header(line: bytes, delimiter: bytes | None = None) -> _Table | None:
    """Reads a header, or gives None when the line is none."""
    line = line.removeprefix(b"\xef\xbb\xbf").strip(b" \r")
    names = tuple(name.decode().lower() for name in _NAMES.findall(line))
    if len(names) < 2 or not {"jobid", "jobidraw"} & set(names) or not _SPAN & set(names):
        return None
    quoted = line.startswith(b'"')
    separators = _SEPARATORS.findall(line.strip(b'"') if quoted else line)
    if quoted:
        separators = [separator.strip(b'"') for separator in separators]
    found = delimiter or separators[0]
    if any(separator != found for separator in separators) or not found.strip(b" "):
        return None
    trailing = len(separators) == len(names) and not quoted
    return _Table(names, found, trailing, quoted)


def sniff(head: bytes, name: str) -> int:
    """Looks for a header near the top, else for rows that can only be sacct's."""
    del name
    head = without_nuls(head)
    lines = head.split(b"\n", _HEADER_WITHIN)[:_HEADER_WITHIN]
    if any(_header(line) for line in lines if b"obid" in line.lower()):
        return 95
    if _fixed_width(lines):
        return 90
    return 60 if _HEADERLESS.match(head) else 0


def _fixed_width(lines: Sequence[bytes]) -> int:
    """Number of the header of a table for people, counted from 1, or 0."""
    for number, (line, ruler) in enumerate(pairwise(lines), 1):
        names = {word.lower() for word in line.split()}
        if b"jobid" in names and _RULER.fullmatch(ruler.rstrip(b"\r")):
            return number
    return 0


def read(source: ByteSource, options: ReadOptions) -> Iterator[JobRecord | Rejected]:
    """Gives one record per job and per step."""
    lines = _Lines(source)
    table = _find_table(lines, options)
    if isinstance(table, Rejected):
        yield table
        return
    for first, row, following in _rows(table, lines, options):
        table = following
        yield _record(table, first, row)


class _Lines:
    """Lines of a source with one step back."""

    def __init__(self, source: ByteSource) -> None:
        self._inner = source.lines()
        self._back: list[tuple[int, bytes]] = []

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self

    def __next__(self) -> tuple[int, bytes]:
        return self._back.pop(0) if self._back else next(self._inner)

    def put_back(self, lines: list[tuple[int, bytes]]) -> None:
        """Makes lines come again."""
        self._back = lines + self._back


def _find_table(lines: _Lines, options: ReadOptions) -> _Table | Rejected:
    delimiter = options.delimiter.encode() if options.delimiter else None
    seen: list[tuple[int, bytes]] = []
    for line_no, line in lines:
        if table := _header(line, delimiter):
            return table
        if line.strip():
            seen.append((line_no, line))
        if len(seen) >= _HEADER_WITHIN:
            break
    if options.columns and seen:
        lines.put_back(seen)
        return _without_header(seen[0][1], options.columns, delimiter)
    if number := _fixed_width([line for _, line in seen]):
        reason = "a table for people, with fields cut short; dump it with sacct --parsable2"
        return Rejected(seen[number - 1][0], reason, _shown(seen[number - 1][1]))
    first = seen[0] if seen else (1, b"")
    reason = (
        "no header with JobID and a time; dump without --noheader, or name the columns in order "
        "with --columns (what sacct's --format was)"
    )
    return Rejected(first[0], reason, _shown(first[1]))


def _without_header(line: bytes, columns: Sequence[str], delimiter: bytes | None) -> _Table:
    names = tuple(column.partition("%")[0].strip().lower() for column in columns)
    for candidate in (delimiter,) if delimiter else _DELIMITERS:
        extra = line.count(candidate) - (len(names) - 1)
        if extra in (0, 1):
            return _Table(names, candidate, trailing=extra == 1 and line.endswith(candidate))
    return _Table(names, delimiter or b"|")


def _rows(
    table: _Table, lines: _Lines, options: ReadOptions
) -> Iterator[tuple[int, bytes, _Table]]:
    """Puts rows together that a line end inside a field has broken.

    Yields:
        The number of the first line, the row (perhaps with too few or too many fields), and the
        table that it belongs to.
    """
    delimiter = options.delimiter.encode() if options.delimiter else None
    first, row, is_new, n_missing = 0, b"", True, 0
    for line_no, line in lines:
        if b"obid" in line.lower() and (header := _header(line, delimiter)):
            if row:
                yield first, row, table
            table, row = header, b""
            continue
        if row and table.starts_row(line):
            yield first, row, table
            row = b""
        if row:
            row += b"\n" + line
            # counted anew from the whole row only where quotes may hide a delimiter
            n_more = line.count(table.delimiter)
            n_missing = table.n_missing(row) if table.quoted else n_missing - n_more
        elif not line.strip() or (not is_new and _goes_on(table, line)):
            continue
        else:
            first, row, n_missing = line_no, line, table.n_missing(line)
        if n_missing <= 0 or len(row) > _LONGEST_ROW:
            yield first, row, table
            row, is_new = b"", False
    if row:
        yield first, row, table


def _goes_on(table: _Table, line: bytes) -> bool:
    """Whether a line can only be the rest of the last field of the row before it."""
    return table.columns[-1] in _FREE and table.n_missing(line) > 0 and not table.has_id(line)


def _record(table: _Table, line_no: int, row: bytes) -> JobRecord | Rejected:
    fields = table.split(row)
    extra = len(fields) - len(table.columns)
    if extra < 0:
        reason = (
            f"the row ends after {len(fields)} of {len(table.columns)} fields; the file was cut "
            "or damaged there: dump it again"
        )
        return Rejected(line_no, reason, _shown(row))
    problem = ""
    for candidate in islice(_arrangements(table, fields, extra), _MOST_ARRANGEMENTS):
        try:
            return make_job(line_no, _by_name(table.columns, candidate))
        except ValueError as error:
            problem = problem or str(error)
    if extra:
        problem = (
            f"{len(fields)} fields instead of {len(table.columns)}, and nothing shows which one "
            "holds the delimiter; put JobName last or use an odd --delimiter"
        )
    return Rejected(line_no, problem, _shown(row))


def _by_name(columns: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    """Fields by column; of columns that are there twice the first counts."""
    return dict(zip(reversed(columns), reversed(fields), strict=True))


def _arrangements(table: _Table, fields: list[str], extra: int) -> Iterator[list[str]]:
    """Every way to give surplus fields back to the columns that may hold a delimiter."""
    if not extra:
        yield fields
        return
    if extra > _MOST_EXTRA_FIELDS:
        return
    free = [at for at, name in enumerate(table.columns) if name in _FREE]
    delimiter = table.delimiter.decode()
    for shares in _shares(extra, len(free)):
        taken = dict(zip(free, shares, strict=True))
        arranged: list[str] = []
        at = 0
        for column in range(len(table.columns)):
            width = 1 + taken.get(column, 0)
            arranged.append(delimiter.join(fields[at : at + width]))
            at += width
        yield arranged


def _shares(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """Every way to split a number over some places, the most to the first places first."""
    if places <= 1:
        if places:
            yield (total,)
        return
    for here in range(total, -1, -1):
        for rest in _shares(total - here, places - 1):
            yield (here, *rest)


def _shown(row: bytes) -> str:
    return row.decode("utf-8", "replace").replace("\n", " ")[:_TEXT_LIMIT]


SLURM_SACCT = Format(
    name="slurm_sacct",
    title="Slurm accounting (sacct -D -P)",
    gives="jobs and their steps: when they ran, on which nodes, with how many accelerators, and "
    "how they ended",
    example="JobID|JobName|State|Submit|Start|End|NodeList\n"
    "4711|llama|NODE_FAIL|2026-05-01T10:00:00|2026-05-01T10:00:09|2026-05-01T18:03:11|n[01-64]",
    incremental=False,
    sniff=sniff,
    read=read,
)
