"""Waste shares against known answers, closed forms, a simulation and their own identities."""

import csv
import math
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model.interval import daly, exact, young
from ckpt_audit.model.waste import (
    RecoveryFailures,
    exact_shares,
    exact_waste,
    expected_time,
    first_order,
    up_time_split,
    wall_split,
)

steady = settings(deadline=None, derandomize=True)
MODES = get_args(RecoveryFailures)
KNOWN = list(csv.DictReader((Path(__file__).parent / "waste_known.csv").read_text().splitlines()))
times = st.floats(1e-3, 1e3)
costs = st.floats(0.0, 1e3)


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: f"{row['c_over_m']}-{row['dr_over_m']}")
def test_table_over_c_and_m(row: dict[str, str]) -> None:
    want = {name: float(text) for name, text in row.items()}
    c, dr = want["c_over_m"], want["dr_over_m"]
    got = {
        "young": young(c, 1.0),
        "daly": daly(c, 1.0),
        "exact": exact(c, 1.0),
        "first_order_at_young": first_order(young(c, 1.0), c, 1.0, 0.0, dr).waste,
        "waste_at_young": exact_shares(young(c, 1.0), c, 1.0, 0.0, dr).waste,
        "waste_at_daly": exact_shares(daly(c, 1.0), c, 1.0, dr, 0.0).waste,
        "least_waste_none": exact_shares(exact(c, 1.0), c, 1.0, 0.0, dr).waste,
        "least_waste_all": exact_shares(exact(c, 1.0), c, 1.0, dr / 2, dr / 2, "all").waste,
    }
    assert got == pytest.approx({name: want[name] for name in got}, rel=1e-6)
    assert abs(got["waste_at_young"] - want["simulated_at_young"]) < 4 * want["simulated_se"]


@pytest.mark.parametrize(
    ("interval", "c", "m", "d", "r", "mode", "time", "waste"),
    [
        (1140.0, 60.0, 10800.0, 90.0, 510.0, "none", 1339.7174, 0.149074),
        (1140.0, 60.0, 10800.0, 90.0, 510.0, "all", 1341.7128, 0.15034),
        (1140.0, 60.0, 10800.0, 90.0, 510.0, "restore", 1341.6665, 0.15031),
        (2000.0, 600.0, 5000.0, 500.0, 1500.0, "none", 4774.1935, 0.581081),
        (2000.0, 600.0, 5000.0, 500.0, 1500.0, "all", 5087.3285, 0.606866),
        (2000.0, 600.0, 5000.0, 500.0, 1500.0, "restore", 5063.5257, 0.605018),
        (60.0, 4.0, 360.0, 5.0, 10.0, "none", 72.959938, 0.177631),
        (60.0, 4.0, 360.0, 5.0, 10.0, "all", 73.021591, 0.178325),
        (19.2873015, 1.0, 186.0, 0.0, 5.0, "none", 22.011242, 0.123752),
        (43.1277173, 5.0, 186.0, 0.0, 5.0, "none", 56.404487, 0.235385),
    ],
)
def test_fixed_intervals(
    interval: float,
    c: float,
    m: float,
    d: float,
    r: float,
    mode: RecoveryFailures,
    time: float,
    waste: float,
) -> None:
    assert expected_time(interval, c, m, d, r, mode) == pytest.approx(time, rel=1e-7)
    assert exact_shares(interval, c, m, d, r, mode).waste == pytest.approx(waste, rel=5e-6)


def test_four_minute_save_and_six_hours() -> None:
    at = [45.0, 60.0, 120.0]
    first = [first_order(i, 4.0, 360.0, 5.0, 10.0).waste for i in at]
    assert first == pytest.approx([0.193056, 0.191667, 0.241667], abs=1e-6)
    exactly = exact_waste(at, 4.0, 360.0, 5.0, 10.0)
    assert exactly == pytest.approx([0.177007, 0.177631, 0.221801], abs=1e-6)
    assert first[1] < first[0]  # the first order prefers 60 minutes to 45 ...
    assert exactly[0] < exactly[1]  # ... and is wrong
    assert first_order(young(4.0, 360.0), 4.0, 360.0, 5.0, 10.0).waste == pytest.approx(
        0.190738, abs=1e-6
    )
    best = exact_shares(exact(4.0, 360.0), 4.0, 360.0, 5.0, 10.0)
    assert best.waste == pytest.approx(0.176087, abs=1e-6)


def test_one_minute_save_and_three_hours() -> None:
    shares = first_order(young(1.0, 186.0), 1.0, 186.0, r=5.0)
    assert shares.checkpoint == pytest.approx(0.0518476, abs=1e-7)
    assert shares.lost_work == pytest.approx(0.0518476, abs=1e-7)
    assert shares.recovery == pytest.approx(0.0268817, abs=1e-7)
    assert shares.goodput == pytest.approx(0.869423, abs=1e-6)


