"""Domains, tested links, groups, roots, coincidences and suspects on histories that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from ckpt_audit.audit.correlation import Findings, History, correlate
from ckpt_audit.audit.domains import Domains
from ckpt_audit.audit.suspects import suspects_of
from ckpt_audit.facts import Incident, Lifetime, NodeSpan

H = 3_600_000_000
MAY = 1_777_593_600_000_000
MINUTE = 1 / 60
LEAVES = [("leaf", f"leaf{i // 4}", f"n{i:02d}") for i in range(32)]
NODES = tuple(f"n{i:02d}" for i in range(32))

_BLANK: dict[str, Any] = {
    field.name: None for field in fields(Incident) if field.name not in ("bounds", "evidence")
} | {
    "kind": "failure",
    "cause": "gpu",
    "secondary": False,
    "attempts": 1,
    "job_ids": (),
    "ends": (),
    "overruled": (),
    "excluded": False,
    "domains": (),
}


def incident(run: str, at_h: float, *nodes: str, **more: Any) -> Incident:
    number = f"{run}-{at_h:.3f}"
    at = MAY + round(at_h * H)
    return Incident(**(_BLANK | {"id": number, "run": run, "fault_at": at, "nodes": nodes} | more))


def spans(runs: dict[str, tuple[str, ...]], hours: float = 1000.0, **more: Any) -> list[NodeSpan]:
    known: dict[str, Any] = {"storage": None, "versions": ()} | more
    return [
        NodeSpan(run, 1, MAY, MAY + round(hours * H), nodes, **known) for run, nodes in runs.items()
    ]


def found_in(
    events: Sequence[Incident],
    uptime: Sequence[NodeSpan],
    memberships: Sequence[tuple[str, str, str]] = LEAVES,
    **more: Any,
) -> Findings:
    lives = [
        Lifetime(span.run, span.attempt, span.start_at, span.end_at, 8, None, None, False)
        for span in uptime
    ]
    known: dict[str, Any] = {
        "lifetimes": lives,
        "epochs": {},
        "processes": {},
        "step_s": {},
        "line_steps": {},
        "first_signs": {},
        "window_s": 600.0,
    }
    ordered = sorted(events, key=lambda item: item.fault_at or 0)
    return correlate(
        History(events=ordered, domains=Domains(uptime, memberships), **(known | more))
    )


TWO_RUNS = {"a": NODES[:18], "b": NODES[18:]}  # leaf4 is in both


def labels(found: Findings) -> dict[str, str]:
    return {name: one.label for name, one in found.by_incident.items()}


def test_a_leaf_that_strikes_two_runs_is_one_group() -> None:
    events = [
        incident("a", 100, "n16"),
        incident("b", 100 + MINUTE, "n19"),
        incident("a", 400, "n02"),
        incident("b", 700, "n30"),
    ]
    found = found_in(events, spans(TWO_RUNS))
    assert list(labels(found).values()) == ["correlated", "correlated", "isolated", "isolated"]
    (group,) = found.groups
    assert (group.runs, group.domains) == (("a", "b"), ("leaf:leaf4",))
    assert group.rule == "leaf4 twice within 60.0 s"
    # both kinds of part share the rate: 4 tests, 3 kinds, p from 3 events in 32,000 node-hours
    (link,) = group.links
    rate = 3 / 32_000
    assert link.link.p == pytest.approx(-np.expm1(-rate * 4 * (MINUTE + 1 / 3600)), rel=1e-6)
    assert link.link.q == pytest.approx(link.link.p * 4 * len(found.tests), rel=1e-6)
    assert group.q == link.link.q <= 0.10
    counts = {name: mean.incidents for name, mean in found.means.items()}
    assert counts == {"all": 4, "isolated": 2, "groups": 2, "once": 3}
    assert found.means["once"].m_s == pytest.approx(2000 * 3600 / 3)


def test_the_same_gap_in_another_leaf_is_chance() -> None:
    events = [incident("a", 100, "n16"), incident("b", 100 + MINUTE, "n23")]
    found = found_in(events, spans(TWO_RUNS))
    assert set(labels(found).values()) == {"isolated"}
    assert found.groups == ()


def test_chance_pairs_in_a_leaf_that_fails_all_the_time_are_not_linked() -> None:
    """Evenly spaced failures of one leaf: near in time, and no nearer than its rate makes them."""
    events = [incident("ab"[i % 2], 1 + 8 * i, "n16" if i % 2 == 0 else "n18") for i in range(120)]
    assert found_in(events, spans(TWO_RUNS)).groups == ()


def test_a_domain_that_holds_everything_says_nothing_without_its_cause() -> None:
    uptime = spans(TWO_RUNS, storage="/fs")
    pair = [incident("a", 100, cause="gpu"), incident("b", 100 + MINUTE, cause="gpu")]
    assert found_in(pair, uptime).groups == ()
    of_storage = [replace(item, cause="storage") for item in pair]
    (group,) = found_in(of_storage, uptime).groups
    assert group.domains == ("storage:/fs",)


def test_an_idle_domain_has_a_clock_that_stands_still() -> None:
    """Two days between two failures of a leaf that ran for a minute of them are a minute."""
    uptime = [
        NodeSpan("a", 1, MAY, MAY + 100 * H, NODES, None, ()),
        NodeSpan("a", 2, MAY + 148 * H, MAY + 148 * H + H // 60, NODES, None, ()),
        NodeSpan("a", 3, MAY + 149 * H, MAY + 1000 * H, NODES, None, ()),
    ]
    pair = [incident("a", 100, "n00"), incident("a", 148 + MINUTE, "n01")]
    (group,) = found_in(pair, uptime).groups
    assert group.links[0].link.gap_s == pytest.approx(48 * 3600 + 60)
    assert found_in(pair, spans({"a": NODES})).groups == ()


def test_followers_are_a_cascade_and_link_nothing() -> None:
    events = [
        incident("a", 100, "n16"),
        incident("a", 100 + MINUTE, "n17", secondary=True),
        incident("b", 500, "n30"),
    ]
    found = found_in(events, spans(TWO_RUNS))
    assert list(labels(found).values()) == ["isolated", "cascade", "isolated"]
    (group,) = found.groups
    assert (group.label, group.p, group.q) == ("cascade", None, None)
    assert found.means["once"].incidents == 2


def test_bounds_of_a_moment_can_only_hide_a_link() -> None:
    low, high = 1_777_593_600.0 + 99.9 * 3600, 1_777_593_600.0 + 400 * 3600
    events = [
        incident("a", 100, "n16"),
        incident("b", 100 + MINUTE, "n19", bounds={"fault_at": (low, high)}),
    ]
    assert found_in(events, spans(TWO_RUNS)).groups == ()


def test_a_program_that_fails_at_its_step_again() -> None:
    events = [
        incident("a", 100, cause="software", last_step=5000, resume_step=4000),
        incident("a", 200, cause="software", last_step=5000, resume_step=4000),
        incident("a", 300, cause="software", last_step=40_000, resume_step=39_000),
    ]
    uptime = spans({"a": NODES})
    found = found_in(events, uptime, step_s={"a": 10.0})
    assert list(labels(found).values()) == ["correlated", "correlated", "isolated"]
    assert found.groups[0].rule == "failed again at step 5000"
    of_parts = [replace(item, cause="gpu") for item in events]
    assert found_in(of_parts, uptime, step_s={"a": 10.0}).groups == ()
    # lines every 2,000 steps cannot tell
    coarse = dict.fromkeys((item.id for item in events), 2000)
    assert found_in(events, uptime, step_s={"a": 100.0}, line_steps=coarse).groups == ()


def _at_once(nodes: Sequence[str], apart_s: float, cause: str = "network") -> Findings:
    struck = incident("a", 100, *nodes, cause=cause)
    at = struck.fault_at or 0
    signs = {node: at + round(i * apart_s * 1e6) for i, node in enumerate(nodes)}
    events = [struck, incident("b", 500, "n30"), incident("a", 800, "n01")]
    return found_in(events, spans(TWO_RUNS), first_signs={struck.id: signs})


def test_several_nodes_of_a_leaf_at_once_are_correlated_though_one_incident() -> None:
    found = _at_once(NODES[4:7], 1.0)
    assert list(labels(found).values()) == ["correlated", "isolated", "isolated"]
    assert found.groups[0].rule == "3 nodes of leaf1 within 2.0 s"


def test_several_hosts_at_once_are_correlated_though_no_file_says_what_they_share() -> None:
    found = _at_once((NODES[0], NODES[5], NODES[9], NODES[13], NODES[15]), 1.0, "node")
    assert list(labels(found).values()) == ["correlated", "isolated", "isolated"]
    assert found.groups[0].rule == "5 nodes of run a within 4.0 s"


@pytest.mark.parametrize(
    ("nodes", "apart_s", "cause"),
    [
        (NODES[4:5], 1.0, "network"),  # one node
        ((NODES[4], NODES[9]), 1.0, "network"),  # of two leaves
        (NODES[4:6], 3600.0, "network"),  # long after each other
        (NODES[4:7], 1.0, "software"),  # a program fails everywhere at once
    ],
)
def test_other_nodes_are_not(nodes: Sequence[str], apart_s: float, cause: str) -> None:
    assert _at_once(nodes, apart_s, cause).groups == ()


def test_a_sign_before_all_faults_suggests_a_root() -> None:
    early = MAY + round(99 * H)
    events = [
        incident("a", 100, "n16"),
        incident("b", 100 + MINUTE, "n19", precursor_at=early),
    ]
    (group,) = found_in(events, spans(TWO_RUNS)).groups
    assert group.root is not None
    assert group.root.incident == events[1].id
    assert group.root.lead_s == 3600.0
    late = [events[0], replace(events[1], precursor_at=MAY + 100 * H + 1)]
    assert found_in(late, spans(TWO_RUNS)).groups[0].root is None


def test_windows_stand_beside_chance() -> None:
    events = [
        incident("a", 100, "n16"),
        incident("b", 100 + 20 * MINUTE, "n19"),
        incident("a", 400, "n02"),
    ]
    found = found_in(events, spans(TWO_RUNS))
    grouped = {one.effect.window_s: one.effect.grouped for one in found.windows}
    assert grouped == {60.0: 0, 300.0: 0, 600.0: 0, 1800.0: 2, 3600.0: 2}
    assert [one.effect.window_s for one in found.windows if one.is_configured] == [600.0]
    assert found.windows[-1].once.incidents == 2


def test_runs_that_fail_together_are_said_to() -> None:
    hours = [50, 150, 260, 390, 470, 640, 810, 950]
    events = [incident("a", h, "n00") for h in hours]
    events += [incident("b", h + MINUTE, "n30") for h in hours]
    found = found_in(events, spans(TWO_RUNS))
    (pair,) = found.coincidences
    assert pair.runs == ("a", "b")
    assert pair.test.seen == 8
    assert pair.q is not None
    assert pair.q <= 0.01


def test_nothing_at_all() -> None:
    found = found_in([], [])
    assert (found.groups, found.tests, found.windows, found.means) == ((), (), (), {})


def test_nodes_nobody_ran_on_are_not_tested() -> None:
    """Without records of nodes there is no exposure, and no p value is made up."""
    events = [incident("a", 100, "n16"), incident("a", 101, "n16")]
    found = found_in(events, spans({"a": ()}))
    assert found.tests == ()
    assert set(labels(found).values()) == {"isolated"}


def test_a_bad_node_is_suspect_and_its_leaf_is_not() -> None:
    events = [incident("a", 10 + 40 * i, "n05") for i in range(8)]
    events += [incident("a", 30 + 90 * i, f"n{3 * i:02d}") for i in range(10)]
    domains = Domains(spans({"a": NODES}), LEAVES)
    node, leaf = suspects_of(events, {}, domains)
    assert [part.name for part in node.worst if part.suspect] == ["node:n05"]
    assert node.worst[0].expected == pytest.approx(18 / 32)
    assert node.worst[0].node_h == pytest.approx(1000.0)
    assert (leaf.left_out, leaf.incidents) == (("node:n05",), 10)
    assert leaf.node_h == pytest.approx(31_000.0)
    assert not any(part.suspect for part in leaf.worst)


def test_a_bad_leaf_is_suspect_though_none_of_its_nodes_is() -> None:
    events = [incident("a", 10 + 40 * i, f"n{4 + i % 4:02d}") for i in range(12)]
    events += [incident("a", 30 + 50 * i, f"n{3 * i:02d}") for i in range(10)]
    node, leaf = suspects_of(events, {}, Domains(spans({"a": NODES}), LEAVES))
    assert not any(part.suspect for part in node.worst)
    assert [part.name for part in leaf.worst if part.suspect] == ["leaf:leaf1"]


def test_a_group_counts_once_and_few_are_not_tested() -> None:
    events = [incident("a", 10 + i, "n05") for i in range(12)]
    domains = Domains(spans({"a": NODES}), LEAVES)
    (node, _) = suspects_of(events, {item.id: "group-1" for item in events}, domains)
    assert (node.incidents, node.worst) == (1, ())
    assert node.refusal == "1 incidents: a test needs 10 or more"
    assert suspects_of(events, {}, Domains([], [])) == ()


def _chance(seed: int, cv: float) -> list[Incident]:
    """Independent failures of nodes whose rates differ, in two runs that hold all leaves."""
    rng = np.random.default_rng([seed, round(10 * cv)])
    weight = np.ones(32) if cv == 0.0 else rng.gamma(1 / cv**2, cv**2, 32) + 1e-9
    struck = rng.choice(32, 40, p=weight / weight.sum())
    causes = rng.choice(["gpu", "network", "storage", "software"], 40)
    step = rng.integers(1000, 900_000, 40)
    return [
        incident(
            "a" if node < 18 else "b",
            float(at),
            NODES[node],
            cause=str(cause),
            last_step=int(last),
            resume_step=int(last) - 500,
        )
        for at, node, cause, last in zip(
            np.sort(rng.uniform(0, 1000, 40)), struck, causes, np.sort(step), strict=True
        )
    ]


@pytest.mark.parametrize("cv", [0.0, 2.0])
def test_all_kinds_together_keep_the_rate(cv: float) -> None:
    """Nodes, leaves, racks, storage and steps at once: a history of chance has no group."""
    racks = [("rack", f"r{i // 8}", name) for i, name in enumerate(NODES)]
    uptime = spans(TWO_RUNS, storage="/fs")
    n = 80
    seen = [
        bool(
            found_in(_chance(seed, cv), uptime, LEAVES + racks, step_s={"a": 4.0, "b": 4.0}).groups
        )
        for seed in range(n)
    ]
    assert np.mean(seen) <= 0.10 + 2 * np.sqrt(0.1 * 0.9 / n)
