"""What a printed number can be at most; beyond it the line is damaged.

Every number that a reader puts into an integer column comes through here.
"""

from __future__ import annotations

from ckpt_audit.units import US_PER_DAY

STEP_LIMIT = 10**12
COUNT_LIMIT = 1 << 62
SMALL_LIMIT = 1 << 31  # ranks and codes
DURATION_LIMIT_US = 36_525 * US_PER_DAY
_SHOWN = 20
_FRACTION_DIGITS = 15


class ImplausibleError(ValueError):
    """A number that cannot be true; the text says which, and what follows."""


def whole(digits: str, what: str, limit: int = COUNT_LIMIT) -> int:
    """Reads a whole number.

    Args:
        digits: Decimal digits, perhaps after a minus.
        what: What the number is, for the error.
        limit: Its size must be less.

    Raises:
        ImplausibleError: It is not.

    >>> whole("-15", "exit code")
    -15
    """
    size = digits.removeprefix("-").lstrip("0")
    if len(size) > len(str(limit)) or int(size or "0") >= limit:
        raise ImplausibleError(_too_large(what, digits))
    return -int(size or "0") if digits.startswith("-") else int(size or "0")


def duration_us(number: str, unit_us: int, what: str) -> int:
    """Reads a number of units, with a point or an exponent perhaps, as microseconds.

    Raises:
        ImplausibleError: It is a hundred years or more.

    >>> duration_us("950.6", 1000, "time"), duration_us("1.5e2", 1_000_000, "time")
    (950600, 150000000)
    """
    if not float(number) * unit_us < DURATION_LIMIT_US:
        raise ImplausibleError(_too_large(what, number))
    head, _, decimals = number.partition(".")
    if not (head + decimals).isdigit():
        return round(float(number) * unit_us)
    decimals = decimals[:_FRACTION_DIGITS]
    return rescaled_us(int(head.lstrip("0") + decimals or "0"), len(decimals), unit_us)


def rescaled_us(digits: int, n_decimals: int, unit_us: int) -> int:
    """The same from the digits without their point."""
    scale: int = 10**n_decimals
    return digits * (unit_us // scale) if unit_us % scale == 0 else round(digits * unit_us / scale)


def _too_large(what: str, number: str) -> str:
    shown = number if len(number) <= _SHOWN else f"{number[:_SHOWN]}..."
    return f"{what} {shown} is too large to be true; is the file damaged there?"
