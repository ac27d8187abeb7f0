"""Survival curves against lifelines and a published answer; what they do at their edges."""

import math

import lifelines
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelines.utils import restricted_mean_survival_time

from ckpt_audit.reliability.survival import restricted_mean, survival

samples = st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=1, max_size=40)


@given(samples)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_agrees_with_lifelines(sample: list[tuple[int, bool]]) -> None:
    times, seen = [float(t) for t, _ in sample], [e for _, e in sample]
    curve = survival(times, seen)
    km = lifelines.KaplanMeierFitter().fit(times, seen)
    na = lifelines.NelsonAalenFitter(nelson_aalen_smoothing=False).fit(times, seen)
    for i, at in enumerate(curve.at_s):
        assert curve.survival[i] == pytest.approx(km.survival_function_.loc[at].iloc[0], abs=1e-12)
        assert curve.hazard[i] == pytest.approx(na.cumulative_hazard_.loc[at].iloc[0], abs=1e-12)
        if curve.survival[i] > 0:
            band = km.confidence_interval_.loc[at].to_list()
            assert [curve.survival_low[i], curve.survival_high[i]] == pytest.approx(band, abs=1e-9)
    mean = restricted_mean(curve)
    assert mean is not None
    assert mean.mean_s == pytest.approx(restricted_mean_survival_time(km, max(times)), rel=1e-9)
    assert 0 <= mean.low_s <= mean.mean_s <= mean.high_s <= mean.horizon_s


@given(st.sets(st.integers(1, 99), min_size=2, max_size=30), st.integers(0, 2**16))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_the_band_of_the_hazard_is_that_of_lifelines(days: set[int], pattern: int) -> None:
    times = sorted(float(day) for day in days)
    seen = [bool(pattern >> (i % 16) & 1) for i in range(len(times))]
    curve = survival(times, seen)
    # with ties it takes another variance, which is 0 for one at risk
    na = lifelines.NelsonAalenFitter().fit(times, seen)
    for i, at in enumerate(curve.at_s):
        band = na.confidence_interval_.loc[at].to_list()
        assert [curve.hazard_low[i], curve.hazard_high[i]] == pytest.approx(band, rel=1e-9)


def test_restricted_mean_of_a_repair_record() -> None:
    gaps = [*np.diff([0, 5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478]), 22]
    mean = restricted_mean(survival(gaps, [True] * 10 + [False]), 500)
    assert mean is not None
    assert mean.mean_s == pytest.approx(150.659091, abs=5e-7)


def test_band_of_the_restricted_mean_covers() -> None:
    rng = np.random.default_rng(3)
    truth = 1 - math.exp(-1.0)
    hits = 0
    for _ in range(300):
        draws = rng.exponential(1.0, 60)
        mean = restricted_mean(survival(np.minimum(draws, 1.5), draws < 1.5), 1.0)
        assert mean is not None
        hits += mean.low_s <= truth <= mean.high_s
    assert hits / 300 >= 0.91


def test_nothing_and_only_censored() -> None:
    assert restricted_mean(survival([])) is None
    curve = survival([3.0, 9.0], [False, False])
    assert curve.at_s.size == 0
    mean = restricted_mean(curve)
    assert mean is not None
    assert (mean.mean_s, mean.horizon_s) == (9.0, 9.0)
    assert restricted_mean(curve, 10.0) is None


def test_zeros_are_events_at_once() -> None:
    curve = survival([0.0, 0.0, 5.0, 10.0])
    assert curve.survival.tolist() == [0.5, 0.25, 0.0]
    assert math.isnan(curve.survival_low[-1])


def test_a_horizon_must_be_one() -> None:
    with pytest.raises(ValueError, match="horizon"):
        restricted_mean(survival([1.0]), 0.0)
