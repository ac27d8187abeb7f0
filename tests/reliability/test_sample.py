"""Summaries: the quantile rule, the empty sample, a seeded interval of the mean."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.reliability.sample import Sample, bootstrap_mean, summarise

steady = settings(deadline=None, derandomize=True)


def test_nothing_is_none_and_not_zero() -> None:
    assert summarise([]) == Sample(0, None, None, None, None, None, None)


def test_one_value_is_every_figure() -> None:
    assert summarise([7.0]) == Sample(1, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0)


def test_quantiles_are_linear() -> None:
    got = summarise(range(101))
    assert (got.median, got.p90, got.p99) == (50.0, 90.0, 99.0)
    assert summarise([1.0, 2.0]).p90 == pytest.approx(1.9)


@steady
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_order_and_bounds(values: list[float]) -> None:
    got = summarise(values)
    assert got == summarise(sorted(values)) or got.mean == pytest.approx(np.mean(values))
    figures = (got.min, got.median, got.p90, got.p99, got.max)
    known = [x for x in figures if x is not None]
    assert len(known) == len(figures)
    assert all(a <= b + 1e-6 for a, b in itertools.pairwise(known))


def test_interval_of_the_mean() -> None:
    values = np.random.default_rng(3).normal(10.0, 2.0, 100)
    got = bootstrap_mean(values, seed=1)
    assert got is not None
    half = 1.96 * values.std() / 10.0
    assert got == pytest.approx((values.mean() - half, values.mean() + half), abs=0.08)
    assert bootstrap_mean(values, seed=1) == got
    assert bootstrap_mean(values, seed=2) != got
    assert bootstrap_mean([5.0]) is None
    assert bootstrap_mean([5.0, 5.0]) == (5.0, 5.0)


def test_refuses() -> None:
    with pytest.raises(ValueError, match="not finite"):
        summarise([1.0, math.nan])
    with pytest.raises(ValueError, match="not finite"):
        bootstrap_mean([1.0, math.inf])
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_mean([1.0, 2.0], confidence=0.0)
