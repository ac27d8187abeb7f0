"""Parts of a loss beside their baseline: known answers, false alarms, power."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.audit.components import (
    PARTS,
    Part,
    PartTest,
    Stretch,
    compare_parts,
    holm,
    permutation_p,
)
from tests.calibration.months import judged

BASE = Stretch(
    incidents=40, exposure_s=40 * 21600.0, interval_s=1800.0,
    rollback_s=tuple(np.linspace(10, 1790, 40)), detection_s=(300.0,) * 40,
    recovery_s=(900.0,) * 40, save_s=tuple(60.0 + k % 7 for k in range(400)),
)  # fmt: skip
SOUND = Stretch(
    incidents=20, exposure_s=20 * 21600.0, interval_s=1800.0,
    rollback_s=tuple(np.linspace(10, 1790, 20)), detection_s=(300.0,) * 20,
    recovery_s=(900.0,) * 20, save_s=tuple(60.0 + k % 7 for k in range(200)),
)  # fmt: skip


def parts_of(window: Stretch, **more: float) -> dict[Part, PartTest]:
    return {test.part: test for test in compare_parts(BASE, window, seed=1, **more)}


def test_holm_keeps_the_order_and_what_was_not_tested() -> None:
    assert holm([None, 0.04, 0.001, 0.03]) == [None, 0.06, 0.003, 0.06]
    assert holm([]) == []


def test_a_sound_window_is_as_expected() -> None:
    found = parts_of(SOUND)
    assert tuple(found) == PARTS
    assert not any(test.flag for test in found.values())
    assert found["detection"].excess_s == pytest.approx(0.0)
    assert found["incidents"].expected == pytest.approx(40.5 * 20 / 40)


def test_seconds_of_each_part() -> None:
    late = replace(SOUND, detection_s=(500.0,) * 20, save_s=tuple(90.0 for _ in range(200)))
    found = parts_of(late)
    assert found["detection"].flag
    assert found["detection"].excess_s == pytest.approx(20 * 200.0)
    assert found["save_cost"].flag
    usual = math.fsum(BASE.save_s) / len(BASE.save_s)
    assert found["save_cost"].excess_s == pytest.approx(200 * (90.0 - usual))
    assert not found["recovery"].flag


def test_older_checkpoints_are_found_and_newer_ones_are_no_loss() -> None:
    older = parts_of(replace(SOUND, rollback_s=tuple(np.linspace(10, 1790, 20) + 1800.0)))
    assert older["rollback"].flag
    assert older["rollback"].excess_s == pytest.approx(20 * 1800.0, rel=0.05)
    assert not parts_of(replace(SOUND, rollback_s=(20.0,) * 20))["rollback"].flag


def test_a_lag_until_a_save_counts_is_expected() -> None:
    """Twenty minutes until it can be loaded: what it costs is no surprise."""
    lag_s = 1200.0
    at = np.linspace(10, 1850, 20)
    late = replace(SOUND, rollback_s=tuple(np.where(at < lag_s, at + 1800.0, at)))
    assert parts_of(late)["rollback"].flag
    assert not parts_of(late, lag_s=lag_s)["rollback"].flag


def test_too_little_is_not_tested() -> None:
    few = Stretch(2, 43200.0, 1800.0, (100.0,), (300.0,), (900.0,), (60.0,))
    found = parts_of(few)
    assert [found[part].p for part in PARTS[1:]] == [None] * 4
    rare = replace(BASE, incidents=4)
    assert compare_parts(rare, SOUND, seed=1)[0].p is None


def test_the_same_seed_gives_the_same_answer() -> None:
    assert compare_parts(BASE, SOUND, seed=4) == compare_parts(BASE, SOUND, seed=4)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.floats(0, 1e3))
@settings(deadline=None, max_examples=30)
def test_exchange_of_equals_finds_nothing(values: list[float], shift: float) -> None:
    both = np.array(values)
    assert permutation_p(both, both, np.random.default_rng(1)) == 1.0
    assert permutation_p(both, both + shift, np.random.default_rng(1)) > 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: replace(SOUND, interval_s=0.0), "interval_s"),
        (lambda: replace(SOUND, rollback_s=(-1.0,)), "rollback_s"),
        (lambda: compare_parts(replace(BASE, exposure_s=0.0), SOUND, seed=1), "exposure_s"),
        (lambda: compare_parts(BASE, SOUND, seed=1, level=0.0), "level"),
    ],
)
def test_refuses(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()


def test_sound_months_are_seldom_flagged() -> None:
    """At most one in twenty, within two standard errors of this many months."""
    runs = 80
    flagged, _, _ = judged("nothing", 60, 20, runs, seed=3)
    assert flagged <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(
    ("fault", "least"),
    [("M halved", 0.85), ("D doubled", 0.95), ("C times 1.2", 0.95), ("R times 1.5", 0.9),
     ("a fifth of the saves invalid", 0.8)],
)  # fmt: skip
def test_what_was_put_in_is_found_and_named(fault: str, least: float) -> None:
    flagged, right, _ = judged(fault, 60, 60, 20, seed=5)
    assert flagged >= least
    assert right >= 0.9
