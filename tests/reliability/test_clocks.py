"""Clocks of exposure: known answers, order of stretches, and moments outside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.reliability.clocks import clock_of

S = 1_000_000
SPANS = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100), st.integers(0, 4)), max_size=8)


def test_stands_still_between_stretches() -> None:
    clock = clock_of([(0, 10 * S, 2), (20 * S, 30 * S, 3)])
    assert clock.read([-S, 5 * S, 15 * S, 25 * S, 40 * S]).tolist() == [0, 10, 20, 35, 50]
    assert (clock.total_s, clock.most) == (50.0, 3.0)


def test_nothing_exposed() -> None:
    clock = clock_of([(5, 5, 1), (9, 3, 1), (0, 5, 0)])
    assert clock.total_s == 0.0
    assert clock.read([7]).tolist() == [0.0]


def test_keeps_microseconds_of_today() -> None:
    now = 1_778_000_000 * S
    clock = clock_of([(now, now + 3600 * S, 1)])
    assert clock.read([now + 1]).tolist() == pytest.approx([1e-6], abs=1e-12)


@settings(deadline=None, derandomize=True)
@given(SPANS, st.lists(st.integers(-5, 110), min_size=1, max_size=6))
def test_is_the_sum_of_its_stretches(spans: list[tuple[int, int, int]], at: list[int]) -> None:
    """Whatever overlaps what, and in whatever order they come."""
    clock = clock_of([(start * S, end * S, float(units)) for start, end, units in spans])
    want = [
        sum(units * max(0, min(end, moment) - start) for start, end, units in spans if end > start)
        for moment in at
    ]
    assert np.allclose(clock.read([moment * S for moment in at]), want, atol=1e-6)
