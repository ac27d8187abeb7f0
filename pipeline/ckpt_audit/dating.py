"""Gives raw rows their UTC instants: zones, missing years, lines without a stamp.

Raw rows keep the clock readings, so that dates can be made again whenever a zone is learned or
corrected. Only sources whose rows, zone or year have changed are dated again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from ckpt_audit.clock_years import only_year_inside
from ckpt_audit.dating_rows import JOBS, LINES, NODES, fetch_rows
from ckpt_audit.job_spans import JobSpans, dated_jobs, refs_of
from ckpt_audit.job_times import JOB_INSTANTS, job_instants
from ckpt_audit.line_frame import NO_HINT, Hint, collapse, lines_of
from ckpt_audit.line_times import Strength, Times, time_lines
from ckpt_audit.log_parts import find_parts, write_parts
from ckpt_audit.records import ClockKind
from ckpt_audit.warehouse import Warehouse
from ckpt_audit.zone_choice import (
    Stamps,
    ZoneChoice,
    ZoneChooser,
    ZoneConflict,
    ZoneFor,
    job_conflicts,
    read_stamps,
)
from ckpt_audit.zones import I64, NO_TIME, Bools, localise, readings_of

_VERSION = "4"  # to be raised whenever the rules change, so that everything is dated again
_BATCH_ROWS = 2_000_000
_TABLES = ("source_zone", "line_time", "odd_stamp", "job_time", "node_time", "dating_signature")
_STRENGTH_NAMES = [strength.name.lower() for strength in Strength]


@dataclass(frozen=True, slots=True)
class DatingReport:
    """What the dating step did and found.

    Attributes:
        n_sources: Sources in the warehouse.
        n_dated: Sources that were dated now; the others were up to date.
        n_lines: Lines of those.
        n_absent: Lines of all sources that nothing could date.
        zones: The zone of each source.
        conflicts: Clocks that contradict each other; nothing was shifted for them.
    """

    n_sources: int
    n_dated: int
    n_lines: int
    n_absent: int
    zones: tuple[ZoneChoice, ...]
    conflicts: tuple[ZoneConflict, ...]

    @property
    def assumed(self) -> tuple[ZoneChoice, ...]:
        """Sources whose zone is nothing but an assumption."""
        return tuple(choice for choice in self.zones if choice.is_assumed)


def date_sources(warehouse: Warehouse, *, machine_zone: str, zone_for: ZoneFor) -> DatingReport:
    """Dates all rows of the warehouse that are not dated yet or whose zone has changed.

    Args:
        warehouse: An open warehouse, in a transaction or not.
        machine_zone: Name of the zone of this machine, the last resort for sources that were
            kept without one.
        zone_for: Gives the configured zone of a path and format with its origin, or None.

    Raises:
        ConfigError: A zone has a name that does not exist.
    """
    sources = read_stamps(warehouse)
    refs = refs_of(warehouse)
    chooser = ZoneChooser(warehouse, machine_zone, zone_for, refs)
    choices = {source.source_id: chooser.choose(source) for source in sources}
    logs = find_parts(warehouse, sources, choices)
    write_parts(warehouse, logs)
    dater = _Dater(warehouse, choices, _dated_whole(logs, sources))
    dater.forget_others()
    _date_in_order(dater, sources, refs)
    spans = {
        source_id: (low, high)
        for source_id, low, high in warehouse.rows(
            'SELECT source_id, min("at"), max("at") FROM line_time '
            "WHERE strength = 'stated' GROUP BY source_id"
        )
    }
    absent = warehouse.rows("SELECT count(*) FROM line_time WHERE strength = 'absent'")
    conflicts = chooser.conflicts + job_conflicts(spans, dated_jobs(warehouse), refs, choices)
    return DatingReport(
        n_sources=len(sources),
        n_dated=dater.n_dated,
        n_lines=dater.n_lines,
        n_absent=int(absent[0][0]),
        zones=tuple(choices.values()),
        conflicts=tuple(sorted(conflicts, key=lambda c: (c.path, c.source_id, c.text))),
    )


def _date_in_order(dater: _Dater, sources: list[Stamps], refs: dict[int, tuple[str, ...]]) -> None:
    """Dates first the sources that stand alone, then those that need the others' dates."""
    choices, whole = dater.choices, dater.logs
    yearless = [s for s in sources if s.n_no_year and not s.n_dated_lines]
    begins = {s.source_id: _begins_in_fold(s, choices[s.source_id].tz) for s in sources}
    folded = [s for s in sources if begins[whole.get(s.source_id, (s.source_id,))[0]]]
    waiting = {source.source_id for source in yearless + folded}
    alone = [source for source in sources if source.source_id not in waiting]
    logs = [source for source in alone if source.format == "job_log"]
    dater.date([source for source in alone if source.format != "job_log"], {})
    jobs = dated_jobs(dater.warehouse)
    dater.date(logs, {s.source_id: _job_span(jobs, refs, s) for s in logs})
    if folded:
        dater.date(folded, {s.source_id: _job_start(jobs, refs, s) for s in folded})
    if yearless:
        anchors = _anchors(dater.warehouse, yearless, sources, choices, refs)
        dater.date(yearless, {key: Hint(anchor_us=anchor) for key, anchor in anchors.items()})


