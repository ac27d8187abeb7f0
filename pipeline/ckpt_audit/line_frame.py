"""From raw rows of lines to columns of numbers, with the instants of the stamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ckpt_audit.clock_years import complete_years
from ckpt_audit.line_times import ROLES, Lines, Role
from ckpt_audit.odd_stamps import odd_stamps
from ckpt_audit.records import ClockKind, EventKind
from ckpt_audit.units import US_PER_DAY
from ckpt_audit.zones import I64, NO_TIME, Bools, localise, readings_of, settle_folds

_LONGEST_STEP_US = 10 * US_PER_DAY  # a longer printed time per step is a misprint

_UNDATED, _UTC, _NAIVE, _NO_YEAR, _OTHER = range(5)
_CLOCK_CODES = {ClockKind.UTC: _UTC, ClockKind.NAIVE: _NAIVE, ClockKind.NO_YEAR: _NO_YEAR}


@dataclass(frozen=True, slots=True)
class Hint:
    """What other sources tell about the stamps of one.

    Attributes:
        anchor_us: A reading with a year before the first one, for a source that has none.
        not_before: An instant before which no line was written.
        job_from, job_until: When its job began and had ended; a few stamps outside are odd.
    """

    anchor_us: int = NO_TIME
    not_before: int = NO_TIME
    job_from: int = NO_TIME
    job_until: int = NO_TIME


NO_HINT = Hint()


def collapse(frame: pd.DataFrame) -> dict[str, I64]:
    """Columns of numbers with one entry per line; the stamped event of a joined line leads.

    Args:
        frame: Steps and events, sorted by source, line and then with stamped ones first: columns
            ``source_id``, ``line_no``, ``kind``, ``clock_kind``, ``clock_us`` (``NO_TIME`` if
            none), ``resolution_us`` and, -1 if none, ``step``, ``elapsed_us``, ``named_step``,
            ``duration_us``.
    """
    kind = frame["kind"]
    columns = {
        name: frame[name].to_numpy(dtype=np.int64)
        for name in ("source_id", "line_no", "clock_us", "resolution_us", "step", "elapsed_us",
                     "named_step", "duration_us")
    }  # fmt: skip
    roles = {name: int(role) for name, role in ROLES.items()} | {"step": int(Role.STEP)}
    columns["role"] = kind.map(roles).fillna(0).to_numpy(dtype=np.int64)
    code = frame["clock_kind"].map(_CLOCK_CODES).fillna(_OTHER).to_numpy(dtype=np.int64)
    columns["code"] = np.where(columns["clock_us"] == NO_TIME, _UNDATED, code)
    columns["named_step"][(kind == EventKind.LOAD_NONE).to_numpy()] = 0
    columns["elapsed_us"][columns["elapsed_us"] > _LONGEST_STEP_US] = -1
    opens = np.ones(len(frame), dtype=np.bool_)
    opens[1:] = (np.diff(columns["line_no"]) != 0) | (np.diff(columns["source_id"]) != 0)
    if opens.all():
        return columns
    first = np.flatnonzero(opens)
    merged = {name: values[first] for name, values in columns.items()}
    merged["role"] = np.bitwise_or.reduceat(columns["role"], first)
    for name in ("step", "elapsed_us", "named_step", "duration_us"):
        merged[name] = np.maximum.reduceat(columns[name], first)
    return merged


def _spent_before(rows: dict[str, I64], stamped: Bools) -> I64:
    """Printed time of the steps without a stamp between each stamped line and the one before.

    A tenth is left off: steps differ, and a log may print a mean.
    """
    is_step = (rows["step"] > 0) & ~stamped
    step = rows["step"][is_step]
    count = np.clip(np.diff(step, prepend=step[:1] - 1), 1, 1000)
    spent = np.zeros(len(stamped), dtype=np.int64)
    spent[is_step] = np.clip(rows["elapsed_us"][is_step], 0, US_PER_DAY) * count
    total = np.cumsum(np.minimum(spent, US_PER_DAY))[stamped]
    return np.diff(total, prepend=total[:1]) * 9 // 10


def instants_of(rows: dict[str, I64], tz: str, hint: Hint = NO_HINT) -> tuple[I64, Bools, Bools]:
    """Instants of the stamps of one source.

    Args:
        rows: Columns with one entry per line in file order: ``clock_us``, the readings
            (``NO_TIME`` where there is none), ``code`` (0 undated, 1 UTC, 2 naive, 3 without a
            year, 4 nothing that can be dated), ``step`` and ``elapsed_us``.
        tz: Zone of the readings.
        hint: What is known from elsewhere.

    Returns:
        Instants (``NO_TIME`` if unknown), whether they are as printed, and which lines have a
        stamp that cannot be dated.
    """
    clock_us, code = rows["clock_us"], rows["code"]
    local = clock_us.copy()
    is_utc = code == _UTC
    if (code == _NO_YEAR).any():
        local[is_utc] = readings_of(clock_us[is_utc], tz)
        dated = np.flatnonzero((code == _UTC) | (code == _NAIVE) | (code == _NO_YEAR))
        local[dated] = complete_years(local[dated], code[dated] == _NO_YEAR, hint.anchor_us)
    is_local = ((code == _NAIVE) | (code == _NO_YEAR)) & (local != NO_TIME)
    found = localise(local[is_local], tz)
    early, late = clock_us.copy(), clock_us.copy()
    early[is_local], late[is_local] = found.early, found.late
    is_exact = np.ones(len(code), dtype=np.bool_)
    is_exact[is_local] = ~found.in_gap
    stamped = is_utc | is_local
    at = np.full(len(code), NO_TIME, dtype=np.int64)
    at[stamped] = early[stamped]
    if (early != late).any():
        spent = _spent_before(rows, stamped)
        at[stamped] = settle_folds(early[stamped], late[stamped], hint.not_before, spent)
    return at, is_exact, ~stamped & (code != _UNDATED)


def lines_of(rows: dict[str, I64], tz: str, hint: Hint = NO_HINT) -> tuple[Lines, Bools]:
    """The lines of one source with the instants of their stamps, and which stamps are odd.

    An odd one is left out: the line is dated as one without a stamp.

    Args:
        rows: Columns with one entry per line: those of ``Lines`` except ``at`` and ``is_exact``,
            and those of ``instants_of``.
        tz: Zone of the readings.
        hint: What is known from elsewhere.
    """
    at, is_exact, undatable = instants_of(rows, tz, hint)
    odd = np.zeros(len(at), dtype=np.bool_)
    stamped = np.flatnonzero(at != NO_TIME)
    odd[stamped] = odd_stamps(at[stamped], hint.job_from, hint.job_until)
    at = np.where(odd, NO_TIME, at)
    lines = Lines(
        at=at,
        is_exact=is_exact,
        resolution_us=rows["resolution_us"],
        role=rows["role"] | np.where(undatable, int(Role.UNDATABLE), 0),
        step=rows["step"],
        elapsed_us=rows["elapsed_us"],
        named_step=rows["named_step"],
        duration_us=rows["duration_us"],
    )
    return lines, odd
