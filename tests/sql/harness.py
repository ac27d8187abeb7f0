"""Runs one stage on tables that a test gives as CSV, and compares it with what must come out.

A case is a folder ``tests/sql/<table>/<case>/``: ``README.md`` says what it proves, ``<input>.csv``
gives the tables that the stage reads, ``expect.csv`` what must come out. Only the columns that
matter are written, the others are null. An input that is not given is made by its own stage from
what is given, and is empty when nothing is.

In a cell, nothing stands for null, ``''`` for an empty text, and in a column of microseconds
``90s`` for 90 seconds. Lists are JSON. A case with ``xfail.txt`` is known to come out wrong; the
file says why. A check has two such folders, ``tests/sql/checks/<check>/passes/`` and
``offends/``, whose ``expect.csv`` names the runs that it must return.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ckpt_audit.stages import Check, Stage, load_stages
from ckpt_audit.warehouse import Warehouse

HERE = Path(__file__).parent
PARAMS = {"accelerators_per_node": 8, "verified_rank": 1}
EXPECT = "expect.csv"

_SECONDS = re.compile(r"(-?\d+(?:\.\d+)?)s")

Row = dict[str, object]


@dataclass(frozen=True)
class Case:
    """One folder with inputs and what must come out.

    Attributes:
        table: The stage under test.
        folder: Where its files are.
        xfail: Why it is known to come out wrong, or None.
    """

    table: str
    folder: Path
    xfail: str | None

    @property
    def name(self) -> str:
        """How tests call it."""
        return f"{self.table}/{self.folder.name}"


def cases() -> list[Case]:
    """All cases, by table and name."""
    found = []
    for path in sorted(HERE.glob(f"*/*/{EXPECT}")):
        reason = path.parent / "xfail.txt"
        xfail = reason.read_text(encoding="utf-8").strip() if reason.exists() else None
        found.append(Case(path.parent.parent.name, path.parent, xfail))
    return found


def _stages() -> dict[str, Stage]:
    return {stage.table: stage for stage in load_stages()}


def make(warehouse: Warehouse, stage: Stage) -> None:
    """Makes one derived table from the tables that are there."""
    bound = {name: PARAMS[name] for name in stage.params}
    warehouse.execute(f"CREATE OR REPLACE TABLE {stage.table} AS {stage.sql}", bound or None)


@cache
def columns() -> dict[str, dict[str, str]]:
    """Types of the columns of every table, raw and derived, from an empty warehouse."""
    with Warehouse.open(":memory:") as warehouse:
        for stage in load_stages():
            make(warehouse, stage)
        found: dict[str, dict[str, str]] = {}
        for table, column, kind in warehouse.rows(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY table_name, column_index"
        ):
            found.setdefault(table, {})[column] = kind
        return found


def _value(cell: str, kind: str) -> object:
    if cell == "":
        return None
    if kind.endswith("[]"):
        return json.loads(cell)
    if kind in ("BIGINT", "INTEGER", "HUGEINT"):
        seconds = _SECONDS.fullmatch(cell)
        return round(float(seconds.group(1)) * 1_000_000) if seconds else int(cell)
    if kind == "BOOLEAN":
        return {"true": True, "false": False}[cell]
    return "" if cell == "''" else cell


def read_rows(path: Path, table: str) -> list[Row]:
    """Rows of a CSV file as values of the columns of a table.

    Raises:
        ValueError: The file names a column that the table does not have.
    """
    kinds = columns()[table]
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines, strict=True)
        names = list(reader.fieldnames or ())
        unknown = [name for name in names if name not in kinds]
        if unknown:
            raise ValueError(f"{path}: {table} has no column {unknown[0]}")
        return [{name: _value(row[name], kinds[name]) for name in names} for row in reader]


def fill(warehouse: Warehouse, table: str, rows: list[Row]) -> None:
    """Replaces a table by rows; columns that a row does not name are null."""
    kinds = columns()[table]
    declared = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
    warehouse.execute(f"CREATE OR REPLACE TABLE {table} ({declared})")
    for row in rows:
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join(f"?::{kinds[name]}" for name in row)
        warehouse.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))


def _needed(table: str, given: frozenset[str]) -> list[Stage]:
    """Stages to run for a table, in order: itself and what it rests on, up to what is given."""
    known = _stages()
    wanted: set[str] = set()
    pending = [table]
    while pending:
        name = pending.pop()
        if name in wanted or name not in known or (name in given and name != table):
            continue
        wanted.add(name)
        pending += known[name].reads
    return [stage for name, stage in known.items() if name in wanted]


def run_case(case: Case, more: tuple[str, ...] = ()) -> tuple[list[Row], list[Row]]:
    """What came out of a case and what must, both sorted.

    Args:
        case: The case.
        more: Columns to return of what came out, besides those that the case names.
    """
    inputs = {path.stem: path for path in case.folder.glob("*.csv") if path.name != EXPECT}
    expected = read_rows(case.folder / EXPECT, case.table)
    with (case.folder / EXPECT).open(encoding="utf-8", newline="") as lines:
        names = [*next(csv.reader(lines)), *more]
    with Warehouse.open(":memory:") as warehouse:
        for table, path in inputs.items():
            fill(warehouse, table, read_rows(path, table))
        for stage in _needed(case.table, frozenset(inputs)):
            make(warehouse, stage)
        selected = ", ".join(f'"{name}"' for name in names)
        found = [
            dict(zip(names, row, strict=True))
            for row in warehouse.rows(f"SELECT {selected} FROM {case.table}")
        ]
    return sorted(found, key=_order), sorted(expected, key=_order)


def run_check(check: Check, side: str) -> tuple[list[str], list[str]]:
    """Runs that a check names over the tables in ``checks/<check>/<side>/``, and those it must."""
    folder = HERE / "checks" / check.name / side
    with (folder / EXPECT).open(encoding="utf-8", newline="") as lines:
        expected = sorted(row["run"] for row in csv.DictReader(lines, strict=True))
    with Warehouse.open(":memory:") as warehouse:
        for table in columns():
            path = folder / f"{table}.csv"
            fill(warehouse, table, read_rows(path, table) if path.exists() else [])
        return sorted(row[0] for row in warehouse.rows(check.sql)), expected


def _order(row: Row) -> list[tuple[bool, str, object]]:
    return [(value is None, *_comparable(value)) for value in row.values()]


def _comparable(value: object) -> tuple[str, object]:
    if isinstance(value, bool | int):
        return ("", int(value))
    return (str(value), 0)


def words(rows: list[Row]) -> Iterator[str]:
    """Rows as lines of text, for a readable difference."""
    for row in rows:
        yield ", ".join(f"{name}={value}" for name, value in row.items())