def _dated_whole(logs: list[tuple[int, ...]], sources: list[Stamps]) -> dict[int, tuple[int, ...]]:
    """Logs in several files that are dated as one, by source; missing years are found by file."""
    yearless = {source.source_id for source in sources if source.n_no_year}
    return {part: log for log in logs if not yearless & set(log) for part in log}


def _begins_in_fold(source: Stamps, tz: str) -> bool:
    """Whether the first reading of a log is one that a clock put back showed twice."""
    if source.format != "job_log" or source.naive_low_us is None:
        return False
    found = localise(np.array([source.naive_low_us], dtype=np.int64), tz)
    return bool(found.early[0] != found.late[0])


def _job_start(jobs: JobSpans, refs: dict[int, tuple[str, ...]], source: Stamps) -> Hint:
    """When the job of a log began, before which it has no line."""
    found = jobs.find(refs.get(source.source_id, ()))
    return Hint(not_before=min(span.start_us for span in found)) if found else NO_HINT


def _job_span(jobs: JobSpans, refs: dict[int, tuple[str, ...]], source: Stamps) -> Hint:
    """When the job of a log began and had ended, by its records."""
    found = jobs.find(refs.get(source.source_id, ()))
    if not found:
        return NO_HINT
    ends = [span.end_us for span in found if span.end_us is not None]
    return Hint(
        job_from=min(span.start_us for span in found),
        job_until=max(ends) if len(ends) == len(found) else NO_TIME,
    )


def _anchors(
    warehouse: Warehouse,
    yearless: list[Stamps],
    sources: list[Stamps],
    choices: dict[int, ZoneChoice],
    refs: dict[int, tuple[str, ...]],
) -> dict[int, int]:
    """A reading with a year for sources that print none: from the job, else from all sources."""
    jobs: JobSpans = dated_jobs(warehouse)
    lows = [source.low_us for source in sources if source.low_us is not None]
    highs = [source.high_us for source in sources if source.high_us is not None]
    anchors: dict[int, int] = {}
    for source in yearless:
        tz = choices[source.source_id].tz
        found = jobs.find(refs.get(source.source_id, ()))
        if found:
            start = np.array([min(span.start_us for span in found)], dtype=np.int64)
            anchors[source.source_id] = int(readings_of(start, tz)[0])
        elif lows and highs:
            frame = fetch_rows(warehouse, LINES, [source.source_id])
            readings = frame["clock_us"][frame["clock_kind"] == ClockKind.NO_YEAR]
            known = readings[readings != NO_TIME].to_numpy(dtype=np.int64)
            first = only_year_inside(known, min(lows), max(highs))
            if first is not None:
                anchors[source.source_id] = first
    return anchors


