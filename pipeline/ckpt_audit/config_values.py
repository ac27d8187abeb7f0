"""Kinds of configuration values: what may stand for each, and one clear line where it may not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import date, datetime, time
from enum import Enum
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from ckpt_audit.linear import LinearPattern
from ckpt_audit.units import parse_duration_s, to_us

ACTIONS = ("merge", "split", "reclassify", "set", "exclude")
INCIDENT_KINDS = (
    "failure", "preemption", "mitigation", "planned", "operator_rollback", "unknown",
)  # fmt: skip
CAUSES = (
    "gpu", "host_memory", "node", "network", "storage", "scheduler", "preemption", "software",
    "data", "oom", "checkpoint_pointer", "operator", "unknown",
)  # fmt: skip
MOMENTS = ("fault_at", "detected_at", "launched_at", "load_started_at", "restored_at")
FIRST_YEAR, LAST_YEAR = 1970, 9998
GRADES = ("marker", "shards", "checksum", "loaded")


class Kind(Enum):
    """What a value must be."""

    TEXT = "text"
    PATH = "path"
    ZONE = "zone"
    COUNT = "count"
    AMOUNT = "amount"
    SHARE = "share"
    DURATION = "duration"
    INSTANT = "instant"
    GRADE = "grade"
    TABLE = "table"
    PATTERN = "pattern"
    ACTION = "action"
    INCIDENT_KIND = "kind"
    CAUSE = "cause"
    MOMENT = "moment"


def convert(kind: Kind, value: object, folder: Path, zone: str) -> object:
    """Turns a value of a file, a flag or the environment into the value that the program uses.

    Args:
        kind: What it must be.
        value: As read: text from flags and environment, any TOML type from a file.
        folder: Where a relative path begins.
        zone: IANA zone of an instant that has no offset.

    Raises:
        ValueError: It is something else; the message completes "this value ...".

    >>> convert(Kind.DURATION, "10m", Path(), "UTC")
    600.0
    """
    if kind is Kind.TABLE:
        return value
    if kind is Kind.TEXT:
        return _text(value)
    if kind is Kind.PATH:
        return folder / _text(value)
    if kind is Kind.ZONE:
        return check_zone(_text(value))
    if kind is Kind.COUNT:
        return _count(value)
    if kind in (Kind.AMOUNT, Kind.SHARE):
        return _amount(value, kind)
    if kind is Kind.DURATION:
        return _duration(value)
    if kind is Kind.INSTANT:
        return parse_instant(value, zone)
    if kind is Kind.PATTERN:
        return _pattern(value)
    if kind in _CHOICES:
        return _choice(value, _CHOICES[kind])
    return _grade(value)


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that names the word that was meant, as far as that can be told.

    >>> nearest("timezon", ["timezone", "topology"])
    "; did you mean 'timezone'?"
    """
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; known are {', '.join(sorted(names))}"


def check_zone(name: str) -> str:
    """Returns the name of a time zone, or refuses it.

    Raises:
        ValueError: There is no such zone.

    >>> check_zone("Europe/Berlin")
    'Europe/Berlin'
    """
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        close = difflib.get_close_matches(name, available_timezones(), n=1)
        hint = f"did you mean '{close[0]}'?" if close else "use one such as UTC or Europe/Berlin"
        raise ValueError(f"is no time zone ('{name}'); {hint}") from None
    return name


def parse_instant(value: object, zone: str) -> int:
    """Reads a date or a date and time as UTC microseconds.

    Args:
        value: A TOML date or datetime, or ISO 8601 text.
        zone: IANA zone where the value has no offset.

    Raises:
        ValueError: It is neither.

    >>> parse_instant("1970-01-02", "UTC")
    86400000000
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(
                f"must be a date such as 2026-05-01 or 2026-05-01T12:00, not {value!r}"
            ) from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise ValueError(f"must be a date or a date and time, not {_shown(value)}")
    if not FIRST_YEAR <= value.year <= LAST_YEAR:  # near the ends of the calendar zones overflow
        raise ValueError(f"must be of a year from {FIRST_YEAR} to {LAST_YEAR}, not {value.year}")
    return to_us(value if value.tzinfo else value.replace(tzinfo=ZoneInfo(zone)))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"must be a text, not {_shown(value)}")
    return value


def _count(value: object) -> int:
    if isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"must be a whole number of at least 1, not {_shown(value)}")
    return value


def _amount(value: object, kind: Kind) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ValueError(f"must be a number, not {_shown(value)}") from None
    top = 1.0 if kind is Kind.SHARE else float("inf")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= float(value) <= top or value == float("inf"):  # type: ignore[arg-type]
        wanted = "a share from 0 to 1" if kind is Kind.SHARE else "a number of at least 0"
        raise ValueError(f"must be {wanted}, not {_shown(value)}")
    return float(value)  # type: ignore[arg-type]


def _duration(value: object) -> float:
    if isinstance(value, str):
        try:
            return parse_duration_s(value)
        except ValueError as error:
            raise ValueError(f"must be a duration: {error}") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError(f"must be a duration such as 90s, 4m or 6h, not {_shown(value)}")
    return float(value)


_CHOICES = {
    Kind.ACTION: ACTIONS,
    Kind.INCIDENT_KIND: INCIDENT_KINDS,
    Kind.CAUSE: CAUSES,
    Kind.MOMENT: MOMENTS,
}


def _choice(value: object, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    raise ValueError(f"must be one of {', '.join(allowed)}, not {_shown(value)}")


def _pattern(value: object) -> str:
    """A regular expression for a line of a health log."""
    text = _text(value)
    groups = LinearPattern(text).names
    for name in ("time", "node", "verdict"):
        if name not in groups:
            raise ValueError(f"must name a group (?P<{name}>...)")
    return text


def _grade(value: object) -> str:
    if value not in GRADES:
        raise ValueError(f"must be one of {', '.join(GRADES)}, not {_shown(value)}")
    return str(value)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)
