"""Reads many completed-step lines at once.

Programs print their step lines with fixed columns. The first line of a shape is read by its
regular expression; the places of its fields make a layout, and all lines that equal it in
everything but digits are read as columns of digits. A line that differs goes the slow way and
makes its own layout, so that both ways give the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ckpt_audit.ingest.formats._bounds import DURATION_LIMIT_US, STEP_LIMIT, rescaled_us
from ckpt_audit.ingest.formats._job_log_steps import StepRow, StepRule, read_steps
from ckpt_audit.ingest.formats._scan import LineIndex, Positions
from ckpt_audit.ingest.formats._stamps import FIRST_YEAR, LAST_YEAR, day_us, has_stamp
from ckpt_audit.records import ClockKind, StepBatch
from ckpt_audit.units import S_PER_H, S_PER_MIN, US_PER_S

MAX_WIDTH = 400
_MAX_DIGITS = 18
_EXACT_DIGITS = 15  # integers up to 2**53 are exact as floating-point numbers
_ROWS_AT_ONCE = 1 << 14
_MAX_LAYOUTS = 48
_LEARNED_PER_BLOCK = 32
_ZERO, _NINE, _SPACE = 48, 57, 32

Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

Floats = npt.NDArray[np.float64]

# Digits have this bit and a blank has not; all else about them is alike.
_DIGIT_BIT = 16


@dataclass(frozen=True, slots=True)
class _Number:
    """Columns of a number: padding and digits in order, without its decimal point."""

    columns: npt.NDArray[np.int64]
    n_decimals: int

    def read(self, cells: Bytes) -> tuple[Positions, Mask]:
        """Values, scaled by 10 to the decimals, and whether blanks come only before digits."""
        printed = cells[:, self.columns]
        is_digit = printed != _SPACE
        digits = np.where(is_digit, printed - _ZERO, 0)
        weights = 10 ** np.arange(len(self.columns) - 1, -1, -1, dtype=np.int64)
        if len(self.columns) <= _EXACT_DIGITS:
            values = (digits.astype(np.float64) @ weights.astype(np.float64)).astype(np.int64)
        else:
            values = digits.astype(np.int64) @ weights
        is_number = (digits <= _NINE - _ZERO).all(axis=1)
        is_number &= (is_digit[:, :-1] <= is_digit[:, 1:]).all(axis=1)
        return values, np.asarray(is_number)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of one shape of step lines.

    Attributes:
        hit_at: Where the literal of its rule ends in the line.
        width: How far the line is compared.
        padding: The bit that makes blanks digits in columns where they are as good, else 0.
        least: The least byte of each column; 0 stands for every digit.
        spread: By how much a column's bytes may be larger.
        numbers: Fields by name.
        model: A row of this shape.
    """

    hit_at: int
    width: int
    padding: Bytes
    least: Bytes
    spread: Bytes
    numbers: dict[str, _Number]
    model: StepRow


def learn(line: bytes, row: StepRow, hit_at: int) -> Layout | None:
    """The layout of a line that was read as a row; None when it has none that is simple."""
    spans = row.spans
    if row.end > MAX_WIDTH or row.stamp.kind not in (ClockKind.NAIVE, ClockKind.UNDATED):
        return None
    raw = np.frombuffer(line[: row.end], dtype=np.uint8)
    is_padding = np.zeros(row.end, dtype=np.bool_)
    numbers: dict[str, _Number] = {}
    for name, (start, end) in spans.items():
        if name == "stamp":
            if line[start + 4 : start + 5] != b"-":
                return None
            continue
        text = line[start:end]
        whole, _, decimals = text.partition(b".")
        if not (whole + decimals).isdigit() or len(whole + decimals) > _MAX_DIGITS:
            return None
        first = start
        while name != "elapsed" and first > 0 and line[first - 1] == _SPACE:
            first -= 1
        if first < start:  # one blank stays as the separator
            first = min(first + 1, start)
        if end - first > _MAX_DIGITS:
            return None
        columns = [at for at in range(first, end) if line[at] != ord(".")]
        is_padding[first : end - 1] = name != "elapsed"
        numbers[name] = _Number(np.array(columns, dtype=np.int64), len(decimals))
    padding = np.where(is_padding, _DIGIT_BIT, 0).astype(np.uint8)
    seen = raw | padding
    is_digit = (seen >= _ZERO) & (seen <= _NINE)
    least = np.where(is_digit, _ZERO, seen).astype(np.uint8)
    spread = np.where(is_digit, _NINE - _ZERO, 0).astype(np.uint8)
    return Layout(hit_at, row.end, padding, least, spread, numbers, row)


