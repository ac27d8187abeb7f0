"""What `estimate` says in words of incidents that belong together, and of suspects."""

from __future__ import annotations

from ckpt_audit.audit.domains import Domains
from ckpt_audit.audit.suspects import suspects_of
from ckpt_audit.cli.correlation_text import correlation_text
from tests.audit.test_correlation import (
    LEAVES,
    MAY,
    MINUTE,
    NODES,
    TWO_RUNS,
    H,
    found_in,
    incident,
    spans,
)


def test_a_group_is_told_with_its_rule_and_where_it_may_have_begun() -> None:
    events = [
        incident("a", 100, "n16", precursor_at=MAY + 98 * H),
        incident("b", 100 + MINUTE, "n19"),
        incident("a", 400),
    ]
    said = correlation_text(found_in(events, spans(TWO_RUNS)), ())
    assert "1 link in 6 tests (node, leaf, at once), at a false discovery rate of 10%" in said
    assert "1 of 3 incidents name no node" in said
    (line,) = [line for line in said.splitlines() if line.startswith("group ")]
    assert "a-100.000, b-100.017: leaf4 twice within 60.0 s (q below 0.001)" in line
    assert line.endswith("may have begun at a-100.000, a sign of it 2.0 h before")
    rows = {line.split("  ")[0]: line.split() for line in said.splitlines()}
    assert rows["isolated alone"][2] == "1"
    assert rows["groups alone"][2] == "2"
    assert rows["each group as one"][4] == "2"
    assert rows["10.0 min (configured)"][3:6] == ["2", "of", "3"]


def test_suspects_are_named_beside_what_was_to_be_expected() -> None:
    events = [incident("a", 10 + 40 * i, "n05") for i in range(12)]
    kinds = suspects_of(events, {}, Domains(spans({"a": NODES}), LEAVES))
    said = correlation_text(found_in(events, spans({"a": NODES})), kinds)
    assert "node: n05, 12 where 0.4 were to be expected" in said
    assert "leaf: not tested (0 incidents: a test needs 10 or more)" in said


def test_nothing_that_can_be_tested_is_said() -> None:
    said = correlation_text(found_in([incident("a", 5)], spans({"a": ()})), ())
    assert "nothing to test: no incident is in a failure domain whose exposure is known" in said
    assert "not tested: no run has the 10 failures that takes" in said


def test_runs_that_fail_together_are_told() -> None:
    hours = [50, 150, 260, 390, 470, 640, 810, 950]
    events = [incident("a", h, "n00") for h in hours]
    events += [incident("b", h + MINUTE, "n30") for h in hours]
    said = correlation_text(found_in(events, spans(TWO_RUNS)), ())
    assert "a and b failed within 10.0 min of each other 8 times, 0.0 by chance" in said
