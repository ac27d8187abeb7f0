"""Which files are parts of one log: what rotation cut in pieces is read as the whole it was."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import pyarrow as pa

from ckpt_audit.ingest.streams import without_compression_suffix
from ckpt_audit.warehouse import Warehouse
from ckpt_audit.zone_choice import Stamps, ZoneChoice

_NUMBERED = re.compile(r"\.(\d{1,3})$", re.ASCII)
_DATED = re.compile(r"[.-](\d{8}(?:\d{2,6})?)$", re.ASCII)
_LAST = (3, 0)

_FILES = """
SELECT source_id, path, name, coalesce(run_override, ''), n_lines
FROM source WHERE format = 'job_log' ORDER BY source_id
"""


@dataclass(frozen=True, slots=True)
class _File:
    source_id: int
    path: str
    n_lines: int
    stamps: Stamps

    @property
    def place(self) -> tuple[int, int]:
        """The order that the name tells: numbers fall towards the newest, dates rise."""
        name = without_compression_suffix(PurePosixPath(self.path).name)
        if found := _NUMBERED.search(name):
            return (1, -int(found[1]))
        if found := _DATED.search(name):
            return (1, int(found[1].ljust(14, "0")))
        return (2, 0) if name.endswith((".old", ".bak")) else _LAST


def find_parts(
    warehouse: Warehouse, sources: Iterable[Stamps], choices: Mapping[int, ZoneChoice]
) -> list[tuple[int, ...]]:
    """Finds the logs that lie in several files.

    Files are parts of one log when they lie in one folder, have the same name but for what
    rotation adds to it, are in the same zone and follow one another in time. Files whose times
    overlap (one for each rank) are logs of their own.

    Args:
        warehouse: Where the sources are.
        sources: What is known of their stamps.
        choices: Zone of each source.

    Returns:
        Source ids of each such log, in the order of its lines.
    """
    stamps = {source.source_id: source for source in sources}
    groups: dict[tuple[str, ...], list[_File]] = {}
    for source_id, path, name, run, n_lines in warehouse.rows(_FILES):
        if source_id in stamps:
            key = (str(PurePosixPath(path).parent), name, run, choices[source_id].tz)
            file = _File(int(source_id), str(path), int(n_lines), stamps[source_id])
            groups.setdefault(key, []).append(file)
    found = []
    for files in groups.values():
        ordered = _in_order(files) if len(files) > 1 else None
        if ordered is not None:
            found.append(tuple(file.source_id for file in ordered))
    return found


def _in_order(files: Sequence[_File]) -> list[_File] | None:
    """The files in the order of time, or None where they do not follow one another."""
    by_name = sorted(files, key=lambda file: (file.place, file.path))
    if all(file.stamps.low_us is not None for file in files):
        by_name.sort(key=lambda file: file.stamps.low_us or 0)
    elif len({file.place for file in files}) < len(files):
        return None
    dated = [file for file in by_name if file.stamps.low_us is not None]
    for before, after in itertools.pairwise(dated):
        if (before.stamps.high_us or 0) > (after.stamps.low_us or 0):
            return None
    return by_name


def write_parts(warehouse: Warehouse, logs: Iterable[tuple[int, ...]]) -> None:
    """Writes the table of parts anew.

    Args:
        warehouse: Where it is.
        logs: As ``find_parts`` gives them.
    """
    n_lines = dict(warehouse.rows("SELECT source_id, n_lines FROM source"))
    rows: list[tuple[int, int, int]] = []
    for log in logs:
        offset = 0
        for source_id in log:
            rows.append((source_id, log[0], offset))
            offset += int(n_lines[source_id])
    warehouse.execute("DELETE FROM log_part")
    if rows:
        names = ("source_id", "log_id", "line_offset")
        columns = [pa.array(values, pa.int64()) for values in zip(*rows, strict=True)]
        warehouse.insert_table("log_part", pa.table(columns, names=list(names)))
