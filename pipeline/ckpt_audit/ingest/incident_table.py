"""Tables of incidents that a site keeps by hand or in a tracker: start, end, node, cause.

CSV with a header, or a JSON list of objects, compressed or not. A table tells of failures of nodes
and nothing of jobs: there is no up-time in it, so what comes of it is a rate on calendar time.
Moments are dates (with an offset, or UTC) or plain numbers, counted from the table's own start.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ckpt_audit.errors import UsageError
from ckpt_audit.ingest.streams import SourceError, open_path

MAX_BYTES: Final = 256 << 20
MAX_ROWS: Final = 2_000_000
FIELDS: Final = ("start", "end", "node", "cause")
UNITS: Final[Mapping[str, float]] = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MAX_TEXT: Final = 200
_MAX_FIELD: Final = 1 << 20
_YEARS: Final = range(1970, 9999)

# names by which columns are found where no one says which they are, most telling first
_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "start": (
        *("start", "started_at", "start_time", "prob started", "problem started", "event_time"),
        *("opened", "begin", "time", "timestamp", "date"),
    ),
    "end": ("end", "ended_at", "end_time", "prob fixed", "problem fixed", "closed", "resolved"),
    "node": ("node", "node_id", "nodename", "host", "hostname", "nodenum", "server"),
    "cause": ("cause", "class", "category", "fault_type.class", "type", "reason"),
}
# columns of which the one that is filled in names the cause
_BLAMED: Final = ("facilities", "hardware", "human error", "network", "undetermined", "software")
_EVENT: Final = "event_type"
_BEGINS: Final = frozenset(("fault_start", "start", "begin", "down"))
_ENDS: Final = frozenset(("fault_end", "end", "up"))


@dataclass(frozen=True, slots=True)
class TableRow:
    """One incident.

    Attributes:
        start_s: When it began: seconds since 1970, or since the table's start.
        end_s: When it was over; None where that is not told.
        node: Where; None where that is not told.
        cause: Class of the cause; None where that is not told.
    """

    start_s: float
    end_s: float | None
    node: str | None
    cause: str | None


@dataclass(frozen=True, slots=True)
class IncidentTable:
    """A table that was read.

    Attributes:
        rows: Incidents, by their start.
        n_records: Rows or events in the file, those that were left out included.
        n_rejected: Those without a moment that can be read.
        is_relative: Whether moments count from the table's start and are no dates.
        columns: Which column was taken for which field.
        last_s: Last moment that any record tells of, that of an end too.
    """

    rows: tuple[TableRow, ...]
    n_records: int
    n_rejected: int
    is_relative: bool
    columns: Mapping[str, str]
    last_s: float


def read_incident_table(
    path: Path,
    columns: Mapping[str, str] | None = None,
    where: Sequence[tuple[str, str]] = (),
    unit: str = "d",
) -> IncidentTable:
    """Read a table of incidents.

    Args:
        path: CSV or JSON, compressed or not.
        columns: Column by field (``start``, ``end``, ``node``, ``cause``), where its names do not
            tell; a field of an inner object is written ``outer.inner``.
        where: Columns and the value that they must have, for tables of several systems.
        unit: Of moments that are plain numbers: ``s``, ``m``, ``h`` or ``d``.

    Raises:
        SourceError: The file cannot be read, is too large, or is neither.
        UsageError: There is no column of a moment, or none of a name given.
    """
    if unit not in UNITS:
        raise UsageError(f"a unit is one of {', '.join(UNITS)}, not '{unit}'")
    shown = path.name
    records = _records(_text(path), shown)
    names = _columns(records, columns or {}, [name for name, _ in where], shown)
    wanted = [(name.lower(), value) for name, value in where]
    chosen = [
        record for record in records if all(record.get(name, "") == value for name, value in wanted)
    ]
    found, n_rejected, kinds, last = [], 0, set(), -math.inf
    for record in chosen:
        begin, is_number = _moment(record.get(names["start"], ""), unit)
        if begin is None:
            n_rejected += 1
            continue
        kinds.add(is_number)
        end, _ = _moment(record.get(names["end"], ""), unit) if "end" in names else (None, False)
        last = max(last, begin, end if end is not None else begin)
        found.append((record, begin, end))
    if len(kinds) > 1:
        raise SourceError("some moments are dates and some are plain numbers", where=shown)
    rows = _paired(found, names) if _is_events(found) else _plain(found, names)
    rows.sort(key=lambda row: (row.start_s, row.node or "", row.cause or ""))
    return IncidentTable(
        rows=tuple(rows),
        n_records=len(chosen),
        n_rejected=n_rejected,
        is_relative=True in kinds,
        columns=names,
        last_s=last if rows else 0.0,
    )


_Found = tuple[dict[str, str], float, float | None]


def _is_events(found: Iterable[_Found]) -> bool:
    """Whether rows are begins and ends of incidents rather than incidents."""
    kinds = {record.get(_EVENT, "").lower() for record, _, _ in found}
    return bool(kinds) and kinds <= _BEGINS | _ENDS


def _paired(found: Sequence[_Found], names: Mapping[str, str]) -> list[TableRow]:
    """Joins each begin with the next end of the same node and cause."""
    rows: list[TableRow] = []
    begun: dict[tuple[str | None, str | None], list[int]] = {}
    for record, at, _ in sorted(found, key=lambda item: item[1]):
        key = (_field(record, names, "node"), _cause(record, names))
        if record[_EVENT].lower() in _BEGINS:
            begun.setdefault(key, []).append(len(rows))
            rows.append(TableRow(at, None, *key))
        elif begun.get(key):
            index = begun[key].pop(0)
            rows[index] = TableRow(rows[index].start_s, at, *key)
    return rows


def _plain(found: Sequence[_Found], names: Mapping[str, str]) -> list[TableRow]:
    return [
        TableRow(
            at,
            end if end is not None and end >= at else None,
            _field(record, names, "node"),
            _cause(record, names),
        )
        for record, at, end in found
    ]


def _field(record: Mapping[str, str], names: Mapping[str, str], field: str) -> str | None:
    value = record.get(names[field], "") if field in names else ""
    return value[:_MAX_TEXT] or None


def _cause(record: Mapping[str, str], names: Mapping[str, str]) -> str | None:
    if "cause" in names:
        return _field(record, names, "cause")
    return next((name for name in _BLAMED if record.get(name)), None)


def _columns(
    records: Sequence[Mapping[str, str]], given: Mapping[str, str], also: Sequence[str], shown: str
) -> dict[str, str]:
    seen = {name for record in records[:1000] for name in record}
    for field, name in given.items():
        if field not in FIELDS:
            raise UsageError(f"a column is one of {', '.join(FIELDS)}, not '{field}'")
        if name.lower() not in seen:
            raise UsageError(f"{shown} has no column '{name}'; it has {_listed(seen)}")
    for name in also:
        if name.lower() not in seen:
            raise UsageError(f"{shown} has no column '{name}'; it has {_listed(seen)}")
    names = {field: name.lower() for field, name in given.items()}
    for field, aliases in _ALIASES.items():
        alias = next((name for name in aliases if name in seen), None)
        if field not in names and alias is not None:
            names[field] = alias
    if "start" not in names:
        raise UsageError(
            f"{shown}: which column says when an incident began? Say --columns start=NAME; "
            f"it has {_listed(seen)}"
        )
    return names


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(name[:40] for name in names)
    return ", ".join(ordered[:20]) + (" and more" if len(ordered) > 20 else "")


def _text(path: Path) -> str:
    stream = open_path(path, path.name)
    parts, size = [], 0
    try:
        while chunk := stream.read(1 << 20):
            size += len(chunk)
            if size > MAX_BYTES:
                raise SourceError(f"larger than {MAX_BYTES >> 20} MiB", where=path.name)
            parts.append(chunk)
    finally:
        stream.close()
    return b"".join(parts).decode("utf-8-sig", "replace").replace("\0", "")


def _records(text: str, shown: str) -> list[dict[str, str]]:
    found = list(
        _from_json(text, shown) if text.lstrip().startswith(("[", "{")) else _from_csv(text, shown)
    )
    if not found:
        raise SourceError("holds no rows", where=shown)
    return found


def _from_csv(text: str, shown: str) -> Iterator[dict[str, str]]:
    head = text[: text.find("\n")] if "\n" in text else text
    delimiter = max(",;\t|", key=head.count)
    csv.field_size_limit(_MAX_FIELD)
    try:
        for number, record in enumerate(csv.DictReader(io.StringIO(text), delimiter=delimiter)):
            if number >= MAX_ROWS:
                raise SourceError(f"more than {MAX_ROWS:,} rows", where=shown)
            yield {
                name.strip().lower(): value.strip()
                for name, value in record.items()
                if isinstance(name, str) and isinstance(value, str)
            }
    except csv.Error as error:
        raise SourceError(f"no table: {error}", where=shown) from None


def _from_json(text: str, shown: str) -> Iterator[dict[str, str]]:
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"no JSON: {str(error)[:_MAX_TEXT]}", where=shown) from None
    if isinstance(loaded, dict):  # a list under some name
        loaded = next((value for value in loaded.values() if isinstance(value, list)), [])
    for record in loaded[:MAX_ROWS]:
        if isinstance(record, dict):
            yield dict(_flat(record, "", 0))


def _flat(record: Mapping[str, Any], before: str, depth: int) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        key = f"{before}{name}".strip().lower()
        if isinstance(value, dict) and depth < 2:
            yield from _flat(value, f"{key}.", depth + 1)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield key, str(value).strip()


def _moment(text: str, unit: str) -> tuple[float | None, bool]:
    """Gives seconds, and whether the text was a plain number."""
    text = text.strip()
    try:
        value = float(text)
        return (value * UNITS[unit], True) if math.isfinite(value) else (None, False)
    except ValueError:
        pass
    for read in (datetime.fromisoformat, _american):
        try:
            at = read(text)
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            return (at.timestamp(), False) if at.year in _YEARS else (None, False)
        except (ValueError, OverflowError):
            continue
    return None, False


def _american(text: str) -> datetime:
    """Month first, as spreadsheets of the United States write it."""
    return datetime.strptime(text, "%m/%d/%Y %H:%M").replace(tzinfo=UTC)
