"""The cost that stands for an asynchronous, random or useless save."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model import costs
from ckpt_audit.model.interval import young
from ckpt_audit.model.laws import Exponential
from ckpt_audit.model.renewal import Failures, shares
from ckpt_audit.model.waste import exact_shares

steady = settings(deadline=None, derandomize=True)


def test_four_percent_slower_is_two_things() -> None:
    by_throughput = costs.of_throughput(1.0, 0.04, 10.0)
    by_step_time = costs.of_step_time(1.0, 0.04, 10.0)
    assert by_throughput.c == pytest.approx(1.4)
    assert by_step_time.c == pytest.approx(1.384615, abs=1e-6)
    assert young(by_throughput.c, 360.0) == pytest.approx(31.7490, abs=5e-5)
    assert young(by_step_time.c, 360.0) == pytest.approx(31.5741, abs=5e-5)
    healthy = costs.of_steps(1.0, 10, 0.04, 1.0)  # ten healthy minutes, stretched
    assert healthy.c == pytest.approx(1.4)
    assert (healthy.lag, by_throughput.lag) == (pytest.approx(11.4), 11.0)


@steady
@given(st.floats(0, 5), st.integers(1, 50), st.floats(0, 1), st.floats(0.1, 10), st.floats(0, 9))
def test_steps_measured_one_by_one_cost_the_same(
    pause: float, n: int, tax: float, step: float, publish: float
) -> None:
    save = costs.of_steps(pause, n, tax, step, publish)
    assert save.c == pytest.approx(costs.of_measured(pause, [step * (1 + tax)] * n, step))
    assert save.lag == pytest.approx(pause + n * step * (1 + tax) + publish)


@steady
@given(st.floats(0.01, 0.3), st.floats(0.2, 2.0), st.integers(0, 2**31))
def test_effective_cost_wastes_what_a_random_one_does(mean: float, i: float, seed: int) -> None:
    drawn = np.random.default_rng(seed).gamma(2.0, mean / 2.0, 50)
    survive = float(np.mean(np.exp(-(i + drawn))))  # of one period with a fresh cost
    c = costs.effective(drawn, 1.0)
    assert math.exp(-(i + c)) == pytest.approx(survive, rel=1e-12)
    again = costs.effective(drawn, 1.0, same_again=True)
    growth = float(np.mean(np.expm1(i + drawn)))  # mean wall clock of a period
    assert math.expm1(i + again) == pytest.approx(growth, rel=1e-9)
    assert c <= float(drawn.mean()) + 1e-12 <= again + 2e-12


def test_effective_cost_is_near_the_mean() -> None:
    drawn = np.random.default_rng(3).lognormal(0.0, 0.5, 1000)
    mean, var = float(drawn.mean()), float(drawn.var())
    assert costs.effective(drawn, 1e3) == pytest.approx(mean - var / 2e3, abs=1e-5)
    assert costs.effective(drawn, 1e3, same_again=True) == pytest.approx(mean + var / 2e3, abs=1e-5)


def test_the_median_of_a_skewed_cost_misleads() -> None:
    """Lognormal, sigma 1: the interval of the median is 0.779 times the best, 3.1 % dearer."""
    median, mean = 1.0, math.exp(0.5)
    assert 1 - median / mean == pytest.approx(0.39, abs=0.005)
    x = young(median, 1e6) / young(mean, 1e6)
    assert x == pytest.approx(math.exp(-0.25)) == pytest.approx(0.779, abs=5e-4)
    assert (x + 1 / x) / 2 - 1 == pytest.approx(0.031, abs=5e-4)


def test_a_retried_save_costs_more_and_a_useless_one_loses_intervals() -> None:
    assert costs.retried(30.0, 0.1) == pytest.approx(100 / 3)
    unseen = shares(580.0, 30.0, Failures(Exponential(6000.0), invalid=0.1))
    seen = exact_shares(580.0, costs.retried(30.0, 0.1), 6000.0)
    assert seen.waste < unseen.waste


def test_cascades() -> None:
    """Ten percent, ten minutes, at 18.974 minutes: known goodputs."""
    i, r = 18.973666, 10.0
    want = {None: 0.85093, False: 0.84870, True: 0.84427}
    for origin, goodput in want.items():
        extra = 0.0
        if origin is not None:
            extra = costs.cascade_extra(0.1, 10.0, after_restart=origin, r=r)
        got = exact_shares(i, 1.0, 180.0, 0.0, r + extra).goodput
        assert got == pytest.approx(goodput, abs=6e-6)


def test_the_interval_needs_the_mean_time_of_primaries() -> None:
    assert young(2.0, 180.0) == pytest.approx(26.8, abs=0.05)
    assert young(2.0, 180.0 / 1.5) == pytest.approx(21.9, abs=0.05)


def test_latent_faults() -> None:
    assert costs.latent_optimum(2.0, 180.0, 1e15) == pytest.approx(young(2.0, 180.0))
    kept = costs.generations_needed(3600, 7200, 1e-3)
    assert costs.no_clean_generation(3600, 7200, kept) <= 1e-3
    assert costs.no_clean_generation(3600, 7200, kept - 1) > 1e-3


def test_no_clean_generation_by_simulation() -> None:
    rng, n = np.random.default_rng(5), 200_000
    phase, latency = rng.uniform(0, 1, n), rng.exponential(0.8, n)
    # The fault strikes; checkpoints follow at phase, phase + 1, ...: all are tainted.
    tainted = np.maximum(np.floor(latency - phase) + 1, 0)
    got = float(np.mean(tainted >= 2))
    want = costs.no_clean_generation(1.0, 0.8, 2)
    assert abs(got - want) < 4 * math.sqrt(want * (1 - want) / n)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: costs.of_throughput(1, 1.0, 1), "slowdown must be below 1"),
        (lambda: costs.effective([], 1.0), "no cost"),
        (lambda: costs.retried(1.0, 1.0), "invalid must be below 1"),
        (lambda: costs.cascade_extra(1.1, 1.0, after_restart=True), "at most 1"),
        (lambda: costs.no_clean_generation(1.0, 1.0, 0), "at least 1"),
        (lambda: costs.generations_needed(1.0, 1.0, 1.0), "between 0 and 1"),
        (lambda: costs.latent_optimum(0.0, 1.0, 1.0), "c must be"),
    ],
)
def test_refuses(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()
