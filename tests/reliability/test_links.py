"""Tested links: known answers, false discovery under chance, power, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.reliability.discovery import q_values
from ckpt_audit.reliability.links import find_links
from ckpt_audit.reliability.shrinkage import shrunk_rates

steady = settings(deadline=None, derandomize=True)
HOURS = 1000.0
TEN_MINUTES = 1 / 6


def test_q_values_known_answer() -> None:
    """Benjamini and Hochberg 1995, their example of 15 tests: four are found at 0.05."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    q = q_values(p)
    assert int((q <= 0.05).sum()) == 4
    assert q[3] == pytest.approx(15 * 0.0095 / 4)


@steady
@given(st.lists(st.floats(0, 1), max_size=30))
def test_q_values_keep_the_order(p: list[float]) -> None:
    q = q_values(p)
    assert (q >= np.array(p) - 1e-12).all()
    assert (q <= 1.0).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(q[order]) >= 0).all()


def test_q_values_refuse() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        q_values([0.5, float("nan")])


def test_shrunk_rates_known_answer() -> None:
    found = shrunk_rates([2, 3, 14, 5, 0], [100, 200, 150, 400, 80])
    assert found.shape == pytest.approx(1.16727, abs=5e-6)
    assert found.scale == pytest.approx(45.2317, abs=5e-5)
    expected = [0.0218084, 0.0169932, 0.0776886, 0.0138518, 0.00932088]
    assert found.rates == pytest.approx(expected, abs=5e-8)


def test_domains_that_agree_are_pooled() -> None:
    found = shrunk_rates([5, 5, 5, 5], [10, 10, 10, 10])
    assert found.shape == float("inf")
    assert found.rates == pytest.approx([0.5] * 4)


