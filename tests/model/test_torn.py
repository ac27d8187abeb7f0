"""Torn snapshots: traffic, its growth, and the arithmetic of bringing shards to one step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.model.adamw import (
    GUARD,
    AdamW,
    Moments,
    apply_step,
    check_replay,
    guard_fires,
    guard_ratio,
    undo_step,
)
from ckpt_audit.model.torn import (
    TARGETS,
    captured,
    longest_worthwhile_window,
    staggered_traffic,
)

steady = settings(deadline=None, derandomize=True)
EPS = 2.0**-24


@pytest.mark.parametrize(
    ("window", "ratio"), [(8, 0.571429), (16, 0.533333), (64, 0.507937), (1024, 0.500489)]
)
def test_traffic_to_the_median_against_the_newest(window: int, ratio: float) -> None:
    median, newest = (staggered_traffic(window, target) for target in ("median", "newest"))
    assert newest == (window - 1) / 2
    assert median / newest == pytest.approx(ratio, abs=5e-7)
    snapshot = captured(range(window))
    for target in TARGETS:
        want = staggered_traffic(window, target)
        assert snapshot.reconcile(target).traffic == pytest.approx(want)


def test_replay_traffic_is_linear_in_the_window() -> None:
    """It has been called quadratic: that is shard-slices, with as many shards as steps."""
    assert [staggered_traffic(s, "newest") for s in (8, 16, 64)] == [3.5, 7.5, 31.5]
    for window in (8, 64, 512):
        for shards_a_step in (1, 4):
            versions = [v for v in range(window) for _ in range(shards_a_step)]
            at = captured(versions).reconcile("newest").traffic
            assert at == pytest.approx((window - 1) / 2)
            slices = at * len(versions)
            assert slices == pytest.approx(shards_a_step * window * (window - 1) / 2)


@steady
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40))
def test_median_moves_least(versions: list[int]) -> None:
    snapshot = captured(versions)
    best = snapshot.reconcile("median")
    moves = [sum(abs(t - v) for v in versions) / len(versions) for t in range(max(versions) + 1)]
    assert best.traffic == pytest.approx(min(moves))
    assert snapshot.reconcile("newest").back == 0.0
    assert snapshot.reconcile("oldest").forward == 0.0
    assert snapshot.is_consistent == (len(set(versions)) == 1)


@steady
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 5)), min_size=1, max_size=12))
def test_a_size_counts_like_so_many_shards(rows: list[tuple[int, int]]) -> None:
    weighted = captured([v for v, _ in rows], [float(n) for _, n in rows])
    plain = captured([v for v, n in rows for _ in range(n)])
    for target in TARGETS:
        assert weighted.reconcile(target).traffic == pytest.approx(plain.reconcile(target).traffic)


@steady
@given(st.floats(0.5, 8), st.floats(0.5, 64), st.sampled_from(TARGETS))
def test_longest_window_is_the_last_that_pays(gradient: float, state: float, target) -> None:  # type: ignore[no-untyped-def]
    longest = longest_worthwhile_window(gradient, state, target)
    assert gradient * staggered_traffic(longest + 1, target) > state
    assert longest == 1 or gradient * staggered_traffic(longest, target) <= state


@pytest.mark.parametrize("window", [2, 16, 40])
def test_forward_replay_is_bitwise(window: int) -> None:
    check = check_replay(tuple(range(window)), window - 1)
    assert check.forward == (0.0, 0.0, 0.0)
    assert check.elements == 0
    assert min(check.torn) > 1e-4  # there was something to mend


@pytest.mark.parametrize(("target", "limit"), [(7, 3e-7), (0, 6e-7)])
def test_rollback_is_within_rounding(target: int, limit: float) -> None:
    check = check_replay(tuple(range(16)), target)
    assert 0.0 < max(check.back) < limit
    assert check.forward == (0.0, 0.0, 0.0)
    assert check.refused < 0.01 * check.elements
    assert check.back < check.torn


def state_and_gradient(ratio: np.ndarray, seed: int, how: AdamW) -> tuple[Moments, np.ndarray]:
    """A state before a step, and a gradient that makes up given shares of the new moment."""
    rng = np.random.default_rng(seed)
    v = rng.uniform(0.5, 2.0, ratio.shape).astype(np.float32)
    g = np.sqrt(ratio / (1 - ratio) * how.beta2 * v / (1 - how.beta2)).astype(np.float32)
    p = rng.standard_normal(ratio.shape).astype(np.float32)
    return Moments(p, (0.1 * p).astype(np.float32), v), g


@pytest.mark.parametrize("beta2", [0.95, 0.98, 0.999])
def test_error_of_an_undone_moment_is_bounded_by_the_guard(beta2: float) -> None:
    how = AdamW(beta2=beta2)
    ratio = np.linspace(0.0, 0.9999, 20_000)
    before, gradient = state_and_gradient(ratio, 4, how)
    after = apply_step(before, gradient, 300, how)
    back = undo_step(after, gradient, 300, how)
    r = guard_ratio(gradient, after.v, how)
    error = np.abs(back.state.v.astype(np.float64) - before.v) / before.v
    # The constants 1 - beta2 and beta2 are rounded alike both ways and do not count.
    bound = 4 * EPS / (beta2 * (1 - r))
    assert (error <= bound).all()
    assert (back.refused == (r > GUARD)).all()
    assert error[~back.refused].max() <= 4 * EPS / (beta2 * 0.1) < 2.6e-6
    assert error[back.refused].max() > 1e-4


def test_a_mean_over_a_shard_hides_a_spike() -> None:
    how = AdamW()
    ratio = np.full(4096, 0.005)
    before, gradient = state_and_gradient(ratio, 5, how)
    spiked = gradient.copy()
    spiked[17] *= 3000.0
    after = apply_step(before, spiked, 300, how)
    r = guard_ratio(spiked, after.v, how)
    assert r.mean() < 0.006
    assert r[17] > 0.9999
    assert guard_fires(spiked, after.v, how).nonzero()[0].tolist() == [17]
    back = undo_step(after, spiked, 300, how)
    assert abs(float(back.state.v[17]) / float(before.v[17]) - 1) > 1e-4
    others = np.delete(np.abs(back.state.v / before.v - 1), 17)
    assert others.max() < 1e-6


def test_a_negative_moment_is_refused() -> None:
    how = AdamW()
    back = undo_step(
        Moments(np.float32([1.0]), np.float32([0.0]), np.float32([0.01])),
        np.float32([1.0]), 10, how,
    )  # fmt: skip
    assert back.refused.tolist() == [True]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: captured([]), "at least one shard"),
        (lambda: captured([-1]), "captured step must be"),
        (lambda: captured([1, 2], [1.0]), "every shard needs a size"),
        (lambda: captured([1], [0.0]), "size must be"),
        (lambda: captured([1]).reconcile("mean"), "newest, median or oldest"),
        (lambda: staggered_traffic(0, "newest"), "at least one step"),
        (lambda: check_replay((-1, 2), 2), "relative to the first"),
    ],
)
def test_refuses(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()
