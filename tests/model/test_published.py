"""Published tables on blocking saves, as printed, and what the exact model makes of them."""

import random

import pytest

from ckpt_audit.model.fleet import from_rate
from ckpt_audit.model.interval import exact, young
from ckpt_audit.model.waste import exact_shares, first_order

LESSON = [  # minutes, printed, exact, standard deviation of a mean of 20 runs, first order
    (2.0, 62.6, 62.6330, 0.055, 43.889),
    (5.0, 77.7, 77.6389, 0.084, 73.056),
    (18.973666, 85.3, 85.0930, 0.158, 83.904),
    (30.0, 84.2, 84.0126, 0.207, 82.778),
    (60.0, 78.8, 78.2844, 0.311, 76.111),
    (180.0, 54.6, 54.6530, 0.568, 43.889),
]


@pytest.mark.parametrize(("i", "printed", "exactly", "sd", "first"), LESSON)
def test_sweep_of_a_lesson(
    i: float, printed: float, exactly: float, sd: float, first: float
) -> None:
    got = 100 * exact_shares(i, 1.0, 180.0, 0.0, 10.0).goodput
    assert got == pytest.approx(exactly, abs=6e-5)
    assert 100 * first_order(i, 1.0, 180.0, 0.0, 10.0).goodput == pytest.approx(first, abs=6e-4)
    assert abs(printed - got) < 4 * sd + 0.05
    assert got > first  # the first order counts too much, least near the optimum


def test_optima_of_the_lesson() -> None:
    assert exact(1.0, 180.0) == pytest.approx(18.312939, abs=1e-6)
    assert exact_shares(exact(1.0, 180.0), 1.0, 180.0, 0.0, 10.0).goodput == pytest.approx(
        0.8509845, abs=6e-8
    )
    at = exact_shares(young(1.0, 90.0), 1.0, 90.0, 0.0, 10.0).goodput
    assert at == pytest.approx(0.772279, abs=6e-7)
    fast = exact_shares(young(1.0, 180.0), 1.0, 180.0, 0.0, 2.0).goodput
    assert fast == pytest.approx(0.888334, abs=6e-7)


def test_sixteen_thousand_accelerators_fail_every_three_hours() -> None:
    assert from_rate(2e-5, 16_384) * 60 == pytest.approx(183.105, abs=5e-4)
    m, r = 186.0, 5.0  # the note rounds the rate and takes 186
    quick, slow = young(1.0, m), young(5.0, m)
    first = first_order(quick, 1.0, m, 0.0, r)
    assert (quick, slow) == pytest.approx((19.2873, 43.1277), abs=5e-5)
    assert first.checkpoint == first.lost_work == pytest.approx(0.0518476, abs=5e-8)
    assert first.recovery == pytest.approx(0.0268817, abs=5e-8)
    gain = first.goodput - first_order(slow, 5.0, m, 0.0, r).goodput
    assert gain == pytest.approx(0.128174, abs=5e-7)
    assert gain * 16_384 * 720 * 2.5 == pytest.approx(3.78e6, rel=1e-3)  # a month at 2.50


def test_one_minute_for_five_is_worth_eleven_points_and_not_thirteen() -> None:
    m, r = 186.0, 5.0
    quick = exact_shares(young(1.0, m), 1.0, m, 0.0, r).goodput
    slow = exact_shares(young(5.0, m), 5.0, m, 0.0, r).goodput
    assert quick == pytest.approx(0.876248, abs=6e-7)
    assert slow == pytest.approx(0.764615, abs=6e-7)
    assert quick - slow == pytest.approx(0.1116, abs=5e-5)


def test_fifteen_and_forty_five_minutes_are_far_apart_with_a_slow_save() -> None:
    m, r = 186.0, 5.0
    slow = [exact_shares(i, 5.0, m, 0.0, r).goodput for i in (15.0, 45.0)]
    assert slow == pytest.approx([0.692, 0.764], abs=6e-4)
    first = [first_order(i, 5.0, m, 0.0, r).goodput for i in (15.0, 45.0)]
    assert first == pytest.approx([0.600, 0.741], abs=6e-4)
    quick = [exact_shares(i, 1.0, m, 0.0, r).goodput for i in (15.0, 45.0)]
    assert quick == pytest.approx([0.874, 0.840], abs=6e-4)


def test_forty_five_minutes_beat_sixty() -> None:
    at = {i: exact_shares(i, 4.0, 360.0, 5.0, 10.0).waste for i in (45.0, 60.0, 120.0)}
    assert list(at.values()) == pytest.approx([0.177007, 0.177631, 0.221801], abs=6e-7)
    first = {i: first_order(i, 4.0, 360.0, 5.0, 10.0).waste for i in at}
    assert list(first.values()) == pytest.approx([0.193056, 0.191667, 0.241667], abs=6e-7)
    assert at[45.0] < at[60.0]
    assert first[60.0] < first[45.0]
    best = exact(4.0, 360.0)
    assert best == pytest.approx(51.0328, abs=5e-5)
    assert exact_shares(best, 4.0, 360.0, 5.0, 10.0).waste == pytest.approx(0.176087, abs=6e-7)


def lesson_loop(interval: float, seed: int, runs: int) -> float:
    """Mean goodput of runs of 500 hours, one generator for all of them."""
    draw, goodputs = random.Random(seed), []
    for _ in range(runs):
        done, wall, up = 0.0, 0.0, draw.expovariate(1 / 180.0)
        while done < 500 * 60:
            if up >= interval + 1.0:
                up, wall, done = up - interval - 1.0, wall + interval + 1.0, done + interval
            else:
                wall, up = wall + up + 10.0, draw.expovariate(1 / 180.0)
        goodputs.append(done / wall)
    return 100 * sum(goodputs) / runs


@pytest.mark.parametrize(("i", "printed"), [(row[0], row[1]) for row in LESSON])
def test_the_lesson_by_its_own_loop(i: float, printed: float) -> None:
    assert lesson_loop(i, 42, 20) == pytest.approx(printed, abs=0.051)
