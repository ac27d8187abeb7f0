"""Rates against known answers, scipy.stats and their promised coverage."""

import math

import lifelines
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ckpt_audit.reliability.rate import (
    calendar_s_per_incident,
    mean_time,
    per_1000_acc_h,
    predictive_count,
    predictive_p,
)

steady = settings(deadline=None, derandomize=True)
HOUR_S = 60 * 60


def test_419_interruptions_in_54_days() -> None:
    got = mean_time(419, 54 * 24 * HOUR_S)
    assert got.m_s is not None
    assert got.m_s / HOUR_S == pytest.approx(3.0931, abs=5e-5)
    assert got.low_s / HOUR_S == pytest.approx(2.811, abs=5e-4)
    assert got.high_s / HOUR_S == pytest.approx(3.412, abs=5e-4)
    assert got.method == "time-truncated"
    assert got.m_used_s == pytest.approx(54 * 24 * HOUR_S / 419.5)
    assert per_1000_acc_h(419, 16_384 * 54 * 24).value == pytest.approx(0.01973, abs=5e-6)
    calendar_s = calendar_s_per_incident(419, 54 * 24 * HOUR_S)
    assert calendar_s == got.m_s


def test_mean_time_is_the_exponential_fit_with_censoring() -> None:
    rng = np.random.default_rng(11)
    hours, censor = rng.exponential(3.0, 400), rng.uniform(0.5, 8.0, 400)
    ended, failed = np.minimum(hours, censor), hours <= censor
    fit = lifelines.ExponentialFitter().fit(ended, failed)
    got = mean_time(int(failed.sum()), float(ended.sum()))
    assert 0 < failed.sum() < 400
    assert got.m_s == pytest.approx(fit.lambda_, rel=1e-4)


def test_no_incident_gives_a_bound() -> None:
    got = mean_time(0, 300.0)
    assert got.m_s is None
    assert got.m_used_s == 600.0
    assert got.low_s == pytest.approx(300.0 / 2.995732, rel=1e-6)
    assert got.high_s == math.inf
    assert got.method == "one-sided bound"
    assert calendar_s_per_incident(0, 300.0) is None
    rate = per_1000_acc_h(0, 300.0)
    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high == pytest.approx(1000 * 2.995732 / 300, rel=1e-6)


def test_one_incident() -> None:
    got = mean_time(1, 100.0)
    assert got.low_s == pytest.approx(200.0 / 11.143287, rel=1e-6)  # chi-square .975, 4 df
    assert got.high_s == pytest.approx(-100.0 / math.log(0.975), rel=1e-9)  # 2 df
    ended_at_it = mean_time(1, 100.0, truncation="failure")
    assert ended_at_it.low_s == pytest.approx(-100.0 / math.log(0.025), rel=1e-9)
    assert ended_at_it.high_s == got.high_s
    assert ended_at_it.method == "failure-truncated"


@steady
@given(st.integers(1, 500), st.floats(1.0, 1e9), st.floats(0.5, 0.99))
def test_interval_holds_the_estimate(incidents: int, exposure: float, confidence: float) -> None:
    got = mean_time(incidents, exposure, confidence)
    assert got.m_s is not None
    assert got.low_s < got.m_used_s < got.m_s
    assert got.m_s < got.high_s or confidence < 0.6
    narrower = mean_time(incidents, exposure, confidence * 0.9)
    assert got.low_s < narrower.low_s
    assert narrower.high_s < got.high_s


@pytest.mark.parametrize("expected", [1.0, 5.0, 30.0])
def test_coverage(expected: float) -> None:
    counts = np.random.default_rng(5).poisson(expected, 4000)
    ends = {int(r): mean_time(int(r), expected) for r in np.unique(counts)}  # true mean is 1
    covered = np.mean([ends[int(r)].low_s <= 1.0 <= ends[int(r)].high_s for r in counts])
    assert covered >= 0.945


@pytest.mark.parametrize(
    ("r0", "e0", "e1", "low", "high"),
    [(20, 720, 168, 1, 10), (0, 168, 168, 0, 3), (200, 720, 720, 163, 241)],
)
def test_counts_to_expect(r0: int, e0: float, e1: float, low: int, high: int) -> None:
    got = predictive_count(r0, e0, e1)
    assert (got.low, got.high) == (low, high)
    assert got.mean == pytest.approx((r0 + 0.5) * e1 / e0)


def test_counts_to_expect_in_no_exposure() -> None:
    got = predictive_count(5, 100.0, 0.0)
    assert (got.mean, got.low, got.high) == (0.0, 0, 0)


@steady
@given(st.integers(0, 50), st.floats(0.01, 20.0), st.floats(0.5, 0.99))
def test_counts_agree_with_scipy_stats(r0: int, ratio: float, level: float) -> None:
    got = predictive_count(r0, 1.0, ratio, level)
    law = stats.nbinom(r0 + 0.5, 1.0 / (1.0 + ratio))
    for count, q in ((got.low, (1 - level) / 2), (got.high, (1 + level) / 2)):
        assert law.cdf(count) >= q - 1e-9
        assert count == 0 or law.cdf(count - 1) < q + 1e-9


def test_refuses() -> None:
    with pytest.raises(ValueError, match="exposure must be a positive"):
        mean_time(1, 0.0)
    with pytest.raises(ValueError, match="cannot be negative"):
        mean_time(-1, 1.0)
    with pytest.raises(ValueError, match="confidence must be between"):
        mean_time(1, 1.0, confidence=1.0)
    with pytest.raises(ValueError, match="there is none"):
        mean_time(0, 1.0, truncation="failure")
    with pytest.raises(ValueError, match="exposure to predict for"):
        predictive_count(1, 1.0, math.nan)
    with pytest.raises(ValueError, match="exposure must be"):
        predictive_count(1, math.inf, 1.0)
    with pytest.raises(ValueError, match="exposure must be"):
        calendar_s_per_incident(1, -1.0)


@given(
    r0=st.integers(0, 300), k=st.integers(0, 300), e0=st.floats(1, 1e6), e1=st.floats(1, 1e6)
)  # fmt: skip
@settings(deadline=None)
def test_a_predicted_count_has_the_p_of_its_law(r0: int, k: int, e0: float, e1: float) -> None:
    found = predictive_p(r0, e0, k, e1)
    law = stats.nbinom(r0 + 0.5, e0 / (e0 + e1))
    assert found == pytest.approx(min(1.0, 2 * min(law.cdf(k), law.sf(k - 1))), rel=1e-6, abs=1e-12)
    wanted = predictive_count(r0, e0, e1)
    if not wanted.low <= k <= wanted.high:
        assert found <= 0.05 + 1e-9


def test_no_exposure_to_predict_for_says_nothing() -> None:
    assert predictive_p(9, 100.0, 0, 0.0) == 1.0
    with pytest.raises(ValueError, match="negative"):
        predictive_p(9, 100.0, -1, 5.0)
