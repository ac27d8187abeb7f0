"""Rules as data: each example is read by its own rule before any other."""

from __future__ import annotations

import pytest

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats.job_log import JOB_LOG
from ckpt_audit.ingest.formats.kernel_log import KERNEL_LOG
from ckpt_audit.records import LogEvent
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


_FITTING = """
SELECT rank FROM cause_rule
WHERE kind = $kind
    AND (code_pattern IS NULL OR regexp_full_match(coalesce($code, ''), code_pattern))
    AND (text_pattern IS NULL OR regexp_matches($text, text_pattern))
ORDER BY text_pattern IS NOT NULL DESC, code_pattern IS NOT NULL DESC, rank LIMIT 1
"""


def _events(example: str) -> list[LogEvent]:
    """What the readers make of an example: alone, in a kernel log, at the end of a traceback."""
    forms = (
        (JOB_LOG, f"{example}\n"),
        (KERNEL_LOG, f"[    1.000000] {example}\n"),
        (JOB_LOG, f"Traceback (most recent call last):\n{example}\n"),
    )
    return [
        row
        for form, text in forms
        for row in form.read(ByteSource.from_bytes(text.encode()), ReadOptions())
        if isinstance(row, LogEvent)
    ]


def test_each_cause_rule_reads_its_own_example() -> None:
    (stage,) = [one for one in load_stages() if one.table == "cause_rule"]
    wrong = []
    with Warehouse.open(":memory:") as warehouse:
        harness.make(warehouse, stage)
        for rank, example in warehouse.rows("SELECT rank, example FROM cause_rule"):
            ranks = [
                fitting[0]
                for event in _events(example)
                for fitting in warehouse.rows(
                    _FITTING, {"kind": event.kind.value, "code": event.code, "text": example}
                )
            ]
            if rank not in ranks:
                wrong.append((rank, example, ranks))
    assert wrong == []
