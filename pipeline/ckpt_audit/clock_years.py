"""Years of clock readings that were printed without one."""

from __future__ import annotations

import numpy as np

from ckpt_audit.units import US_PER_DAY
from ckpt_audit.zones import I64, NO_TIME, Bools

_HALF_YEAR_US = 183 * US_PER_DAY


def _split(readings: I64) -> tuple[I64, I64, I64]:
    """Year, month in the year (from 0) and microseconds in the month."""
    stamps = readings.view("datetime64[us]")
    months = stamps.astype("datetime64[M]")
    number = months.astype(np.int64)
    in_month = readings - months.astype("datetime64[us]").astype(np.int64)
    return number // 12 + 1970, number % 12, in_month


def _join(year: I64, month: I64, in_month: I64) -> I64:
    months = ((year - 1970) * 12 + month).view("datetime64[M]")
    return np.asarray(months.astype("datetime64[us]").astype(np.int64) + in_month)


def _turns(readings: I64) -> I64:
    """How often the year has turned since the first reading, from the dates without the year."""
    _, month, in_month = _split(readings)
    jump = np.diff(_join(np.full(len(readings), 2000), month, in_month))
    turn = (jump < -_HALF_YEAR_US).astype(np.int64) - (jump > _HALF_YEAR_US)
    return np.concatenate([np.zeros(min(len(readings), 1), dtype=np.int64), np.cumsum(turn)])


def complete_years(readings: I64, is_open: Bools, anchor_us: int = NO_TIME) -> I64:
    """Gives readings without a year the one that keeps the order of the file.

    Each takes the year of the nearest reading that has one, one more for each turn of the year
    between the two.

    Args:
        readings: Local clock readings in file order; those without a year are in the year 2000.
        is_open: Which readings have no year.
        anchor_us: A reading with a year that lies right before the first, or ``NO_TIME``.

    Returns:
        The readings; ``NO_TIME`` where no reading has a year.
    """
    if anchor_us != NO_TIME:
        with_anchor = np.concatenate([np.array([anchor_us], dtype=np.int64), readings])
        return complete_years(with_anchor, np.append(np.zeros(1, dtype=np.bool_), is_open))[1:]
    if not is_open.any():
        return readings
    if is_open.all():
        return np.full(len(readings), NO_TIME, dtype=np.int64)
    year, month, in_month = _split(readings)
    turns = _turns(readings)
    known = np.flatnonzero(~is_open)
    place = np.searchsorted(known, np.arange(len(readings)))
    after = known[np.minimum(place, len(known) - 1)]
    before = known[np.maximum(place - 1, 0)]
    here = np.arange(len(readings))
    nearest = np.where(np.abs(here - before) <= np.abs(after - here), before, after)
    completed = _join(year[nearest] + turns - turns[nearest], month, in_month)
    return np.where(is_open, completed, readings)


def only_year_inside(readings: I64, low_us: int, high_us: int) -> int | None:
    """The first reading with the only year that lets the readings touch a span of time.

    Args:
        readings: Readings in the year 2000, in file order.
        low_us, high_us: The span; a day is allowed on either side.

    Returns:
        The first reading with its year, or None where no year fits or several do.
    """
    _, month, in_month = _split(readings)
    turns = _turns(readings)
    first, last = (
        int(np.datetime64(us, "us").astype("datetime64[Y]").astype(np.int64)) + 1970
        for us in (low_us, high_us)
    )
    fitting: list[int] = []
    for year in range(first - 1 - int(turns.max()), last + 2 - int(turns.min())):
        dated = _join(year + turns, month, in_month)
        if dated.max() >= low_us - US_PER_DAY and dated.min() <= high_us + US_PER_DAY:
            fitting.append(int(dated[0]))
    return fitting[0] if len(fitting) == 1 else None
