"""Months and other stretches of time, as people name them on the command line."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from ckpt_audit.config_values import parse_instant
from ckpt_audit.errors import NoDataError, UsageError
from ckpt_audit.facts import Window
from ckpt_audit.units import US_PER_DAY, from_us, to_us

NO_RUN = "the warehouse holds no run with a date; ingest some logs first"
BARE = "last"
"""What ``--month`` without a value means."""

_MONTH = re.compile(r"(\d{4})-(\d{1,2})")


def month_window(year: int, month: int, zone: ZoneInfo) -> Window:
    """The calendar month of a zone; its label is the form that ``--month`` takes.

    >>> month_window(1970, 1, ZoneInfo("UTC"))
    Window(start_at=0, end_at=2678400000000, label='1970-01')
    """
    following = (year + month // 12, month % 12 + 1)
    start, end = (
        to_us(datetime.combine(date(y, m, 1), time(), tzinfo=zone))
        for y, m in ((year, month), following)
    )
    return Window(start, end, f"{year:04d}-{month:02d}")


def month_of(at: int, zone: ZoneInfo) -> Window:
    """The calendar month that holds an instant (UTC microseconds)."""
    local = from_us(at).astimezone(zone)
    return month_window(local.year, local.month, zone)


def months_between(first_at: int, last_at: int, zone: ZoneInfo) -> list[Window]:
    """The calendar months that hold any of [first_at, last_at], oldest first."""
    months = [month_of(first_at, zone)]
    while months[-1].end_at <= last_at:
        months.append(month_of(months[-1].end_at, zone))
    return months


def is_complete(window: Window, now: int, data_span: tuple[int, int]) -> bool:
    """Says whether a month is over and the data go on to its end, give or take a day.

    Args:
        window: The month.
        now: The clock, UTC microseconds.
        data_span: First and last instant that the data speak of.
    """
    return window.end_at <= now and data_span[1] >= window.end_at - US_PER_DAY


def parse_month(
    text: str | None, now: int, display_zone: ZoneInfo, data_span: tuple[int, int] | None
) -> Window:
    """Turns the value of ``--month`` into a window.

    Args:
        text: ``2026-05``, ``current``, ``last`` or None; the last two mean the last complete month
            that has data, or the newest month that has data where none is complete.
        now: The clock, UTC microseconds.
        display_zone: Zone of the month's borders.
        data_span: First and last instant that the data speak of (UTC microseconds), or None.

    Raises:
        UsageError: The text is no month.
        NoDataError: There are no data, or none in that month.
    """
    wanted = _named_month(text, now, display_zone)
    if data_span is None:
        raise NoDataError(NO_RUN)
    if wanted is None:
        return _last_month(now, display_zone, data_span)
    if data_span[0] < wanted.end_at and data_span[1] >= wanted.start_at:
        return wanted
    months = months_between(*data_span, display_zone)
    raise NoDataError(
        f"there are no data in {wanted.label}; they go from {months[0].label} "
        f"to {months[-1].label}; try --month {months[-1].label}"
    )


def parse_range(
    since: str | None, until: str | None, display_zone: ZoneInfo, data_span: tuple[int, int] | None
) -> Window:
    """Turns ``--since`` and ``--until`` into a window; an open end is that of the data.

    Args:
        since, until: ISO dates or dates and times, or None; ``until`` is not itself inside.
        display_zone: Zone of values that have no offset.
        data_span: First and last instant that the data speak of (UTC microseconds), or None.

    Raises:
        UsageError: A value is no date, or the window is empty.
        NoDataError: There are no data, and an end is open.
    """
    if data_span is None and (since is None or until is None):
        raise NoDataError(NO_RUN)
    first, last = data_span or (0, 0)
    start = first if since is None else _instant("--since", since, display_zone)
    end = last + 1 if until is None else _instant("--until", until, display_zone)
    if end <= start:
        raise UsageError("--until is not after --since, so nothing lies between them")
    shown = [f"{from_us(at).astimezone(display_zone):%Y-%m-%d %H:%M}" for at in (start, end)]
    return Window(start, end, " to ".join(text.removesuffix(" 00:00") for text in shown))


def _instant(option: str, text: str, zone: ZoneInfo) -> int:
    try:
        return parse_instant(text, zone.key)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from None


def _named_month(text: str | None, now: int, zone: ZoneInfo) -> Window | None:
    if text is None or text == BARE:
        return None
    if text == "current":
        return month_of(now, zone)
    match = _MONTH.fullmatch(text)
    if match and 1 <= int(match.group(2)) <= 12 and 1970 <= int(match.group(1)) <= 9998:
        return month_window(int(match.group(1)), int(match.group(2)), zone)
    raise UsageError(f"--month {text!r} is no month; write 2026-05, last or current")


def _last_month(now: int, zone: ZoneInfo, data_span: tuple[int, int]) -> Window:
    """The last month that is complete; where none is, the newest one that has data."""
    months = months_between(*data_span, zone)
    complete = [month for month in months if is_complete(month, now, data_span)]
    return (complete or months)[-1]
