"""What the simulator refuses, and the laws that it draws from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

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
    parse_law,
    simulate,
    up_times,
)
from ckpt_audit.model.simulation.laws import standard_normals


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"work_s": 0.0}, "work_s must be a positive"),
        ({"up": Constant(0.0)}, "mean of up must be a positive"),
        ({"invalid": 1.0}, "a run never ends"),
        ({"invalid": -0.1}, "invalid must be from 0 to 1"),
        ({"lag_s": -1.0}, "lag_s must be zero or a positive"),
        ({"saves": ()}, "cost of a save"),
        ({"classes": (FailureClass(0.5),)}, "must add up to 1"),
        ({"classes": (FailureClass(1.0, tier=1),)}, "a tier that no save goes to"),
        ({"recovery_failures": "some"}, "none, restore or all"),
    ],
)
def test_what_cannot_be_simulated_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(Scenario(1.0, Constant(1.0), (Constant(1.0),)), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Policy.fixed(0.0), "intervals_s must be a positive"),
        (lambda: Policy.by_age((1.0,), (5.0,)), "must begin at 0"),
        (lambda: Policy.by_age((0.0, 0.0), (5.0, 6.0)), "rise"),
        (lambda: Policy.by_age((0.0,), (5.0, 6.0)), "one interval for each"),
        (lambda: Policy.tiered(5.0, 4, 6), "multiple"),
        (lambda: Drain(1.0, 0.1, "fast"), "shrink, overlap or serial"),
        (lambda: Cascade(1.5, 1.0), "from 0 to 1"),
        (lambda: Cascade(0.5, 1.0, "never"), "restart or failure"),
        (lambda: FailureClass(0.5, tier=-1), "negative"),
        (lambda: Spares(-1, Constant(1.0)), "negative"),
        (lambda: Measured(()), "at least one value"),
        (lambda: Measured((1.0, 2.0), (1.0,)), "as many weights"),
        (lambda: Weibull(1.0, 0.0), "shape must be a positive"),
        (lambda: parse_law("weibull", 1.0), "is no law"),
        (lambda: parse_law("weibull:x", 1.0), "is no shape"),
        (lambda: parse_law("gamma:1", 1.0), "is no law"),
        (lambda: up_times([1.0] * 9, [True] * 4 + [False] * 5), "only 4 measured"),
        (lambda: up_times([1.0] * 9, [True] * 8), "needs to say"),
    ],
)
def test_what_is_no_law_or_policy_is_refused(make: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()  # type: ignore[operator]


def test_what_is_asked_of_a_simulation_is_checked() -> None:
    scenario = Scenario(1.0, Constant(1.0), (Constant(1.0),))
    refused: Sequence[tuple[list[Policy], dict[str, int], str]] = (
        ([], {}, "no policy"),
        ([Policy.fixed(1.0)], {"runs": 0}, "1 or more"),
        ([Policy.fixed(1.0)], {"seed": -1}, "1 or more"),
        ([Policy.tiered(1.0, 2)], {}, "2 tiers"),
        ([Policy.by_age((0.0, 1.0), (1e-8, 1.0))], {}, "1e.08 saves"),
    )
    for policies, options, said in refused:
        with pytest.raises(ValueError, match=said):
            simulate(scenario, policies, **options)
    with pytest.raises(ValueError, match=r"1e.08 failures"):
        simulate(replace(scenario, work_s=1e8), [Policy.fixed(1.0)])
    short = replace(scenario, drain=Drain(1000.0, 0.0, "overlap"))
    with pytest.raises(ValueError, match="on their way at once"):
        simulate(short, [Policy.fixed(1.0)], runs=1)


@pytest.mark.parametrize(
    "law",
    [
        Constant(3.0),
        Exponential(3.0),
        Weibull(3.0, 0.6),
        Lognormal(3.0, 0.7),
        Measured((1.0, 2.0, 6.0)),
        up_times([1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 9.0], [1, 1, 0, 1, 1, 1, 0]),
    ],
)
def test_a_law_draws_what_its_mean_says(law: Constant) -> None:
    drawn = law.draw(np.random.default_rng(1), (200, 500))
    assert drawn.shape == (200, 500)
    assert abs(drawn.mean() - law.mean) <= 4 * drawn.std() / math.sqrt(drawn.size)
    assert (drawn >= 0.0).all()


def test_up_times_that_were_cut_off_are_not_taken_for_failures() -> None:
    rng = np.random.default_rng(3)
    true = rng.exponential(100.0, 4000)
    seen = np.minimum(true, 60.0)
    law = up_times(seen, (true <= 60.0).tolist())
    assert law.mean == pytest.approx(100.0, rel=0.05)
    assert seen[true <= 60.0].mean() < 30.0
    drawn = law.draw(np.random.default_rng(4), (100_000,))
    assert (drawn > 50.0).mean() == pytest.approx(math.exp(-0.5), abs=0.02)
    assert (drawn > 200.0).mean() == pytest.approx(math.exp(-2.0), abs=0.02)


def test_normal_numbers_are_normal() -> None:
    drawn = standard_normals(np.random.default_rng(5), (1001, 999))
    assert drawn.shape == (1001, 999)
    assert stats.kstest(drawn[:, :400].ravel(), "norm").pvalue > 1e-4
    # Both numbers of a point, and points one after the other, know nothing of each other.
    flat = drawn.ravel()
    half = (flat.size + 1) // 2
    for a, b in ((flat[: half - 1], flat[half:]), (flat[:-1], flat[1:])):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4 / math.sqrt(a.size)
        assert abs(np.corrcoef(a**2, b**2)[0, 1]) < 4 / math.sqrt(a.size)
    for x in (2.0, 3.0, 4.0):
        tail = 2 * NormalDist().cdf(-x)
        assert abs((np.abs(flat) > x).mean() - tail) < 4 * math.sqrt(tail / flat.size)
