"""Drains: what one costs, when it counts, and the three rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model.drain import (
    DRAIN_RULES,
    Drain,
    DrainRule,
    boundary_binds,
    drain_optimum,
    drain_shares,
    feasible_floor,
)
from ckpt_audit.model.interval import exact, young
from ckpt_audit.model.laws import Exponential, Weibull
from ckpt_audit.model.renewal import Failures, shares

steady = settings(deadline=None, derandomize=True)
drains = st.builds(Drain, st.integers(1, 60), st.floats(0.001, 0.3), st.just(7.0), st.floats(0, 60))


@steady
@given(drains, st.integers(0, 200))
def test_rules_agree_where_there_is_room(drain: Drain, more: int) -> None:
    saves = {drain.as_save(drain.steps + more, rule) for rule in DRAIN_RULES}
    assert len(saves) == 1
    (save,) = saves
    assert save.c == pytest.approx(drain.pause + drain.steps * 7.0 * drain.tax)
    assert save.lag == pytest.approx(drain.pause + drain.steps * 7.0 * (1 + drain.tax))


@steady
@given(drains, st.integers(1, 59))
def test_what_differs_where_there_is_none(drain: Drain, k: int) -> None:
    if k >= drain.steps:
        return
    shrunk, over = drain.as_save(k, "shrink"), drain.as_save(k, "overlap")
    assert shrunk.c < over.c
    assert shrunk.lag < over.lag
    assert drain.in_flight(k, "shrink") == 1.0
    assert drain.in_flight(k, "overlap") * k == pytest.approx(drain.steps)
    with pytest.raises(ValueError, match="cannot be"):
        drain.as_save(k, "serial")


@pytest.mark.parametrize("rule", DRAIN_RULES)
@pytest.mark.parametrize("m", [600.0, 3000.0, 20_000.0])
@pytest.mark.parametrize("pause", [0.0, 20.0])
def test_optimum_by_trying_every_step(rule: DrainRule, m: float, pause: float) -> None:
    drain, failures = Drain(30, 0.05, 7.0, pause), Failures(Exponential(m), 60.0, 200.0)
    first = drain.steps if rule == "serial" else 1
    every = {k: drain_shares(k, drain, failures, rule).waste for k in range(first, 250)}
    best = drain_optimum(drain, failures, rule)
    assert every[best] == min(every.values())


def test_optimum_of_another_law() -> None:
    drain, failures = Drain(10, 0.05, 7.0, 5.0), Failures(Weibull(0.6, 20_000.0))
    every = {k: drain_shares(k, drain, failures, "serial").waste for k in range(10, 200)}
    assert every[drain_optimum(drain, failures, "serial")] == min(every.values())


@steady
@given(drains, st.floats(100.0, 1e5))
def test_the_boundary_binds_where_young_is_shorter_than_the_drain(drain: Drain, m: float) -> None:
    cost = drain.as_save(drain.steps, "serial").c
    assert boundary_binds(drain, m) == (young(cost, m) < drain.steps * 7.0)


@steady
@given(st.floats(1.0, 1e14), st.floats(1.0, 1e12), st.floats(0.0, 0.5))
def test_floor_is_a_drain_that_just_fits(n_bytes: float, bandwidth: float, tax: float) -> None:
    floor = feasible_floor(n_bytes, bandwidth, tax)
    assert floor.drain * bandwidth == pytest.approx(n_bytes)
    drain = Drain(1, tax, floor.interval) if floor.interval > 0 else None
    assert drain is not None
    save = drain.as_save(1, "serial")
    assert save.lag == pytest.approx(floor.interval + save.c)  # lag = period: the next may start
    assert save.lag == pytest.approx(floor.drain)


def test_a_drain_of_thirty_steps_in_three_is_ten_times_the_bandwidth() -> None:
    drain = Drain(30, 0.03, 7.0)
    with pytest.raises(ValueError, match="needs 10 times the bandwidth"):
        drain.as_save(3, "serial")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Drain(0, 0.1, 7.0), "at least one step"),
        (lambda: Drain(1, -0.1, 7.0), "tax must be"),
        (lambda: Drain(1, 0.1, 0.0), "step must be"),
        (lambda: Drain(1, 0.1, 7.0).as_save(0, "serial"), "at least one step apart"),
        (lambda: Drain(1, 0.1, 7.0).as_save(1, "halve"), "is one of shrink"),
        (lambda: feasible_floor(1e9, 0.0), "bandwidth must be"),
    ],
)
def test_refuses(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()


def test_known_async_optimum() -> None:
    """Half a second of pause and 3 % on 30 steps of 7 s: the interval of 6.8 s."""
    failures = Failures(Exponential(10_000.0))
    best = drain_optimum(Drain(30, 0.03, 7.0, 0.5), failures, "serial")
    assert best == round(exact(6.8, 10_000.0) / 7.0)
    save = Drain(30, 0.03, 7.0, 0.5).as_save(best, "serial")
    want = shares(best * 7.0, save.c, Failures(Exponential(10_000.0), lag=save.lag))
    assert drain_shares(best, Drain(30, 0.03, 7.0, 0.5), failures, "serial") == want
