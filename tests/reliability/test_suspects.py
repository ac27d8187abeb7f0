"""Suspects: known answers, false discovery where all parts are alike, power, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ckpt_audit.reliability.suspects import binomial_tail, find_suspects


@pytest.mark.parametrize(
    ("k", "n", "share"),
    [(1, 1, 0.3), (3, 40, 1 / 64), (20, 40, 0.5), (5, 40, 0.5), (40, 40, 0.9), (7, 5000, 1e-4)],
)
def test_binomial_tail_agrees_with_scipy(k: int, n: int, share: float) -> None:
    assert binomial_tail(k, n, share) == pytest.approx(stats.binom.sf(k - 1, n, share), rel=1e-9)


def test_edges_of_the_tail() -> None:
    assert binomial_tail(0, 5, 0.0) == 1.0
    assert binomial_tail(1, 5, 0.0) == 0.0
    assert binomial_tail(5, 5, 1.0) == 1.0
    with pytest.raises(ValueError, match="at most n"):
        binomial_tail(6, 5, 0.5)


def test_exposure_excuses() -> None:
    """Four events are many for one of 64 nodes, and few for one that ran half of all the time."""
    alike = find_suspects([4, *[0] * 59, 1, 1, 1, 1], [1.0] * 64)
    busy = find_suspects([4, *[0] * 59, 1, 1, 1, 1], [63.0, *[1.0] * 63])
    assert alike.suspect.tolist() == [True] + [False] * 63
    assert alike.expected[0] == pytest.approx(8 / 64)
    assert not busy.suspect.any()


def test_levels_share_the_rate() -> None:
    one = find_suspects([6, 1, 1, 0], [10.0] * 4)
    two = find_suspects([6, 1, 1, 0], [10.0] * 4, levels=2)
    assert two.q[0] == pytest.approx(2 * one.q[0])


def test_nothing() -> None:
    assert not find_suspects([0, 0], [1.0, 2.0]).suspect.any()
    assert find_suspects([], []).p.size == 0


@pytest.mark.parametrize(
    ("counts", "exposures", "says"),
    [
        ([1], [1.0, 2.0], "count and an exposure"),
        ([1, 1], [1.0, 0.0], "positive finite"),
        ([1, -1], [1.0, 1.0], "whole numbers"),
        ([1, 0.5], [1.0, 1.0], "whole numbers"),
    ],
)
def test_refuses(counts: list[float], exposures: list[float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        find_suspects(counts, exposures)


@pytest.mark.parametrize(("parts", "events"), [(16, 40), (256, 40), (256, 400)])
def test_parts_that_are_alike_are_left_alone(parts: int, events: int) -> None:
    rng = np.random.default_rng(parts + events)
    found = []
    for _ in range(200):
        exposure = rng.uniform(0.2, 1.0, parts)
        counts = rng.multinomial(events, exposure / exposure.sum())
        found.append(find_suspects(counts, exposure).suspect.any())
    assert np.mean(found) <= 0.10 + 2 * np.sqrt(0.1 * 0.9 / 200)


def test_bad_parts_are_found_and_few_others_with_them() -> None:
    """Four of 256 nodes fail fifty times as often."""
    rng = np.random.default_rng(9)
    found, false = [], []
    for _ in range(100):
        weight = np.ones(256)
        weight[:4] = 50.0
        suspect = find_suspects(rng.multinomial(100, weight / weight.sum()), np.ones(256)).suspect
        found.append(suspect[:4].mean())
        false.append(suspect[4:].sum() / max(1, suspect.sum()))
    assert np.mean(found) >= 0.95
    assert np.mean(false) <= 0.10 + 2 * np.std(false) / 10
