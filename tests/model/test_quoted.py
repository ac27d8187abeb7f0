"""Figures of an article on the tax of checkpoints at 16,384 GPUs: reproduced, and put right."""

import csv
import math
import random
from pathlib import Path

import pytest

from ckpt_audit.model.drain import Drain, boundary_binds, drain_optimum, drain_shares
from ckpt_audit.model.interval import daly, exact, young
from ckpt_audit.model.laws import Exponential
from ckpt_audit.model.quoted import QuotedShares, quoted_shares
from ckpt_audit.model.renewal import Failures, shares

KNOWN = list(csv.DictReader((Path(__file__).parent / "quoted_known.csv").read_text().splitlines()))
STEP, DR, BLOCKING, WORK = 7.0, 390.0, 210.0, 200_000
DRAIN = Drain(steps=30, tax=0.03, step=STEP)


def mean_up_time(gpus: int) -> float:
    return 50_000 * 3600 / gpus


def failures(gpus: int) -> Failures:
    return Failures(Exponential(mean_up_time(gpus)), 90.0, 300.0)


def rule(saves: str, k: int) -> tuple[int, float]:
    """Steps until a save counts, and its cost, as the article has them."""
    drains = min(k, DRAIN.steps)
    return (1, BLOCKING) if saves == "blocking" else (drains, DRAIN.tax * drains * STEP)


def program(
    k: int, saves: str, m: float, *, seed: int = 1, restored_counts: bool = False
) -> QuotedShares:
    """The article's loop, with its generator and seed."""
    drains, cost = rule(saves, k)
    draw = random.Random(seed)
    eff, pos, wall, rework, tax, restart = STEP + cost / k, 0, 0.0, 0.0, 0.0, 0.0
    while True:
        up = draw.expovariate(1 / m)
        steps = int(up / eff)
        if pos + steps >= WORK:
            wall += (WORK - pos) * eff
            tax += (WORK - pos) * (eff - STEP)
            break
        p = pos + steps
        j = p % k
        lost = min(p, j if j >= drains else j + k)
        if restored_counts:
            lost = min(lost, steps)
        pos = p - lost
        wall += up + DR
        restart += DR
        rework += STEP * lost
        tax += steps * (eff - STEP)
    return QuotedShares(STEP * WORK / wall, rework / wall, restart / wall, tax / wall)


@pytest.mark.parametrize("row", KNOWN, ids=lambda r: "-".join([r["gpus"], r["k"], r["column"]]))
def test_every_figure_of_the_article(row: dict[str, str]) -> None:
    k, m = int(row["k"]), mean_up_time(int(row["gpus"]))
    got = 100 * getattr(program(k, row["saves"], m), row["column"])
    want = float(row["seed_one"])
    assert got == pytest.approx(want, abs=0.0051)
    assert float(row["printed"]) == pytest.approx(want, abs=0.0051)
    expected = quoted_shares(k, *rule(row["saves"], k), STEP, m, DR)
    assert 100 * getattr(expected, row["column"]) == pytest.approx(float(row["expected"]), abs=6e-5)


@pytest.mark.parametrize(
    "row", [r for r in KNOWN if r["sd"]], ids=lambda r: f"{r['gpus']}-{r['k']}"
)
def test_one_run_is_within_its_noise(row: dict[str, str]) -> None:
    off = float(row["printed"]) - float(row["expected"])
    assert abs(off) < 4 * float(row["sd"]) + 0.06


@pytest.mark.parametrize("row", [r for r in KNOWN if r["exact_renewal"]], ids=lambda r: r["gpus"])
def test_exact_renewal_of_blocking_saves(row: dict[str, str]) -> None:
    at = shares(int(row["k"]) * STEP, BLOCKING, failures(int(row["gpus"])))
    assert 100 * at.goodput == pytest.approx(float(row["exact_renewal"]), abs=6e-5)


def test_text_figures() -> None:
    m = mean_up_time(16384)
    assert 100 * program(300, "async", m).goodput == pytest.approx(84.381, abs=6e-4)
    assert 100 * program(307, "async", m).goodput == pytest.approx(83.855, abs=6e-4)
    assert 100 * program(53, "async", m).goodput == pytest.approx(90.851, abs=6e-4)


# What is wrong with it ------------------------------------------------------------------------


def test_the_boundary_optimum_is_made_by_drains_that_shrink() -> None:
    """With k = 10 the article is best at the boundary; a drain that keeps its bytes is not."""
    m = mean_up_time(16384)
    shrunk = {k: quoted_shares(k, *rule("async", k), STEP, m, DR).goodput for k in range(1, 200)}
    assert max(shrunk, key=lambda k: shrunk[k]) == 1  # ever more often, for nothing
    assert shrunk[10] == pytest.approx(0.928361, abs=1e-6)
    kept = {k: quoted_shares(k, 30, 6.3, STEP, m, DR).goodput for k in range(30, 200)}
    assert max(kept.values()) - kept[53] < 1e-5
    assert kept[53] == pytest.approx(0.915, abs=5e-4)
    with pytest.raises(ValueError, match="one is in flight at a time"):
        drain_shares(10, DRAIN, failures(16384), "serial")


