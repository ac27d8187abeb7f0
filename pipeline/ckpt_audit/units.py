"""Units of time and their text forms; the only place that knows how many seconds an hour has.

Instants are integers: microseconds since 1970-01-01T00:00:00Z. Durations are integer microseconds
inside the pipeline and float seconds in results.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

US_PER_MS = 1_000
US_PER_S = 1_000_000
S_PER_MIN = 60
S_PER_H = 3600
S_PER_DAY = 86_400
US_PER_H = S_PER_H * US_PER_S
US_PER_DAY = S_PER_DAY * US_PER_S

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d|w)?\s*")
_FACTOR_S = {
    "ms": 0.001,
    "s": 1.0,
    None: 1.0,
    "m": float(S_PER_MIN),
    "min": float(S_PER_MIN),
    "h": float(S_PER_H),
    "d": float(S_PER_DAY),
    "w": 7.0 * S_PER_DAY,
}


def to_us(instant: datetime) -> int:
    """Turns an aware datetime into microseconds since the epoch.

    Raises:
        ValueError: The datetime has no zone.

    >>> to_us(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    if instant.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    return (instant - EPOCH) // timedelta(microseconds=1)


def from_us(at_us: int) -> datetime:
    """Turns microseconds since the epoch into an aware UTC datetime.

    >>> from_us(1_500_000).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    return EPOCH + timedelta(microseconds=at_us)


def iso(at_us: int | None) -> str | None:
    """ISO 8601 with offset, or None for an unknown instant.

    >>> iso(0)
    '1970-01-01T00:00:00+00:00'
    """
    return None if at_us is None else from_us(at_us).isoformat()


def seconds(duration_us: int | None) -> float | None:
    """Microseconds as seconds, or None for an unknown duration.

    >>> seconds(1_500_000)
    1.5
    """
    return None if duration_us is None else duration_us / US_PER_S


def parse_duration_s(text: str) -> float:
    """Reads a duration such as ``90``, ``90s``, ``4m``, ``6h``, ``1d`` or ``1h30m`` as seconds.

    Raises:
        ValueError: The text is no duration.

    >>> parse_duration_s("4m"), parse_duration_s("90"), parse_duration_s("1h30m")
    (240.0, 90.0, 5400.0)
    """
    total, position = 0.0, 0
    while position < len(text):
        match = _DURATION.match(text, position)
        if match is None or match.end() == position:
            raise ValueError(f"{text!r} is no duration (try 90s, 4m, 6h or 1d)")
        total += float(match.group(1)) * _FACTOR_S[match.group(2)]
        position = match.end()
    if not text.strip():
        raise ValueError("an empty text is no duration (try 90s, 4m, 6h or 1d)")
    return total


def format_duration(duration_s: float | None) -> str:
    """A duration in a unit that fits, for people.

    >>> [format_duration(v) for v in (None, 0.25, 42.4, 250.0, 3220.0, 86400.0 * 3)]
    ['unknown', '0.25 s', '42.4 s', '4.2 min', '53.7 min', '72.0 h']
    """
    if duration_s is None:
        return "unknown"
    sign, size = ("-" if duration_s < 0 else ""), abs(duration_s)
    if size < 1:
        return f"{sign}{size:.2f} s"
    if size < 2 * S_PER_MIN:
        return f"{sign}{size:.1f} s"
    if size < 2 * S_PER_H:
        return f"{sign}{size / S_PER_MIN:.1f} min"
    return f"{sign}{size / S_PER_H:.1f} h"
