"""Evidence over weeks: known answers, and how often it is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ckpt_audit.reliability.monitor import (
    Week,
    accumulate,
    binomial_p,
    e_value,
    odds_of_finding,
    rank_p,
    together,
    watch,
)


def weeks(*counts: int) -> list[Week]:
    return [Week(count, 1.0) for count in counts]


def false_alarms(draw, runs: int, n: int = 52) -> float:  # type: ignore[no-untyped-def]
    """Share of the histories in which nothing changes and an alarm is raised."""
    rng = np.random.default_rng(7)
    return float(
        np.mean([bool(watch(weeks(*draw(rng, n)), seed=run).alarms) for run in range(runs)])
    )


def test_evidence_known_answers() -> None:
    values, alarms = accumulate([e_value(p) for p in (0.5, 0.2, 0.01, 0.001, 0.0005)], 520)
    assert values == pytest.approx((0.707107, 1.90860, 14.5430, 245.757, 5517.65), rel=1e-5)
    assert alarms == (4,)


def test_an_alarm_starts_anew() -> None:
    values, alarms = accumulate([600.0, 0.5, 0.5], 520)
    assert alarms == (0,)
    assert values[1:] == (0.5, 0.75)


def test_binomial_known_answer() -> None:
    assert binomial_p(Week(40, 8), Week(12, 1)) == pytest.approx(0.0103661, rel=1e-5)


@given(
    past=st.integers(0, 500), k=st.integers(0, 60), e0=st.floats(0.1, 100), e1=st.floats(0.1, 10)
)
def test_binomial_is_scipys_tail(past: int, k: int, e0: float, e1: float) -> None:
    expected = stats.binom.sf(k - 1, past + k, e1 / (e0 + e1))
    assert binomial_p(Week(past, e0), Week(k, e1)) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_nothing_to_compare_says_nothing() -> None:
    assert binomial_p(Week(0, 0), Week(9, 1)) == 1.0
    assert binomial_p(Week(9, 1), Week(0, 0)) == 1.0
    found = watch([Week(0, 0.0), *weeks(5, 5)], seed=1)
    assert found.p[:2] == (1.0, 1.0)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.floats(0.001, 1.0))
def test_a_rank_is_a_p_value(values: list[int], draw: float) -> None:
    p = rank_p([float(v) for v in values], draw)
    n, last = len(values), values[-1]
    assert sum(v > last for v in values) / n < p <= sum(v >= last for v in values) / n


def test_a_week_cut_short_is_no_quiet_week() -> None:
    """Ranks go by what the exposure lets expect: 5 in a tenth of a week is the most unusual."""
    history = [Week(10 + k % 3, 1.0) for k in range(40)]
    found = watch([*history, Week(8, 0.1)], seed=3)
    assert found.methods[-1] == "ranks"
    assert found.p[-1] < 1 / 40


def test_the_same_seed_gives_the_same_answer() -> None:
    history = weeks(*([3, 2, 4, 3] * 12))
    assert watch(history, seed=5) == watch(history, seed=5)


@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda rng, n: rng.poisson(2.0, n), 0.05),
        (lambda rng, n: rng.poisson(20.0, n), 0.05),
    ],
)
def test_false_alarms_within_a_year(draw, most: float) -> None:  # type: ignore[no-untyped-def]
    assert false_alarms(draw, runs=120) <= most


def test_bursts_raise_no_alarm_once_there_is_history() -> None:
    """Counts of far more than Poisson's spread: ranks hold where the binomial form does not."""

    def bursts(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.poisson(10.0 * rng.gamma(4.0, 0.25, n))

    rng = np.random.default_rng(11)
    by_rank = by_binomial = 0
    for run in range(60):
        history = weeks(*bursts(rng, 52))
        by_rank += bool(watch(history, seed=run, ranks_from=0).alarms)
        by_binomial += bool(watch(history, seed=run, ranks_from=99).alarms)
    assert by_rank <= 5
    assert by_binomial > 20


def test_a_doubling_is_found() -> None:
    assert odds_of_finding(10.0, 2.0, history=25, within=12, seed=1, runs=80) > 0.85
    assert odds_of_finding(2.0, 2.0, history=25, within=4, seed=1, runs=80) < 0.5


def test_streams_share_one_price() -> None:
    quiet = watch(weeks(*([5] * 20)), seed=1)
    loud = watch(weeks(*([5] * 19), 60), seed=1)
    both = together([quiet, loud])
    assert both.e[-1] == pytest.approx((quiet.e[-1] + loud.e[-1]) / 2)
    assert both.p[-1] == pytest.approx(2 * loud.p[-1])
    with pytest.raises(ValueError, match="no stream"):
        together([])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Week(-1, 1.0), "negative"),
        (lambda: Week(1, 0.0), "no rate"),
        (lambda: Week(0, float("nan")), "finite"),
        (lambda: e_value(0.0), "above 0"),
        (lambda: accumulate([1.0], 0.5), "at least 1"),
        (lambda: accumulate([-1.0]), "not negative"),
        (lambda: rank_p([], 0.5), "no value"),
        (lambda: rank_p([1.0], 0.0), "above 0"),
        (lambda: odds_of_finding(1, 2, history=1, within=1, seed=1, runs=0), "not below 1"),
    ],
)
def test_refuses(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()
