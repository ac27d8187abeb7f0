"""Which month is meant."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from ckpt_audit.errors import NoDataError, UsageError
from ckpt_audit.units import to_us
from ckpt_audit.windows import is_complete, month_of, months_between, parse_month, parse_range

ZONE = ZoneInfo("UTC")


def at(text: str) -> int:
    return to_us(datetime.fromisoformat(text).replace(tzinfo=UTC))


def span(first: str, last: str) -> tuple[int, int]:
    return at(first), at(last)


APRIL_TO_MAY = span("2026-04-10", "2026-05-31T23:50")


@pytest.mark.parametrize(
    ("now", "data", "expected"),
    [
        ("2026-06-02", APRIL_TO_MAY, "2026-05"),
        ("2026-12-02", APRIL_TO_MAY, "2026-05"),
        ("2026-05-20", span("2026-04-10", "2026-05-20"), "2026-04"),
        # the month under way, where none is over
        ("2026-05-20", span("2026-05-10", "2026-05-20"), "2026-05"),
        # May is over, and the data do not go on to its end
        ("2026-06-02", span("2026-04-10", "2026-05-20"), "2026-04"),
        ("2026-12-02", span("2026-05-02", "2026-05-20"), "2026-05"),
        # a day of slack at the end
        ("2026-07-02", span("2026-04-10", "2026-05-30T01:00"), "2026-04"),
        ("2026-07-02", span("2026-04-10", "2026-05-31T01:00"), "2026-05"),
        # a sliver of the next month makes no month
        ("2026-11-28", span("2026-04-28", "2026-06-02T09:00"), "2026-05"),
        ("2026-07-02", span("2026-05-01", "2026-06-01T00:05"), "2026-05"),
        ("2026-07-02", span("2026-05-31T23:30", "2026-06-01T01:30"), "2026-05"),
        # nothing is complete: the newest that has data
        ("2026-07-02", span("2026-05-31T22:00", "2026-05-31T22:30"), "2026-05"),
        ("2026-05-20", span("2026-05-19T22:00", "2026-05-20"), "2026-05"),
    ],
)
def test_bare_month_is_the_last_complete_one_that_has_data(
    now: str, data: tuple[int, int], expected: str
) -> None:
    assert parse_month(None, at(now), ZONE, data).label == expected
    assert parse_month("last", at(now), ZONE, data).label == expected


def test_named_months() -> None:
    now = at("2026-05-20")
    assert parse_month("2026-04", now, ZONE, APRIL_TO_MAY).label == "2026-04"
    assert parse_month("2026-5", now, ZONE, APRIL_TO_MAY).label == "2026-05"
    assert parse_month("current", now, ZONE, APRIL_TO_MAY).label == "2026-05"
    with pytest.raises(NoDataError, match="no data in 2026-03; they go from 2026-04 to 2026-05"):
        parse_month("2026-03", now, ZONE, APRIL_TO_MAY)
    with pytest.raises(NoDataError, match="holds no run"):
        parse_month(None, now, ZONE, None)
    for wrong in ("may", "2026-13", "2026-00", "26-05", "2026-05-01", "0001-01"):
        with pytest.raises(UsageError, match="write 2026-05, last or current"):
            parse_month(wrong, now, ZONE, APRIL_TO_MAY)


def test_borders_are_those_of_the_display_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    march = month_of(at("2026-03-15"), berlin)
    assert march.start_at == at("2026-02-28T23:00")
    assert march.end_at == at("2026-03-31T22:00")  # summer time has begun
    assert month_of(at("2026-02-28T23:00"), berlin) == march
    december = month_of(at("2026-12-31T12:00"), ZONE)
    assert december.end_at == at("2027-01-01")


def test_months_between_are_all_and_touch() -> None:
    months = months_between(*span("2025-11-30T23:00", "2026-02-01"), ZONE)
    assert [month.label for month in months] == ["2025-11", "2025-12", "2026-01", "2026-02"]
    assert all(a.end_at == b.start_at for a, b in itertools.pairwise(months))


def test_complete_means_over_and_covered() -> None:
    may = month_of(at("2026-05-15"), ZONE)
    assert is_complete(may, at("2026-06-01"), APRIL_TO_MAY)
    assert not is_complete(may, at("2026-05-31"), APRIL_TO_MAY)
    assert not is_complete(may, at("2026-07-01"), span("2026-05-01", "2026-05-20"))


def test_ranges() -> None:
    week = parse_range("2026-05-01", "2026-05-08", ZONE, None)
    assert (week.start_at, week.end_at) == span("2026-05-01", "2026-05-08")
    assert week.label == "2026-05-01 to 2026-05-08"
    open_end = parse_range("2026-05-01T12:30", None, ZONE, APRIL_TO_MAY)
    assert open_end.end_at == APRIL_TO_MAY[1] + 1
    assert open_end.label == "2026-05-01 12:30 to 2026-05-31 23:50"
    with pytest.raises(UsageError, match="--until is not after --since"):
        parse_range("2026-05-02", "2026-05-02", ZONE, APRIL_TO_MAY)
    with pytest.raises(UsageError, match="--since must be a date"):
        parse_range("soon", None, ZONE, APRIL_TO_MAY)
    with pytest.raises(NoDataError):
        parse_range("2026-05-02", None, ZONE, None)
