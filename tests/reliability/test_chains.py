"""Groups by a plain window: shared domains, followers, and independence of order."""

import json
from collections.abc import Collection, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.reliability.chains import grouped_within, window_effect
from ckpt_audit.reliability.grouping import Grouping, followed
from tests.e2e.conftest import real

steady = settings(deadline=None, derandomize=True)
S = 1_000_000


def group_incidents(
    at_us: Sequence[int],
    domains: Sequence[Collection[str]],
    run_ids: Sequence[str],
    secondary: Sequence[bool] | None = None,
    window_s: float = 600.0,
) -> Grouping:
    """Groups by a window, followers found by their flags."""
    flags = [False] * len(at_us) if secondary is None else list(secondary)
    return grouped_within(at_us, domains, followed(at_us, run_ids, flags), window_s)


def test_nothing() -> None:
    assert group_incidents([], [], []).group == ()


def test_shared_leaf_within_the_window() -> None:
    leaf = {"leaf:1"}
    got = group_incidents([0, 600 * S, 1201 * S], [leaf] * 3, ["a", "b", "c"])
    assert got.group == (0, 0, 1)
    assert got.label == ("correlated", "correlated", "isolated")


def test_links_chain() -> None:
    got = group_incidents([0, 500 * S, 1000 * S], [{"leaf:1"}] * 3, ["a", "b", "c"])
    assert got.group == (0, 0, 0)


def test_two_domains_bridge() -> None:
    domains = [{"leaf:1"}, {"leaf:1", "node:9"}, {"node:9"}]
    assert group_incidents([0, 0, 0], domains, ["a", "b", "c"]).group == (0, 0, 0)


def test_no_shared_domain_is_isolated() -> None:
    got = group_incidents([0, 0, 0], [{"leaf:1"}, {"leaf:2"}, set()], ["a", "b", "c"])
    assert got.group == (0, 1, 2)
    assert set(got.label) == {"isolated"}


def test_follower_joins_its_run_and_does_not_correlate() -> None:
    got = group_incidents(
        [0, 100 * S], [{"leaf:1"}, {"leaf:1"}], ["a", "a"], secondary=[False, True]
    )
    assert got.group == (0, 0)
    assert got.label == ("isolated", "cascade")


def test_followers_of_followers_far_apart() -> None:
    got = group_incidents(
        [0, 5000 * S, 9000 * S], [set()] * 3, ["a"] * 3, secondary=[False, True, True]
    )
    assert got.group == (0, 0, 0)
    assert got.label == ("isolated", "cascade", "cascade")


def test_follower_links_nothing_else() -> None:
    got = group_incidents(
        [0, 100 * S, 150 * S],
        [{"leaf:1"}, {"leaf:2"}, {"leaf:2"}],
        ["a", "a", "b"],
        secondary=[False, True, False],
    )
    assert got.group == (0, 0, 1)
    assert got.label == ("isolated", "cascade", "isolated")


def test_secondary_with_nothing_before_it_is_a_primary() -> None:
    got = group_incidents([0, 10 * S], [set(), set()], ["a", "b"], secondary=[False, True])
    assert got.label == ("isolated", "isolated")


def test_follower_of_a_correlated_primary() -> None:
    got = group_incidents(
        [0, 10 * S, 700 * S],
        [{"leaf:1"}, {"leaf:1"}, set()],
        ["a", "b", "b"],
        secondary=[False, False, True],
    )
    assert got.group == (0, 0, 0)
    assert got.label == ("correlated", "correlated", "cascade")


def test_window_is_heeded() -> None:
    got = group_incidents([0, 20 * S], [{"leaf:1"}] * 2, ["a", "b"], window_s=10)
    assert got.label == ("isolated", "isolated")


@st.composite
def incidents(draw: st.DrawFn) -> list[tuple[int, frozenset[str], str, bool]]:
    moments = draw(st.lists(st.integers(0, 4000), unique=True, max_size=12))
    return [
        (
            at * S,
            draw(st.frozensets(st.sampled_from(["leaf:1", "leaf:2", "node:1"]), max_size=2)),
            draw(st.sampled_from("ab")),
            draw(st.booleans()),
        )
        for at in moments
    ]


def _group(rows: list[tuple[int, frozenset[str], str, bool]]) -> Grouping:
    return group_incidents(
        [row[0] for row in rows],
        [row[1] for row in rows],
        [row[2] for row in rows],
        [row[3] for row in rows],
    )


@steady
@given(incidents(), st.randoms())
def test_order_of_the_rows_does_not_matter(
    rows: list[tuple[int, frozenset[str], str, bool]], random: object
) -> None:
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    want, got = _group(rows), _group(mixed)
    assert dict(zip(rows, zip(want.group, want.label, strict=True), strict=True)) == dict(
        zip(mixed, zip(got.group, got.label, strict=True), strict=True)
    )


@steady
@given(incidents())
def test_correlated_means_company(rows: list[tuple[int, frozenset[str], str, bool]]) -> None:
    got = _group(rows)
    for number, label in zip(got.group, got.label, strict=True):
        primaries = [
            other
            for other, other_label in zip(got.group, got.label, strict=True)
            if other == number and other_label != "cascade"
        ]
        assert primaries
        if label != "cascade":
            assert (label == "correlated") == (len(primaries) > 1)
    assert sorted(set(got.group)) == list(range(len(set(got.group))))


def test_refuses() -> None:
    with pytest.raises(ValueError, match="one entry per incident"):
        group_incidents([0], [], ["a"])
    with pytest.raises(ValueError, match="window"):
        group_incidents([], [], [], window_s=-1.0)


def test_real_trace_against_chance() -> None:
    """584 faults of 400 servers: 27.7% within a chain of 15 minutes, 3.4% at a constant rate."""
    events = json.loads(real("datasets", "fault_trace.json").read_text("utf-8"))
    days = [event["event_time"] for event in events if event["event_type"] == "fault_start"]
    at_us = [round(day * 86_400 * S) for day in days]
    n = len(at_us)
    assert n == 584
    length_s = 348 * 86_400.0
    found = window_effect(at_us, [{"fleet"}] * n, [None] * n, length_s, 900.0)
    assert found.share == pytest.approx(0.277, abs=0.0005)
    assert found.share_by_chance == pytest.approx(0.034, abs=0.0005)


def test_chance_share_is_that_of_uniform_moments() -> None:
    """The formula against simulated moments, two domains of unlike rates."""
    rng = np.random.default_rng(5)
    shares, said = [], []
    for _ in range(400):
        at_us = [int(at) for at in rng.uniform(0, 1e6 * S, 40)]
        domains = [{"a"}] * 30 + [{"b"}] * 10
        found = window_effect(at_us, domains, [None] * 40, 1e6, 3000.0)
        shares.append(found.share or 0.0)
        said.append(found.share_by_chance or 0.0)
    assert len({round(value, 12) for value in said}) == 1
    assert np.mean(shares) == pytest.approx(said[0], abs=float(4 * np.std(shares) / 20))


def test_effect_leaves_followers_out() -> None:
    got = window_effect([0, S, 2 * S], [{"a"}] * 3, [None, 0, None], 100.0, 10.0)
    assert (got.n, got.grouped, got.groups, got.alone) == (2, 2, 1, 0)


def test_effect_of_nothing() -> None:
    got = window_effect([], [], [], 100.0, 10.0)
    assert (got.n, got.share, got.share_by_chance) == (0, None, None)
