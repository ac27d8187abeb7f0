"""The simulator against closed forms and known answers, and what it says of odd input."""

from __future__ import annotations

import csv
import math
import os
import time
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy import integrate, stats

from ckpt_audit.model.simulation import (
    BUCKETS,
    Cascade,
    Constant,
    Drain,
    Estimate,
    Exponential,
    FailureClass,
    Lognormal,
    Policy,
    PolicyResult,
    Scenario,
    Spares,
    Weibull,
    events,
    renewal,
    run,
    simulate,
    walk,
)
from ckpt_audit.model.waste import RecoveryFailures, exact_shares, exact_waste

M = 1000.0
HOUR = 3600.0


def one(
    scenario: Scenario, policy: Policy, runs: int = 400, engine: object = None, seed: int = 7
) -> PolicyResult:
    """Simulate one policy, by one of the engines or by the one that is chosen for it."""
    if engine is None:
        return simulate(scenario, [policy], runs=runs, seed=seed).results[0]
    found = engine.run_block(scenario, policy, seed, 0, runs, math.inf)  # type: ignore[attr-defined]
    return PolicyResult(policy, found)


def near(found: Estimate, want: float, also: float = 0.0) -> bool:
    return abs(found.value - want) <= 4.0 * math.hypot(found.se, also)


GRID = [
    (c, i, dr, mode)
    for c in (0.0, 10.0, 100.0, 500.0)
    for i in (100.0, 440.0, 1500.0)
    for dr, mode in ((0.0, "none"), (50.0, "none"), (200.0, "restore"), (200.0, "all"))
]


@pytest.mark.parametrize(("c", "interval", "dr", "mode"), GRID)
def test_shares_are_the_exact_ones(
    c: float, interval: float, dr: float, mode: RecoveryFailures
) -> None:
    d, r = 0.2 * dr, 0.8 * dr
    scenario = Scenario(
        60 * interval,
        Exponential(M),
        (Constant(c),),
        d=Constant(d),
        r=Constant(r),
        recovery_failures=mode,
    )
    want = exact_shares(interval, c, M, d, r, mode)
    found = one(scenario, Policy.fixed(interval), 300)
    assert near(found.goodput, want.goodput)
    assert near(found.share("checkpoint"), want.checkpoint)
    assert near(found.share("lost_work"), want.lost_work)
    assert near(found.share("detection"), want.detection)
    assert near(found.share("restart"), want.recovery)


KNOWN = list(csv.DictReader((Path(__file__).parent / "waste_known.csv").read_text().splitlines()))


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: f"{row['c_over_m']}-{row['dr_over_m']}")
def test_the_known_table(row: dict[str, str]) -> None:
    c, dr, interval = float(row["c_over_m"]), float(row["dr_over_m"]), float(row["young"])
    work = interval * round(30 / interval)
    scenario = Scenario(work, Exponential(1.0), (Constant(c),), r=Constant(dr))
    found = one(scenario, Policy.fixed(interval), 200)
    assert near(found.goodput, 1.0 - float(row["waste_at_young"]))


@pytest.mark.parametrize("mode", ["none", "restore", "all"])
@pytest.mark.parametrize("engine", [events, walk, renewal])
def test_each_engine_gives_the_exact_goodput(engine: object, mode: RecoveryFailures) -> None:
    scenario = Scenario(
        20000.0,
        Exponential(M),
        (Constant(60.0),),
        d=Constant(40.0),
        r=Exponential(150.0) if mode == "none" else Constant(150.0),
        recovery_failures=mode,
    )
    found = one(scenario, Policy.fixed(400.0), 600, engine)
    assert near(found.goodput, 1.0 - float(exact_waste(400.0, 60.0, M, 40.0, 150.0, mode)))


