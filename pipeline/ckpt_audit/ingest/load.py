"""Loads files into the raw tables: each once, each whole, whatever happens in between."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import BinaryIO, cast

from ckpt_audit.errors import CkptAuditError, NoDataError, UsageError
from ckpt_audit.ingest import FORMATS, known, recognise
from ckpt_audit.ingest.base import (
    CONTEXT_BYTES,
    REDO_BYTES,
    START,
    ByteSource,
    Format,
    Mark,
    ReadOptions,
)
from ckpt_audit.ingest.discover import Found, discover
from ckpt_audit.ingest.known import HEAD_HASHED, Identity, KnownSource
from ckpt_audit.ingest.report import FormatTally, IngestReport, Skipped
from ckpt_audit.ingest.rows import RowWriter
from ckpt_audit.ingest.streams import SourceError, decompressed
from ckpt_audit.warehouse import Warehouse

_COPY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Hints:
    """What a person says about one file, or None where nothing was said.

    Attributes:
        tz: IANA zone of its naive stamps.
        tz_origin: ``flag`` or ``config``.
        run: Run that it belongs to.
        format_name: Format to read it with.
    """

    tz: str | None = None
    tz_origin: str | None = None
    run: str | None = None
    format_name: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingestion is: the file at hand, files done, files in all."""

    path: str
    n_done: int
    n_files: int


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How to ingest.

    Attributes:
        hints: Says what is known about a file, by its path.
        read: What readers are told.
        is_dry_run: Reads and counts, and leaves the warehouse as it was.
        is_strict: Fails at the first file that is not read without a rest.
        progress: Is told before each file, and with ``n_done == n_files`` at the end.
        stdin: Where ``-`` reads from; None is the process's own standard input.
    """

    hints: Callable[[str], Hints] = field(default=lambda path: Hints())
    read: ReadOptions = ReadOptions()
    is_dry_run: bool = False
    is_strict: bool = False
    progress: Callable[[Progress], None] | None = None
    stdin: BinaryIO | None = None


class _TakeBackError(Exception):
    """Ends the transaction of a dry run."""


def ingest(
    warehouse: Warehouse, inputs: Sequence[str], options: IngestOptions | None = None
) -> IngestReport:
    """Reads what is under the inputs into the raw tables.

    Each file is one transaction: it is there with all its rows or not at all. A file that is known
    changes nothing, one that grew is read from shortly before its old end.

    Args:
        warehouse: An open warehouse.
        inputs: Files, folders, globs, or ``-``.
        options: How to ingest.

    Raises:
        UsageError: A format was forced that does not exist.
        CkptAuditError: A file was not read without a rest, and ``is_strict`` is set.
    """
    options = options or IngestOptions()
    report = IngestReport(is_dry_run=options.is_dry_run)
    found = discover(inputs)
    try:
        with warehouse.transaction() if options.is_dry_run else nullcontext():
            for number, item in enumerate(found):
                _tell(options, item.path, number, len(found))
                _Loader(warehouse, options, report).load(item)
            if options.is_dry_run:
                raise _TakeBackError
    except _TakeBackError:
        pass
    if found:
        _tell(options, found[-1].path, len(found), len(found))
    return report


def forget(warehouse: Warehouse, what: str) -> list[str]:
    """Takes sources out again, as if they had never been read.

    Args:
        warehouse: An open warehouse.
        what: A source's path, or a folder above it.

    Returns:
        The paths that are gone.

    Raises:
        NoDataError: No source has such a path.
    """
    prefix = what.rstrip("/") + "/"
    hits = warehouse.rows(
        "SELECT source_id, path FROM source WHERE path IN ($path, $bare) "
        "OR starts_with(path, $prefix) ORDER BY path, source_id",
        {"path": what, "bare": what.rstrip("/"), "prefix": prefix},
    )
    if not hits:
        raise NoDataError("no source has this path; `ckpt-audit runs` lists them", what)
    with warehouse.transaction():
        for source_id, _ in hits:
            known.delete(warehouse, source_id)
    return [str(path) for _, path in hits]


def _tell(options: IngestOptions, path: str, n_done: int, n_files: int) -> None:
    if options.progress is not None:
        options.progress(Progress(path, n_done, n_files))


class _Loader:
    """Loads one file."""

    def __init__(self, warehouse: Warehouse, options: IngestOptions, report: IngestReport) -> None:
        self._warehouse = warehouse
        self._options = options
        self._report = report

    def load(self, item: Found) -> None:
        """Loads a file, or says in the report why not."""
        try:
            if item.problem is not None:
                raise SourceError(item.problem, item.path)
            with self._reopenable(item) as reopen:
                self._load(item, reopen)
        except SourceError as error:
            self._skip(self._report.unreadable, item, error.message)

    def _skip(self, group: list[Skipped], item: Found, reason: str) -> None:
        group.append(Skipped(item.path, reason, item.is_named))
        if self._options.is_strict:
            raise CkptAuditError(f"{reason} (strict)", item.path)

    @contextmanager
    def _reopenable(self, item: Found) -> Iterator[Callable[[], ByteSource]]:
        """A way to read the input from its beginning as often as needed."""
        if not item.is_stream:
            yield lambda: ByteSource.from_path(Path(item.path), item.path)
            return
        with tempfile.TemporaryFile() as copy:
            stdin = self._options.stdin or sys.stdin.buffer
            try:
                with nullcontext(stdin) if item.path == "-" else Path(item.path).open("rb") as raw:
                    while chunk := raw.read(_COPY_BYTES):
                        copy.write(chunk)
            except OSError as error:
                raise SourceError(f"cannot be read: {error.strerror}", item.path) from error

            def reopen() -> ByteSource:
                copy.seek(0)
                unclosed = cast(BinaryIO, _Unclosed(copy.fileno()))
                return ByteSource(decompressed(unclosed, item.path), item.path)

            yield reopen

    def _load(self, item: Found, reopen: Callable[[], ByteSource]) -> None:
        source = reopen()
        try:
            head = source.peek()
            if not head:
                self._report.empty.append(Skipped(item.path, "empty", item.is_named))
                return
            hints = self._options.hints(item.path)
            chosen = self._format(head, item.path, hints)
            if chosen is None:
                self._skip(self._report.not_recognised, item, "of no format that is read")
                return
            identity = Identity.of(item.path, chosen.name, head[:HEAD_HASHED])
            candidates = known.candidates(self._warehouse, identity)
            digest, matches = known.prefixes(candidates, head, reopen)
            self._load_known(item, chosen, hints, source, identity, candidates, digest, matches)
        finally:
            source.close()