class _Dater:
    """Writes the dated tables.

    Args:
        warehouse: Where they are.
        choices: Zones of the sources.
        logs: Parts of the log that a source belongs to, in their order; only where it has several.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        choices: dict[int, ZoneChoice],
        logs: dict[int, tuple[int, ...]],
    ) -> None:
        self.warehouse, self.choices, self.logs = warehouse, choices, logs
        self.n_dated = self.n_lines = 0
        rows = warehouse.rows("SELECT source_id, signature FROM dating_signature")
        self.signatures: dict[int, str] = {int(key): str(value) for key, value in rows}

    def forget_others(self) -> None:
        """Removes what belongs to sources that are gone."""
        for table in _TABLES:
            self.warehouse.execute(
                f"DELETE FROM {table} WHERE source_id NOT IN (SELECT source_id FROM source)"  # noqa: S608
            )

    def date(self, sources: list[Stamps], hints: dict[int, Hint]) -> None:
        """Dates those sources whose signature is new."""
        todo: list[tuple[Stamps, str]] = []
        content = {source.source_id: source.content_sha256 for source in sources}
        for source in sources:
            choice = self.choices[source.source_id]
            hint = hints.get(source.source_id, NO_HINT)
            # a part is dated again when any other part of its log has changed
            others = [content[part] for part in self.logs.get(source.source_id, ())]
            parts = (_VERSION, source.content_sha256, source.n_rows, choice.tz, choice.origin,
                     choice.note, hint, *others)  # fmt: skip
            signature = "|".join(str(part) for part in parts)
            if self.signatures.get(source.source_id) != signature:
                todo.append((source, signature))
        todo.sort(key=lambda item: (self._log_of(item[0].source_id), item[0].source_id))
        for batch in _batches(todo, self._log_of):
            self._date_batch(batch, hints)

    def _log_of(self, source_id: int) -> int:
        return self.logs.get(source_id, (source_id,))[0]

    def _date_batch(self, batch: list[tuple[Stamps, str]], hints: dict[int, Hint]) -> None:
        ids = [source.source_id for source, _ in batch]
        for table in _TABLES:
            self.warehouse.execute(
                f"DELETE FROM {table} WHERE source_id IN (SELECT unnest($ids))",  # noqa: S608
                {"ids": ids},
            )
        lines, odd = self._line_times(fetch_rows(self.warehouse, LINES, ids), hints)
        if lines is not None:
            self.warehouse.insert_table("line_time", lines)
            self.n_lines += lines.num_rows
        if odd is not None:
            self.warehouse.insert_table("odd_stamp", odd)
        jobs = fetch_rows(self.warehouse, JOBS, ids)
        if len(jobs):
            self.warehouse.insert_table("job_time", self._job_times(jobs))
        nodes = fetch_rows(self.warehouse, NODES, ids)
        if len(nodes):
            dated = self._job_times(nodes)
            self.warehouse.insert_table(
                "node_time", dated.select(["source_id", "line_no", "started_at", "ended_at"])
            )
        zones = [self.choices[source_id] for source_id in ids]
        columns = ("source_id", "tz", "origin", "is_assumed", "note")
        rows = {name: [getattr(zone, name) for zone in zones] for name in columns}
        self.warehouse.insert_table("source_zone", pa.table(rows))
        signatures = {"source_id": ids, "signature": [signature for _, signature in batch]}
        self.warehouse.insert_table("dating_signature", pa.table(signatures))
        self.n_dated += len(batch)

    def _line_times(
        self, frame: pd.DataFrame, hints: dict[int, Hint]
    ) -> tuple[pa.Table | None, pa.Table | None]:
        """Times of the lines, and the lines whose stamps are odd."""
        if not len(frame):
            return None, None
        rows = collapse(frame)
        slices = dict(_slices(rows["source_id"]))
        timed: list[Times] = []
        odd: list[Bools] = []
        names: list[dict[str, I64]] = []
        for log in dict.fromkeys(self.logs.get(source_id, (source_id,)) for source_id in slices):
            here = _join([slices[part] for part in log if part in slices])
            whole = {name: values[here] for name, values in rows.items()}
            tz, hint = self.choices[log[0]].tz, hints.get(log[0], NO_HINT)
            lines, is_odd = lines_of(whole, tz, hint)
            timed.append(time_lines(lines))
            odd.append(is_odd)
            names.append({name: whole[name] for name in ("source_id", "line_no")})
        columns = {
            name: np.concatenate([part[name] for part in names])
            for name in ("source_id", "line_no")
        }
        is_odd = np.concatenate(odd)
        strange = {name: values[is_odd] for name, values in columns.items()}
        for name in ("at", "low", "high"):
            columns[name] = _nullable(np.concatenate([getattr(part, name) for part in timed]))
        strength = np.concatenate([part.strength for part in timed])
        columns["strength"] = pa.DictionaryArray.from_arrays(
            pa.array(strength), pa.array(_STRENGTH_NAMES)
        ).cast(pa.string())
        return pa.table(columns), pa.table(strange) if is_odd.any() else None

    def _job_times(self, frame: pd.DataFrame) -> pa.Table:
        source_id = frame["source_id"].to_numpy(dtype=np.int64)
        instants = {name: np.full(len(frame), NO_TIME, np.int64) for name in JOB_INSTANTS}
        for one, here in _slices(source_id):
            found = job_instants(frame.iloc[here], self.choices[one].tz)
            for name, values in found.items():
                instants[name][here] = values
        columns = {name: _nullable(values) for name, values in instants.items()}
        line_no = frame["line_no"].to_numpy(dtype=np.int64)
        return pa.table({"source_id": source_id, "line_no": line_no} | columns)


def _nullable(values: I64) -> pa.Array:
    return pa.array(values, mask=values == NO_TIME)


def _batches(
    todo: list[tuple[Stamps, str]], log_of: Callable[[int], int]
) -> Iterator[list[tuple[Stamps, str]]]:
    """Batches of bounded size; the parts of a log stay together."""
    batch: list[tuple[Stamps, str]] = []
    n_rows = 0
    for source, signature in todo:
        is_next = bool(batch) and log_of(batch[-1][0].source_id) != log_of(source.source_id)
        if is_next and n_rows + source.n_rows > _BATCH_ROWS:
            yield batch
            batch, n_rows = [], 0
        batch.append((source, signature))
        n_rows += source.n_rows
    if batch:
        yield batch


def _join(parts: list[slice]) -> slice | I64:
    """Rows of several slices in their order; those of one stay a view."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([np.arange(part.start, part.stop, dtype=np.int64) for part in parts])


def _slices(source_id: I64) -> Iterator[tuple[int, slice]]:
    """The rows of each source; they are sorted by source."""
    if not len(source_id):
        return
    cuts = np.flatnonzero(np.diff(source_id)) + 1
    bounds = [0, *cuts.tolist(), len(source_id)]
    for first, end in itertools.pairwise(bounds):
        yield int(source_id[first]), slice(first, end)
