"""Every engine gives, from the same random numbers, the runs that a plain loop gives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import cycle
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model.simulation import (
    Cascade,
    Constant,
    Drain,
    Exponential,
    FailureClass,
    Lognormal,
    Measured,
    Policy,
    Scenario,
    Spares,
    Weibull,
    events,
    renewal,
    walk,
)
from tests.model.plain_simulation import BUCKETS, compared, plain_run

BASE = Scenario(
    4000.0, Exponential(500.0), (Constant(9.0),), d=Constant(7.0), r=Lognormal(40.0, 0.6)
)
VARIED = replace(BASE, saves=(Lognormal(9.0, 0.8),), d=Exponential(7.0))
FIXED = Policy.fixed(90.0)
CLASSES = (
    FailureClass(0.7),
    FailureClass(0.2, tier=1, nodes=2, r=Constant(90.0)),
    FailureClass(0.1, tier=1, nodes=0),
)

SCENARIOS: dict[str, tuple[Scenario, Policy]] = {
    "constant costs": (BASE, FIXED),
    "costs that vary": (VARIED, FIXED),
    "work of one short interval": (replace(BASE, work_s=20.0), FIXED),
    "work of whole intervals": (replace(BASE, work_s=3600.0), FIXED),
    "more than the draws of one table": (replace(VARIED, work_s=30000.0), FIXED),
    "free saves": (replace(BASE, saves=(Constant(0.0),)), FIXED),
    "measured up-times": (replace(BASE, up=Measured((30.0, 200.0, 700.0))), FIXED),
    "constant up-times": (replace(BASE, up=Constant(300.0)), FIXED),
    "early failures": (replace(VARIED, up=Weibull(500.0, 0.6)), FIXED),
    "unusable saves": (replace(BASE, invalid=0.3, retry_s=11.0), FIXED),
    "unusable saves of varied cost": (replace(VARIED, invalid=0.3, retry_s=11.0), FIXED),
    "lag": (replace(BASE, lag_s=60.0), FIXED),
    "lag of several intervals": (replace(BASE, lag_s=250.0), FIXED),
    "cascade after the restart": (replace(VARIED, cascade=Cascade(0.4, 200.0)), FIXED),
    "cascade, constant, unusable": (
        replace(BASE, cascade=Cascade(0.4, 200.0), invalid=0.2, retry_s=3.0),
        FIXED,
    ),
    "cascade from the failure": (replace(VARIED, cascade=Cascade(0.4, 200.0, "failure")), FIXED),
    "a drain": (replace(BASE, drain=Drain(50.0, 0.1)), FIXED),
    "a drain as long as the interval": (replace(BASE, drain=Drain(90.0, 0.1)), FIXED),
    "a drain longer than the interval": (replace(BASE, drain=Drain(200.0, 0.1)), FIXED),
    "a drain that shrinks": (replace(BASE, drain=Drain(200.0, 0.1, "shrink")), FIXED),
    "drains side by side": (replace(VARIED, drain=Drain(200.0, 0.1, "overlap")), FIXED),
    "drains side by side, lag, unusable": (
        replace(VARIED, drain=Drain(200.0, 0.1, "overlap"), lag_s=33.0, invalid=0.2, retry_s=5.0),
        FIXED,
    ),
    "intervals by up-time": (
        replace(VARIED, drain=Drain(40.0, 0.2)),
        Policy.by_age((0.0, 150.0, 600.0), (40.0, 90.0, 140.0)),
    ),
    "intervals by age of the run": (
        VARIED,
        Policy.by_age((0.0, 1000.0, 3000.0), (40.0, 90.0, 140.0), "run"),
    ),
    "two tiers": (
        replace(VARIED, saves=(Constant(2.0), Lognormal(30.0, 0.4)), classes=CLASSES),
        Policy.tiered(45.0, 4),
    ),
    "three tiers, unusable, lag": (
        replace(
            VARIED,
            saves=(Constant(2.0), Constant(12.0), Constant(30.0)),
            classes=(FailureClass(0.5), FailureClass(0.3, 1), FailureClass(0.2, 2)),
            invalid=0.25,
            retry_s=4.0,
            lag_s=20.0,
        ),
        Policy.tiered(45.0, 3, 6),
    ),
    "spares that run out": (
        replace(VARIED, spares=Spares(1, Exponential(800.0))),
        FIXED,
    ),
    "no spares": (replace(BASE, spares=Spares(0, Constant(100.0))), FIXED),
    "racks and spares": (
        replace(
            VARIED,
            saves=(Constant(2.0), Constant(12.0)),
            classes=CLASSES,
            spares=Spares(2, Exponential(800.0)),
        ),
        Policy.tiered(45.0, 4),
    ),
}
RECOVERIES = {
    "struck while restoring": (replace(VARIED, recovery_failures="restore"), FIXED),
    "struck at any time": (replace(VARIED, recovery_failures="all", r=Constant(200.0)), FIXED),
    "struck, classes, cascade, spares": (
        replace(
            VARIED,
            saves=(Constant(2.0), Constant(12.0)),
            recovery_failures="all",
            r=Constant(150.0),
            classes=CLASSES,
            cascade=Cascade(0.4, 200.0, "failure"),
            spares=Spares(2, Exponential(800.0)),
        ),
        Policy.tiered(45.0, 4),
    ),
}
ENGINES: list[ModuleType] = [events, walk, renewal]


def engines_of(scenario: Scenario, policy: Policy) -> list[ModuleType]:
    return [e for e in ENGINES if e is events or e.applies(scenario, policy)]


def per_failure(engine: ModuleType) -> bool:
    return engine is not events


@pytest.mark.parametrize("name", [*SCENARIOS, *RECOVERIES])
def test_a_run_is_that_of_the_plain_loop(name: str) -> None:
    scenario, policy = (SCENARIOS | RECOVERIES)[name]
    engines = engines_of(scenario, policy) if name in SCENARIOS else [events]
    for engine in engines:
        for seed in range(8):
            runs = engine.run_block(scenario, policy, seed, 0, 1, 1e9)
            want = plain_run(scenario, policy, seed=seed, per_failure=per_failure(engine))
            got = compared(runs, 0)
            assert got == pytest.approx(want, rel=1e-9, abs=1e-6), (engine.__name__, seed)


@dataclass
class Listed:
    """Costs from a list: the n-th save of every run costs the same."""

    values: tuple[float, ...] = (3.0, 9.0, 27.0, 1.0, 14.0, 5.0, 0.0)
    at: int = field(default=0, init=False)

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        rows = 1 if len(shape) == 1 else shape[0]
        places = (self.at + np.arange(rows)) % len(self.values)
        self.at += rows
        drawn = np.asarray(self.values)[places]
        return (
            np.full(shape, drawn[0])
            if len(shape) == 1
            else np.repeat(drawn[:, None], shape[1], axis=1)
        )


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_run_of_a_block_is_that_of_the_plain_loop(name: str) -> None:
    scenario, policy = SCENARIOS[name]
    if scenario.spares is not None or any(kind.r for kind in scenario.classes):
        scenario = replace(  # what is drawn in a recovery is drawn for all at once
            scenario,
            classes=tuple(replace(kind, r=None) for kind in scenario.classes),
            spares=scenario.spares and replace(scenario.spares, repair=Constant(800.0)),
        )
    size = 9
    for engine in engines_of(scenario, policy):
        in_recovery = scenario.cascade is not None and scenario.cascade.clock == "failure"
        if engine is events and (scenario.invalid or in_recovery):
            continue  # drawn for all at once
        law, of_engine = None, scenario
        if len(scenario.saves) == 1 and engine is not renewal:
            law = Listed()
            of_engine = replace(scenario, saves=(law,))
        elif policy.n_tiers > 1:
            of_engine = replace(scenario, saves=tuple(Constant(s.mean) for s in scenario.saves))
        runs = engine.run_block(of_engine, policy, 5, 0, size, 1e9)
        for column in range(size):
            want = plain_run(
                of_engine,
                policy,
                seed=5,
                size=size,
                column=column,
                per_failure=per_failure(engine),
                costs=None if law is None else iter(cycle(law.values)),
            )
            got = compared(runs, column)
            assert got == pytest.approx(want, rel=1e-9, abs=1e-6), (engine.__name__, column)


seconds = st.one_of(st.just(0.0), st.floats(0.01, 300.0))
fractions = st.one_of(st.just(0.0), st.floats(0.05, 0.6))
drains = st.builds(
    Drain,
    st.floats(1.0, 300.0),
    st.floats(0.0, 0.5),
    st.sampled_from(["serial", "overlap", "shrink"]),
)
cascades = st.builds(
    Cascade, fractions, st.floats(0.0, 400.0), st.sampled_from(["restart", "failure"])
)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Scenario, Policy]:
    """A scenario and a policy, of any mix of what can happen."""
    two_tiers = draw(st.booleans())
    classes = (FailureClass(0.8), FailureClass(0.2, 1, draw(st.integers(0, 3))))
    mean = draw(st.floats(100.0, 2000.0))
    # a failure at the very moment of a save comes before or after it by the last bit: left out
    constant = Constant(mean * 1.000123457)
    law = draw(st.sampled_from([Exponential(mean), Weibull(mean, 0.7), constant]))
    cost = draw(seconds)
    save = Lognormal(cost, 0.7) if cost and draw(st.booleans()) else Constant(cost)
    intervals = draw(st.lists(st.floats(20.0, 400.0), min_size=1, max_size=3))
    scenario = Scenario(
        draw(st.floats(1.0, 3000.0)),
        law,
        (save, Constant(40.0)) if two_tiers else (save,),
        d=draw(st.sampled_from([Constant(5.0), Exponential(9.0)])),
        r=draw(st.sampled_from([Constant(50.0), Lognormal(30.0, 0.5)])),
        recovery_failures=draw(st.sampled_from(["none", "none", "restore", "all"])),
        lag_s=draw(seconds),
        drain=draw(st.none() | drains),
        cascade=draw(st.none() | cascades),
        invalid=draw(fractions),
        retry_s=draw(seconds),
        classes=classes if two_tiers else (FailureClass(1.0),),
        spares=draw(st.none() | st.builds(Spares, st.integers(0, 3), st.just(Constant(300.0)))),
    )
    starts = tuple(300.0 * at for at in range(len(intervals)))
    clock = draw(st.sampled_from(["restart", "run"]))
    return scenario, Policy(tuple(intervals), starts, clock, (3,) if two_tiers else ())


@settings(max_examples=100, deadline=None, derandomize=True)
@given(worlds(), st.integers(0, 1000))
def test_any_world_is_that_of_the_plain_loop(world: tuple[Scenario, Policy], seed: int) -> None:
    scenario, policy = world
    for engine in engines_of(scenario, policy):
        if engine is not events and scenario.recovery_failures != "none":
            continue  # drawn in another order
        runs = engine.run_block(scenario, policy, seed, 0, 1, 30_000.0)
        got = compared(runs, 0)
        assert sum(got[bucket] for bucket in BUCKETS) == pytest.approx(got["wall"], rel=1e-12)
        want = plain_run(
            scenario, policy, seed=seed, per_failure=per_failure(engine), horizon_s=30_000.0
        )
        if want["finished"] or got["finished"]:  # engines differ in when they give up
            assert got == pytest.approx(want, rel=1e-9, abs=1e-6), engine.__name__


@pytest.mark.parametrize("name", [*SCENARIOS, *RECOVERIES])
def test_buckets_add_up_to_wall_clock(name: str) -> None:
    scenario, policy = (SCENARIOS | RECOVERIES)[name]
    for engine in engines_of(scenario, policy):
        runs = engine.run_block(scenario, policy, 3, 0, 40, 1e9)
        total = np.sum([getattr(runs, bucket) for bucket in BUCKETS], axis=0)
        np.testing.assert_allclose(total, runs.wall, rtol=1e-12)
        assert runs.finished.all()
        assert all((getattr(runs, bucket) >= 0.0).all() for bucket in BUCKETS)


def test_whole_seconds_add_up_exactly() -> None:
    scenario = Scenario(
        1800.0,
        Measured(tuple(float(up) for up in range(20, 900, 7))),
        (Constant(5.0),),
        d=Constant(3.0),
        r=Measured((20.0, 31.0)),
        cascade=Cascade(0.2, 0.0),
    )
    for engine in (events, walk, renewal):
        runs = engine.run_block(scenario, Policy.fixed(90.0), 1, 0, 50, 1e9)
        total = np.sum([getattr(runs, bucket) for bucket in BUCKETS], axis=0)
        assert total.tolist() == runs.wall.tolist()


def test_a_run_that_never_ends_is_given_up_and_says_so() -> None:
    scenario = Scenario(1000.0, Constant(50.0), (Constant(1.0),), r=Constant(3.0))
    for engine in (events, walk, renewal):
        runs = engine.run_block(scenario, Policy.fixed(60.0), 1, 0, 3, 5000.0)
        assert not runs.finished.any()
        assert (runs.retained == 0.0).all()
        assert (runs.wall >= 5000.0).all()
        total = np.sum([getattr(runs, bucket) for bucket in BUCKETS], axis=0)
        np.testing.assert_allclose(total, runs.wall, rtol=1e-12)
