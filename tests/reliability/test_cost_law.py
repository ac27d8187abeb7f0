"""Laws of costs: known answers, coverage, size and power."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ckpt_audit.reliability.cost_law import (
    FEWEST_FOR_MEAN,
    MOST,
    CostLaw,
    _anderson_darling,
    _tau,
    cost_law,
    fit_lognormal,
)


def lognormal(rng: np.random.Generator, n: int, sigma: float = 0.8) -> np.ndarray:
    return np.exp(rng.normal(3.0, sigma, n))


def share(runs: int, told: Callable[[np.random.Generator], bool]) -> float:
    return float(np.mean([told(np.random.default_rng((5, run))) for run in range(runs)]))


def test_too_few_values_have_no_law() -> None:
    assert cost_law([]) == CostLaw(cost_law([]).sample)
    few = cost_law([10.0] * (FEWEST_FOR_MEAN - 1))
    assert (few.sample.n, few.mean_low, few.lognormal, few.shift) == (4, None, None, None)


def test_equal_values_are_sure_of_their_mean_and_of_nothing_else() -> None:
    found = cost_law([30.0] * 50)
    assert (found.mean_low, found.mean_high) == (30.0, 30.0)
    assert (found.lognormal, found.drift, found.shift) == (None, None, None)
    assert found.tail_share == pytest.approx(0.1)


def test_the_distance_is_scipys() -> None:
    values = np.random.default_rng(3).normal(5.0, 2.0, 40)
    assert _anderson_darling(values[None, :])[0] == pytest.approx(
        stats.anderson(values, "norm", method="interpolate").statistic, rel=1e-9
    )


@given(st.lists(st.integers(0, 50), min_size=3, max_size=25, unique=True))
@settings(deadline=None)
def test_tau_is_scipys(values: list[int]) -> None:
    got = _tau(np.array([values], dtype=float))[0]
    expected = stats.kendalltau(range(len(values)), values).statistic
    assert got == pytest.approx(expected, abs=1e-12)


def test_a_lognormal_law_is_found_with_its_tail() -> None:
    found = cost_law(lognormal(np.random.default_rng(2), 4000)).lognormal
    assert found is not None
    assert found.fits
    assert found.median == pytest.approx(math.exp(3.0), rel=0.05)
    assert found.sigma == pytest.approx(0.8, rel=0.05)
    assert found.mean == pytest.approx(math.exp(3.0 + 0.32), rel=0.06)


def test_a_law_that_is_none_is_said_to_be_none() -> None:
    two = np.concatenate([np.full(40, 30.0), np.full(40, 900.0)])
    two = two + np.random.default_rng(1).normal(0.0, 0.5, 80)
    found = cost_law(np.random.default_rng(2).permutation(two)).lognormal
    assert found is not None
    assert not found.fits


def test_zeros_are_counted_and_left_out() -> None:
    rng = np.random.default_rng(4)
    found = fit_lognormal(np.concatenate([np.zeros(7), lognormal(rng, 30)]), rng)
    assert found is not None
    assert (found.n, found.zeros) == (30, 7)


def test_the_mean_lies_in_its_interval_as_often_as_said() -> None:
    """95 % within what 20 skewed values allow; a percentile interval holds it in 0.87."""
    true = math.exp(3.0 + 0.32)

    def holds(rng: np.random.Generator) -> bool:
        found = cost_law(lognormal(rng, 20))
        assert found.mean_low is not None
        assert found.mean_high is not None
        return found.mean_low <= true <= found.mean_high

    assert share(150, holds) >= 0.9


def test_no_change_is_seldom_found() -> None:
    def told(rng: np.random.Generator) -> bool:
        found = cost_law(lognormal(rng, 40), seed=int(rng.integers(1000)))
        return bool(found.shift and found.shift.significant)

    assert share(100, told) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 100)


def test_a_doubling_is_found_where_it_is() -> None:
    rng = np.random.default_rng(6)
    values = np.concatenate([lognormal(rng, 60, 0.3), 2.0 * lognormal(rng, 40, 0.3)])
    found = cost_law(values)
    assert found.shift is not None
    assert found.shift.significant
    assert 55 <= found.shift.place <= 65
    assert found.shift.after == pytest.approx(2.0 * found.shift.before, rel=0.2)
    assert found.drift is not None
    assert found.drift.tau > 0.3
    assert found.drift.significant


def test_long_samples_are_thinned_and_keep_their_place() -> None:
    rng = np.random.default_rng(7)
    values = np.concatenate([np.full(6000, 30.0), np.full(4000, 60.0)]) + rng.normal(0, 1, 10_000)
    found = cost_law(values)
    assert values.size > MOST
    assert found.shift is not None
    assert found.shift.place == pytest.approx(6000, abs=20)


def test_the_same_values_give_the_same_answer() -> None:
    values = lognormal(np.random.default_rng(8), 50)
    assert cost_law(values, seed=3) == cost_law(values, seed=3)


@pytest.mark.parametrize(("values", "message"), [([-1.0], "negative"), ([math.nan], "finite")])
def test_refuses(values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cost_law(values)
