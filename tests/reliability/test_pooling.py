"""Gamma-Poisson rates, pooling over sizes, and projection to another size."""

import math

import numpy as np
import pytest
from scipy import stats

from ckpt_audit.reliability.gamma_poisson import CAUTION, JEFFREYS, Prior, fleet_prior, posterior
from ckpt_audit.reliability.pooling import Stretch, pool, project, size_slope
from ckpt_audit.reliability.rate import mean_time

COUNTS, EXPOSURES = [2, 3, 14, 5, 0], [100.0, 200.0, 150.0, 400.0, 80.0]


def test_five_runs_known_answer() -> None:
    prior = fleet_prior(COUNTS, EXPOSURES)
    assert prior is not None
    assert prior.events == pytest.approx(1.16727, abs=5e-6)
    assert prior.exposure == pytest.approx(45.2317, abs=2e-4)
    means = [posterior(n, e, prior).rate for n, e in zip(COUNTS, EXPOSURES, strict=True)]
    assert means == pytest.approx(
        [0.0218084, 0.0169932, 0.0776886, 0.0138518, 0.00932088], rel=1e-5
    )


def test_jeffreys_is_what_the_interval_is_computed_from() -> None:
    after = posterior(7, 1000.0)
    assert 1 / after.rate == pytest.approx(mean_time(7, 1000.0).m_used_s)
    assert after.data_share == 1.0
    assert [after.low, after.high] == pytest.approx(
        stats.gamma.ppf([0.025, 0.975], 7.5, scale=1e-3)
    )


def test_data_override_the_prior() -> None:
    prior = Prior(5.0, 1000.0, "published")
    shares = [posterior(round(0.05 * e), e, prior).data_share for e in (10.0, 1e3, 1e5)]
    assert shares == sorted(shares)
    assert posterior(5000, 1e5, prior).rate == pytest.approx(0.05, rel=0.02)
    assert posterior(0, 0.0, prior).rate == 0.005


def test_alike_runs_make_a_prior_no_stronger_than_their_events() -> None:
    prior = fleet_prior([10, 10, 10], [100.0, 100.0, 100.0])
    assert prior is not None
    assert prior.events == pytest.approx(30.0)
    assert fleet_prior([5], [10.0]) is None
    assert fleet_prior([0, 0], [10.0, 10.0]) is None


def test_a_cautious_prior_holds_where_rates_differ_a_little() -> None:
    rng = np.random.default_rng(30)
    held = []
    for _ in range(60):
        truth = rng.gamma(0.3**-2, 0.02 * 0.3**2, 30)
        e = rng.uniform(50, 400, 30)
        n = rng.poisson(truth * e).tolist()
        prior = fleet_prior(n, e.tolist(), caution=CAUTION)
        likeliest = fleet_prior(n, e.tolist())
        assert prior is not None
        assert likeliest is not None
        assert prior.events <= likeliest.events
        found = [posterior(k, x, prior) for k, x in zip(n, e, strict=True)]
        held += [f.low <= t <= f.high for f, t in zip(found, truth, strict=True)]
    assert np.mean(held) >= 0.93


def test_a_prior_needs_exposure_somewhere() -> None:
    with pytest.raises(ValueError, match="exposure"):
        posterior(0, 0.0, JEFFREYS)


def make(rng: np.random.Generator, slope: float, sizes: list[int]) -> list[Stretch]:
    hours = [400.0] * len(sizes)
    rates = [0.02 * (size / 64) ** slope for size in sizes]
    return [
        Stretch(int(rng.poisson(r * h)), h, s) for r, h, s in zip(rates, hours, sizes, strict=True)
    ]


def test_slope_covers_and_its_test_has_its_size() -> None:
    rng = np.random.default_rng(14)
    sizes = [32, 64, 64, 128, 256]
    found = [size_slope(make(rng, 1.0, sizes)) for _ in range(400)]
    seen = [f for f in found if f is not None]
    assert np.mean([f.low <= 1.0 <= f.high for f in seen]) >= 0.93
    assert np.mean([f.p_proportional <= 0.05 for f in seen]) <= 0.07


def test_a_slope_that_is_not_one_is_found_and_used() -> None:
    stretches = [Stretch(20, 1000.0, 64), Stretch(28, 1000.0, 512), Stretch(33, 1000.0, 2048)]
    slope = size_slope(stretches)
    assert slope is not None
    assert slope.high < 1.0
    to = project(stretches, 4096)
    assert not to.proportional
    assert 20 < (to.m_h or 0) < 40
    assert to.low_h < (to.m_h or 0) < to.high_h


def test_runs_that_differ_are_not_pooled_quietly() -> None:
    alike, unlike = [Stretch(20, 100.0, 8)] * 3, [Stretch(n, 100.0, 8) for n in (5, 10, 45)]
    assert pool(alike).pooled
    found = pool(unlike)
    assert not found.pooled
    assert found.phi > 2
    assert found.low < pool(alike).low
    assert found.high > pool(alike).high
    assert found.per_1000_acc_h == pool(alike).per_1000_acc_h


def test_projection_covers_and_says_when_it_is_far() -> None:
    rng = np.random.default_rng(15)
    truth = 1 / (0.02 * 1024 / 64)
    hits = 0
    for _ in range(300):
        got = project(make(rng, 1.0, [32, 64, 128, 256]), 1024)
        hits += got.low_h <= truth <= got.high_h
        assert got.far
    assert hits / 300 >= 0.92
    assert not project([Stretch(5, 10.0, 8)], 16).far


def test_no_event_gives_a_bound() -> None:
    got = project([Stretch(0, 1000.0, 8)], 16)
    assert got.m_h is None
    assert got.low_h == pytest.approx(1000 / 3.0 / 2, rel=2e-3)
    assert got.high_h == math.inf
    assert pool([Stretch(0, 1000.0, 8)]).low == 0.0


@pytest.mark.parametrize(
    "bad", [[], [Stretch(1, 0.0, 8)], [Stretch(1, 1.0, 0)], [Stretch(-1, 1.0, 8)]]
)
def test_nonsense_is_refused(bad: list[Stretch]) -> None:
    with pytest.raises(ValueError, match=r"nothing|must be"):
        pool(bad)
