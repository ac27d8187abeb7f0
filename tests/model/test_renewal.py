"""Other laws of up-time, lags and invalid checkpoints: known answers, identities, a simulation."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model.interval import exact, young
from ckpt_audit.model.laws import Exponential, Steps, UpTimeLaw, Weibull
from ckpt_audit.model.renewal import Failures, optimum, shares
from ckpt_audit.model.waste import RecoveryFailures, exact_shares

steady = settings(deadline=None, derandomize=True)
KNOWN = list(csv.DictReader((Path(__file__).parent / "weibull_known.csv").read_text().splitlines()))


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: f"{row['shape']}-{row['c_over_m']}")
def test_weibull_table(row: dict[str, str]) -> None:
    want = {name: float(text) for name, text in row.items()}
    failures, c = Failures(Weibull(want["shape"], 1.0)), want["c_over_m"]
    best, at_young = optimum(c, failures), shares(young(c, 1.0), c, failures)
    least = shares(best, c, failures)
    assert best == pytest.approx(want["i_over_m"], rel=2e-5)
    assert best / young(c, 1.0) == pytest.approx(want["i_over_young"], rel=2e-5)
    assert least.waste == pytest.approx(want["least_waste"], abs=6e-7)
    assert at_young.waste == pytest.approx(want["waste_at_young"], abs=6e-7)
    excess = 100 * (at_young.waste / least.waste - 1)
    assert excess == pytest.approx(want["excess_of_young"], abs=6e-4)
    assert at_young.lost_per_failure == pytest.approx(want["lost_over_half_period"], abs=6e-5)


@pytest.mark.parametrize(
    ("shape", "waste"), [(0.5, 0.122258), (0.7, 0.130483), (1.0, 0.134968), (1.5, 0.136568)]
)
def test_weibull_at_a_fixed_interval(shape: float, waste: float) -> None:
    got = shares(0.14142136, 0.01, Failures(Weibull(shape, 1.0))).waste
    assert got == pytest.approx(waste, abs=6e-7)


@pytest.mark.parametrize(
    ("i", "c", "m", "d", "r", "mode", "lag", "invalid", "time", "waste"),
    [
        (371.0, 6.3, 10986.328125, 90.0, 300.0, "none", 216.3, 0.0, 405.38301, 0.0848161),
        (371.0, 6.3, 10986.328125, 90.0, 300.0, "all", 216.3, 0.0, 405.63262, 0.0853793),
        (900.0, 30.0, 6000.0, 90.0, 300.0, "none", 0.0, 0.05, 1079.4305, 0.166227),
        (900.0, 30.0, 6000.0, 90.0, 300.0, "none", 0.0, 0.2, 1109.7912, 0.189037),
        (900.0, 30.0, 6000.0, 90.0, 300.0, "none", 300.0, 0.1, 1144.2311, 0.213446),
        (45.0, 4.0, 360.0, 5.0, 10.0, "none", 0.0, 0.0, 54.678449, 0.177007),
    ],
)
def test_fixed_intervals_with_lag_and_invalid_saves(
    i: float, c: float, m: float, d: float, r: float, mode: RecoveryFailures,
    lag: float, invalid: float, time: float, waste: float,
) -> None:  # fmt: skip
    law = Exponential(m)
    at = shares(i, c, Failures(law, d, r, lag, invalid, recovery_failures=mode))
    assert i / at.goodput == pytest.approx(time, rel=1e-7)
    assert at.waste == pytest.approx(waste, rel=5e-6)


@pytest.mark.parametrize(
    ("invalid", "best"),
    [
        (0, 580.169),
        (0.01, 574.945),
        (0.05, 554.369),
        (0.1, 529.315),
        (0.2, 481.081),
        (0.5, 345.047),
    ],
)
def test_optimum_with_invalid_saves(invalid: float, best: float) -> None:
    failures = Failures(Exponential(6000.0), invalid=invalid)
    assert optimum(30.0, failures) == pytest.approx(best, abs=6e-4)


fractions = st.floats(0.02, 3.0)


@steady
@given(fractions, st.floats(0.0, 0.5), st.floats(0.0, 0.9), st.floats(0.0, 1.0), st.floats(0, 0.3))
def test_the_sum_at_shape_one_is_the_closed_form(
    i: float, c: float, q: float, late: float, retry: float
) -> None:
    def of(law: UpTimeLaw) -> list[float]:
        at = shares(i, c, Failures(law, 0.1, 0.2, late * (i + c), q, retry))
        return [at.checkpoint, at.lost_work, at.detection, at.recovery, at.waste, at.goodput]

    assert of(Weibull(1.0, 1.0)) == pytest.approx(of(Exponential(1.0)), rel=1e-9, abs=1e-12)


@steady
@given(fractions, st.floats(0.0, 0.5), st.floats(0.0, 0.3), st.floats(0.0, 0.3),
       st.sampled_from(["none", "restore", "all"]))  # fmt: skip
def test_with_nothing_special_it_is_the_exact_model(
    i: float, c: float, d: float, r: float, mode: RecoveryFailures
) -> None:
    at = shares(i, c, Failures(Exponential(1.0), d, r, recovery_failures=mode))
    want = exact_shares(i, c, 1.0, d, r, mode)
    for name in ("checkpoint", "lost_work", "detection", "recovery", "waste", "goodput"):
        assert getattr(at, name) == pytest.approx(getattr(want, name), rel=1e-9, abs=1e-12)


@steady
@given(st.floats(1e-4, 0.5), st.floats(0.0, 0.9), st.floats(0.3, 3.0))
def test_no_interval_wastes_less(c: float, q: float, factor: float) -> None:
    failures = Failures(Exponential(1.0), 0.1, 0.2, invalid=q)
    best = optimum(c, failures)
    least = shares(best, c, failures).waste
    assert shares(best * factor, c, failures).waste >= least - 1e-12
    first_order = math.sqrt(2 * c * (1 - q) / (1 + q))
    if c < 1e-3 and q < 0.5:
        assert best == pytest.approx(first_order, rel=0.05)


@steady
@given(st.floats(1e-3, 0.3), st.floats(0.0, 0.5))
def test_a_lag_does_not_move_the_optimum(c: float, late: float) -> None:
    best = exact(c, 1.0)
    failures = Failures(Exponential(1.0), lag=late * best)
    assert optimum(c, failures) == best
    assert shares(best, c, failures).goodput == pytest.approx(
        math.exp(-late * best) * (1 - best), rel=1e-9
    )


def test_where_the_lag_is_longer_than_the_best_interval_it_is_the_boundary() -> None:
    failures = Failures(Exponential(1.0), lag=0.5)
    assert optimum(0.01, failures) == pytest.approx(0.49)
    assert optimum(0.01, Failures(Exponential(1.0), lag=0.5, overlapping=True)) == exact(0.01, 1.0)
    with pytest.raises(ValueError, match="saves would overlap"):
        shares(0.48, 0.01, failures)


@pytest.mark.parametrize("law", [Exponential(10.0), Weibull(0.6, 10.0), Weibull(2.0, 10.0)])
def test_shares_by_simulation(law: UpTimeLaw) -> None:
    i, c, lag, q, retry, n = 3.0, 1.0, 2.0, 0.3, 0.5, 400_000
    rng = np.random.default_rng(11)
    if isinstance(law, Weibull):
        up = law.scale * rng.weibull(law.shape, n)
    else:
        up = rng.exponential(law.mean, n)
    counted = np.maximum((up - lag) // (i + c), 0.0)
    bad = np.minimum(rng.geometric(1 - q, n) - 1, counted)  # newest ones that cannot be loaded
    wall = up + 0.7 + 1.1 + retry * bad
    kept = (counted - bad) * i
    pauses = up // (i + c) * c + np.maximum(up % (i + c) - i, 0.0)
    at = shares(i, c, Failures(law, 0.7, 1.1, lag, q, retry))
    for values, share in ((kept, at.goodput), (pauses, at.checkpoint)):
        rest = values - share * wall  # mean 0 if the share is right
        assert abs(rest.mean()) < 4 * rest.std() / math.sqrt(n)


def test_a_curve_of_many_steps_is_the_law_that_it_follows() -> None:
    law = Weibull(0.7, 1.0)
    times = np.concatenate([np.linspace(1e-4, 6, 60_000), np.linspace(6.001, 40, 4_000)])
    curve = Steps(tuple(times), tuple(law.survival(times)))
    assert curve.mean == pytest.approx(1.0, rel=1e-3)
    want = shares(0.2, 0.02, Failures(law, 0.0, 0.1))
    got = shares(0.2, 0.02, Failures(curve, 0.0, 0.1))
    assert got.waste == pytest.approx(want.waste, abs=2e-3)
    assert optimum(0.02, Failures(curve)) == pytest.approx(optimum(0.02, Failures(law)), rel=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Failures(Exponential(1.0), invalid=1.0), "nothing could be kept"),
        (lambda: Failures(Weibull(0.5, 1.0), recovery_failures="all"), "constant rate"),
        (lambda: Failures(Exponential(1.0), d=-1.0), "d must be"),
        (lambda: Exponential(0.0), "mean must be"),
        (lambda: Weibull(0.01, 1.0), "shape must be from"),
        (lambda: Steps((1.0,), ()), "as many levels"),
        (lambda: Steps((2.0, 1.0), (0.5, 0.1)), "times must rise"),
        (lambda: Steps((1.0, 2.0), (0.5, 0.6)), "times must rise"),
        (lambda: shares(1e-9, 0.0, Failures(Weibull(0.5, 1.0))), "too short"),
    ],
)
def test_refuses(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()
