"""Clock readings: every instant in the simulation is an integer of microseconds, UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(text: str) -> int:
    """Read ``YYYY-MM-DDTHH:MM:SS`` as UTC microseconds."""
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def seconds(value: float) -> int:
    """Turn seconds into whole microseconds."""
    return round(value * SECOND)


def floor_second(at: int) -> int:
    """Cut an instant to the second before it."""
    return at - at % SECOND


def ceil_second(at: int) -> int:
    """Move an instant to the next whole second."""
    return -(-at // SECOND) * SECOND


def _when(at: int) -> datetime:
    return _EPOCH + timedelta(microseconds=at)


def iso(at: int) -> str:
    """ISO 8601 with microseconds and offset, as the truth is written."""
    return _when(at).isoformat(timespec="microseconds")


def iso_or_none(at: int | None) -> str | None:
    """Like :func:`iso`, and ``None`` for an unseen moment."""
    return None if at is None else iso(at)


def slurm(at: int) -> str:
    """Slurm's ``2026-05-01T12:00:00``."""
    return _when(at).strftime("%Y-%m-%dT%H:%M:%S")


def plain(at: int, micros: bool = False) -> str:
    """The trainer's ``2026-05-01 12:00:00``, with microseconds when asked."""
    return _when(at).strftime("%Y-%m-%d %H:%M:%S" + (".%f" if micros else ""))


def elastic(at: int) -> str:
    """The launcher's failure table: ``2026-05-01_12:00:00``."""
    return _when(at).strftime("%Y-%m-%d_%H:%M:%S")


def glog_python(at: int) -> str:
    """The launcher's ``0504 03:12:56.123000``: padded month, milliseconds, no year."""
    when = _when(at)
    return when.strftime("%m%d %H:%M:%S.") + f"{when.microsecond // 1000:03d}000"


def glog_cpp(at: int, nanos: int) -> str:
    """The communication library's ``504 03:22:44.123456789``: unpadded month, no year."""
    when = _when(at)
    return f"{when.month}" + when.strftime("%d %H:%M:%S.%f") + f"{nanos:03d}"


def kernel(at: int) -> str:
    """Kernel log: ``2026-05-04T03:12:44,287197+00:00``."""
    return _when(at).strftime("%Y-%m-%dT%H:%M:%S,%f+00:00")
