"""Fits of laws against published answers, lifelines and SciPy; degenerate input; speed."""

import math
import time

import lifelines
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ckpt_audit.reliability.fits import LawFit, LawFits, fit_laws

BEARINGS = [
    float(x)
    for x in "17.88 28.92 33.0 41.52 42.12 45.6 48.4 51.84 51.96 54.12 55.56 67.8 68.64 68.64 "
    "68.88 84.12 93.12 98.64 105.12 105.84 127.92 128.04 173.4".split()
]
NIST = [54, 187, 216, 240, 244, 335, 361, 373, 375, 386]
FANS = [450, 1150, 1150, 1600, 2070, 2070, 2080, 3100, 3450, 4600, 6100, 8750]
RUNNING = (
    "460x1 1560x1 1660x1 1850x5 2030x3 2200x1 3000x4 3200x1 3750x2 4150x4 4300x4 4850x4 5000x3 "
    "6100x3 6300x1 6450x2 6700x1 7450x1 7800x2 8100x2 8200x1 8500x3 8750x2 9400x1 9900x1 10100x3 "
    "11500x1"
)


def of(found: LawFits, law: str) -> LawFit:
    return next(fit for fit in found.fits if fit.law == law)


def ratio(found: LawFits) -> float:
    return 2 * (of(found, "weibull").log_likelihood - of(found, "exponential").log_likelihood)


def test_nist_handbook() -> None:
    found = fit_laws([*NIST, *[500] * 10], [True] * 10 + [False] * 10)
    fit = of(found, "weibull")
    assert fit.shape == pytest.approx(1.7208, abs=5e-5)
    assert fit.scale_s == pytest.approx(606.528, abs=5e-4)
    assert fit.log_likelihood == pytest.approx(-75.1346, abs=5e-5)
    assert fit.aic == pytest.approx(154.269, abs=5e-4)
    assert of(found, "exponential").mean_s == pytest.approx(777.1)
    assert ratio(found) == pytest.approx(2.8421, abs=5e-5)
    assert fit.p_exponential == pytest.approx(0.0918, abs=5e-5)


def test_ball_bearings() -> None:
    found = fit_laws(BEARINGS)
    fit = of(found, "weibull")
    assert fit.shape == pytest.approx(2.1018, abs=1e-4)
    assert fit.scale_s == pytest.approx(81.8745, abs=1e-3)
    assert fit.log_likelihood == pytest.approx(-113.692, abs=1e-3)
    assert of(found, "exponential").mean_s == pytest.approx(72.2209, abs=1e-3)
    assert ratio(found) == pytest.approx(15.4836, abs=1e-3)


def test_generator_fans() -> None:
    cut = [
        float(h) for word in RUNNING.split() for h, k in [word.split("x")] for _ in range(int(k))
    ]
    found = fit_laws([*FANS, *cut], [True] * 12 + [False] * len(cut))
    assert sum(FANS) + sum(cut) == 344_440
    assert of(found, "exponential").mean_s == pytest.approx(28_703.3, abs=0.05)
    assert of(found, "weibull").shape == pytest.approx(1.0584, abs=5e-5)
    assert (of(found, "weibull").p_exponential or 0) > 0.5


def test_ten_gaps_of_a_repair_record() -> None:
    moments = [5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478]
    gaps = [*np.diff([0, *moments]), 1500 - 1478]
    found = fit_laws(gaps, [True] * 10 + [False])
    fit = of(found, "weibull")
    assert fit.shape == pytest.approx(0.811016, rel=1e-5)
    assert fit.scale_s == pytest.approx(136.288418, rel=1e-5)
    assert ratio(found) == pytest.approx(0.759717, rel=1e-5)
    assert fit.p_exponential == pytest.approx(0.383417, rel=1e-5)


@given(
    st.integers(5, 60),
    st.floats(0.4, 3.0),
    st.floats(0.2, 3.0),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=15, deadline=None, derandomize=True)
