"""Bursts of a sequence, coincidence of two, the same step again: size, power, known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ckpt_audit.reliability.bursts import co_occurrence, short_gap_test
from ckpt_audit.reliability.repeats import burst_p, same_step_p

MONTH_S = 30 * 86_400.0


def _cascades(rng: np.random.Generator, n: int, share: float, window_s: float) -> np.ndarray:
    """n failures, of which a share follows the one before within the window."""
    primaries = np.sort(rng.uniform(0, MONTH_S, n))
    follows = rng.random(n) < share
    followers = primaries[follows] + rng.uniform(0, window_s, int(follows.sum()))
    return np.sort(np.concatenate([primaries, followers[followers <= MONTH_S]]))[:n]


def test_a_tenth_of_cascades_is_found_in_60_incidents() -> None:
    rng = np.random.default_rng(11)
    found = [
        short_gap_test([(_cascades(rng, 60, 0.1, 600.0), MONTH_S)], 600.0, seed=i, draws=399).p
        for i in range(200)
    ]
    assert np.mean([p is not None and p <= 0.05 for p in found]) >= 0.7


@pytest.mark.parametrize("n", [10, 60])
def test_sound_sequences_are_left_alone(n: int) -> None:
    """Size at 5%: counts are whole numbers, so that it is 5% or less."""
    rng = np.random.default_rng(n)
    found = [
        short_gap_test([(rng.uniform(0, MONTH_S, n), MONTH_S)], 3600.0, seed=i, draws=399).p
        for i in range(300)
    ]
    size = np.mean([p is not None and p <= 0.05 for p in found])
    assert size <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)


def test_expected_short_gaps() -> None:
    """The closed form against simulated sequences."""
    rng = np.random.default_rng(3)
    counts = [
        int((np.diff(np.sort(rng.uniform(0, MONTH_S, 40))) <= 3600.0).sum()) for _ in range(2000)
    ]
    error = float(4 * np.std(counts)) / math.sqrt(2000)
    test = short_gap_test([(np.arange(40.0), MONTH_S)], 3600.0)
    assert test.expected == pytest.approx(np.mean(counts), abs=2 * error)
    # the closed form, where too few are there to draw any
    few = short_gap_test([(np.arange(9.0), MONTH_S)], 3600.0)
    assert few.expected == pytest.approx(8 * (1 - (1 - 3600.0 / MONTH_S) ** 9))


def test_a_high_early_rate_is_no_burst_on_the_fitted_clock() -> None:
    """A flat null takes it for one; the null of the same power law does not."""
    rng = np.random.default_rng(12)
    flat, fitted = [], []
    for i in range(100):
        strata = [(MONTH_S * rng.uniform(size=60) ** 2.0, MONTH_S)]
        flat.append(short_gap_test(strata, 3600.0, seed=i, draws=199).p or 1.0)
        fitted.append(short_gap_test(strata, 3600.0, beta=0.5, seed=i, draws=199).p or 1.0)
    assert np.mean(np.array(flat) <= 0.05) > 0.3
    assert np.mean(np.array(fitted) <= 0.05) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 100)


def test_borders_of_epochs_are_no_gaps() -> None:
    test = short_gap_test([([1.0, 99.9], 100.0), ([0.1, 50.0], 100.0)], 1.0)
    assert (test.n, test.seen) == (4, 0)


def test_few_events_are_not_tested() -> None:
    test = short_gap_test([([1.0] * 9, MONTH_S)], 600.0)
    assert (test.n, test.seen, test.p) == (9, 8, None)
    assert short_gap_test([([], MONTH_S)], 600.0).p is None


def test_ties_count_as_short() -> None:
    test = short_gap_test([([5.0] * 10, MONTH_S)], 600.0)
    assert test.seen == 9
    assert test.p == pytest.approx(1 / 2000)


def test_bursts_refuse() -> None:
    with pytest.raises(ValueError, match="on the clock"):
        short_gap_test([([1.0, 2.0], 1.5)], 0.1)
    with pytest.raises(ValueError, match="longer than zero"):
        short_gap_test([([], 0.0)], 1.0)
    with pytest.raises(ValueError, match="more than zero"):
        short_gap_test([([], 1.0)], 1.0, beta=0.0)
    with pytest.raises(ValueError, match="longer than zero"):
        co_occurrence([], [], 0.0, 1.0)
    with pytest.raises(ValueError, match="common time"):
        co_occurrence([2.0], [], 1.0, 1.0)


def test_runs_that_fail_together() -> None:
    rng = np.random.default_rng(4)
    first = rng.uniform(0, MONTH_S - 120, 20)
    second = np.concatenate([first[:6] + 60.0, rng.uniform(0, MONTH_S, 14)])
    test = co_occurrence(first, second, MONTH_S, 600.0)
    assert test.seen >= 6
    assert test.p is not None
    assert test.p <= 0.002


def test_runs_with_bursts_of_their_own_are_left_alone() -> None:
    """A shift keeps the bursts of each run, so that these alone do not make them coincide."""
    rng = np.random.default_rng(8)
    found = []
    for i in range(150):
        runs = [_cascades(rng, 20, 0.5, 600.0) for _ in range(2)]
        found.append(co_occurrence(runs[0], runs[1], MONTH_S, 3600.0, seed=i, draws=199).p)
    size = np.mean([p is not None and p <= 0.05 for p in found])
    assert size <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 150)


def test_the_end_of_the_time_meets_its_begin() -> None:
    test = co_occurrence([5.0] * 5, [MONTH_S - 5.0] * 5, MONTH_S, 11.0)
    assert test.seen == 5
    assert co_occurrence([5.0] * 5, [], MONTH_S, 11.0).p is None


def test_same_step_p_is_uniform_under_chance() -> None:
    rng = np.random.default_rng(6)
    rate, first = 1e-4, 4000.0
    p = [same_step_p(rate, first, u, 0.0) for u in rng.exponential(1 / rate, 4000)]
    for level in (0.05, 0.3, 0.7):
        share = float(np.mean(np.array(p) <= level))
        assert share == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 4000))


def test_same_step_cannot_be_closer_than_the_log_tells() -> None:
    assert same_step_p(1e-4, 500.0, 500.0, 60.0) == same_step_p(1e-4, 500.0, 560.0, 0.0) > 0.0
    with pytest.raises(ValueError, match="finite"):
        same_step_p(1e-4, math.nan, 1.0, 0.0)


@pytest.mark.parametrize(
    ("expected", "further", "p"),
    [
        (0.03, 4, 3.295004e-8),  # 1 - exp(-m) (1 + m + m²/2 + m³/6)
        (2.0, 1, 1 - math.exp(-2)),
        (30.0, 10, 0.9999929),  # scipy.stats.poisson.sf(9, 30)
        (5.0, 5, 0.5595067),  # scipy.stats.poisson.sf(4, 5)
        (0.0, 1, 0.0),
        (0.0, 0, 1.0),
        (3.0, 500, 0.0),
    ],
)
def test_burst_p(expected: float, further: int, p: float) -> None:
    assert burst_p(expected, further) == pytest.approx(p, rel=2e-5)


def test_burst_p_refuses() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        burst_p(-1.0, 1)
