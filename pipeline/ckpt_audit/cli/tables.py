"""Plain text for people: aligned tables, times in the display zone, ``unknown`` for None."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ckpt_audit.printable import printable
from ckpt_audit.units import S_PER_H, format_duration, from_us

if TYPE_CHECKING:
    from ckpt_audit.audit.data import ReportData

UNKNOWN = "unknown"


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], right: str = "") -> str:
    """Lays out rows in columns that are as wide as their widest cell.

    Args:
        headers: Head of each column.
        rows: Cells; None becomes ``unknown``.
        right: One character a column: ``>`` aligns to the right, anything else to the left.

    >>> print(table(["bucket", "h"], [["lost_work", 12.5], ["stall", None]], "<>"))
    bucket           h
    lost_work     12.5
    stall      unknown
    """
    cells = [list(headers), *([text(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headers))]
    to_right = [right[column : column + 1] == ">" for column in range(len(headers))]
    lines = [
        "  ".join(
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(row, widths, to_right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(lines)


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Lays out names and values, one a line.

    >>> print(facts([("run", "llama"), ("last step", None)]))
    run        llama
    last step  unknown
    """
    listed = [(name, text(value)) for name, value in pairs]
    width = max((len(name) for name, _ in listed), default=0)
    return "\n".join(f"{name.ljust(width)}  {value}".rstrip() for name, value in listed)


def text(value: object) -> str:
    """A cell.

    >>> text(None), text(True), text(1234), text("a")
    ('unknown', 'yes', '1,234', 'a')
    """
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return printable(str(value))


def when(at: int | None, zone: ZoneInfo) -> str:
    """An instant in the display zone, to the second.

    >>> when(0, ZoneInfo("UTC"))
    '1970-01-01 00:00:00'
    """
    return UNKNOWN if at is None else f"{from_us(at).astimezone(zone):%Y-%m-%d %H:%M:%S}"


def hours(value_s: float | None) -> str:
    """Seconds as hours with one decimal; never 0.0 unless exact.

    >>> hours(5400.0), hours(0.0), hours(20.0), hours(None)
    ('1.5', '0.0', '<0.1', 'unknown')
    """
    if value_s is None:
        return UNKNOWN
    value_h = value_s / S_PER_H
    if value_h and abs(value_h) < 0.05:
        return "<0.1" if value_h > 0 else ">-0.1"
    return f"{value_h:,.1f}"


def share(value: float | None) -> str:
    """A fraction as a percentage; never 0.0% or 100.0% unless exact.

    >>> share(0.5), share(0.0001), share(0.99999), share(1.0), share(None)
    ('50.0%', '<0.1%', '>99.9%', '100.0%', 'unknown')
    """
    if value is None:
        return UNKNOWN
    if 0.0 < value < 0.0005:
        return "<0.1%"
    if 0.9995 <= value < 1.0:
        return ">99.9%"
    return f"{value:.1%}"


def period(data: ReportData) -> str:
    """The window of a report, with "so far" where the data do not cover it."""
    return data.window.label if data.complete else f"{data.window.label}, so far"


def span(low_s: float | None, high_s: float | None) -> str:
    """Two durations as a range; an end that is open says so.

    >>> span(3600.0, 7200.0), span(60.0, float("inf"))
    ('60.0 min to 2.0 h', 'over 60.0 s')
    """
    if low_s is None and high_s is None:
        return UNKNOWN
    if high_s is None or math.isinf(high_s):
        return f"over {format_duration(low_s)}"
    if low_s is None:
        return f"under {format_duration(high_s)}"
    return f"{format_duration(low_s)} to {format_duration(high_s)}"