def test_no_event_at_all() -> None:
    assert shrunk_rates([0, 0], [1, 2]).rates.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("counts", "exposures", "says"),
    [
        ([], [], "count and an exposure"),
        ([1], [1, 2], "count and an exposure"),
        ([1, 1], [1, 0], "positive finite"),
        ([1, 1], [1, float("inf")], "positive finite"),
        ([1, -1], [1, 1], "negative"),
    ],
)
def test_rates_refuse(counts: list[int], exposures: list[float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        shrunk_rates(counts, exposures)


def test_p_of_one_pair() -> None:
    """One pair among four domains: p is 1 - exp(-rate gap) with the follower left out."""
    found = find_links([0, 0, 1, 2], [10.0, 10.1, 500.0, 40.0], [HOURS] * 4)
    assert found.after.tolist() == [1, -1, -1, -1]
    rate = 3 / (4 * HOURS)
    assert found.p[0] == pytest.approx(-np.expm1(-rate * 0.1))
    assert found.p[1:].tolist() == [1.0, 1.0, 1.0]
    assert found.q[0] == pytest.approx(4 * found.p[0])
    assert found.linked.tolist() == [True, False, False, False]


def test_levels_share_the_rate_of_false_discovery() -> None:
    clock = [10.0, 35.0, 500.0, 40.0]
    one = find_links([0, 0, 1, 2], clock, [HOURS] * 4)
    two = find_links([0, 0, 1, 2], clock, [HOURS] * 4, levels=2)
    assert one.linked[0]
    assert not two.linked[0]
    assert two.q[0] == pytest.approx(min(1.0, 2 * 4 * two.p[0]))


def test_ties_get_the_resolution_of_the_clock() -> None:
    exact = find_links([0, 0, 1], [5.0, 5.0, 9.0], [HOURS] * 2)
    coarse = find_links([0, 0, 1], [5.0, 5.0, 9.0], [HOURS] * 2, slack=0.5)
    assert exact.p[0] == 0.0
    assert coarse.p[0] == pytest.approx(-np.expm1(-coarse.rates[0] * 1.0))
    assert coarse.p[0] > 0.0


@pytest.mark.parametrize("n", [0, 1])
def test_one_event_links_nothing(n: int) -> None:
    found = find_links([0] * n, [1.0] * n, [HOURS])
    assert not found.linked.any()
    assert (found.p == 1.0).all()


def test_refuses() -> None:
    with pytest.raises(ValueError, match="domain that exists"):
        find_links([2], [1.0], [HOURS, HOURS])
    with pytest.raises(ValueError, match="clock reading"):
        find_links([0, 0], [1.0], [HOURS])
    with pytest.raises(ValueError, match="positive finite"):
        find_links([0], [1.0], [0.0])


@steady
@given(st.randoms(use_true_random=False), st.integers(2, 30))
def test_order_of_the_events_does_not_matter(random: object, n: int) -> None:
    rng = np.random.default_rng(n)
    domain, clock = rng.integers(0, 3, n), rng.uniform(0, HOURS, n)
    mixed = list(range(n))
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one = find_links(domain, clock, [HOURS] * 3)
    two = find_links(domain[mixed], clock[mixed], [HOURS] * 3)
    assert two.p == pytest.approx(one.p[mixed])
    assert two.linked.tolist() == one.linked[mixed].tolist()


def _world(
    rng: np.random.Generator, domains: int, events: float, cv: float, pairs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Independent failures in domains of unlike rates, and some that really followed another."""
    rate = np.ones(domains) if cv == 0 else rng.gamma(1 / cv**2, cv**2, domains)
    counts = rng.poisson(events * rate / max(rate.sum(), 1e-12))
    domain = np.repeat(np.arange(domains), counts)
    clock = rng.uniform(0, HOURS - TEN_MINUTES, domain.size)
    first = rng.choice(domain.size, min(pairs, domain.size), replace=False)
    follows = np.concatenate([np.zeros(domain.size, bool), np.ones(first.size, bool)])
    after = clock[first] + rng.uniform(0, TEN_MINUTES, first.size)
    return np.concatenate([domain, domain[first]]), np.concatenate([clock, after]), follows


def _trial(
    domains: int, events: float, cv: float, pairs: int, n: int
) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng([domains, int(events), round(10 * cv), pairs])
    false, found = [], []
    for _ in range(n):
        domain, clock, follows = _world(rng, domains, events, cv, pairs)
        links = find_links(domain, clock, np.full(domains, HOURS))
        true = follows[links.after[links.linked]]
        false.append(float((~true).sum() / max(1, true.size)))
        found.append(float(true.sum() / max(1, follows.sum())))
    return false, found


@pytest.mark.parametrize("cv", [0.0, 1.0, 2.0])
@pytest.mark.parametrize(("domains", "events"), [(16, 20), (16, 100), (256, 20), (256, 100)])
def test_false_discovery_under_chance(domains: int, events: int, cv: float) -> None:
    """With no true link, at most q of months name any, also where domains' rates differ much."""
    false, _ = _trial(domains, events, cv, 0, 250)
    assert np.mean(false) <= 0.10 + 2 * np.sqrt(0.1 * 0.9 / 250)


@pytest.mark.parametrize("cv", [0.0, 1.0, 2.0])
def test_power_and_false_discovery_with_true_links(cv: float) -> None:
    """Pairs within 10 minutes in 256 domains are found; at most q of what is found is chance."""
    false, found = _trial(256, 100, cv, 10, 150)
    assert np.mean(found) >= 0.95
    assert np.mean(false) <= 0.10 + 2 * np.std(false) / np.sqrt(150)


def test_a_pooled_rate_would_fail() -> None:
    """Why rates are shrunk: domains that fail often look like clusters beside one common rate."""
    rng = np.random.default_rng(2)
    false = []
    for _ in range(150):
        domain, clock, _ = _world(rng, 16, 100, 2.0, 0)
        links = find_links(domain, clock, np.full(16, HOURS))
        gap = np.where(links.after >= 0, clock[links.after] - clock, np.inf)
        p = np.where(links.after >= 0, -np.expm1(-domain.size / (16 * HOURS) * gap), 1.0)
        false.append(bool((q_values(p) <= 0.10).any()))
    assert np.mean(false) > 0.3
