"""Time zones: reading their names, giving clock readings a UTC instant, proving an offset.

A clock reading is the printed local time taken as if it were UTC, in microseconds. Readings and
instants are int64 arrays; ``NO_TIME`` stands for an unknown one.
"""

from __future__ import annotations

import difflib
import itertools
import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ckpt_audit.errors import ConfigError
from ckpt_audit.units import EPOCH, S_PER_DAY, S_PER_MIN, US_PER_DAY, US_PER_H, US_PER_S

I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NO_TIME = int(np.iinfo(np.int64).min)
QUARTER_US = US_PER_H // 4
MAX_OFFSET_US = 14 * US_PER_H
PAIR_TOLERANCE_US = 5 * US_PER_S  # two clocks that print the same moment
SKEW_US = 10 * US_PER_S  # by which clocks of one job differ
BACKWARD_US = S_PER_MIN * US_PER_S  # ranks differ by seconds; a clock put back differs by more

_FIXED = re.compile(r"([+-])(\d{2}):?(\d{2})")
_ODD_OFFSETS_H = (-9.5, -3.5, -2.5, 3.5, 4.5, 5.5, 5.75, 6.5, 8.75, 9.5, 10.5, 12.75, 13.75)
_REAL_OFFSETS = np.array(
    sorted([h * US_PER_H for h in range(-12, 15)] + [int(h * US_PER_H) for h in _ODD_OFFSETS_H]),
    dtype=np.int64,
)
_FIRST_YEAR, _LAST_YEAR = 1900, 2200


@dataclass(frozen=True, slots=True)
class Offsets:
    """Stretches of constant offset of a zone.

    Attributes:
        starts_us: Instant at which each stretch begins; the first begins before everything.
        offsets_us: What to add to an instant in the stretch to get the clock reading.
    """

    starts_us: I64
    offsets_us: I64


@dataclass(frozen=True, slots=True)
class Localised:
    """Instants of clock readings.

    Attributes:
        early: The instant; the first of two where the clock was put back.
        late: The same, but the second of two where the clock was put back.
        in_gap: The clock skipped this reading; it is moved forward by the length of the gap.
    """

    early: I64
    late: I64
    in_gap: Bools


@lru_cache(maxsize=256)
def zone(name: str) -> tzinfo:
    """The zone of a name: IANA (``Europe/Berlin``), ``UTC`` or a fixed offset (``+02:00``).

    Raises:
        ConfigError: There is no such zone; the message names the nearest ones.

    >>> zone("+05:30").utcoffset(None)
    datetime.timedelta(seconds=19800)
    """
    if name in {"UTC", "Z"}:
        return UTC
    fixed = _FIXED.fullmatch(name)
    if fixed is not None:
        size = timedelta(hours=int(fixed.group(2)), minutes=int(fixed.group(3)))
        if size <= timedelta(microseconds=MAX_OFFSET_US) and int(fixed.group(3)) < S_PER_MIN:
            return timezone(-size if fixed.group(1) == "-" else size)
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigError(_no_such_zone(name)) from error


def _no_such_zone(name: str) -> str:
    names = {entry.casefold(): entry for entry in zoneinfo.available_timezones()}
    names |= {entry.rsplit("/", 1)[-1]: full for entry, full in sorted(names.items())}
    near = difflib.get_close_matches(name.casefold(), sorted(names), n=6, cutoff=0.6)
    nearest = list(dict.fromkeys(names[entry] for entry in near))[:3]
    hint = f"did you mean {' or '.join(nearest)}?" if nearest else "no name is near it;"
    return f"{name!r} is no time zone: {hint} Use a name such as Europe/Berlin, UTC or +02:00"


def offset_name(offset_us: int) -> str:
    """The name of a fixed offset.

    >>> offset_name(-5 * 3_600_000_000), offset_name(0)
    ('-05:00', 'UTC')
    """
    minutes = abs(offset_us) // (S_PER_MIN * US_PER_S)
    sign = "-" if offset_us < 0 else "+"
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}" if offset_us else "UTC"


