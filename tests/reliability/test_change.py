"""Change points, drift over months, rates by cause, early life."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ckpt_audit.reliability.change_point import change_point
from ckpt_audit.reliability.drift import cause_rates, drift, early_life, rate_ratio
from tests.reliability.processes import poisson

steady = settings(deadline=None, derandomize=True, max_examples=40)


def test_a_change_is_found_where_it_is() -> None:
    rng = np.random.default_rng(8)
    errors, found, inside = [], 0, 0
    for seed in range(60):
        clock = np.concatenate([rng.uniform(0, 60, 15), rng.uniform(60, 100, 40)])
        change = change_point(clock, 100.0, seed, draws=199)
        assert change is not None
        found += change.p <= 0.05
        errors.append(abs(change.at_s - 60))
        inside += change.low_s <= 60 <= change.high_s
    assert found >= 58
    assert np.median(errors) < 4
    assert inside >= 54


def test_its_p_value_has_its_size() -> None:
    rng = np.random.default_rng(9)
    p = [c.p for s in range(300) if (c := change_point(*poisson(rng, 25), s, draws=199))]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_sides_have_their_rates() -> None:
    clock = [*np.linspace(4, 40, 10), *np.linspace(42, 100, 30)]
    change = change_point(clock, 100.0)
    assert change is not None
    assert change.ratio == pytest.approx(change.m_before_s / change.m_after_s)
    before = change.at_s / change.m_before_s
    assert before + (100 - change.at_s) / change.m_after_s == pytest.approx(40)


@pytest.mark.parametrize("clock", [[], [1.0], [1.0] * 9])
def test_few_events_have_no_change(clock: list[float]) -> None:
    assert change_point(clock, 5.0) is None


def test_ties_and_ends() -> None:
    tied = change_point([0.0] * 6 + [5.0] * 6 + [10.0] * 6, 10.0, draws=99)
    assert tied is not None
    assert math.isfinite(tied.ratio)
    with pytest.raises(ValueError, match="outside"):
        change_point([1.0] * 9 + [11.0], 10.0)


@given(st.integers(0, 30), st.integers(0, 30), st.floats(0.1, 50), st.floats(0.1, 50))
@steady
def test_ratio_agrees_with_scipy(k: int, m: int, e: float, f: float) -> None:
    found = rate_ratio(k, e, m, f)
    if k + m == 0:
        assert (found.ratio, found.low, found.high) == (None, 0.0, math.inf)
        return
    share = stats.binomtest(k, k + m, e / (e + f)).proportion_ci(0.95, "exact")
    assert found.low == pytest.approx(share.low / (1 - share.low) * f / e if k else 0.0)
    if m:
        assert found.high == pytest.approx(share.high / (1 - share.high) * f / e)
        assert found.low <= (found.ratio or 0.0) <= found.high
    else:
        assert found.high == math.inf
    assert (found.p is None) == (k + m < 10)


def test_ratio_covers_its_truth() -> None:
    rng = np.random.default_rng(10)
    hits = sum(
        f.low <= 2.0 <= f.high
        for _ in range(1000)
        for f in [rate_ratio(rng.poisson(6), 1.0, rng.poisson(12), 4.0)]
    )
    assert hits / 1000 >= 0.94


def test_drift_has_its_size_and_finds_a_tripling() -> None:
    rng = np.random.default_rng(12)
    exposure = [300.0, 700.0, 500.0, 650.0]
    even = [drift(rng.poisson(np.array(exposure) / 40), exposure, s, 199).p for s in range(300)]
    assert np.mean([p is not None and p <= 0.05 for p in even]) == pytest.approx(0.05, abs=0.03)
    assert (drift([10, 12, 9, 33], [500.0] * 4).p or 1) < 0.01


def test_drift_of_too_little() -> None:
    assert drift([], []).p is None
    assert drift([4, 5], [1.0, 1.0]).p is None
    assert drift([40, 0], [1.0, 0.0]).p is None
    with pytest.raises(ValueError, match="no exposure"):
        drift([4, 5], [1.0, 0.0])
    with pytest.raises(ValueError, match="needs an exposure"):
        drift([4], [1.0, 2.0])


def test_causes() -> None:
    found = cause_rates({"gpu": [20, 30], "network": [4, 2], "odd": [0, 0]}, [600.0, 400.0])
    assert [c.cause for c in found] == ["gpu", "network", "odd"]
    assert found[0].mean_time.m_s == 20.0
    assert found[0].drift is not None
    assert found[1].drift is None
    assert found[2].mean_time.m_s is None
    assert sum(c.share for c in found) == pytest.approx(1.0)


def test_early_life() -> None:
    found = early_life([1.0, 2.0, 55.0], [(0.0, 20.0), (50.0, 60.0)], 10.0)
    assert found is not None
    assert (found.events, found.exposure_s) == (2, 10.0)
    assert (found.other_events, found.other_exposure_s) == (1, 20.0)
    assert early_life([], [(0.0, 5.0)], 10.0) is None
    with pytest.raises(ValueError, match="watched"):
        early_life([30.0], [(0.0, 20.0)], 10.0)
    with pytest.raises(ValueError, match="before it begins"):
        early_life([], [(3.0, 2.0)], 10.0)
