"""Exports of experiment trackers: JSON lines or CSV with a step and a wall time in each row."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._bounds import STEP_LIMIT, ImplausibleError
from ckpt_audit.ingest.formats._stamps import check_year
from ckpt_audit.records import ClockKind, Record, Rejected, StepBatch
from ckpt_audit.units import US_PER_MS, US_PER_S

_SURE = 90
_BATCH_ROWS = 50_000
_MAX_REJECTED_TEXT = 200
_LOOKED_AT = 50
_MS_FROM = 10**11  # as seconds that would be the year 5138
_NUMBER = re.compile(r"\s*(\d{1,18})(?:\.(\d{1,18}))?\s*", re.ASCII)
_FLOAT = re.compile(r"\s*\d{1,3}(?:\.\d{1,18})?[eE]\+?\d{1,2}\s*", re.ASCII)
_PAIRS = (("_step", "_timestamp"), ("step", "timestamp"), ("Step", "Wall time"))
_BETTER_STEPS = ("trainer/global_step", "train/global_step", "global_step")
_SERIES = ("key", "metric", "tag", "run_id", "run")


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns of a table are read: the step, the wall time, and what names a series."""

    step: str
    time: str
    series: tuple[str, ...]

    @classmethod
    def among(cls, names: Sequence[str]) -> _Columns | None:
        """Those of a table, or None where it has no step or no wall time."""
        for step, time in _PAIRS:
            if step in names and time in names:
                better = next((name for name in _BETTER_STEPS if name in names), step)
                return cls(better, time, tuple(name for name in _SERIES if name in names))
        return None


