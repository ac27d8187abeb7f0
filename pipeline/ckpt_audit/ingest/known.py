"""The files that the warehouse knows already, and how a new one relates to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ckpt_audit.ingest.base import ByteSource, Mark
from ckpt_audit.warehouse import Warehouse

HEAD_HASHED = 4096
_ROW_TABLES = ("raw_step", "raw_event", "raw_job", "raw_domain", "raw_node", "raw_checkpoint")
_LINE_TABLES = (*_ROW_TABLES, "rejected_line", "line_time", "job_time", "node_time")
_SOURCE_TABLES = ("log_part", "source_zone", "zone_conflict", "dating_signature", "source")
_COLUMNS = (
    "source_id, path, name, format, content_sha256, head_sha256, n_bytes, n_lines, n_rows, "
    "n_rejected, safe_offset, safe_line, redo_line, tz_given, tz_given_origin, run_override, "
    "machine_tz, name_refs"
)


@dataclass(frozen=True, slots=True)
class KnownSource:
    """One row of the table ``source``."""

    source_id: int
    path: str
    name: str
    format: str
    content_sha256: str
    head_sha256: str
    n_bytes: int
    n_lines: int
    n_rows: int
    n_rejected: int
    safe_offset: int
    safe_line: int
    redo_line: int
    tz_given: str | None
    tz_given_origin: str | None
    run_override: str | None
    machine_tz: str | None
    name_refs: tuple[str, ...]

    @property
    def safe_mark(self) -> Mark:
        """Where to begin reading again when the file grew."""
        return Mark(self.safe_offset, self.safe_line)

    @property
    def is_fruitless(self) -> bool:
        """Whether nothing but rejected lines came of it: other options may do better."""
        return self.n_rows == 0 and self.n_rejected > 0

    def with_hints(self, tz: str | None, origin: str | None, run: str | None) -> KnownSource:
        """The same with what is said now; a flag's zone is not overruled by the configuration."""
        changed = self
        if tz is not None and (origin == "flag" or self.tz_given_origin != "flag"):
            changed = replace(changed, tz_given=tz, tz_given_origin=origin)
        return changed if run is None else replace(changed, run_override=run)


@dataclass(frozen=True, slots=True)
class Relation:
    """How the content of a file relates to what is known.

    Attributes:
        same: The source with just this content.
        shorter: Sources that this content begins with, the longest last.
    """

    same: KnownSource | None = None
    shorter: tuple[KnownSource, ...] = ()


def candidates(
    warehouse: Warehouse, format_name: str, name: str, refs: Sequence[str]
) -> list[KnownSource]:
    """Sources that may be an earlier or later state of a file.

    Those have the same job ids in their name, or the same name when there are none in it.
    """
    rows = warehouse.rows(
        f"SELECT {_COLUMNS} FROM source "  # noqa: S608 - only constants
        "WHERE format = $format AND name_refs = $refs::VARCHAR[] "
        "AND (len(name_refs) > 0 OR name = $name) ORDER BY n_bytes, source_id",
        {"format": format_name, "refs": list(refs), "name": name},
    )
    return [KnownSource(*(*row[:-1], tuple(row[-1]))) for row in rows]


def newest_of(warehouse: Warehouse, format_name: str, path: str) -> list[KnownSource]:
    """The newest source of a path: the last time that a folder was looked at."""
    rows = warehouse.rows(
        f"SELECT {_COLUMNS} FROM source "  # noqa: S608 - only constants
        "WHERE format = $format AND path = $path ORDER BY source_id DESC LIMIT 1",
        {"format": format_name, "path": path},
    )
    return [KnownSource(*(*row[:-1], tuple(row[-1]))) for row in rows]