def test_a_cost_that_varies_acts_through_its_laplace_transform() -> None:
    # Drawn anew at each attempt, C counts as -M ln E[exp(-C/M)].
    law = Lognormal(100.0, 1.2)
    mu = math.log(law.mean) - law.sigma**2 / 2.0

    def density(c: float) -> float:
        return float(math.exp(-c / M) * stats.lognorm.pdf(c, law.sigma, scale=math.exp(mu)))

    acts_as = -M * math.log(integrate.quad(density, 0.0, math.inf)[0])
    assert acts_as < 97.0
    scenario = Scenario(40000.0, Exponential(M), (law,), r=Constant(30.0))
    for engine in (walk, events):
        found = one(scenario, Policy.fixed(400.0), 600, engine)
        assert near(found.goodput, 1.0 - float(exact_waste(400.0, acts_as, M, 0.0, 30.0)))


@pytest.mark.parametrize(("lag", "q"), [(0.0, 0.2), (200.0, 0.0), (200.0, 0.2)])
def test_lag_and_unusable_saves(lag: float, q: float) -> None:
    # E = (M + D + R) exp(L/M) (exp(P/M) - 1) (1 - q z) / (1 - q)
    interval, c, dr = 400.0, 30.0, 60.0
    z = math.exp(-(interval + c) / M)
    expected = (M + dr) * math.exp(lag / M) * (1.0 / z - 1.0) * (1.0 - q * z) / (1.0 - q)
    scenario = Scenario(
        400 * interval, Exponential(M), (Constant(c),), r=Constant(dr), lag_s=lag, invalid=q
    )
    edge = lag / (400 * interval)  # the run ends with a save, and not when that can be restored
    for engine in (renewal, events, *((walk,) if not lag else ())):
        found = one(scenario, Policy.fixed(interval), 300, engine)
        assert near(found.goodput, interval / expected, also=edge)


def test_trying_an_unusable_save_costs_time() -> None:
    # goodput = I sum (1 - q^n) S(nP) / (M + D + R + R_try sum q^n S(nP))
    interval, c, q, retry, r = 100.0, 10.0, 0.4, 25.0, 60.0
    n = np.arange(1, 400)
    survives = np.exp(-n * (interval + c) / M)
    want = interval * ((1 - q**n) * survives).sum() / (M + r + retry * (q**n * survives).sum())
    scenario = Scenario(
        30000.0, Exponential(M), (Constant(c),), r=Constant(r), invalid=q, retry_s=retry
    )
    for engine in (renewal, walk, events):
        assert near(one(scenario, Policy.fixed(interval), 300, engine).goodput, float(want))


@pytest.mark.parametrize(
    ("shape", "waste"), [(0.5, 0.122258), (0.7, 0.130483), (1.0, 0.134968), (1.5, 0.136568)]
)
def test_weibull_up_times(shape: float, waste: float) -> None:
    scenario = Scenario(20000.0, Weibull(1.0, shape), (Constant(0.01),))
    found = one(scenario, Policy.fixed(math.sqrt(0.02)), 128)
    assert near(found.goodput, 1.0 - waste, also=2e-6)


def test_the_time_of_a_segment_has_the_known_mean_and_variance() -> None:
    scenario = Scenario(19.0, Exponential(180.0), (Constant(1.0),), r=Constant(10.0))
    wall = one(scenario, Policy.fixed(19.0), 100_000).runs.wall
    assert abs(wall.mean() - 22.328623) < 4 * wall.std() / math.sqrt(wall.size)
    squares = (wall - wall.mean()) ** 2
    assert abs(squares.mean() - 55.478694) < 4 * squares.std() / math.sqrt(wall.size)


def test_the_probability_of_a_deadline() -> None:
    # 500 h of work at 20 minutes: mean 587.788 h, sd 5.075 h, P(590 h) = 0.670 by simulation.
    minute = 60.0
    scenario = Scenario(
        500 * HOUR, Exponential(180 * minute), (Constant(minute),), r=Constant(10 * minute)
    )
    found = one(scenario, Policy.fixed(20 * minute), 20_000)
    assert near(found.mean("wall"), 587.788 * HOUR)
    assert found.runs.wall.std() == pytest.approx(5.075 * HOUR, rel=0.02)
    by = found.by(590 * HOUR)
    assert by.low < by.value < by.high
    assert abs(by.value - 0.6703) < 4 * math.sqrt(0.67 * 0.33 / 20_000)
    assert abs(by.value - NormalDist(587.788, 5.075).cdf(590.0)) < 0.012
    median = found.finish(0.5)
    assert median.low < median.value < median.high
    assert found.by(median.value).value == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize(("clock", "goodput"), [("failure", 0.84870), ("restart", 0.84427)])
