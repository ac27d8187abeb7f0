"""Advice: figures, rounding, the rule of change, and what is said where nothing can be."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.audit.advice import (
    IntervalAdvice,
    probability_better,
    recommend_interval,
    round_steps,
)
from ckpt_audit.audit.assumptions import ASSUMPTIONS, Assumption
from ckpt_audit.model.interval import daly, exact, flat_region, young
from ckpt_audit.model.waste import exact_waste
from ckpt_audit.reliability.rate import mean_time

steady = settings(deadline=None, derandomize=True)
MINUTE_S = 60.0
EXPOSURE_S = 20.5 * 360 * MINUTE_S


def _advice(**changes: Any) -> IntervalAdvice:
    m = mean_time(20, EXPOSURE_S)
    arguments: dict[str, Any] = {
        "c_mean_s": 4 * MINUTE_S,
        "m_used_s": m.m_used_s,
        "m_low_s": m.low_s,
        "m_high_s": m.high_s,
        "configured_s": 120 * MINUTE_S,
        "effective_s": None,
        "step_s": 7.0,
        "d_s": 5 * MINUTE_S,
        "r_s": 10 * MINUTE_S,
        "c_values_s": [240.0] * 10,
        "n_incidents": 20,
    }
    return recommend_interval(**(arguments | changes))


def test_four_minute_save_and_six_hours() -> None:
    got = _advice()
    assert got.young_s == pytest.approx(53.6656 * MINUTE_S, rel=1e-5)
    assert got.exact_s == pytest.approx(51.0328 * MINUTE_S, rel=1e-5)
    assert got.daly_s == daly(240.0, 21_600.0)
    assert got.recommended_steps == 400  # 437.4 steps is exact
    assert got.recommended_s == 2800.0
    assert got.waste_now == pytest.approx(0.221801, abs=1e-6)
    assert got.waste_recommended is not None
    assert 0.176087 < got.waste_recommended < 0.1770
    assert got.waste_now is not None
    assert got.saving_ratio == got.waste_now - got.waste_recommended
    assert got.saving_h == pytest.approx(got.saving_ratio * 730.5)
    assert got.p_better is not None
    assert got.p_better > 0.99
    assert got.change
    assert got.basis == "measured"
    region = flat_region(240.0, 21_600.0, 0.05)
    assert (got.flat_low_s, got.flat_high_s) == (region.low, region.high)


def test_interval_of_the_optimum() -> None:
    got = _advice(n_incidents=10, c_values_s=[240.0] * 3)
    assert got.exact_s is not None
    assert got.low_s is not None
    assert got.high_s is not None
    assert got.high_s / got.exact_s == pytest.approx(1.363, abs=1e-3)
    assert got.exact_s / got.low_s == pytest.approx(1.363, abs=1e-3)
    wider = _advice(n_incidents=10, c_values_s=[40.0, 240.0, 440.0])
    assert wider.high_s is not None
    assert wider.high_s > got.high_s


def test_effective_interval_is_the_one_compared() -> None:
    got = _advice(effective_s=180 * MINUTE_S)
    assert got.current_s == 180 * MINUTE_S
    assert got.waste_now == float(exact_waste(10_800.0, 240.0, 21_600.0, 300.0, 600.0))


def test_setting_right_but_saves_do_not_follow() -> None:
    got = _advice(configured_s=50 * MINUTE_S, effective_s=180 * MINUTE_S)
    assert not got.change
    assert "later than set, or are not valid" in got.reason
    assert got.saving_ratio is not None
    assert got.saving_ratio > 0.05


def test_small_saving_is_no_change() -> None:
    got = _advice(configured_s=55 * MINUTE_S)
    assert not got.change
    assert "wastes no more" in got.reason
    got = _advice(configured_s=58 * MINUTE_S, wall_h_per_month=100.0)
    assert not got.change
    assert "not worth making" in got.reason


def test_an_hour_a_month_is_enough() -> None:
    near = {"configured_s": 68 * MINUTE_S, "step_s": 51 * MINUTE_S, "n_incidents": 400}
    got = _advice(**near)
    assert got.saving_ratio is not None
    assert 1 / 730.5 < got.saving_ratio < 0.005
    assert got.p_better is not None
    assert got.p_better >= 0.9
    assert got.change
    assert not _advice(**near, wall_h_per_month=100.0).change


def test_uncertain_is_no_change() -> None:
    got = _advice(n_incidents=1, configured_s=80 * MINUTE_S)
    assert got.p_better is not None
    assert got.p_better < 0.9
    assert not got.change
    assert "uncertain" in got.reason
    assert got.basis == "few failures observed"


def test_no_incident_never_changes() -> None:
    m = mean_time(0, EXPOSURE_S)
    got = _advice(
        n_incidents=0,
        m_used_s=m.m_used_s,
        m_low_s=m.low_s,
        m_high_s=m.high_s,
        configured_s=20.0,
    )
    assert not got.change
    assert got.basis == "no failures observed"
    assert got.exact_s == exact(240.0, 2 * EXPOSURE_S)
    assert got.low_s == exact(240.0, m.low_s)
    assert got.high_s == math.inf


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"c_mean_s": None}, "cost of a save is not known"),
        ({"m_used_s": None, "m_low_s": None, "m_high_s": None}, "no up-time"),
        ({"c_mean_s": 0.0}, "cost nothing as measured"),
        ({"c_mean_s": -0.5}, "cost nothing as measured"),
    ],
)
def test_nothing_can_be_said(changes: dict[str, Any], reason: str) -> None:
    got = _advice(**changes)
    assert reason in got.reason
    assert got.basis == "unknown"
    assert not got.change
    assert got.current_s == 120 * MINUTE_S
    names = ("young_s", "exact_s", "recommended_s", "low_s", "flat_low_s", "waste_now", "p_better")
    assert [getattr(got, name) for name in names] == [None] * len(names)
    assert tuple(assumption.name for assumption in got.assumptions) == ASSUMPTIONS


def test_current_interval_unknown() -> None:
    got = _advice(configured_s=None)
    assert got.recommended_s is not None
    assert (got.waste_now, got.p_better, got.saving_h) == (None, None, None)
    assert not got.change
    assert "not known" in got.reason


def test_step_unknown_gives_the_exact_optimum() -> None:
    got = _advice(step_s=None)
    assert got.recommended_s == got.exact_s
    assert got.recommended_steps is None


def test_findings_are_kept() -> None:
    finding = Assumption("valid_saves", False, "2 of 40 saves were torn")
    assert finding in _advice(assumptions=[finding]).assumptions


def test_refuses() -> None:
    for changes in (
        {"configured_s": 0.0},
        {"step_s": math.nan},
        {"m_used_s": -1.0},
        {"c_mean_s": math.nan},
        {"n_incidents": -1},
        {"c_values_s": [math.nan]},
        {"d_s": -1.0},
    ):
        with pytest.raises(ValueError, match=r"must be|not finite"):
            _advice(**changes)


@steady
@given(st.floats(1.0, 600.0), st.floats(1e3, 1e7), st.floats(0.01, 100.0))
def test_recommended_is_whole_round_and_near(c: float, m: float, step: float) -> None:
    best, region = exact(c, m), flat_region(c, m, 0.05)
    steps = round_steps(best, step, region.low, region.high)
    assert steps >= 1
    if best >= step:
        assert region.low <= steps * step <= region.high or round(best / step) == steps
    if steps > 10:
        assert len(str(steps).rstrip("0")) <= 2
        assert 0.85 < steps * step / best < 1.18


def test_long_step_is_one_step() -> None:
    assert round_steps(60.0, 600.0, 40.0, 85.0) == 1


@pytest.mark.parametrize(("new", "current"), [(3000.0, 7200.0), (3000.0, 1500.0)])
def test_probability_agrees_with_draws(new: float, current: float) -> None:
    rates = np.random.default_rng(4).gamma(3.5, 1 / 60_000.0, 20_000)
    drawn = np.mean(exact_waste(new, 240.0, 1 / rates) < exact_waste(current, 240.0, 1 / rates))
    assert probability_better(new, current, 240.0, 60_000.0, 3) == pytest.approx(drawn, abs=0.015)


@steady
@given(st.floats(10.0, 1e5), st.floats(10.0, 1e5), st.integers(0, 200))
def test_one_of_two_is_better(one: float, other: float, n: int) -> None:
    forward = probability_better(one, other, 30.0, 1e5, n)
    backward = probability_better(other, one, 30.0, 1e5, n)
    assert 0.0 <= forward <= 1.0
    assert forward + backward == pytest.approx(0.0 if one == other else 1.0)


def test_rule_finds_true_errors_and_spares_sound_settings() -> None:
    """Settings four times too long are changed; settings at the true optimum hardly ever are."""
    rng = np.random.default_rng(11)
    true_m, c, n = 20_000.0, 120.0, 10
    changed = {1.0: 0, 4.0: 0}
    for _ in range(200):
        r = int(rng.poisson(n))
        m = mean_time(r, n * true_m)
        for factor in changed:
            changed[factor] += _advice(
                c_mean_s=c,
                m_used_s=m.m_used_s,
                m_low_s=m.low_s,
                m_high_s=m.high_s,
                configured_s=factor * young(c, true_m),
                n_incidents=r,
            ).change
    assert changed[4.0] >= 0.95 * 200
    assert changed[1.0] <= 0.05 * 200
