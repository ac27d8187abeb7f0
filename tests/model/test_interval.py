"""Optima against known answers, their definition and arithmetic of more digits."""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model.interval import daly, exact, flat_factors, flat_region, regret, young
from ckpt_audit.model.waste import exact_shares

steady = settings(deadline=None, derandomize=True)
ratios = st.floats(-15.0, 1.0).map(lambda power: 10.0**power)


def test_known_optima() -> None:
    assert young(4.0, 360.0) == pytest.approx(53.6656, abs=5e-5)
    assert exact(4.0, 360.0) == pytest.approx(51.0328, abs=5e-5)
    assert young(1.0, 186.0) == pytest.approx(19.2873, abs=5e-5)
    assert young(5.0, 186.0) == pytest.approx(43.1277, abs=5e-5)
    assert exact(30.0, 6000.0) == pytest.approx(580.169, abs=5e-4)
    assert exact(1.0, 180.0) == pytest.approx(18.312938, abs=5e-7)


@steady
@given(ratios)
def test_waste_at_the_optimum_is_interval_over_m(ratio: float) -> None:
    best = exact(ratio, 1.0)
    assert exact_shares(best, ratio, 1.0).waste == pytest.approx(best, rel=1e-7, abs=1e-14)


@pytest.mark.parametrize("c", [1e-15, 1e-8, 1e-5, 9.99e-4, 1.001e-3, 1e-2, 0.3, 1.0, 5.0])
def test_exact_to_twelve_digits(c: float) -> None:
    with localcontext() as context:
        context.prec = 50
        want = Decimal(exact(c, 1.0))
        for _ in range(8):  # Newton on y + ln(1 - y) + c = 0
            want += (want + (1 - want).ln() + Decimal(c)) * (1 - want) / want
    assert exact(c, 1.0) == pytest.approx(float(want), rel=1e-12)


@steady
@given(st.floats(1e-6, 3.0), st.floats(0.2, 5.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_no_interval_wastes_less(c: float, factor: float, d: float, r: float) -> None:
    best = exact(c, 1.0)
    for mode in ("none", "restore", "all"):
        least = exact_shares(best, c, 1.0, d, r, mode).waste
        assert exact_shares(best * factor, c, 1.0, d, r, mode).waste >= least - 1e-12


@steady
@given(st.floats(1e-6, 1.0))
def test_daly_is_as_good_as_exact(c: float) -> None:
    least = exact_shares(exact(c, 1.0), c, 1.0).waste
    assert exact_shares(daly(c, 1.0), c, 1.0).waste <= least * (1.0 + 3e-5)


def test_daly_beyond_its_range_is_m() -> None:
    assert daly(2.0, 1.0) == 1.0
    assert daly(50.0, 1.0) == 1.0


@steady
@given(st.floats(1e-9, 1.0), st.floats(1e-3, 1e6))
def test_any_unit(c: float, scale: float) -> None:
    for optimum in (young, daly, exact):
        assert optimum(c * scale, scale) == pytest.approx(scale * optimum(c, 1.0), rel=1e-9)


@pytest.mark.parametrize(
    ("eps", "low", "high"), [(0.01, 0.868, 1.152), (0.05, 0.730, 1.370), (0.10, 0.642, 1.558)]
)
def test_first_order_region(eps: float, low: float, high: float) -> None:
    assert flat_factors(eps) == pytest.approx((low, high), abs=5e-4)
    assert [regret(x) for x in flat_factors(eps)] == pytest.approx([eps, eps])


@steady
@given(st.floats(1e-9, 0.5), st.floats(1e-3, 0.3))
def test_region_ends_where_the_tolerance_does(c: float, eps: float) -> None:
    region = flat_region(c, 1.0, eps)
    limit = (1.0 + eps) * exact(c, 1.0)
    assert region.low < exact(c, 1.0) < region.high
    assert exact_shares(region.low, c, 1.0).waste == pytest.approx(limit, rel=1e-6)
    assert exact_shares(region.high, c, 1.0).waste == pytest.approx(limit, rel=1e-6)


def test_region_tends_to_the_first_order_one() -> None:
    region = flat_region(1e-9, 1.0, 0.05)
    best = exact(1e-9, 1.0)
    assert (region.low / best, region.high / best) == pytest.approx(flat_factors(0.05), rel=1e-3)


def test_region_without_end() -> None:
    region = flat_region(5.0, 1.0, 0.05)  # the least waste is 99.7 %: nothing is much worse
    assert (region.low, region.high) == (0.0, math.inf)


@pytest.mark.parametrize("optimum", [young, daly, exact, flat_region])
def test_refuses(optimum: Callable[[float, float], object]) -> None:
    with pytest.raises(ValueError, match="saves are free"):
        optimum(0.0, 1.0)
    with pytest.raises(ValueError, match="c must be"):
        optimum(-1.0, 1.0)
    with pytest.raises(ValueError, match="m must be"):
        optimum(1.0, 0.0)
    with pytest.raises(ValueError, match="c must be"):
        optimum(math.nan, 1.0)


def test_refuses_factors() -> None:
    with pytest.raises(ValueError, match="x must be"):
        regret(0.0)
    with pytest.raises(ValueError, match="eps must be"):
        flat_region(1.0, 10.0, 0.0)
