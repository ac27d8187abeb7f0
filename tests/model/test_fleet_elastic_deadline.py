"""M from rates, going on with fewer replicas, and finish times."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model import fleet
from ckpt_audit.model.deadline import finish_time, segment
from ckpt_audit.model.elastic import Elastic, idle_spares, per_failure
from ckpt_audit.model.interval import young
from ckpt_audit.model.waste import expected_time

steady = settings(deadline=None, derandomize=True)


def test_sixteen_thousand_accelerators() -> None:
    minutes = fleet.from_rate(2e-5, 16_384) * 60
    assert minutes == pytest.approx(183.105, abs=5e-4)
    assert fleet.scaled(minutes, 16_384, 32_768) == pytest.approx(minutes / 2)
    assert young(1.0, 180 / 2) == pytest.approx(13.4164, abs=5e-5)


@steady
@given(st.floats(1e-9, 1e-2), st.integers(1, 10**6))
def test_a_rate_and_an_mtbf_are_the_same(rate: float, n: int) -> None:
    assert fleet.from_rate(rate, n) == pytest.approx(fleet.from_device_mtbf(1 / rate, n))


def test_an_interval_from_a_device_is_wrong_by_the_root_of_the_size() -> None:
    job = fleet.from_device_mtbf(50_000, 16_384)
    assert young(0.1, 50_000) / young(0.1, job) == pytest.approx(128.0)


def test_warning() -> None:
    warning = fleet.device_warning(50_000.0, None)
    assert warning is not None
    assert "say how many" in warning
    assert fleet.device_warning(50_000.0, 1) is None
    assert fleet.device_warning(999.0, 8) is None


def test_up_time_of_calendar_time() -> None:
    assert fleet.up_time_mean(3.16, 0.025, 0.0833) == pytest.approx(3.0517)
    with pytest.raises(ValueError, match="fill the time"):
        fleet.up_time_mean(10.0, 5.0, 5.0)


def test_fixed_costs_are_a_share_of_calendar_time() -> None:
    """A ten-minute restart at 180 minutes of up-time is 5.26 % of the wall, not 5.56 %."""
    assert 10 / fleet.up_time_mean(190, 0, 10) == pytest.approx(0.0556, abs=5e-5)
    assert pytest.approx(0.0526, abs=5e-5) == 10 / 190


@steady
@given(st.integers(2, 1000), st.floats(0, 1e3), st.floats(0, 1e5), st.floats(0, 1),
       st.floats(1, 1e4), st.floats(0, 1e3), st.floats(0, 1e3), st.floats(0, 100))  # fmt: skip
def test_elastic_wins_where_the_inequality_says(
    n: int, go: float, fix: float, share: float, i: float, d: float, r: float, lag: float
) -> None:
    cost = per_failure(Elastic(n, go, fix, share), i, d, r, lag)
    wins = go + fix / n + share * (i / 2 + lag) < r + i / 2 + lag
    if abs(cost.gain) > 1e-6:
        assert (cost.gain > 0) == wins
    assert cost.restart - cost.elastic == cost.gain
    if share == 0.0:
        assert per_failure(Elastic(n, go, fix, 0.0), 2 * i, d, r, lag).elastic == cost.elastic


def test_spares() -> None:
    assert idle_spares(32, 992) == pytest.approx(32 / 1024)
    with pytest.raises(ValueError, match="at least 2"):
        Elastic(1, 1.0, 1.0)
    with pytest.raises(ValueError, match="at most 1"):
        Elastic(2, 1.0, 1.0, 1.5)


@steady
@given(st.floats(0.01, 2.0), st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.5))
def test_segment_mean_is_the_exact_model(i: float, c: float, d: float, r: float) -> None:
    assert segment(i, c, 1.0, d, r).mean == pytest.approx(expected_time(i, c, 1.0, d, r), rel=1e-9)


def test_segment_by_simulation() -> None:
    i, c, m, dr, n = 19.0, 1.0, 60.0, 10.0, 200_000
    rng = np.random.default_rng(9)
    wall, open_ = np.zeros(n), np.arange(n)
    while open_.size:
        up = rng.exponential(m, open_.size)
        failed = up < i + c
        wall[open_] += np.where(failed, up + dr, i + c)
        open_ = open_[failed]
    want = segment(i, c, m, 0.0, dr)
    assert abs(wall.mean() - want.mean) < 4 * wall.std() / math.sqrt(n)
    spread = (wall - want.mean) ** 2
    assert abs(spread.mean() - want.variance) < 4 * spread.std() / math.sqrt(n)


def test_deadline_of_500_hours() -> None:
    finish = finish_time(500 * 60, 20.0, 1.0, 180.0, 0.0, 10.0)
    assert finish.mean / 60 == pytest.approx(587.788, abs=6e-4)
    assert finish.sd / 60 == pytest.approx(5.075, abs=6e-4)
    assert finish.probability_by(590 * 60) == pytest.approx(0.6685, abs=6e-5)
    rng, hits = random.Random(7), 0
    for _ in range(400):
        wall, done = 0.0, 0
        while done < 1500:
            up = rng.expovariate(1 / 180.0)
            got = int(up / 21.0)
            if done + got >= 1500:
                wall += (1500 - done) * 21.0
                break
            done, wall = done + got, wall + up + 10.0
        hits += wall <= 590 * 60
    assert hits / 400 == pytest.approx(0.6703, abs=4 * math.sqrt(0.67 * 0.33 / 400))


@pytest.mark.parametrize("edge", [0.999e-3, 1.001e-3])
def test_segment_is_smooth_where_the_series_begins(edge: float) -> None:
    at = segment(edge, 0.0, 1.0)
    assert at.mean - edge == pytest.approx(edge * edge / 2, rel=1e-3)
    assert at.variance == pytest.approx(edge**3 / 3, rel=2e-3)


def test_nothing_can_fail_in_a_certain_time() -> None:
    sure = finish_time(10.0, 1.0, 0.0, 1e18)
    assert sure.mean == pytest.approx(10.0)
    assert finish_time(10.0, 1.0, 0.0, 1e18).probability_by(10.1) == pytest.approx(1.0)
