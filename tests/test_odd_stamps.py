"""Which stamps of a log cannot be right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_audit.odd_stamps import FEW, TOLERANCE_US, odd_stamps

MINUTE = 60_000_000
HOUR = 60 * MINUTE


def odd(minutes: list[float], **job: float) -> list[int]:
    """Places of the odd ones."""
    at = np.array([round(value * MINUTE) for value in minutes], dtype=np.int64)
    span = {name: round(value * MINUTE) for name, value in job.items()}
    return np.flatnonzero(odd_stamps(at, **span)).tolist()


@pytest.mark.parametrize(
    ("minutes", "job", "found"),
    [
        ([0, 1, 2, 3, 4], {}, []),
        ([0, 1, 600, 3, 4], {}, [2]),  # ahead
        ([0, 1, -600, 3, 4], {}, [2]),  # behind
        ([600, 1, 2, 3, 4], {}, [0]),
        ([0, 1, 2, 3, -600], {}, [4]),
        ([0, 9, 5, 14, 10], {}, []),  # within what hosts' clocks differ
        ([0, 1, 2, 3, 600], {}, []),  # the last one may be: nothing speaks against it
        ([0, 1, 2, 3, 600], {"job_until": 5}, [4]),
        ([-600, 1, 2, 3], {"job_from": 0}, [0]),
        ([0, 1, 2, 3, 12], {"job_until": 5}, []),  # written late
        ([600, 601, 602], {"job_until": 5}, []),  # all of them: another zone, not an oddity
        ([0, 600], {"job_until": 5}, []),
        ([0, 600, 1], {}, [1]),
        ([600, 0], {}, []),  # which of the two is wrong nothing tells
    ],
)
def test_odd(minutes: list[float], job: dict[str, float], found: list[int]) -> None:
    assert odd(minutes, **job) == found


def test_many_are_another_clock() -> None:
    """Every second line is nine hours ahead: two clocks, and neither is an oddity."""
    assert odd([k + 540 * (k % 2) for k in range(40)]) == []


def test_a_log_read_from_the_middle_again_is_left_alone() -> None:
    assert odd([*range(200), *range(100, 200)]) == []


@given(
    n=st.integers(10, 400),
    where=st.lists(st.integers(0, 399), min_size=1, max_size=FEW, unique=True),
    shift=st.sampled_from([-30, -9, 9, 30]),
)
def test_a_few_that_jump_are_found_and_no_other(n: int, where: list[int], shift: int) -> None:
    at = np.arange(n, dtype=np.int64) * MINUTE // 4
    moved = sorted(place for place in where if 0 < place < n - 1)
    for k, place in enumerate(moved):
        at[place] += (shift + k) * HOUR
    assert np.flatnonzero(odd_stamps(at)).tolist() == moved


@given(st.lists(st.integers(-(10**13), 10**13), max_size=60))
def test_what_is_left_of_a_few_is_in_order(values: list[int]) -> None:
    """Never more than a few go, and what stays of a log that lost any is in order."""
    at = np.array(values, dtype=np.int64)
    found = odd_stamps(at)
    assert found.sum() <= FEW
    if found.any():
        rest = at[~found]
        assert (np.maximum.accumulate(rest) - rest <= 2 * TOLERANCE_US).all()