def test_agrees_with_lifelines(n: int, shape: float, end: float, seed: int) -> None:
    draws = np.random.default_rng(seed).weibull(shape, n) * 100.0
    times, seen = np.minimum(draws, end * 100.0), draws <= end * 100.0
    if seen.sum() < 3:
        return
    found = fit_laws(times, seen)
    theirs = lifelines.WeibullFitter().fit(times, seen)
    assert of(found, "weibull").shape == pytest.approx(theirs.rho_, rel=2e-4)
    assert of(found, "weibull").scale_s == pytest.approx(theirs.lambda_, rel=2e-4)
    lognormal = lifelines.LogNormalFitter().fit(times, seen)
    assert of(found, "lognormal").log_likelihood >= lognormal.log_likelihood_ - 1e-4
    assert of(found, "lognormal").shape == pytest.approx(lognormal.sigma_, rel=1e-2)


def test_agrees_with_scipy() -> None:
    shape, _, scale = stats.weibull_min.fit(BEARINGS, floc=0)
    assert of(fit_laws(BEARINGS), "weibull").shape == pytest.approx(shape, rel=1e-4)
    assert of(fit_laws(BEARINGS), "weibull").scale_s == pytest.approx(scale, rel=1e-4)
    sigma, _, median = stats.lognorm.fit(BEARINGS, floc=0)
    assert of(fit_laws(BEARINGS), "lognormal").shape == pytest.approx(sigma, rel=1e-4)
    assert of(fit_laws(BEARINGS), "lognormal").scale_s == pytest.approx(median, rel=1e-4)


@given(st.floats(1e-6, 1e9))
@settings(deadline=None, derandomize=True)
def test_the_unit_does_not_matter(unit: float) -> None:
    plain, scaled = fit_laws(BEARINGS), fit_laws([x * unit for x in BEARINGS])
    assert of(scaled, "weibull").shape == pytest.approx(of(plain, "weibull").shape, rel=1e-6)
    assert of(scaled, "weibull").scale_s == pytest.approx(
        of(plain, "weibull").scale_s * unit, rel=1e-6
    )
    assert [fit.law for fit in scaled.fits] == [fit.law for fit in plain.fits]


def test_interval_of_the_shape_covers() -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        fit = of(fit_laws(rng.weibull(0.7, 40)), "weibull")
        covered += fit.shape_low <= 0.7 <= fit.shape_high
    assert 0.91 <= covered / 400 <= 0.98


def test_zeros_are_left_out_and_counted() -> None:
    found, without = fit_laws([0.0, 0.0, *BEARINGS]), fit_laws(BEARINGS)
    assert found.n_zero == 2
    assert found.fits == without.fits


@pytest.mark.parametrize(
    ("times", "seen", "laws"),
    [
        ([], [], 0),
        ([5.0, 7.0], [False, False], 0),
        ([0.0, 0.0], [True, True], 0),
        ([5.0], [True], 1),
        ([5.0, 5.0, 5.0], [True, True, True], 1),
        ([5.0, 9.0], [True, False], 1),
    ],
)
def test_what_says_too_little_is_refused(times: list[float], seen: list[bool], laws: int) -> None:
    found = fit_laws(times, seen)
    assert found.refusal is not None
    assert len(found.fits) == laws
    assert all(fit.law == "exponential" for fit in found.fits)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_what_is_no_duration_is_an_error(bad: float) -> None:
    with pytest.raises(ValueError, match="duration"):
        fit_laws([1.0, bad])


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="event ended"):
        fit_laws([1.0, 2.0], [True])


def test_100000_durations_take_less_than_two_seconds() -> None:
    rng = np.random.default_rng(1)
    draws = rng.weibull(0.7, 100_000)
    fit_laws([1.0, 2.0], [True, True])  # what is loaded once
    began = time.process_time()
    found = fit_laws(np.minimum(draws, 2.0), draws < 2.0)
    assert time.process_time() - began < 2.0
    assert of(found, "weibull").shape == pytest.approx(0.7, abs=0.01)