def _offset_s(tz: tzinfo, at_s: int) -> int:
    offset = (EPOCH + timedelta(seconds=at_s)).astimezone(tz).utcoffset() or timedelta(0)
    return round(offset.total_seconds())


@lru_cache(maxsize=1024)
def _year_of(name: str, year: int) -> tuple[tuple[int, int], ...]:
    """The changes of offset inside a year: (instant, offset from then on), in seconds."""
    tz = zone(name)
    begin = int(datetime(year, 1, 1, tzinfo=UTC).timestamp())
    end = int(datetime(year + 1, 1, 1, tzinfo=UTC).timestamp())
    changes: list[tuple[int, int]] = []
    before = _offset_s(tz, begin)
    for day_end in range(begin + S_PER_DAY, end + S_PER_DAY, S_PER_DAY):
        after = _offset_s(tz, day_end)
        if after == before:
            continue
        low, high = day_end - S_PER_DAY, day_end
        while high - low > 1:
            middle = (low + high) // 2
            if _offset_s(tz, middle) == before:
                low = middle
            else:
                high = middle
        changes.append((high, after))
        before = after
    return tuple(change for change in changes if change[0] <= end)


@lru_cache(maxsize=256)
def _offsets_of_years(name: str, first: int, last: int) -> Offsets:
    begin = int(datetime(first, 1, 1, tzinfo=UTC).timestamp())
    stretches = {-(2**62): _offset_s(zone(name), begin) * US_PER_S}
    for year in range(first, last + 1):
        for at_s, offset_s in _year_of(name, year):
            stretches[at_s * US_PER_S] = offset_s * US_PER_S
    return Offsets(
        np.array(list(stretches), dtype=np.int64),
        np.array(list(stretches.values()), dtype=np.int64),
    )


def offsets_between(name: str, low_us: int, high_us: int) -> Offsets:
    """The offsets of a zone from one reading or instant to another, with days to spare.

    Args:
        name: Name of the zone.
        low_us, high_us: The range, in microseconds; years are cut to 1900..2200.
    """
    if not isinstance(zone(name), zoneinfo.ZoneInfo):
        return _offsets_of_years(name, 2000, 2000)
    years = [
        int(np.datetime64(us, "us").astype("datetime64[Y]").astype(np.int64)) + 1970
        for us in (low_us - 2 * US_PER_DAY, high_us + 2 * US_PER_DAY)
    ]
    first, last = (min(max(year, _FIRST_YEAR), _LAST_YEAR) for year in years)
    return _offsets_of_years(name, first, last)


def localise(readings: I64, name: str) -> Localised:
    """Gives clock readings of a zone their instants.

    Args:
        readings: Readings, none of them ``NO_TIME``.
        name: Name of the zone.
    """
    if not len(readings):
        return Localised(readings, readings, np.zeros(0, dtype=np.bool_))
    table = offsets_between(name, int(readings.min()), int(readings.max()))
    ends = table.starts_us[1:] + table.offsets_us[:-1]  # reading at which a stretch ends
    begins = table.starts_us[1:] + table.offsets_us[1:]  # reading at which the next one begins
    first = np.searchsorted(ends, readings, side="right")
    last = np.searchsorted(begins, readings, side="right")
    in_gap = last < first
    early = readings - table.offsets_us[np.where(in_gap, last, first)]
    late = readings - table.offsets_us[last]
    return Localised(early, late, in_gap)


def readings_of(instants: I64, name: str) -> I64:
    """What a clock in a zone shows at instants, none of them ``NO_TIME``."""
    if not len(instants):
        return instants
    table = offsets_between(name, int(instants.min()), int(instants.max()))
    return instants + table.offsets_us[np.searchsorted(table.starts_us, instants, "right") - 1]


