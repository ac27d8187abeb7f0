"""Headers of the SQL stages against the engine's own parse; stages and checks against cases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckpt_audit.stages import Check, Stage, load_checks, load_stages
from ckpt_audit.warehouse import Warehouse
from tests.sql import harness, make_readme

STAGES = load_stages()
CHECKS = load_checks()
KINDS = re.compile(r"(BIGINT|INTEGER|VARCHAR|BOOLEAN)(\[\])?")
UNITS = ("_at", "_us", "_low", "_high")
CASES_PER_STAGE = 2

each_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.table)
each_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
STATEMENTS = {
    **{stage.table: stage.sql for stage in STAGES},
    **{check.name: check.sql for check in CHECKS},
}
each_statement = pytest.mark.parametrize("sql", STATEMENTS.values(), ids=STATEMENTS.keys())


@pytest.fixture(scope="module")
def engine() -> Iterator[Warehouse]:
    """An empty warehouse."""
    with Warehouse.open(":memory:") as warehouse:
        yield warehouse


def _tree(engine: Warehouse, sql: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(
        engine.rows("SELECT json_serialize_sql($sql)", {"sql": sql})[0][0]
    )
    assert not tree["error"], tree
    return tree


def _nodes(tree: object) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        for value in tree.values():
            yield from _nodes(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _nodes(value)


def _tables(tree: object, hidden: frozenset[str] = frozenset()) -> set[str]:
    """Tables that a statement reads; a common table expression hides its name in its scope."""
    if isinstance(tree, list):
        return set().union(*(_tables(value, hidden) for value in tree))
    if not isinstance(tree, dict):
        return set()
    if tree.get("type") == "BASE_TABLE":
        name = tree["table_name"]
        return set() if name in hidden else {name}
    entries = tree.get("cte_map", {}).get("map", [])
    found: set[str] = set()
    for entry in entries:  # each one sees those before it
        # and a recursive one itself
        recursive = {
            node["cte_name"] for node in _nodes(entry) if node.get("type") == "RECURSIVE_CTE_NODE"
        }
        found |= _tables(entry["value"], hidden | recursive)
        hidden = hidden | {entry["key"]}
    rest = [value for key, value in tree.items() if key != "cte_map"]
    return found | _tables(rest, hidden)


@each_statement
def test_one_select(engine: Warehouse, sql: str) -> None:
    statements = _tree(engine, sql)["statements"]
    assert len(statements) == 1
    assert statements[0]["node"]["type"] in ("SELECT_NODE", "SET_OPERATION_NODE")


@each_stage
def test_header_names_what_is_read(engine: Warehouse, stage: Stage) -> None:
    assert _tables(_tree(engine, stage.sql)) == set(stage.reads)
    assert len(set(stage.reads)) == len(stage.reads)


@each_stage
def test_header_names_the_parameters(engine: Warehouse, stage: Stage) -> None:
    used = {
        node["identifier"]
        for node in _nodes(_tree(engine, stage.sql))
        if node.get("class") == "PARAMETER"
    }
    assert used == set(stage.params)


@each_stage
def test_header_names_the_columns_in_order(stage: Stage) -> None:
    assert list(harness.columns()[stage.table]) == list(stage.columns)


@each_stage
def test_header_says_what_everything_is(stage: Stage) -> None:
    assert stage.grain
    assert all(meaning.strip() for meaning in stage.columns.values())


@each_stage
def test_columns_have_plain_types(stage: Stage) -> None:
    for name, kind in harness.columns()[stage.table].items():
        assert KINDS.fullmatch(kind), (name, kind)
        if name.endswith(UNITS):
            assert kind == "BIGINT", name
        if name.startswith(("is_", "has_")):
            assert kind == "BOOLEAN", name
        if name.startswith("n_"):
            assert kind == "BIGINT", name


@each_statement
def test_no_floating_point_and_no_pivot(engine: Warehouse, sql: str) -> None:
    for node in _nodes(_tree(engine, sql)):
        assert node.get("type") != "PIVOT"
        assert node.get("function_name") not in ("avg", "mean", "favg", "fsum", "stddev", "/")
    assert not re.search(r"\b(DOUBLE|FLOAT|REAL|PIVOT)\b", sql)


def test_every_stage_has_cases() -> None:
    counts: dict[str, int] = {stage.table: 0 for stage in STAGES}
    for case in harness.cases():
        counts[case.table] += 1  # a folder of no stage is a mistake: KeyError
    assert [table for table, n in counts.items() if n < CASES_PER_STAGE] == []


def test_every_case_says_what_it_proves() -> None:
    for case in harness.cases():
        lines = (case.folder / "README.md").read_text(encoding="utf-8").splitlines()
        assert lines, case.name
        assert lines[0].strip(), case.name


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case.name,
            marks=[pytest.mark.xfail(reason=case.xfail, raises=AssertionError)]
            if case.xfail
            else [],
        )
        for case in harness.cases()
    ],
)
def test_case(case: harness.Case) -> None:
    found, expected = harness.run_case(case)
    assert list(harness.words(found)) == list(harness.words(expected))


@each_check
@pytest.mark.parametrize("side", ["passes", "offends"])
def test_check(check: Check, side: str) -> None:
    found, expected = harness.run_check(check, side)
    assert found == expected
    assert bool(found) is (side == "offends")


@each_check
def test_check_says_what_it_means(check: Check) -> None:
    assert check.says
    assert check.severity in ("fail", "warn")
    assert check.table in {stage.table for stage in STAGES}


def test_readme_is_up_to_date() -> None:
    path = Path(__file__).parents[2] / "sql" / "README.md"
    assert path.read_text(encoding="utf-8") == make_readme.text(), (
        "make it anew: python -m tests.sql.make_readme"
    )
