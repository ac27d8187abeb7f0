"""Clock readings as logs print them, and what each needs before it is an instant."""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from ckpt_audit.ingest.formats._bounds import DURATION_LIMIT_US, ImplausibleError
from ckpt_audit.records import ClockKind
from ckpt_audit.units import S_PER_H, S_PER_MIN, US_PER_MS, US_PER_S, from_us, to_us

NO_YEAR = 2000  # readings without a year are put here
FIRST_YEAR, LAST_YEAR = 2000, 2099  # a host's clock that says otherwise was wrong
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_MONTH = "(?:" + "|".join(_MONTHS) + ")"
_CLOCK = r"\d\d:\d\d:\d\d"

ISO = rf"\d{{4}}-\d\d-\d\d[ T_]{_CLOCK}(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d(?![\d-]))?"
GLOG = rf"[EWIF]\d{{3,4}} {_CLOCK}\.\d{{6,9}}"
CTIME = rf"[A-Z][a-z]{{2}} {_MONTH} [ \d]\d {_CLOCK} \d{{4}}"
SYSLOG = rf"{_MONTH} [ \d]\d {_CLOCK}"
MONOTONIC = r"\[ *\d+\.\d{6}\]"

_ISO_PARTS = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T_](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?"
)
_GLOG_PARTS = re.compile(r"[EWIF](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6,9})")
_CTIME_PARTS = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})")
_SYSLOG_PARTS = re.compile(r"([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d)")
_SECONDS_DIGITS = 12
_IN_JOB_LOG = re.compile(rf"(?<![\w.-])(?:(?P<iso>{ISO})|(?P<glog>{GLOG})|(?P<ctime>{CTIME}))")


class Stamp(NamedTuple):
    """A clock reading.

    Attributes:
        clock_us: The reading (see ``records.ClockKind``), or None.
        kind: What it needs before it is an instant.
        resolution_us: How fine it is printed.
    """

    clock_us: int | None
    kind: ClockKind
    resolution_us: int


UNDATED = Stamp(None, ClockKind.UNDATED, 0)


@lru_cache(maxsize=4096)
def day_us(year: int, month: int, day: int) -> int:
    """Microseconds from the epoch to a day's beginning, read as UTC.

    Raises:
        ValueError: There is no such day.
    """
    return to_us(datetime(year, month, day, tzinfo=UTC))


_FIRST_US, _END_US = day_us(FIRST_YEAR, 1, 1), day_us(LAST_YEAR + 1, 1, 1)


def check_year(clock_us: int) -> None:
    """Checks that an instant is of a year in which such a line can have been written.

    Raises:
        ImplausibleError: It is not.
    """
    if _FIRST_US <= clock_us < _END_US:
        return
    year = from_us(min(max(clock_us, day_us(1, 1, 1)), day_us(9999, 12, 31))).year
    raise ImplausibleError(
        f"stamp of year {year}: the host's clock was wrong; correct the stamp to have the line read"
    )


def checked(stamp: Stamp) -> Stamp:
    """The same reading.

    Raises:
        ImplausibleError: It cannot be true.
    """
    if stamp.clock_us is None:
        return stamp
    if stamp.kind is not ClockKind.MONOTONIC:
        check_year(stamp.clock_us)
    elif stamp.clock_us >= DURATION_LIMIT_US:
        raise ImplausibleError("stamp of more than a hundred years after the host's start")
    return stamp


def _time_us(hour: str, minute: str, second: str) -> int:
    h, m, s = int(hour), int(minute), int(second)
    if h > 23 or m > 59 or s > 60:  # a leap second is printed as 60
        raise ValueError(f"{hour}:{minute}:{second} is no time of day")
    return (h * S_PER_H + m * S_PER_MIN + s) * US_PER_S


def fraction_us(digits: str | None) -> tuple[int, int]:
    """A printed fraction of a second in microseconds, and its resolution.

    >>> fraction_us("5"), fraction_us("123456789"), fraction_us(None)
    ((500000, 1000), (123456, 1), (0, 1000000))
    """
    if not digits:
        return 0, US_PER_S
    return int(digits[:6].ljust(6, "0")), US_PER_MS if len(digits) <= 3 else 1