def read_alike(
    layout: Layout, buffer: Bytes, starts: Positions, lines: Positions, batch: StepBatch
) -> Mask:
    """Adds to a batch every line that has the layout.

    Args:
        layout: The layout.
        buffer: The block.
        starts: Where lines begin, shape (n,).
        lines: Their numbers, shape (n,).
        batch: What is added to.

    Returns:
        Which lines were added, shape (n,).
    """
    parts = [
        _read_some(
            layout, buffer, starts[at : at + _ROWS_AT_ONCE], lines[at : at + _ROWS_AT_ONCE], batch
        )
        for at in range(0, len(starts), _ROWS_AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.bool_)


def _read_some(
    layout: Layout, buffer: Bytes, starts: Positions, lines: Positions, batch: StepBatch
) -> Mask:
    if layout.width > len(buffer):
        return np.zeros(len(starts), dtype=np.bool_)
    fits = starts + layout.width <= len(buffer)
    safe = np.where(fits, starts, 0)
    windows = np.lib.stride_tricks.sliding_window_view(buffer, layout.width)
    cells = windows[safe]
    fits &= (((cells | layout.padding) - layout.least) <= layout.spread).all(axis=1)
    values: dict[str, Positions] = {}
    for name, number in layout.numbers.items():
        values[name], is_number = number.read(cells)
        fits &= is_number & (values[name] < _limit(name, number, layout.model.unit_us))
    clock = None
    if "stamp" in layout.model.spans:
        clock, is_time = _clock(cells, layout.model.spans["stamp"])
        fits &= is_time
    if layout.model.emitter == "deepspeed_rank":
        fits &= values["step"] > 0
    _append(layout, values, clock, lines, fits, batch)
    return np.asarray(fits)


def _limit(name: str, number: _Number, unit_us: int) -> int:
    """What a field's value as it is printed must be less than."""
    if name == "elapsed":
        return int(DURATION_LIMIT_US * 10**number.n_decimals // unit_us)
    return STEP_LIMIT if name in ("step", "total") else int(10**_MAX_DIGITS)


_CLOCK_FIELDS = ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19), (20, 26))


def _clock_weights(width: int) -> Floats:
    """Weights of a stamp's columns in year, month, day, hour, minute, second and fraction."""
    weights = np.zeros((width, len(_CLOCK_FIELDS)))
    for field, (start, end) in enumerate(_CLOCK_FIELDS):
        for column in range(start, min(end, width)):
            weights[column, field] = 10.0 ** (end - 1 - column)
    return weights


