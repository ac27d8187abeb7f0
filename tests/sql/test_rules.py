"""Rules as data: each example is read by its own rule before any other."""

from __future__ import annotations

import pytest

from ckpt_audit.stages import load_stages
from ckpt_audit.warehouse import Warehouse
from tests.sql import harness


def _rows(table: str, sql: str) -> list[tuple[object, ...]]:
    (stage,) = [one for one in load_stages() if one.table == table]
    with Warehouse.open(":memory:") as warehouse:
        harness.make(warehouse, stage)
        return warehouse.rows(sql)


def test_reasons_of_nodes() -> None:
    wrong = _rows(
        "reason_rule",
        "SELECT told.example, told.rank, min(rule.rank) FROM reason_rule AS told "
        "LEFT JOIN reason_rule AS rule ON regexp_matches(told.example, '(?i)' || rule.pattern) "
        "GROUP BY ALL HAVING coalesce(min(rule.rank), -1) <> told.rank",
    )
    assert wrong == []


@pytest.mark.parametrize("column", ["code_pattern", "text_pattern"])
def test_patterns_of_causes_compile(column: str) -> None:
    rows = _rows("cause_rule", f"SELECT regexp_matches('', {column}) FROM cause_rule")
    assert len(rows) > 10


def test_texts_of_causes_fit_their_examples() -> None:
    wrong = _rows(
        "cause_rule",
        "SELECT example FROM cause_rule WHERE text_pattern IS NOT NULL "
        "AND NOT regexp_matches(example, text_pattern)",
    )
    assert wrong == []


def test_every_verdict_is_reached_by_a_case() -> None:
    told = {row[0] for row in _rows("verdict_rule", "SELECT sentence FROM verdict_rule")}
    reached = set()
    for case in harness.cases():
        if case.table == "verdict":
            found, _ = harness.run_case(case, more=("rule",))
            reached |= {row["rule"] for row in found} - {None}
    assert told == reached


def test_verdicts_have_ranks_and_examples_of_their_own() -> None:
    wrong = _rows(
        "verdict_rule",
        "SELECT rank FROM verdict_rule GROUP BY rank HAVING count(*) > 1 "
        "UNION ALL SELECT rank FROM verdict_rule WHERE coalesce(example, '') = ''",
    )
    assert wrong == []
