"""The power-law process: published answers, coverage, what it refuses, how far it moves M."""

import numpy as np
import pytest

from ckpt_audit.reliability.power_law import pooled_power_law, power_law

REPAIRS = [5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478]


def test_a_repair_record() -> None:
    fit = power_law(REPAIRS, 1500)
    assert fit is not None
    assert fit.beta == pytest.approx(0.537229, abs=5e-7)
    assert fit.beta_unbiased == pytest.approx(0.483506, abs=5e-7)
    assert fit.m_now_s == pytest.approx(279.211, abs=5e-4)
    assert fit.m_constant_s == 150.0
    assert fit.m_constant_s < fit.blended_m_s < fit.m_now_s


def test_failure_truncation() -> None:
    fit = power_law(REPAIRS, 1478, "failure")
    assert fit is not None
    logs = np.log(1478 / np.array(REPAIRS)).sum()
    assert fit.beta == pytest.approx(10 / logs)
    assert fit.beta_unbiased == pytest.approx(8 / logs)


def test_interval_of_beta_covers() -> None:
    rng = np.random.default_rng(11)
    hits = trials = 0
    for _ in range(1000):
        n = rng.poisson(15)
        fit = power_law(100 * rng.uniform(size=n) ** (1 / 0.6), 100.0)
        if fit is not None:
            trials += 1
            hits += fit.beta_low <= 0.6 <= fit.beta_high
    assert hits / trials == pytest.approx(0.95, abs=0.015)


def test_a_constant_rate_is_left_alone_and_a_strong_trend_taken() -> None:
    rng = np.random.default_rng(2)
    weights = [
        fit.weight
        for _ in range(200)
        if (fit := power_law(rng.uniform(0, 100, 20), 100.0)) is not None
    ]
    assert np.median(weights) < 0.4
    strong = power_law(100 * (np.arange(1, 61) / 61) ** 3, 100.0)
    assert strong is not None
    assert strong.weight > 0.999
    assert strong.blended_m_s == pytest.approx(strong.m_now_s, rel=1e-3)


def test_strata_share_beta_and_the_last_is_now() -> None:
    one = power_law(REPAIRS, 1500)
    both = pooled_power_law([(REPAIRS, 1500), ([2 * t for t in REPAIRS], 3000)])
    assert one is not None
    assert both is not None
    assert both.beta == pytest.approx(one.beta)
    assert both.m_constant_s == 300.0
    assert both.beta_high - both.beta_low < one.beta_high - one.beta_low


@pytest.mark.parametrize("clock", [[], [5.0], [0.0, 0.0, 5.0], [10.0, 10.0]])
def test_too_few_give_no_fit(clock: list[float]) -> None:
    assert power_law(clock, 10.0) is None


def test_a_moment_must_lie_on_the_clock() -> None:
    with pytest.raises(ValueError, match="outside"):
        power_law([1.0, 11.0], 10.0)
    with pytest.raises(ValueError, match="length"):
        power_law([], 0.0)