def _clock(cells: Bytes, span: tuple[int, int]) -> tuple[Positions, Mask]:
    """Clock readings ``YYYY-MM-DD HH:MM:SS[.f]`` and which of them are possible."""
    digits = cells[:, span[0] : span[1]].astype(np.float64) - _ZERO
    fields = (digits @ _clock_weights(span[1] - span[0])).astype(np.int64)
    year, month, day, hour, minute, second, fraction = fields.T
    is_time = (hour < 24) & (minute < 60) & (second < 60)
    dates, which = np.unique((year * 100 + month) * 100 + day, return_inverse=True)
    days = np.full(len(dates), -1, dtype=np.int64)
    for index, date in enumerate(dates.tolist()):
        if not FIRST_YEAR <= date // 10_000 <= LAST_YEAR:
            continue
        try:
            days[index] = day_us(date // 10_000, date // 100 % 100, date % 100)
        except ValueError:
            continue
    is_time &= days[which] >= 0
    clock = days[which] + ((hour * S_PER_H) + minute * S_PER_MIN + second) * US_PER_S + fraction
    return clock, is_time


def _append(
    layout: Layout,
    values: dict[str, Positions],
    clock: Positions | None,
    lines: Positions,
    fits: Mask,
    batch: StepBatch,
) -> None:
    n, model = int(fits.sum()), layout.model
    if not n:
        return
    none: list[int | None] = [None] * n
    batch.line_no.extend(lines[fits].tolist())
    batch.step.extend((values["step"][fits] + model.offset).tolist())
    batch.target_step.extend(values["total"][fits].tolist() if "total" in values else none)
    batch.clock_us.extend(none if clock is None else clock[fits].tolist())
    batch.clock_kind.extend([model.stamp.kind.value] * n)
    batch.resolution_us.extend([model.stamp.resolution_us] * n)
    batch.n_samples.extend(values["samples"][fits].tolist() if "samples" in values else none)
    batch.emitter.extend([model.emitter] * n)
    if "elapsed" not in values:
        batch.elapsed_us.extend(none)
        return
    scaled, n_decimals = values["elapsed"][fits], layout.numbers["elapsed"].n_decimals
    if model.unit_us % 10**n_decimals == 0:
        batch.elapsed_us.extend((scaled * (model.unit_us // 10**n_decimals)).tolist())
        return
    batch.elapsed_us.extend(
        rescaled_us(digits, n_decimals, model.unit_us) for digits in scaled.tolist()
    )


class LayoutReader:
    """Reads the step lines of one source, learning layouts as it goes.

    Args:
        rules: Index of a rule's literal among all literals, and the rule.
    """

    def __init__(self, rules: dict[int, StepRule]) -> None:
        self._rules = rules
        self._layouts: dict[int, list[Layout]] = {index: [] for index in rules}

    def take(
        self,
        index: LineIndex,
        hits: tuple[Positions, Positions],
        batch: StepBatch,
    ) -> Mask:
        """Adds step lines of a block to a batch.

        Args:
            index: The block's lines.
            hits: Where literals end and their indices, each of shape (n,).
            batch: What is added to.

        Returns:
            Which hits are done with, shape (n,).
        """
        ends, literals = hits
        lines = index.line_of(ends - 1)
        alone = np.ones(len(ends), dtype=np.bool_)
        same = lines[1:] == lines[:-1]
        alone[1:] &= ~same
        alone[:-1] &= ~same
        done = np.zeros(len(ends), dtype=np.bool_)
        block = index.block
        buffer = np.frombuffer(block, dtype=np.uint8)
        for literal in self._rules:
            chosen = np.flatnonzero(alone & (literals == literal))
            if len(chosen):
                taken = self._take(literal, block, buffer, index, ends[chosen], batch)
                done[chosen[taken]] = True
        return done

    def _take(
        self,
        literal: int,
        block: bytes,
        buffer: Bytes,
        index: LineIndex,
        ends: Positions,
        batch: StepBatch,
    ) -> Mask:
        lines = index.line_of(ends - 1)
        starts, numbers = index.starts(lines), lines + index.first_line
        left = np.ones(len(ends), dtype=np.bool_)
        known = self._layouts[literal]

        def try_layout(layout: Layout) -> None:
            tried = np.flatnonzero(left & (ends - starts == layout.hit_at))
            if len(tried):
                fits = read_alike(layout, buffer, starts[tried], numbers[tried], batch)
                left[tried[fits]] = False

        for layout in known:
            try_layout(layout)
        unread: list[int] = []
        for _ in range(_LEARNED_PER_BLOCK):
            waiting = np.flatnonzero(left)
            if not len(waiting):
                break
            first = int(waiting[0])
            start = int(starts[first])
            learned = _learn(self._rules[literal], block, start, int(ends[first]))
            if learned is not None:
                known.insert(0, learned)
                try_layout(learned)
            if left[first]:
                unread.append(first)
                left[first] = False
        del known[_MAX_LAYOUTS:]
        left[unread] = True
        return ~left


def _learn(rule: StepRule, block: bytes, start: int, hit_end: int) -> Layout | None:
    """The layout of the line that starts at a place, if it holds one plain step."""
    line = block[start : start + MAX_WIDTH].partition(b"\n")[0]
    rows, problem = read_steps(rule, line.decode("latin-1"))
    if len(rows) != 1 or problem or rows[0].is_initial:
        return None
    if any(mark in line[: rows[0].end] for mark in (b"\r", b"\x1b")):
        return None
    if "stamp" not in rows[0].spans and has_stamp(line.decode("latin-1")):
        return None  # an impossible date; the next line's may be possible
    return learn(line, rows[0], hit_end - start)
