"""Loads files into the raw tables: each once, each whole, whatever happens in between."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import BinaryIO

from ckpt_audit.errors import CkptAuditError, NoDataError, UsageError
from ckpt_audit.ingest import FORMATS, base, known, recognise
from ckpt_audit.ingest.base import START, ByteSource, Format, ReadOptions
from ckpt_audit.ingest.checkpoint_walk import listing
from ckpt_audit.ingest.discover import STDIN, Found, discover
from ckpt_audit.ingest.formats.checkpoint_listing import CHECKPOINT_LISTING
from ckpt_audit.ingest.known import KnownSource, Relation
from ckpt_audit.ingest.naming import name_refs, stem
from ckpt_audit.ingest.report import FormatTally, IngestReport, Skipped
from ckpt_audit.ingest.rows import RowWriter
from ckpt_audit.ingest.streams import SourceError
from ckpt_audit.printable import printable
from ckpt_audit.records import Rejected
from ckpt_audit.warehouse import Warehouse

_COPY_BYTES = 1 << 20
_BELOW = "(path IN ($what, $bare) OR starts_with(path, $prefix))"


@dataclass(frozen=True, slots=True)
class Hints:
    """What a person says about one file; None where nothing was said.

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


NO_HINTS = Hints()


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
        machine_zone: IANA zone of this machine, kept with each new source for its naive stamps.
    """

    hints: Callable[[str], Hints] = field(default=lambda _: NO_HINTS)
    read: ReadOptions = field(default_factory=ReadOptions)
    is_dry_run: bool = False
    is_strict: bool = False
    progress: Callable[[Progress], None] | None = None
    stdin: BinaryIO | None = None
    machine_zone: str | None = None


class _TakeBackError(Exception):
    """Ends the transaction of a dry run."""


def ingest(
    warehouse: Warehouse, inputs: Sequence[str], options: IngestOptions | None = None
) -> IngestReport:
    """Reads what is under the inputs into the raw tables.

    Each file is one transaction: it is there with all its rows or not at all. A file that is known
    changes nothing, and one that grew is read from shortly before its old end.

    Args:
        warehouse: An open warehouse.
        inputs: Files, folders, globs, or ``-``.
        options: How to ingest.

    Raises:
        UsageError: A format was forced that does not exist.
        CkptAuditError: A file was not read without a rest, and ``is_strict`` is set.
    """
    options = options or IngestOptions()
    loader = _Loader(warehouse, options)
    found = discover(inputs)
    with suppress(_TakeBackError), warehouse.transaction() if options.is_dry_run else nullcontext():
        for number, item in enumerate(found):
            _tell(options, Progress(printable(item.path), number, len(found)))
            loader.load(item)
        if options.is_dry_run:
            raise _TakeBackError
    if found:
        _tell(options, Progress(printable(found[-1].path), len(found), len(found)))
    return loader.report


def forget(warehouse: Warehouse, what: str) -> list[str]:
    """Takes sources out again, as if they had never been read, or never been tried.

    Args:
        warehouse: An open warehouse.
        what: A source's path, or a folder above it.

    Returns:
        The paths that are gone.

    Raises:
        NoDataError: No source has such a path.
    """
    bare = printable(what.rstrip("/"))
    params = {"what": what, "bare": bare, "prefix": f"{bare}/"}
    hits = warehouse.rows(
        f"SELECT source_id, path FROM source WHERE {_BELOW} ORDER BY path, source_id",  # noqa: S608
        params,
    )
    unread = warehouse.rows(
        f"SELECT path FROM unread_source WHERE {_BELOW} ORDER BY path",  # noqa: S608
        params,
    )
    if not hits and not unread:
        raise NoDataError("no source has this path; give it as it was given to ingest", what)
    with warehouse.transaction():
        for source_id, _ in hits:
            known.delete(warehouse, source_id)
        warehouse.execute(f"DELETE FROM unread_source WHERE {_BELOW}", params)  # noqa: S608
    gone = [str(path) for _, path in hits]
    return gone + [str(path) for (path,) in unread if path not in gone]


def _tell(options: IngestOptions, progress: Progress) -> None:
    if options.progress is not None:
        options.progress(progress)


class _Loader:
    """Loads files one by one and counts in ``report``."""

    def __init__(self, warehouse: Warehouse, options: IngestOptions) -> None:
        self.report = IngestReport(is_dry_run=options.is_dry_run)
        self._warehouse = warehouse
        self._options = options
        self._has_unread = bool(warehouse.rows("SELECT 1 FROM unread_source LIMIT 1"))

    def load(self, item: Found) -> None:
        """Loads a file, or says in the report why not."""
        if item.problem is not None:
            if item.is_stranger:
                self._skip(self.report.not_recognised, item, item.problem)
            else:
                self._fail(item, item.problem)
            return
        try:
            with self._on_disk(item) as path:
                self._load(item, path)
        except SourceError as error:
            self._fail(item, error.message)
        else:
            if self._has_unread:
                known.clear_unread(self._warehouse, printable(item.path))

    def _fail(self, item: Found, reason: str) -> None:
        self._has_unread = True
        known.note_unread(self._warehouse, printable(item.path), reason)
        self._skip(self.report.unreadable, item, reason)

    def _skip(self, group: list[Skipped], item: Found, reason: str) -> None:
        group.append(Skipped(printable(item.path), reason, item.is_named))
        if self._options.is_strict:
            raise CkptAuditError(f"{reason}; strict reading stops here", printable(item.path))

    @contextmanager
    def _on_disk(self, item: Found) -> Iterator[Path]:
        """The file, or a copy of what can be read only once, or the listing of a folder."""
        if not item.is_stream and not item.is_checkpoints:
            yield Path(item.path)
            return
        with tempfile.NamedTemporaryFile() as copy:
            if item.is_checkpoints:
                copy.writelines(listing(Path(item.path)))
                copy.flush()
                yield Path(copy.name)
                return
            stdin = self._options.stdin or sys.stdin.buffer
            try:
                with (
                    nullcontext(stdin) if item.path == STDIN else Path(item.path).open("rb") as raw
                ):
                    while chunk := raw.read(_COPY_BYTES):
                        copy.write(chunk)
                copy.flush()
            except OSError as error:
                raise SourceError(f"cannot be read: {error.strerror}", item.path) from error
            yield Path(copy.name)

    def _load(self, item: Found, path: Path) -> None:
        shown = printable(item.path)
        source = ByteSource.from_path(path, shown)
        try:
            head = source.peek()
            hints = self._options.hints(item.path)
            if not head:
                self.report.empty.append(Skipped(shown, "empty", item.is_named))
                return
            name = "" if item.path == STDIN else PurePath(shown).name
            chosen = CHECKPOINT_LISTING if item.is_checkpoints else _format(head, name, hints)
            if chosen is None:
                self._skip(self.report.not_recognised, item, "of no format that is read")
                return
            rivals, relation = self._relation(item, chosen, head, path)
            if relation.same is not None and not relation.same.is_fruitless:
                self._keep(relation.same, hints)
                return
            new = KnownSource(
                known.next_id(self._warehouse), shown, stem(name), chosen.name, "",
                known.head_digest(head), 0, 0, 0, 0, 0, 1, 1, None, None, None,
                self._options.machine_zone, name_refs(name),
            )  # fmt: skip
            options = self._options.read
            if not item.is_checkpoints:
                options = replace(options, observed_us=None)
            outdated = [*relation.shorter, *([relation.same] if relation.same else [])]
            with nullcontext() if self._options.is_dry_run else self._warehouse.transaction():
                self._read(source, chosen, hints, new, outdated, rivals, options)
        finally:
            source.close()

    def _relation(
        self, item: Found, chosen: Format, head: bytes, path: Path
    ) -> tuple[list[KnownSource], Relation]:
        """The sources that an input may be another state of, and how it relates to them."""
        shown = printable(item.path)
        name = "" if item.path == STDIN else PurePath(shown).name
        before = known.newest_of(self._warehouse, chosen.name, shown)
        if item.is_checkpoints:
            rivals = before
        else:
            rivals = known.candidates(self._warehouse, chosen.name, stem(name), name_refs(name))
        relation = known.relate(rivals, head, lambda: ByteSource.from_path(path, shown))
        if chosen.is_observation:
            relation = replace(relation, shorter=())
        elif chosen.is_rewritten and item.path != STDIN:
            others = [one for one in relation.shorter if one not in before]
            relation = replace(relation, shorter=(*others, *before))
        return rivals, relation

    def _keep(self, same: KnownSource, hints: Hints) -> None:
        """Counts a file that is known, and notes what is newly said about it."""
        self.report.tally(same.format).n_unchanged += 1
        told = same.with_hints(hints.tz, hints.tz_origin, hints.run)
        if told != same:
            with nullcontext() if self._options.is_dry_run else self._warehouse.transaction():
                known.save(self._warehouse, told)
            self.report.has_changed = True

    def _read(
        self,
        source: ByteSource,
        chosen: Format,
        hints: Hints,
        new: KnownSource,
        outdated: Sequence[KnownSource],
        rivals: Sequence[KnownSource],
        options: ReadOptions,
    ) -> None:
        """Reads a file into the tables, in place of shorter states of it."""
        for older in outdated[:-1]:
            known.delete(self._warehouse, older.source_id)
        mark, keep_from = START, 1
        if outdated:
            latest = outdated[-1]
            new = replace(
                new, source_id=latest.source_id, tz_given=latest.tz_given,
                tz_given_origin=latest.tz_given_origin, run_override=latest.run_override,
                machine_tz=latest.machine_tz or new.machine_tz,
            )  # fmt: skip
            if chosen.incremental and not latest.is_fruitless:
                mark, keep_from = latest.safe_mark, latest.redo_line
            known.delete_rows(self._warehouse, latest.source_id, keep_from)
        tally = FormatTally(n_files=1)
        writer = self._writer(new, keep_from, tally)
        try:
            self._pour(source, chosen, mark, writer, options)
            done = self._finished(source, new, hints)
        except SourceError:
            if self._options.is_dry_run:  # no transaction of its own that could be rolled back
                known.delete_rows(self._warehouse, new.source_id, keep_from)
            raise
        others = [rival for rival in rivals if rival not in outdated]
        if chosen.incremental and not outdated and self._is_old_news(source, done, others):
            known.delete(self._warehouse, done.source_id)
            self.report.tally(chosen.name).n_unchanged += 1
            return
        known.save(self._warehouse, done)
        tally.n_lines = done.n_lines - (mark.line_no - 1)
        tally.n_rows = writer.n_rows
        self.report.tally(chosen.name).add(tally)
        self.report.has_changed = True

    def _writer(self, new: KnownSource, keep_from: int, tally: FormatTally) -> RowWriter:
        def on_reject(line: Rejected) -> None:
            where = f"{new.path}:{line.line_no}"
            if self._options.is_strict:
                raise CkptAuditError(f"{line.reason}; strict reading stops here", where)
            tally.reject(line.reason, where)

        return RowWriter(self._warehouse, new.source_id, keep_from, on_reject)

    def _pour(
        self,
        source: ByteSource,
        chosen: Format,
        mark: base.Mark,
        writer: RowWriter,
        options: ReadOptions,
    ) -> None:
        try:
            source.skip(mark)
        except EOFError as error:
            raise SourceError("became shorter while it was read; run again", source.name) from error
        for row in chosen.read(source, options):
            writer.add(row)
        for _ in source.blocks():
            pass  # what the reader left, for the digest
        for line_no in source.overlong:
            writer.add(Rejected(line_no, "a line over 1 MiB; the rest of it was not read", ""))
        writer.finish()

    def _finished(self, source: ByteSource, new: KnownSource, hints: Hints) -> KnownSource:
        """The source's row after all was read."""
        safe = source.mark_before_end(base.CONTEXT_BYTES)
        redo = source.mark_before_end(base.REDO_BYTES) if safe != START else START
        n_rows, n_rejected = known.count_rows(self._warehouse, new.source_id)
        return replace(
            new, content_sha256=source.sha256, n_bytes=source.n_bytes, n_lines=source.n_lines,
            n_rows=n_rows, n_rejected=n_rejected, safe_offset=safe.offset, safe_line=safe.line_no,
            redo_line=redo.line_no,
        ).with_hints(hints.tz, hints.tz_origin, hints.run)  # fmt: skip

    def _is_old_news(
        self, source: ByteSource, done: KnownSource, others: Sequence[KnownSource]
    ) -> bool:
        return any(
            known.is_contained(self._warehouse, done, other, ends_open=source.ends_open)
            for other in others
        )


def _format(head: bytes, name: str, hints: Hints) -> Format | None:
    if hints.format_name is None:
        return recognise(head, name)
    for candidate in FORMATS:
        if candidate.name == hints.format_name:
            return candidate
    names = ", ".join(candidate.name for candidate in FORMATS)
    raise UsageError(f"there is no format {hints.format_name!r}; choose one of {names}")
