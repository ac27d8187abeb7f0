"""Tests of a trend: published answers, size under what is no trend, power, strata."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.reliability.trend import FEWEST, mil_hdbk_189, stratified_trend, trend
from tests.reliability.processes import cascades, changed_size, renewals

REPAIRS = [5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478]


def test_a_repair_record() -> None:
    found = trend(REPAIRS, 1500)
    assert found.laplace == pytest.approx(-1.326949, abs=5e-7)
    assert found.laplace_p == pytest.approx(0.184525, abs=5e-7)
    assert found.mil_hdbk_189 == pytest.approx(37.228081, abs=5e-7)
    assert (found.mil_hdbk_189_df, found.n) == (20, 10)
    assert found.mil_hdbk_189_p == pytest.approx(2 * 0.0109865, abs=2e-6)
    assert found.lewis_robinson == pytest.approx(-1.201140, abs=5e-7)
    assert found.reverse_arrangements == 33
    assert found.direction == "none"


def test_failure_truncation_leaves_the_last_out() -> None:
    value, df, _ = mil_hdbk_189(REPAIRS, 1478, "failure")
    assert df == 18
    assert value == pytest.approx(2 * sum(math.log(1478 / t) for t in REPAIRS[:-1]))
    with pytest.raises(ValueError, match="no event"):
        mil_hdbk_189([5], 5, "failure")


@given(st.floats(1e-3, 1e6))
@settings(deadline=None, derandomize=True, max_examples=20)
def test_the_unit_does_not_matter(unit: float) -> None:
    one, other = trend(REPAIRS, 1500), trend([t * unit for t in REPAIRS], 1500 * unit)
    assert other.p == one.p
    assert other.lewis_robinson == pytest.approx(one.lewis_robinson)


def test_a_strong_trend_is_found_with_its_direction() -> None:
    clock = 100 * np.sqrt(np.arange(1, 31) / 31)
    more = trend(clock, 100.0)
    less = trend(100 - clock[::-1], 100.0)
    assert (more.direction, less.direction) == ("more frequent", "less frequent")
    assert more.p is not None
    assert more.p < 0.01


@pytest.mark.parametrize("n", [0, 1, FEWEST - 1])
def test_few_events_are_not_tested(n: int) -> None:
    found = trend(np.arange(1.0, n + 1), 100.0)
    assert found.p is None
    assert str(n) in (found.refusal or "")


def test_equal_gaps_and_ties() -> None:
    assert trend(np.arange(1.0, 13), 13.0).refusal is not None
    tied = trend([0.0] * 5 + [3.0] * 5 + [7.0] * 5, 10.0)
    assert tied.p is not None
    assert tied.mil_hdbk_189 is not None
    assert math.isfinite(tied.mil_hdbk_189)
    assert trend([0.0] * 12, 10.0).refusal is not None


@pytest.mark.parametrize(("clock", "length"), [([5.0], 0.0), ([5.0], math.nan), ([11.0], 10.0)])
def test_what_is_no_clock_is_an_error(clock: list[float], length: float) -> None:
    with pytest.raises(ValueError, match="clock"):
        trend(clock, length)


def test_runs_of_different_rates_make_no_trend() -> None:
    rng = np.random.default_rng(5)
    rejected = 0
    for seed in range(200):
        few = np.sort(rng.uniform(0, 100, rng.poisson(8)))
        many = np.sort(rng.uniform(0, 50, rng.poisson(40)))
        found = stratified_trend([(few, 100.0), (many, 50.0)], seed, draws=199)
        rejected += found.p is not None and found.p <= 0.05
    assert rejected / 200 <= 0.09


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("kind", ["weibull .7", "weibull 1.5", "cascade .3", "size"])
def test_its_size_holds_where_there_is_no_trend(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    make = {
        "weibull .7": lambda: renewals(rng, n, 0.7),
        "weibull 1.5": lambda: renewals(rng, n, 1.5),
        "cascade .3": lambda: cascades(rng, n, 0.3),
        "size": lambda: changed_size(rng, n),
    }[kind]
    found = [trend(*make(), seed=seed, draws=199).p for seed in range(500)]
    tested = [p for p in found if p is not None]
    assert len(tested) > 200
    # two standard errors about 4 to 7 %
    assert 0.02 <= np.mean([p <= 0.05 for p in tested]) <= 0.085
