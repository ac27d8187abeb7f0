"""What-if: the table, the levers, other sizes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model.interval import exact, flat_region
from ckpt_audit.model.laws import Exponential, Weibull
from ckpt_audit.model.renewal import Failures, flat, optimum, shares
from ckpt_audit.model.waste import exact_waste, first_order
from ckpt_audit.model.whatif import (
    Setting,
    Spares,
    at_sizes,
    largest_term,
    sensitivity,
    tornado,
)

steady = settings(deadline=None, derandomize=True, max_examples=50)
JOB = Setting(4.0, 360.0, 5.0, 10.0)


def test_sensitivity_is_first_order_beside_exact() -> None:
    intervals, means = [10.0, 20.0, 40.0, 60.0, 120.0], [180.0, 360.0, 720.0]
    rows = sensitivity(JOB, intervals, means)
    assert [(row.m, row.interval) for row in rows] == [(m, i) for m in means for i in intervals]
    for row in rows:
        assert row.exact == pytest.approx(float(exact_waste(row.interval, 4, row.m, 5, 10)))
        assert row.first_order == first_order(row.interval, 4, row.m, 5, 10).waste


def test_where_saves_would_overlap_the_table_says_nothing() -> None:
    rows = sensitivity(replace(JOB, lag=30.0), [10.0, 26.0, 60.0], [360.0])
    assert [row.exact is None for row in rows] == [True, False, False]


def test_each_lever_is_one_change() -> None:
    job, now = Setting(4.0, 360.0, 5.0, 10.0, invalid=0.1), 90.0
    before = job.waste(now)
    levers = {lever.name: lever for lever in tornado(job, now, Spares(8, 992, 6.0))}
    assert levers["halve C"].waste == replace(job, c=2.0).waste(now)
    assert levers["halve D"].waste == replace(job, d=2.5).waste(now)
    assert levers["halve R"].waste_best == replace(job, r=5.0).waste(job.best())
    assert levers["double M"].waste == replace(job, m=720.0).waste(now)
    assert levers["verify saves"].waste == replace(job, c=4 / 0.9, invalid=0.0).waste(now)
    assert levers["best interval"].waste == job.waste(job.best())
    kept = 1 - replace(job, r=4.0).waste(now)
    assert levers["keep spares"].waste == pytest.approx(1 - kept * 0.992)
    gains = [lever.gain for lever in tornado(job, now)]
    assert gains == sorted(gains, reverse=True)
    for lever in levers.values():
        assert lever.gain == before - lever.waste
        assert lever.waste_best <= lever.waste + 1e-12


def test_no_lever_without_what_it_moves() -> None:
    names = {lever.name for lever in tornado(Setting(4.0, 360.0))}
    assert names == {"best interval", "halve C", "double M"}
    assert "halve lag" in {lever.name for lever in tornado(Setting(4.0, 360.0, lag=9.0))}
    with pytest.raises(ValueError, match="a part of R"):
        tornado(JOB, None, Spares(1, 99, 11.0))


def test_sizes() -> None:
    half, same, double = at_sizes(JOB, 1024, [512, 1024, 2048])
    assert (half.m, same.m, double.m) == (720.0, 360.0, 180.0)
    assert same.waste_best == same.waste_unchanged
    assert same.interval == exact(4.0, 360.0)
    assert half.waste_best < same.waste_best < double.waste_best < double.waste_unchanged


@steady
@given(st.floats(0.1, 20), st.floats(50, 5000), st.floats(0, 9), st.floats(0, 60), st.floats(1, 90))
def test_the_terms_add_up_to_the_waste(c: float, m: float, d: float, r: float, i: float) -> None:
    name, parts = largest_term(Setting(c, m, d, r), i)
    assert sum(parts.values()) == pytest.approx(shares(i, c, Failures(Exponential(m), d, r)).waste)
    assert parts[name] == max(parts.values())


@steady
@given(st.floats(1e-4, 0.3), st.floats(0.01, 0.2))
def test_flat_region_is_the_closed_one(c: float, eps: float) -> None:
    got, want = flat(c, Failures(Exponential(1.0), 0.1, 0.3), eps), flat_region(c, 1.0, eps)
    assert (got.low, got.high) == pytest.approx((want.low, want.high), rel=1e-6)


@pytest.mark.parametrize(
    "failures",
    [Failures(Weibull(0.6, 1.0)), Failures(Exponential(1.0), invalid=0.3),
     Failures(Exponential(1.0), lag=0.1, d=0.2)],
)  # fmt: skip
def test_flat_region_ends_where_the_tolerance_does(failures: Failures) -> None:
    c, only = 0.02, replace(failures, d=0.0, r=0.0)
    region = flat(c, failures)
    least = shares(optimum(c, failures), c, only).waste
    for end in (region.low, region.high):
        assert shares(end, c, only).waste == pytest.approx(1.05 * least, rel=1e-6)


def test_flat_region_begins_where_saves_no_longer_overlap() -> None:
    region = flat(0.01, Failures(Exponential(1.0), lag=0.5))
    assert region.low == pytest.approx(0.49)
    assert region.high > region.low