def _json_row(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _csv_row(line: str) -> list[str] | None:
    try:
        rows = list(csv.reader([line], strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _head_lines(head: bytes) -> list[str]:
    lines = without_nuls(head).removeprefix(b"\xef\xbb\xbf").split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    return [line.decode("utf-8", "replace").rstrip("\r") for line in lines]


def _is_json(lines: Sequence[str]) -> bool:
    return next((line for line in lines if line.strip()), "").lstrip().startswith("{")


def _columns(lines: Sequence[str]) -> _Columns | None:
    """What to read of a file, told by its first lines."""
    if _is_json(lines):
        rows = [row for line in lines if (row := _json_row(line)) is not None]
        return _Columns.among([name for row in rows for name in row])
    header = _csv_row(lines[0]) if lines else None
    return None if header is None else _Columns.among([name.strip() for name in header])


def _micros(value: object, unit_us: int) -> tuple[int, int] | None:
    """A printed number of units in microseconds, with its resolution, or None."""
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        if isinstance(value, str) and _FLOAT.fullmatch(value):
            return round(float(value) * unit_us), unit_us
        return None
    decimals = (match[2] or "").rstrip("0")
    fraction = int((decimals or "0")[:6].ljust(6, "0")) * unit_us // US_PER_S
    resolution = unit_us if not decimals else max(unit_us // 1000, 1) if len(decimals) <= 3 else 1
    return int(match[1]) * unit_us + fraction, resolution


def _reading(row: Callable[[str], object], columns: _Columns) -> tuple[int, int, int] | None:
    """Step, clock and resolution of a row; None where it has no step or no time.

    Raises:
        ImplausibleError: One of them cannot be true.
    """
    step_text, time_text = row(columns.step), row(columns.time)
    if step_text in (None, "", "NaN", "nan") or time_text in (None, ""):
        return None
    step = _micros(step_text, US_PER_S)
    if step is None or step[0] % US_PER_S or step[0] // US_PER_S >= STEP_LIMIT:
        raise ImplausibleError(f"{columns.step} is no step")
    clock = _micros(time_text, US_PER_S)
    if clock is not None and clock[0] // US_PER_S >= _MS_FROM:
        clock = _micros(time_text, US_PER_MS)
    if clock is None:
        raise ImplausibleError(f"{columns.time} is no wall time in seconds or milliseconds")
    check_year(clock[0])
    return step[0] // US_PER_S, clock[0], clock[1]


class _Reader:
    """Turns rows into steps: those of the first series, each stretch of equal steps once."""

    def __init__(self, lines: Sequence[str], columns: _Columns) -> None:
        self.columns = columns
        self.batch = StepBatch()
        self._is_json = _is_json(lines)
        self._header: list[str] | None = None
        self._series: tuple[object, ...] | None = None
        self._last: int | None = None

    def take(self, line_no: int, line: str) -> Rejected | None:
        """Takes one line, or says what is wrong with it."""
        row = self._row(line)
        if isinstance(row, str):
            return Rejected(line_no, row, line[:_MAX_REJECTED_TEXT])
        if row is None or not self._is_of_series(row):
            return None
        try:
            found = _reading(row.get, self.columns)
        except ImplausibleError as error:
            return Rejected(line_no, str(error), line[:_MAX_REJECTED_TEXT])
        if found is not None and found[0] != self._last:
            self._last = found[0]
            self._add(line_no, *found)
        return None

    def _row(self, line: str) -> dict[str, Any] | str | None:
        if self._is_json:
            row = _json_row(line)
            return "no JSON object" if row is None else row
        fields = _csv_row(line)
        if self._header is None:
            self._header = [name.strip() for name in fields or ()]
            return None
        if fields is None or len(fields) != len(self._header):
            return f"expected {len(self._header)} columns as in the header"
        return dict(zip(self._header, fields, strict=True))

    def _is_of_series(self, row: dict[str, Any]) -> bool:
        series = tuple(str(row.get(name)) for name in self.columns.series)
        if self._series is None:
            self._series = series
        return series == self._series

    def _add(self, line_no: int, step: int, clock_us: int, resolution_us: int) -> None:
        batch = self.batch
        batch.line_no.append(line_no)
        batch.step.append(step)
        batch.target_step.append(None)
        batch.clock_us.append(clock_us)
        batch.clock_kind.append(ClockKind.UTC)
        batch.resolution_us.append(resolution_us)
        batch.elapsed_us.append(None)
        batch.n_samples.append(None)
        batch.emitter.append("tracker")


def _read(source: ByteSource, _options: ReadOptions) -> Iterator[StepBatch | Record]:
    numbered = (
        (line_no, raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
        for line_no, raw in source.lines()
        if raw.strip()
    )
    first = list(islice(numbered, _LOOKED_AT))
    lines = [line for _, line in first]
    columns = _columns(lines)
    if columns is None:
        text = lines[0][:_MAX_REJECTED_TEXT] if lines else ""
        yield Rejected(1, "no columns for a step and a wall time", text)
        return
    reader = _Reader(lines, columns)
    for line_no, line in chain(first, numbered):
        rejected = reader.take(line_no, line)
        if rejected is not None:
            yield rejected
        if len(reader.batch) >= _BATCH_ROWS:
            yield reader.batch
            reader.batch = StepBatch()
    if len(reader.batch):
        yield reader.batch


def _sniff(head: bytes, _name: str) -> int:
    lines = _head_lines(head)
    columns = _columns(lines)
    if columns is None:
        return 0
    try:
        rows = _Reader(lines, columns)
        for number, line in enumerate(lines, 1):
            if line.strip():
                rows.take(number, line)
    except ValueError:
        return 0
    return _SURE if len(rows.batch) else 0


TRACKER_HISTORY = Format(
    name="tracker_history",
    title="History export of an experiment tracker (W&B, MLflow, TensorBoard), JSON lines or CSV",
    gives=(
        "when steps were logged, where the job's own output is lost; trackers drop steps that go "
        "backwards, so that redone work is hidden in it"
    ),
    example='{"_step": 120, "_timestamp": 1777885200.25, "train/loss": 2.31}',
    incremental=False,
    is_rewritten=True,
    sniff=_sniff,
    read=_read,
)