@pytest.mark.parametrize(
    ("gpus", "k", "at"),
    [(512, 300, 300.07), (2048, 150, 149.74), (8192, 75, 74.57), (16384, 53, 52.55)],
)
def test_the_equivalent_cost_gives_the_optimum(gpus: int, k: int, at: float) -> None:
    m = mean_up_time(gpus)
    assert exact(6.3, m) / STEP == pytest.approx(at, abs=5e-3)
    for which in ("serial", "overlap"):
        assert drain_optimum(DRAIN, failures(gpus), which) == k
    every = {i: drain_shares(i, DRAIN, failures(gpus), "serial").waste for i in range(30, 3 * k)}
    assert min(every, key=lambda i: every[i]) == k
    for approximation in (daly(6.3, m), exact(6.3, m)):
        near = drain_shares(round(approximation / STEP), DRAIN, failures(gpus), "serial").waste
        assert near - every[k] < 1e-5


def test_goodput_at_16384_is_91_5_percent() -> None:
    assert drain_shares(53, DRAIN, failures(16384), "serial").goodput == pytest.approx(
        0.915184, abs=1e-6
    )


def test_the_boundary_begins_at_51400_gpus() -> None:
    assert not boundary_binds(DRAIN, 3501.0)
    assert boundary_binds(DRAIN, 3499.0)
    assert not boundary_binds(DRAIN, mean_up_time(51_400))
    assert boundary_binds(DRAIN, mean_up_time(51_500))
    assert drain_optimum(DRAIN, failures(65_536), "serial") == 30
    assert drain_shares(30, DRAIN, failures(65_536), "serial").goodput == pytest.approx(
        0.755, abs=5e-4
    )
    m = mean_up_time(65_536)
    assert quoted_shares(30, 30, 6.3, STEP, m, DR).goodput == pytest.approx(0.750, abs=5e-4)
    assert quoted_shares(10, 10, 2.1, STEP, m, DR).goodput == pytest.approx(0.8167, abs=5e-5)


@pytest.mark.parametrize(("k", "gain"), [(30, 0.037), (53, 0.066), (300, 0.365)])
def test_it_rolls_back_beyond_the_checkpoint_just_restored(k: int, gain: float) -> None:
    m = mean_up_time(16384)
    gains = [
        program(k, "async", m, seed=seed, restored_counts=True).goodput
        - program(k, "async", m, seed=seed).goodput
        for seed in range(200)
    ]
    assert 100 * sum(gains) / len(gains) == pytest.approx(gain, rel=0.12)


def test_a_blocking_failure_at_a_boundary_loses_too_much() -> None:
    m = mean_up_time(65_536)
    quoted = quoted_shares(120, 1, BLOCKING, STEP, m, DR).goodput
    true = shares(120 * STEP, BLOCKING, failures(65_536)).goodput
    assert 100 * (quoted - true) == pytest.approx(-1.07, abs=0.006)


def test_where_failures_strike_is_a_matter_of_one_percent() -> None:
    m = mean_up_time(65_536)
    everywhere = Failures(Exponential(m), 90.0, 300.0, recovery_failures="all")
    ratio = (
        shares(840.0, BLOCKING, everywhere).goodput
        / shares(840.0, BLOCKING, failures(65_536)).goodput
    )
    assert 100 * (1 - ratio) == pytest.approx(0.9, abs=0.05)


def test_its_daly_is_young() -> None:
    m = mean_up_time(16384)
    assert round(young(BLOCKING, m) / STEP) == 307
    assert round(daly(BLOCKING, m) / STEP) == 287
    for gpus, printed, true in ((2048, 868, 838), (512, 1736, 1706)):
        mean = mean_up_time(gpus)
        assert round(young(BLOCKING, mean) / STEP) == printed
        sweep = {k: quoted_shares(k, 1, BLOCKING, STEP, mean, DR).goodput for k in range(600, 2500)}
        assert max(sweep, key=lambda k: sweep[k]) == pytest.approx(true, abs=1)


def test_columns_miss_the_step_under_way() -> None:
    for gpus, points in ((16384, 0.03), (65_536, 0.11)):
        at = quoted_shares(30, 30, 6.3, STEP, mean_up_time(gpus), DR)
        missing = 1 - (at.goodput + at.rework + at.restart + at.tax)
        assert 100 * missing == pytest.approx(points, abs=0.005)
        seconds = missing * (mean_up_time(gpus) + DR)
        assert seconds == pytest.approx(STEP * 1.03 / 2, abs=0.01)
        true = drain_shares(30, DRAIN, failures(gpus), "serial")
        parts = (true.goodput, true.checkpoint, true.lost_work, true.detection, true.recovery)
        assert math.fsum(parts) == pytest.approx(1.0, abs=1e-12)


def test_refuses_a_save_that_does_not_count_in_time() -> None:
    with pytest.raises(ValueError, match="count within its interval"):
        quoted_shares(10, 30, 6.3, STEP, 1e4, DR)