def _zone_us(zone: str) -> int:
    if zone == "Z":
        return 0
    size = int(zone[1:3]) * S_PER_H + int(zone[-2:]) * S_PER_MIN
    return (-size if zone[0] == "-" else size) * US_PER_S


def read_iso(text: str) -> Stamp:
    """Reads ``2026-05-19 20:53:39``, with ``T`` or ``_``, a fraction and an offset if printed.

    >>> read_iso("1970-01-01T01:00:00,250+01:00")
    Stamp(clock_us=250000, kind=<ClockKind.UTC: 'utc'>, resolution_us=1000)
    """
    parts = _ISO_PARTS.match(text)
    if parts is None:
        return UNDATED
    date, hour, minute, second, digits, zone = parts.groups()
    try:
        day = day_us(int(date[:4]), int(date[5:7]), int(date[8:]))
        clock = day + _time_us(hour, minute, second)
    except ValueError:
        return UNDATED
    fraction, resolution = fraction_us(digits)
    if zone is None:
        return Stamp(clock + fraction, ClockKind.NAIVE, resolution)
    return Stamp(clock + fraction - _zone_us(zone), ClockKind.UTC, resolution)


def read_glog(text: str) -> Stamp:
    """Reads ``E0519 20:53:39.411000``; C++ code prints the month without padding (``E321``)."""
    parts = _GLOG_PARTS.match(text)
    if parts is None:
        return UNDATED
    month, day, hour, minute, second, digits = parts.groups()
    return _without_year(int(month), int(day), (hour, minute, second), digits)


def read_ctime(text: str) -> Stamp:
    """Reads ``Wed Jul 31 23:14:18 2024``."""
    parts = _CTIME_PARTS.match(text)
    if parts is None:
        return UNDATED
    month, day, hour, minute, second, year = parts.groups()
    try:
        clock = day_us(int(year), _MONTHS[month], int(day)) + _time_us(hour, minute, second)
    except ValueError:
        return UNDATED
    return Stamp(clock, ClockKind.NAIVE, US_PER_S)


def read_syslog(text: str) -> Stamp:
    """Reads ``May 19 07:08:57``."""
    parts = _SYSLOG_PARTS.match(text)
    if parts is None:
        return UNDATED
    month, day, hour, minute, second = parts.groups()
    return _without_year(_MONTHS.get(month, 0), int(day), (hour, minute, second), None)


def read_monotonic(text: str) -> Stamp:
    """Reads ``[680111.646286]``: seconds since the host booted."""
    seconds, _, digits = text.strip("[] ").partition(".")
    seconds = seconds.lstrip("0")[:_SECONDS_DIGITS] or "0"  # with as many it is too large anyway
    return Stamp(int(seconds) * US_PER_S + int(digits), ClockKind.MONOTONIC, 1)


def _without_year(month: int, day: int, time: tuple[str, str, str], digits: str | None) -> Stamp:
    try:
        clock = day_us(NO_YEAR, month, day) + _time_us(*time)
    except ValueError:
        return UNDATED
    fraction, resolution = fraction_us(digits)
    return Stamp(clock + fraction, ClockKind.NO_YEAR, resolution)


def has_stamp(text: str) -> bool:
    """Whether something in a line has the form of a clock reading, possible or not."""
    return _IN_JOB_LOG.search(text) is not None


_READERS = {"iso": read_iso, "glog": read_glog, "ctime": read_ctime}


def nearest_stamp(text: str, at: int) -> tuple[Stamp, tuple[int, int] | None]:
    """The last clock reading that ends before a place in a line, and where it stands.

    Lines get joined, so that the reading at the line's beginning may be another event's.
    """
    found = _stamps_in(text)
    which = bisect_right(found, at, key=lambda item: item[1][1])
    return found[which - 1] if which else (UNDATED, None)


@lru_cache(maxsize=4)
def _stamps_in(text: str) -> list[tuple[Stamp, tuple[int, int]]]:
    """All clock readings of a line, found once however many places of it are asked about."""
    read = (
        (_READERS[match.lastgroup or ""](match.group()), match.span())
        for match in _IN_JOB_LOG.finditer(text)
    )
    return [item for item in read if item[0].clock_us is not None]
