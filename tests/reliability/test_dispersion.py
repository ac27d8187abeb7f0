"""The spread of counts, and an interval of M that holds under bursts."""

import numpy as np
import pytest
from scipy import stats

from ckpt_audit.reliability.dispersion import (
    WIDEN,
    dispersion,
    mean_time_of_fraction,
    robust_mean_time,
)
from ckpt_audit.reliability.rate import mean_time
from tests.reliability.processes import cascades, poisson, renewals


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("kind", ["cascade .3", "weibull .7"])
def test_the_interval_covers_under_bursts(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    robust = shown = 0
    for seed in range(600):
        clock, length = cascades(rng, n, 0.3) if kind == "cascade .3" else renewals(rng, n, 0.7)
        spread = dispersion([(clock, length)], seed, draws=99)
        got = robust_mean_time(clock.size, length, spread)
        robust += got.low_s <= 1.0 <= got.high_s
        wide = spread is not None and spread.p <= WIDEN
        got = got if wide else mean_time(clock.size, length)
        shown += got.low_s <= 1.0 <= got.high_s
    assert robust / 600 >= 0.91
    assert shown / 600 >= 0.91


def test_the_exact_interval_covers() -> None:
    """Summed over all counts, not simulated.

    With no event the bound is one-sided (T/3.0), all of its 5 % on one side: where about 3 events
    are expected this and the upper tail add up to a little more than 6 %.
    """
    coverage = {}
    for expected in range(1, 101):
        counts = range(int(expected + 12 * expected**0.5) + 12)
        held = [
            n
            for n in counts
            for got in [mean_time(n, float(expected))]
            if got.low_s <= 1.0 <= got.high_s
        ]
        coverage[expected] = float(stats.poisson.pmf(held, expected).sum())
    assert coverage.pop(3) >= 0.937
    assert min(coverage.values()) >= 0.945


def test_phi_has_its_size_under_a_constant_rate() -> None:
    rng = np.random.default_rng(4)
    found = [dispersion([poisson(rng, 40)], seed, 199) for seed in range(400)]
    assert np.mean([d.p <= 0.05 for d in found if d is not None]) == pytest.approx(0.05, abs=0.025)


def test_a_constant_rate_keeps_its_exact_interval_and_bursts_widen_it() -> None:
    even = robust_mean_time(20, 20.0, dispersion([(np.arange(0.5, 20), 20.0)]))
    assert even == mean_time(20, 20.0)
    burst = np.repeat([1.0, 9.0, 13.0, 18.0], 5)
    wide = robust_mean_time(20, 20.0, dispersion([(burst, 20.0)]))
    assert wide.method == "overdispersed"
    assert (wide.m_s, wide.m_used_s) == (even.m_s, even.m_used_s)
    assert wide.low_s < even.low_s
    assert wide.high_s > even.high_s


def test_whole_numbers_give_the_exact_interval() -> None:
    exact = mean_time(7, 100.0)
    assert mean_time_of_fraction(7, 100.0) == pytest.approx((exact.low_s, exact.high_s))


def test_few_events_have_no_spread() -> None:
    assert dispersion([([1.0, 2.0, 3.0, 4.0], 5.0)]) is None
    assert robust_mean_time(0, 5.0, None) == mean_time(0, 5.0)


def test_a_moment_outside_is_an_error() -> None:
    with pytest.raises(ValueError, match="outside"):
        dispersion([([6.0], 5.0)])
