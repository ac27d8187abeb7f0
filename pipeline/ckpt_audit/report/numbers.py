"""Numbers as a reader sees them: never finer than they are, never 0.0 or 100% unless exact.

Every function takes None for unknown and says "unknown".
"""

from __future__ import annotations

import hashlib
import math
import re

from ckpt_audit.units import S_PER_H, US_PER_H, format_duration, from_us

UNKNOWN = "unknown"


def hours(duration_s: float | None) -> str:
    """A duration in hours with one decimal.

    >>> [hours(v) for v in (None, 0.0, 9.0, 3600.0, 5_400_000.0, -9.0)]
    ['unknown', '0.0 h', '<0.1 h', '1.0 h', '1,500.0 h', '>-0.1 h']
    """
    return UNKNOWN if duration_s is None else f"{_tenths(duration_s / S_PER_H)} h"


def hours_us(duration_us: int | None) -> str:
    """Microseconds as hours with one decimal.

    >>> hours_us(3_600_000_000)
    '1.0 h'
    """
    return UNKNOWN if duration_us is None else f"{_tenths(duration_us / US_PER_H)} h"


def bare_hours(duration_s: float | None) -> str:
    """Hours without the unit, for a column whose head names it.

    >>> bare_hours(7200.0), bare_hours(None)
    ('2.0', 'unknown')
    """
    return UNKNOWN if duration_s is None else _tenths(duration_s / S_PER_H)


def whole_hours(duration_s: float | None) -> str:
    """Large amounts (accelerator-hours) without decimals from 100 on.

    >>> [whole_hours(v) for v in (None, 0.0, 180_000.0, 3_600_000_000.0)]
    ['unknown', '0.0', '50.0', '1,000,000']
    """
    if duration_s is None:
        return UNKNOWN
    value = duration_s / S_PER_H
    return _tenths(value) if abs(value) < 100 else f"{value:,.0f}"


def _tenths(value: float) -> str:
    if not math.isfinite(value):
        return "no upper limit"
    if value != 0 and abs(value) < 0.05:
        return "<0.1" if value > 0 else ">-0.1"
    return f"{value:,.1f}"


def signed_hours(duration_s: float | None) -> str:
    r"""Hours with their sign, for a difference.

    >>> tuple(signed_hours(v) for v in (3600.0, -7200.0, 0.0)) == ("+1.0", "\u22122.0", "0.0")
    True
    """
    if duration_s is None:
        return UNKNOWN
    value = duration_s / S_PER_H
    if round(abs(value), 1) == 0:
        return "0.0" if value == 0 else "under 0.1"
    sign = "+" if value > 0 else "\N{MINUS SIGN}"
    return f"{sign}{abs(value):,.1f}"


def share(part: float | None, whole: float | None) -> str:
    """A part of a whole in percent, one decimal; 0.0% and 100.0% only where exact.

    >>> [share(p, 1000.0) for p in (0.0, 0.01, 913.0, 999.9, 1000.0)]
    ['0.0%', '<0.1%', '91.3%', '>99.9%', '100.0%']
    >>> share(1.0, 0.0)
    'unknown'
    """
    if part is None or whole is None or not whole:
        return UNKNOWN
    percent = 100.0 * part / whole
    if part != 0 and abs(percent) < 0.05:
        return "<0.1%"
    if part != whole and 99.95 <= percent < 100:
        return ">99.9%"
    return f"{percent:,.1f}%"


def duration(duration_s: float | None) -> str:
    """A duration in the unit that fits; infinite is "no upper limit".

    >>> duration(3220.0), duration(None), duration(float("inf"))
    ('53.7 min', 'unknown', 'no upper limit')
    """
    if duration_s is None:
        return UNKNOWN
    if not math.isfinite(duration_s):
        return "no upper limit"
    return "0 s" if duration_s == 0 else format_duration(duration_s)


def between(low_s: float | None, high_s: float | None) -> str:
    """An interval of durations in words.

    >>> between(3600.0, 7200.0), between(3600.0, float("inf")), between(None, None)
    ('60.0 min to 2.0 h', '60.0 min or more', 'unknown')
    """
    if low_s is None and high_s is None:
        return UNKNOWN
    if high_s is None or not math.isfinite(high_s):
        return f"{duration(low_s)} or more"
    if low_s is None:
        return f"up to {duration(high_s)}"
    return f"{duration(low_s)} to {duration(high_s)}"


def rate(value: float | None) -> str:
    """Three significant digits.

    >>> rate(0.019734), rate(None), rate(0.0)
    ('0.0197', 'unknown', '0')
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return "0" if value == 0 else f"{value:#.3g}".removesuffix(".")


def whole(count: int | None) -> str:
    """A count with thousands set apart.

    >>> whole(1234567), whole(None)
    ('1,234,567', 'unknown')
    """
    return UNKNOWN if count is None else f"{count:,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count and its noun.

    >>> plural(0, "incident"), plural(1, "incident"), plural(2, "retry", "retries")
    ('no incidents', '1 incident', '2 retries')
    """
    noun = one if count == 1 else (many or one + "s")
    return f"no {noun}" if count == 0 else f"{count:,} {noun}"


def probability(value: float) -> str:
    """Two decimals, never 0 or 1 for what is uncertain.

    >>> probability(0.9999), probability(0.5), probability(0.001)
    ('above 0.99', '0.50', 'below 0.01')
    """
    if value > 0.994:
        return "above 0.99"
    return "below 0.01" if value < 0.005 else f"{value:.2f}"


def money(amount: float | None) -> str:
    """An amount of capacity in the currency of the price, without decimals.

    >>> money(12345.6), money(0.4)
    ('12,346', 'under 1')
    """
    if amount is None:
        return UNKNOWN
    if 0 < amount < 1:
        return "under 1"
    return f"{amount:,.0f}"


def date_time(at_us: int | None) -> str:
    """An instant to the minute, UTC.

    >>> date_time(0), date_time(None)
    ('1970-01-01 00:00', 'unknown')
    """
    return UNKNOWN if at_us is None else f"{from_us(at_us):%Y-%m-%d %H:%M}"


def day_time(at_us: int | None) -> str:
    """An instant in a sentence, without the year.

    >>> day_time(0), day_time(None)
    ('1 Jan 00:00', 'at an unknown time')
    """
    if at_us is None:
        return "at an unknown time"
    at = from_us(at_us)
    return f"{at.day} {at:%b %H:%M}"


def date_time_s(at_us: int | None) -> str:
    """An instant to the second, UTC.

    >>> date_time_s(1_500_000)
    '1970-01-01 00:00:01'
    """
    return UNKNOWN if at_us is None else f"{from_us(at_us):%Y-%m-%d %H:%M:%S}"


def bytes_size(n_bytes: int) -> str:
    """A size in decimal units.

    >>> bytes_size(999), bytes_size(1_500_000)
    ('999 B', '1.5 MB')
    """
    value, unit = float(n_bytes), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"


def slug(name: str) -> str:
    """An anchor for a name: the name itself where it is safe, else cleaned with a short hash.

    >>> slug("llama-s12345-1")
    'llama-s12345-1'
    >>> slug("a b") != slug("a_b") and slug("a b").startswith("a-b-")
    True
    """
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name):
        return name
    clean = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40] or "x"
    return f"{clean}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