def test_cascades(clock: str, goodput: float) -> None:
    minute = 60.0
    scenario = Scenario(
        500 * HOUR,
        Exponential(180 * minute),
        (Constant(minute),),
        r=Constant(10 * minute),
        cascade=Cascade(0.1, 10 * minute, clock),  # type: ignore[arg-type]
    )
    found = one(scenario, Policy.fixed(18.974 * minute), 400)
    assert near(found.goodput, goodput, also=2e-5)


def test_two_tiers() -> None:
    # C 10 and 300 s, M 3 h and 5 d, R 60 and 600 s: 0.0828 +- 0.0011 at every 34th save
    local, rack = 1 / (3 * HOUR), 1 / (5 * 24 * HOUR)
    scenario = Scenario(
        15 * 24 * HOUR,
        Exponential(1 / (local + rack)),
        (Constant(10.0), Constant(310.0)),
        r=Constant(60.0),
        classes=(
            FailureClass(local / (local + rack)),
            FailureClass(rack / (local + rack), 1, r=Constant(600.0)),
        ),
    )
    found = one(scenario, Policy.tiered(464.758, 34), 64)
    assert near(found.goodput, 1 - 0.0828, also=0.0011)
    every = one(scenario, Policy.tiered(464.758, 1), 16)
    never = one(scenario, Policy.tiered(464.758, 340), 16)
    assert max(every.goodput.value, never.goodput.value) < found.goodput.value - 0.02


STEP, TAX, STEPS = 7.0, 0.03, 30
M_16K = 50_000 * HOUR / 16_384


@pytest.mark.parametrize(
    ("rule", "k", "goodput"),
    [
        ("serial", 53, 0.915),
        ("serial", 30, 0.910),
        ("serial", 10, 0.910),
        ("shrink", 30, 0.910),
        ("shrink", 10, 0.928),
        ("overlap", 53, 0.915),
    ],
)
def test_a_drain_that_keeps_its_bytes_has_no_optimum_at_the_boundary(
    rule: str, k: int, goodput: float
) -> None:
    scenario = Scenario(
        200_000 * STEP,
        Exponential(M_16K),
        (Constant(0.0),),
        d=Constant(90.0),
        r=Constant(300.0),
        drain=Drain(STEPS * STEP, TAX, rule),  # type: ignore[arg-type]
    )
    assert one(scenario, Policy.fixed(k * STEP), 200).goodput.value == pytest.approx(
        goodput, abs=0.0015
    )


def test_a_drain_costs_what_its_equivalent_pause_costs() -> None:
    # C = pause + tax x steps x step, and the lag multiplies the time per interval by exp(L/M).
    work = STEPS * STEP
    scenario = Scenario(
        100_000 * STEP, Exponential(M_16K), (Constant(5.0),), drain=Drain(work, TAX)
    )
    found = one(scenario, Policy.fixed(100 * STEP), 400)
    s = 100 * STEP + 5.0 + TAX * work
    expected = M_16K * math.exp(work * (1 + TAX) / M_16K) * math.expm1(s / M_16K)
    # The first interval after a restart has no drain beside it.
    assert near(found.goodput, 100 * STEP / expected * math.exp(TAX * work / M_16K))


def test_error_bars_cover_the_truth_as_often_as_they_say() -> None:
    scenario = Scenario(8_000.0, Exponential(M), (Constant(50.0),), r=Constant(50.0))
    want = 1 - float(exact_waste(320.0, 50.0, M, 0.0, 50.0))
    z = [
        (found.value - want) / found.se
        for found in (
            one(scenario, Policy.fixed(320.0), 150, seed=seed).goodput for seed in range(200)
        )
    ]
    assert 0.92 <= np.mean(np.abs(z) < 1.96) <= 0.98


