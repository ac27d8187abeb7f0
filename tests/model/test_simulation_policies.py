"""Policies side by side: which is best, by how much, and against the same failures."""

from __future__ import annotations

import math

import numpy as np

from ckpt_audit.model.simulation import (
    Constant,
    Estimate,
    Exponential,
    Policy,
    Scenario,
    Weibull,
    simulate,
)
from ckpt_audit.model.waste import exact_waste

M = 1000.0


def near(found: Estimate, want: float) -> bool:
    return abs(found.value - want) <= 4.0 * found.se


def test_the_optimum_of_simulation_is_that_of_the_formula() -> None:
    scenario = Scenario(60_000.0, Exponential(M), (Constant(20.0),), r=Constant(50.0))
    intervals = (60.0, 100.0, 193.5, 350.0, 600.0)
    found = simulate(scenario, [Policy.fixed(i) for i in intervals], runs=500)
    assert intervals[found.best] == 193.5
    want = [1 - float(exact_waste(i, 20.0, M, 0.0, 50.0)) for i in intervals]
    got = [result.goodput.value for result in found.results]
    assert np.argsort(got).tolist() == np.argsort(want).tolist()


def test_policies_meet_the_same_failures() -> None:
    scenario = Scenario(30_000.0, Exponential(M), (Constant(20.0),), r=Exponential(50.0))
    found = simulate(scenario, [Policy.fixed(180.0), Policy.fixed(200.0)], runs=800)
    paired = found.difference(0, 1)
    apart = math.hypot(*(result.goodput.se for result in found.results))
    assert paired.se < 0.5 * apart
    want = float(exact_waste(200.0, 20.0, M, 0.0, 50.0) - exact_waste(180.0, 20.0, M, 0.0, 50.0))
    assert near(paired, want)


def test_where_failures_come_early_an_interval_that_grows_with_up_time_is_better() -> None:
    # I(t) = sqrt(2 C / h(t)) with the hazard h; the best fixed interval wastes 12.1561 %.
    up, c = Weibull(1.0, 0.5), 0.01
    starts = (0.0, 0.02, 0.06, 0.2, 0.6, 1.5, 4.0)
    within = (0.006, 0.035, 0.11, 0.35, 0.95, 2.4, 7.0)
    hazards = [up.shape / up.scale * (t / up.scale) ** (up.shape - 1.0) for t in within]
    growing = Policy.by_age(starts, tuple(math.sqrt(2.0 * c / h) for h in hazards))
    scenario = Scenario(100.0, up, (Constant(c),))
    found = simulate(scenario, [Policy.fixed(0.159674), growing], runs=512)
    assert found.results[0].goodput.value > 0.87
    better = found.difference(1, 0)
    assert better.value - 4 * better.se > 0.003
    assert better.value < 0.014  # the fluid limit saves 11.4 % of the waste


def test_the_clock_of_a_run_runs_on_over_restarts() -> None:
    scenario = Scenario(5_000.0, Constant(100.0), (Constant(10.0),))
    by_run = Policy.by_age((0.0, 1_000.0), (20.0, 80.0), "run")
    by_restart = Policy.by_age((0.0, 1_000.0), (20.0, 80.0))
    found = simulate(scenario, [by_run, by_restart, Policy.fixed(20.0), Policy.fixed(80.0)], runs=2)
    saves = [float(result.runs.saves[0]) for result in found.results]
    assert saves[1] == saves[2]  # no stretch gets that old
    assert saves[3] < saves[0] < saves[2]
