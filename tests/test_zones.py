"""Zones: names, changes of the clock, years, proofs."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_audit.clock_years import complete_years, only_year_inside
from ckpt_audit.errors import ConfigError
from ckpt_audit.units import US_PER_H, US_PER_S, iso, to_us
from ckpt_audit.zones import (
    NO_TIME,
    localise,
    paired_clocks,
    proved_zone,
    readings_of,
    settle_folds,
    settle_job,
    zone,
)


def us(text: str) -> int:
    return to_us(datetime.fromisoformat(text).replace(tzinfo=UTC))


def array(*texts: str) -> np.ndarray:
    return np.array([us(text) for text in texts], dtype=np.int64)


def instants(tz: str, *texts: str) -> list[str]:
    found = localise(array(*texts), tz)
    return [str(iso(int(at)))[:19] for at in settle_folds(found.early, found.late)]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("America/NewYork", "America/New_York"),
        ("+25:00", "no time zone"),
        ("../etc/passwd", "no time zone"),
        ("Europe", "no time zone"),
    ],
)
def test_a_wrong_name_says_the_nearest_right_ones(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        zone(name)


@pytest.mark.parametrize(
    ("tz", "reading", "expected"),
    [
        ("UTC", "2026-07-01T12:00:00", "2026-07-01T12:00:00"),
        ("+05:45", "2026-07-01T12:00:00", "2026-07-01T06:15:00"),
        ("-03:30", "2026-07-01T12:00:00", "2026-07-01T15:30:00"),
        ("Europe/Berlin", "2026-07-01T12:00:00", "2026-07-01T10:00:00"),
        ("Europe/Berlin", "2026-01-01T00:30:00", "2025-12-31T23:30:00"),
        ("America/New_York", "2026-01-15T12:00:00", "2026-01-15T17:00:00"),
        ("Australia/Lord_Howe", "2026-01-15T12:00:00", "2026-01-15T01:00:00"),
    ],
)
def test_ordinary_readings(tz: str, reading: str, expected: str) -> None:
    assert instants(tz, reading) == [expected]


def test_spring_in_berlin_moves_the_gap_forward() -> None:
    found = localise(
        array("2026-03-29T01:59:59", "2026-03-29T02:30:00", "2026-03-29T03:00:00"), "Europe/Berlin"
    )
    assert found.in_gap.tolist() == [False, True, False]
    assert [iso(int(at)) for at in found.early] == [
        "2026-03-29T00:59:59+00:00",
        "2026-03-29T01:30:00+00:00",  # as 03:30 of the new time
        "2026-03-29T01:00:00+00:00",
    ]


def test_spring_in_new_york() -> None:
    found = localise(array("2026-03-08T02:15:00"), "America/New_York")
    assert found.in_gap.tolist() == [True]
    assert iso(int(found.early[0])) == "2026-03-08T07:15:00+00:00"


def test_autumn_in_berlin_is_settled_by_the_order_of_the_file() -> None:
    assert instants(
        "Europe/Berlin",
        "2026-10-25T01:50:00",
        "2026-10-25T02:10:00",
        "2026-10-25T02:50:00",
        "2026-10-25T02:49:58",  # another rank's clock
        "2026-10-25T02:10:00",  # the clock was put back
        "2026-10-25T02:55:00",
        "2026-10-25T03:00:00",
        "2026-10-25T02:59:59",
    ) == [
        "2026-10-24T23:50:00",
        "2026-10-25T00:10:00",
        "2026-10-25T00:50:00",
        "2026-10-25T00:49:58",
        "2026-10-25T01:10:00",
        "2026-10-25T01:55:00",
        "2026-10-25T02:00:00",
        "2026-10-25T01:59:59",
    ]


def test_autumn_in_new_york() -> None:
    assert instants(
        "America/New_York",
        "2026-11-01T01:59:30",
        "2026-11-01T01:00:30",
        "2026-11-01T01:59:59",
        "2026-11-01T02:00:00",
    ) == [
        "2026-11-01T05:59:30",
        "2026-11-01T06:00:30",
        "2026-11-01T06:59:59",
        "2026-11-01T07:00:00",
    ]


@given(
    at=st.lists(st.integers(min_value=us("1975-01-01"), max_value=us("2035-01-01")), min_size=1),
    tz=st.sampled_from(
        ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "+09:30"]
    ),
)
def test_a_clock_shows_what_it_was_read_from(at: list[int], tz: str) -> None:
    """Reading a clock and localising the reading gives one of the two candidates."""
    moments = np.array(at, dtype=np.int64)
    found = localise(readings_of(moments, tz), tz)
    assert ((found.early == moments) | (found.late == moments)).all()
    assert not found.in_gap.any()
    for moment, reading in zip(at, readings_of(moments, tz), strict=True):
        shown = datetime.fromtimestamp(moment // US_PER_S, zone(tz)).replace(tzinfo=UTC)
        assert to_us(shown) == reading - moment % US_PER_S


@given(step_s=st.integers(min_value=1, max_value=3000), start=st.integers(0, 7200))
def test_a_steady_log_through_the_autumn_night_keeps_its_pace(step_s: int, start: int) -> None:
    begin = us("2026-10-24T22:30:00") + start * US_PER_S
    moments = np.arange(begin, us("2026-10-25T04:00:00"), step_s * US_PER_S, dtype=np.int64)
    if moments[0] >= us("2026-10-25T01:00:00"):  # a log that begins in the second pass is unknown
        return
    found = localise(readings_of(moments, "Europe/Berlin"), "Europe/Berlin")
    chosen = settle_folds(found.early, found.late)
    if step_s < 50 * 60 - 60:
        assert (np.diff(chosen) >= 0).all()
    unambiguous = found.early == found.late
    assert (chosen[unambiguous] == moments[unambiguous]).all()
    if step_s <= 600:  # with lines this dense the jump is seen
        assert (chosen == moments).mean() > 0.9


@given(cut=st.integers(0, 100))
def test_splitting_does_not_matter_outside_the_fold(cut: int) -> None:
    readings = np.arange(100, dtype=np.int64) * US_PER_H * 24 + us("2026-01-15T12:00:00")
    whole = localise(readings, "Europe/Berlin").early
    parts = [localise(part, "Europe/Berlin").early for part in (readings[:cut], readings[cut:])]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_job_in_the_fold_is_settled_by_its_elapsed_time() -> None:
    found = localise(
        array("2026-10-25T01:30:00", "2026-10-25T01:30:00", "2026-10-25T02:40:00"), "Europe/Berlin"
    )
    end = localise(array("2026-10-25T02:20:00"), "Europe/Berlin")
    early = (*(int(at) for at in found.early), int(end.early[0]))
    late = (*(int(at) for at in found.late), int(end.late[0]))
    chosen = settle_job(early, late, 40 * 60 * US_PER_S)
    assert chosen[3] is not None
    assert chosen[2] is not None
    assert chosen[3] - chosen[2] == 40 * 60 * US_PER_S
    assert iso(chosen[2]) == "2026-10-25T00:40:00+00:00"


def test_years_follow_the_nearest_dated_line_across_new_year() -> None:
    readings = array(
        "2000-12-31T23:59:58", "2025-12-31T23:59:59", "2000-01-01T00:00:01", "2000-01-01T00:00:00"
    )
    open_rows = np.array([True, False, True, True])
    completed = complete_years(readings, open_rows)
    assert [iso(int(at)) for at in completed] == [
        "2025-12-31T23:59:58+00:00",
        "2025-12-31T23:59:59+00:00",
        "2026-01-01T00:00:01+00:00",
        "2026-01-01T00:00:00+00:00",
    ]


def test_years_of_a_long_log_turn_more_than_once() -> None:
    months = [f"2000-{month:02d}-15T00:00:00" for month in (11, 2, 5, 8, 11, 2, 5)]
    completed = complete_years(array(*months), np.ones(7, dtype=np.bool_), us("2023-11-01"))
    assert [str(iso(int(at)))[:7] for at in completed] == [
        "2023-11", "2024-02", "2024-05", "2024-08", "2024-11", "2025-02", "2025-05",
    ]  # fmt: skip


def test_a_log_without_any_year_stays_without() -> None:
    readings = array("2000-02-29T00:00:00")
    assert complete_years(readings, np.array([True])).tolist() == [NO_TIME]
    assert only_year_inside(readings, us("2024-02-01"), us("2024-03-10")) == us("2024-02-29")
    assert only_year_inside(readings, us("2023-01-01"), us("2025-03-10")) is None
    assert only_year_inside(readings, us("2024-06-01"), us("2024-07-10")) is None


def proof(pairs: list[tuple[str, str]], machine: str = "UTC") -> str | None:
    naive, utc = (array(*side) for side in zip(*pairs, strict=True))
    return proved_zone(naive, utc, machine)


def test_one_pair_proves_an_offset() -> None:
    pair = ("2025-04-21T14:07:43", "2025-04-21T19:07:42")
    assert proof([pair]) == "-05:00"
    assert proof([pair], "America/Chicago") == "America/Chicago"


@pytest.mark.parametrize(
    "pairs",
    [
        [("2025-04-21T14:07:43", "2025-04-21T19:09:42")],  # not the same moment
        [("2025-04-21T14:37:42", "2025-04-21T14:07:42")],  # half an hour later, no real offset
        [
            ("2025-04-21T14:07:43", "2025-04-21T19:07:42"),
            ("2025-04-21T14:07:43", "2025-04-21T16:07:42"),
        ],
    ],
)
def test_what_proves_nothing(pairs: list[tuple[str, str]]) -> None:
    assert proof(pairs) is None


def test_pairs_are_neighbours() -> None:
    naive = np.array([NO_TIME, 5, 6, NO_TIME, NO_TIME], dtype=np.int64)
    utc = np.array([1, NO_TIME, NO_TIME, 2, 3], dtype=np.int64)
    readings, moments = paired_clocks(naive, utc)
    assert sorted(zip(readings.tolist(), moments.tolist(), strict=True)) == [(5, 1), (6, 2)]