@pytest.mark.parametrize("work", [3_000.0, 40_000.0])
def test_the_result_is_the_same_whatever_the_number_of_workers(
    work: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_WORTH_A_POOL", 0.0)
    monkeypatch.setattr(run, "LEAST_BLOCK", 128)
    scenario = Scenario(work, Weibull(M, 0.7), (Lognormal(20.0, 0.5),), invalid=0.1)
    policies = [Policy.fixed(150.0), Policy.by_age((0.0, 900.0), (100.0, 200.0))]
    told: list[tuple[int, int]] = []
    several = simulate(
        scenario, policies, runs=300, workers=2, tell=lambda *done: told.append(done)
    )
    alone = simulate(scenario, policies, runs=300)
    for a, b in zip(several.results, alone.results, strict=True):
        for name in (*BUCKETS, "wall", "failures", "saves"):
            assert getattr(a.runs, name).tolist() == getattr(b.runs, name).tolist()
    assert told == [(n, 6) for n in range(1, 7)]
    assert simulate(scenario, policies, runs=300, seed=2).results[0].goodput != (
        alone.results[0].goodput
    )


def test_who_is_interrupted_waits_for_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LEAST_BLOCK", 4)
    scenario = Scenario(6e8, Exponential(M), (Constant(20.0),))  # minutes, save by save
    policies = [Policy.fixed(1e6), Policy.by_age((0.0, 300.0), (100.0, 200.0))]
    quick = replace(scenario, up=Constant(1e12))

    started: list[int] = []

    def stop(_done: int, _all: int) -> None:
        started.extend(child.pid or 0 for child in active_children())
        raise KeyboardInterrupt

    def is_there(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    tasks = [
        run._Task(quick, policies[0], 1, 0, 4, math.inf),
        run._Task(scenario, policies[1], 1, 0, 4, math.inf),
        run._Task(scenario, policies[1], 1, 1, 4, math.inf),
    ]
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run._run_all(tasks, 2, stop)
    assert time.monotonic() - start < 10.0
    assert len(started) == 2
    while any(is_there(pid) for pid in started):
        assert time.monotonic() - start < 10.0
        time.sleep(0.02)


def test_more_spares_wait_less() -> None:
    scenario = Scenario(30_000.0, Exponential(500.0), (Constant(10.0),), r=Constant(20.0))
    waits = []
    for number in (0, 1, 2, 20):
        found = one(
            replace(scenario, spares=Spares(number, Constant(900.0))), Policy.fixed(90.0), 64
        )
        waits.append(found.share("spare_wait").value)
    assert waits == sorted(waits, reverse=True)
    assert waits[-1] == 0.0
    plain = one(scenario, Policy.fixed(90.0), 64)
    none = one(replace(scenario, spares=Spares(0, Constant(900.0))), Policy.fixed(90.0), 64)
    # With no spare every failure waits for its own node to be repaired.
    assert none.runs.spare_wait == pytest.approx(900.0 * none.runs.failures)
    assert near(none.mean("failures"), plain.mean("failures").value, plain.mean("failures").se)


def test_without_failures_the_time_is_work_and_saves() -> None:
    scenario = Scenario(1000.0, Constant(1e12), (Constant(7.0),), r=Constant(50.0))
    for interval, saves in ((100.0, 10), (300.0, 4), (1000.0, 1), (5000.0, 1)):
        found = one(scenario, Policy.fixed(interval), 10)
        assert found.runs.wall.tolist() == [1000.0 + 7.0 * saves] * 10
        assert found.goodput.se == 0.0
        assert found.runs.failures.sum() == 0
        assert found.by(1000.0 + 7.0 * saves).value == 1.0
        assert found.by(1000.0).value == 0.0


def test_saves_longer_than_the_up_time_are_simulated_or_given_up() -> None:
    hard = Scenario(300.0, Exponential(10.0), (Constant(30.0),))
    found = one(hard, Policy.fixed(10.0), 64)
    assert near(found.goodput, 1 - float(exact_waste(10.0, 30.0, 10.0)))
    never = replace(hard, up=Constant(39.0))
    given_up = one(never, Policy.fixed(10.0), 5)
    assert not given_up.runs.finished.any()
    assert given_up.goodput.value == 0.0
    assert given_up.by(1e9).value == 0.0
    assert given_up.finish(0.5).value == math.inf