@steady
@given(times, costs, times, costs, costs, st.sampled_from(MODES))
def test_shares_add_up(
    interval: float, c: float, m: float, d: float, r: float, mode: RecoveryFailures
) -> None:
    s = exact_shares(interval, c, m, d, r, mode)
    parts = (s.checkpoint, s.lost_work, s.detection, s.recovery, s.goodput)
    assert sum(parts) == pytest.approx(1.0, abs=1e-9)
    assert all(0.0 <= part <= 1.0 for part in parts)
    assert s.waste == 1.0 - s.goodput
    assert s.checkpoint_retained <= s.checkpoint * (1.0 + 1e-9)
    assert sum(float(part) for part in wall_split(m, d, r, mode)) == pytest.approx(1.0)


@steady
@given(st.floats(1e-3, 20.0), st.floats(0.0, 5.0), st.floats(0.0, 3.0), st.floats(0.0, 3.0))
def test_goodput_is_interval_over_mean_time(i: float, c: float, d: float, r: float) -> None:
    growth = math.expm1(i + c)
    closed = {
        "none": (1.0 + d + r) * growth,
        "restore": (1.0 + d) * math.exp(r) * growth,
        "all": math.exp(d + r) * growth,
    }
    for mode in MODES:
        shares = exact_shares(i, c, 1.0, d, r, mode)
        assert shares.goodput == pytest.approx(i / closed[mode], rel=1e-12)
        assert shares.checkpoint_retained == pytest.approx(c / closed[mode], rel=1e-12)
        assert expected_time(i, c, 1.0, d, r, mode) == pytest.approx(closed[mode], rel=1e-12)


def test_split_of_up_time_by_simulation() -> None:
    i, c, m, n = 3.0, 1.0, 10.0, 400_000
    up = np.random.default_rng(7).exponential(m, n)
    rest = up % (i + c)
    whole = up // (i + c)
    samples = {
        "retained": whole * i,
        "checkpoint": whole * c + np.maximum(rest - i, 0.0),
        "lost_work": np.minimum(rest, i),
    }
    split = up_time_split(i, c, m)._asdict()
    for name, values in samples.items():
        se = values.std() / math.sqrt(n)
        assert abs(values.mean() - m * float(split[name])) < 4 * se, name


def test_split_of_recovery_by_simulation() -> None:
    d, r, m, n = 2.0, 3.0, 5.0, 40_000
    rng = np.random.default_rng(8)
    detection, recovery = np.zeros(n), np.zeros(n)
    open_ = np.arange(n)
    while open_.size:
        strike = rng.exponential(m, open_.size)
        detection[open_] += np.minimum(strike, d)
        recovery[open_] += np.clip(strike - d, 0.0, r)
        open_ = open_[strike < d + r]
    up, detected, recovered = (float(x) for x in wall_split(m, d, r, "all"))
    assert detection.mean() / m == pytest.approx(detected / up, rel=0.02)
    assert recovery.mean() / m == pytest.approx(recovered / up, rel=0.02)


def test_extremes_do_not_overflow() -> None:
    shares = exact_shares(1e6, 1.0, 1.0, 1e5, 1e5, "all")
    assert shares.goodput == 0.0
    assert shares.waste == 1.0
    assert expected_time(1e6, 1.0, 1.0) == math.inf
    assert exact_shares(1e-6, 0.0, 1e9).goodput == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 1.0, 10.0, 0.0, 0.0), "interval must be a positive finite number, got 0.0"),
        ((1.0, -1.0, 10.0, 0.0, 0.0), "c must be zero or a positive finite number, got -1.0"),
        ((1.0, 1.0, 0.0, 0.0, 0.0), "m must be a positive"),
        ((1.0, 1.0, math.nan, 0.0, 0.0), "m must be a positive"),
        ((1.0, 1.0, math.inf, 0.0, 0.0), "m must be a positive"),
        ((1.0, 1.0, 10.0, -1.0, 0.0), "d must be"),
        ((1.0, 1.0, 10.0, 0.0, math.nan), "r must be"),
    ],
)
def test_refuses(arguments: tuple[float, float, float, float, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exact_shares(*arguments)
    with pytest.raises(ValueError, match=message):
        first_order(*arguments)


def test_refuses_an_unknown_mode() -> None:
    with pytest.raises(ValueError, match="none, restore or all, got 'some'"):
        exact_shares(1.0, 1.0, 10.0, recovery_failures="some")  # type: ignore[arg-type]
