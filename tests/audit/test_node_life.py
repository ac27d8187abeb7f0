"""Nodes that are new to the runs beside the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckpt_audit.audit.node_life import EARLY_S, early_by_node
from ckpt_audit.facts import Incident, NodeSpan
from ckpt_audit.units import US_PER_DAY
from tests.report.fixture_data import unknown_incident


def span(attempt: int, begin: float, end: float, *nodes: str) -> NodeSpan:
    at = (round(begin * US_PER_DAY), round(end * US_PER_DAY))
    return NodeSpan("a", attempt, *at, nodes=nodes, storage=None, versions=())


def failure(day: float, *nodes: str, secondary: bool = False) -> Incident:
    return replace(
        unknown_incident(), fault_at=round(day * US_PER_DAY), nodes=nodes, secondary=secondary
    )


def test_age_is_up_time_served_on_the_node() -> None:
    """n2 comes on day 10: on day 11 it has served a day, n1 eleven less the gap of five."""
    spans = [span(1, 0, 5, "n1"), span(2, 10, 30, "n1", "n2")]
    found = early_by_node(spans, [failure(11, "n2"), failure(11, "n1"), failure(29, "n1")])
    assert found is not None
    assert (found.events, found.other_events) == (1, 2)
    assert found.exposure_s == pytest.approx(2 * EARLY_S)
    assert found.other_exposure_s == pytest.approx((25 + 20) * 86400 - 2 * EARLY_S)


def test_new_nodes_that_fail_more_often_are_found() -> None:
    spans = [span(k, 0, 60, f"n{k}") for k in range(20)]
    events = [failure(1 + k / 20, f"n{k}") for k in range(10)]
    events += [failure(30 + k, f"n{k}") for k in range(5)]
    found = early_by_node(spans, events)
    assert found is not None
    assert found.p is not None
    assert found.p < 0.001
    assert found.low > 5


def test_who_is_not_counted() -> None:
    spans = [span(1, 0, 30, "n1", "n2")]
    events = [
        failure(1, "n1", "n2"), failure(1), failure(1, "n9"), failure(-1, "n1"),
        failure(1, "n1", secondary=True), replace(failure(1, "n1"), fault_at=None),
    ]  # fmt: skip
    found = early_by_node(spans, events)
    assert found is not None
    assert (found.events, found.other_events) == (0, 0)


def test_nothing_to_compare() -> None:
    assert early_by_node([], [failure(1, "n1")]) is None
    assert early_by_node([span(1, 0, 2, "n1")], [failure(1, "n1")]) is None


def test_overlapping_stretches_count_once() -> None:
    found = early_by_node([span(1, 0, 10, "n1"), span(2, 5, 10, "n1")], [failure(9, "n1")])
    assert found is not None
    assert found.exposure_s + found.other_exposure_s == pytest.approx(10 * 86400)