def settle_folds(
    early: I64, late: I64, not_before: int = NO_TIME, spent_us: I64 | None = None
) -> I64:
    """Chooses between the two instants of readings from when the clock was put back.

    A reading is of the first pass until the readings jump backward; later ones are of the second,
    except those of a clock that is a few seconds late and not put back yet.

    Args:
        early: First of two instants, in the order of the file.
        late: Second of two, equal to ``early`` where there is no choice.
        not_before: An instant that the first reading cannot be before, as the start of the job
            is; ``NO_TIME`` if nothing tells.
        spent_us: Time since the reading before that lines in between account for.
    """
    chosen = early.copy()
    reached = np.maximum.accumulate(early) if len(early) else early
    newest = NO_TIME  # latest choice for the second pass
    for i in np.flatnonzero(early != late):
        before = max(newest, int(reached[i - 1]) if i else not_before)
        is_second = newest != NO_TIME and before - newest < 2 * US_PER_H
        slack = SKEW_US if is_second else BACKWARD_US
        since = 0 if spent_us is None else int(spent_us[i])
        if before != NO_TIME and early[i] < before + since - slack:
            chosen[i] = late[i]
            newest = max(newest, int(late[i]))
    return chosen


def settle_job(
    early: tuple[int | None, ...], late: tuple[int | None, ...], elapsed_us: int | None
) -> tuple[int | None, ...]:
    """Chooses among two instants each of submit, eligible, start and end of one job.

    The order submit, start, end is kept where possible; end less start is as near to the elapsed
    time as possible; the first pass of the clock is preferred.

    Args:
        early: First of two instants each, or None.
        late: Second of two each, or None.
        elapsed_us: How long the job ran, or None.
    """

    def badness(choice: tuple[int | None, ...]) -> tuple[int, int, int]:
        submit, _eligible, start, end = choice
        order = [at for at in (submit, start, end) if at is not None]
        wrong = sum(one > other for one, other in itertools.pairwise(order))
        off = 0
        if elapsed_us is not None and start is not None and end is not None:
            off = abs(end - start - elapsed_us)
        return wrong, off, sum(at for at in choice if at is not None)

    pairs = [(a,) if a == b else (a, b) for a, b in zip(early, late, strict=True)]
    return min(itertools.product(*pairs), key=badness)


def paired_clocks(naive: I64, utc: I64) -> tuple[I64, I64]:
    """Neighbours of which one has a naive reading and the other an instant.

    Args:
        naive: Naive readings of dated rows in file order, ``NO_TIME`` where the row has none.
        utc: Instants of the same rows, ``NO_TIME`` where the row has none.

    Returns:
        Readings and instants of the pairs.
    """
    forward = (naive[:-1] != NO_TIME) & (utc[1:] != NO_TIME)
    backward = (utc[:-1] != NO_TIME) & (naive[1:] != NO_TIME)
    return (
        np.concatenate([naive[:-1][forward], naive[1:][backward]]),
        np.concatenate([utc[1:][forward], utc[:-1][backward]]),
    )


def proved_zone(naive: I64, utc: I64, machine_zone: str) -> str | None:
    """The zone that pairs of clocks prove.

    The machine's own zone is taken when it explains the pairs, because its name knows the
    changes of the clock; else a fixed offset that exists somewhere, when at least a fifth of the
    pairs agree on it and at most a third of the matching ones on others.

    Args:
        naive: Naive readings.
        utc: Instants at about the same moments.
        machine_zone: Name of the machine's zone.
    """
    difference = naive - utc
    near = _REAL_OFFSETS[
        np.clip(np.searchsorted(_REAL_OFFSETS, difference), 1, len(_REAL_OFFSETS) - 1)
    ]
    below = _REAL_OFFSETS[
        np.clip(np.searchsorted(_REAL_OFFSETS, difference) - 1, 0, len(_REAL_OFFSETS) - 1)
    ]
    nearest = np.where(np.abs(difference - below) <= np.abs(difference - near), below, near)
    matching = np.abs(difference - nearest) <= PAIR_TOLERANCE_US
    values, counts = np.unique(nearest[matching], return_counts=True)
    if not len(values):
        return None
    of_machine = readings_of(utc, machine_zone) - utc
    n_machine = int((matching & (nearest == of_machine)).sum())
    n_best, enough = int(counts.max()), 1 + len(naive) // 5
    n_matching = int(counts.sum())
    if n_machine >= max(enough, 2 * n_matching / 3):
        return machine_zone
    if n_best < max(enough, 2 * n_matching / 3):
        return None
    return offset_name(int(values[int(counts.argmax())]))