def relate(found: Sequence[KnownSource], head: bytes, reopen: Callable[[], ByteSource]) -> Relation:
    """Compares a file with sources, by digests of as many bytes as each of them had.

    Args:
        found: The sources, the shortest first.
        head: The first bytes of the file.
        reopen: Opens the file again; only called when a head fits.
    """
    likely = [
        source for source in found if head_digest(head[: source.n_bytes]) == source.head_sha256
    ]
    if not likely:
        return Relation()
    shorter: list[KnownSource] = []
    content = reopen()
    try:
        for source in likely:
            digest = content.hash_until(source.n_bytes)
            if content.n_bytes < source.n_bytes:
                break
            if digest == source.content_sha256:
                if not content.peek(1):
                    return Relation(source, tuple(shorter))
                shorter.append(source)
    finally:
        content.close()
    return Relation(None, tuple(shorter))


def head_digest(head: bytes) -> str:
    """Hex digest of the first bytes of a file."""
    return hashlib.sha256(head[:HEAD_HASHED]).hexdigest()


def next_id(warehouse: Warehouse) -> int:
    """A source_id that is free."""
    return int(warehouse.rows("SELECT coalesce(max(source_id), 0) + 1 FROM source")[0][0])


def save(warehouse: Warehouse, source: KnownSource) -> None:
    """Writes a source's own row, in place of an older one."""
    warehouse.execute("DELETE FROM source WHERE source_id = ?", [source.source_id])
    values = [getattr(source, name) for name in _COLUMNS.replace(" ", "").split(",")]
    values[-1] = list(source.name_refs)
    marks = ", ".join("?" * len(values))
    warehouse.execute(
        f"INSERT INTO source ({_COLUMNS}) VALUES ({marks})",  # noqa: S608 - only constants
        values,
    )


def delete(warehouse: Warehouse, source_id: int) -> None:
    """Takes a source out with everything that came of it."""
    delete_rows(warehouse, source_id, 0)
    for table in _SOURCE_TABLES:
        warehouse.execute(f"DELETE FROM {table} WHERE source_id = ?", [source_id])  # noqa: S608


def note_unread(warehouse: Warehouse, path: str, reason: str) -> None:
    """Notes that an input could not be read."""
    warehouse.execute("INSERT OR REPLACE INTO unread_source VALUES (?, ?)", [path, reason])


def clear_unread(warehouse: Warehouse, path: str) -> None:
    """Notes that a file could be read, and with it the folders above it."""
    warehouse.execute(
        "DELETE FROM unread_source WHERE path = $path OR starts_with($path, path || '/')",
        {"path": path},
    )


def delete_rows(warehouse: Warehouse, source_id: int, from_line: int) -> None:
    """Takes out what came of a source's lines from one on."""
    for table in _LINE_TABLES:
        warehouse.execute(
            f"DELETE FROM {table} WHERE source_id = ? AND line_no >= ?",  # noqa: S608
            [source_id, from_line],
        )


def count_rows(warehouse: Warehouse, source_id: int) -> tuple[int, int]:
    """Rows and rejected lines that a source has now."""
    counts = [
        int(
            warehouse.rows(
                f"SELECT count(*) FROM {table} WHERE source_id = ?",  # noqa: S608
                [source_id],
            )[0][0]
        )
        for table in (*_ROW_TABLES, "rejected_line")
    ]
    return sum(counts[:-1]), counts[-1]


def is_contained(
    warehouse: Warehouse, new: KnownSource, old: KnownSource, *, ends_open: bool
) -> bool:
    """Whether all that a source says is said by another at the same lines already.

    That is so for a log that was cut, or an older copy of one that was read whole. The last line
    does not count when it has no end.
    """
    if new.n_bytes > old.n_bytes or (new.n_rows == 0 and new.name != old.name):
        return False
    before = new.n_lines + (not ends_open)
    for table in _ROW_TABLES:
        missing = warehouse.rows(
            f"SELECT 1 FROM (SELECT * EXCLUDE (source_id) FROM {table} "  # noqa: S608
            f"WHERE source_id = $new AND line_no < $before "
            f"EXCEPT ALL SELECT * EXCLUDE (source_id) FROM {table} "
            f"WHERE source_id = $old AND line_no < $before) AS missing LIMIT 1",
            {"new": new.source_id, "old": old.source_id, "before": before},
        )
        if missing:
            return False
    return True
