"""Finds, orders and runs the SQL stages; the runner owns every CREATE.

A stage is one file ``sql/NN_table.sql`` with one SELECT and a header that declares the table, its
grain, what it reads, the parameters it is given and each column. A check is one file
``sql/checks/<table>__<rule>.sql`` that returns the offending rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

import pandas as pd

from ckpt_audit.config import Config
from ckpt_audit.config_values import GRADES
from ckpt_audit.corrections import correction_rows
from ckpt_audit.errors import WarehouseError
from ckpt_audit.units import US_PER_S
from ckpt_audit.warehouse import Warehouse

Value = str | int | float | bool | None

_STAGE_NAME = re.compile(r"(\d{2})_([a-z_]+)\.sql")
_CHECK_NAME = re.compile(r"([a-z_]+)__([a-z_]+)\.sql")
_HEADER = re.compile(r"-- (\w+)(?: (\w+))?:\s?(.*)")


@dataclass(frozen=True, slots=True)
class Stage:
    """One derived table and how it is made.

    Attributes:
        table: Name of the table.
        grain: What one row stands for.
        reads: Tables it reads, as the header says.
        params: Names of the bound parameters.
        columns: Column name to its meaning and unit, in order.
        sql: The SELECT.
    """

    table: str
    grain: str
    reads: tuple[str, ...]
    params: tuple[str, ...]
    columns: dict[str, str]
    sql: str


@dataclass(frozen=True, slots=True)
class Check:
    """One rule over derived tables whose offending rows stop (``fail``) or are told (``warn``)."""

    table: str
    name: str
    severity: str
    says: str
    sql: str


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in re.split(r"[,\s]+", text.strip()) if name)


def _header(sql: str) -> list[tuple[str, str, str]]:
    """The declared lines of a header as (keyword, name, text)."""
    lines = []
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        match = _HEADER.fullmatch(line.rstrip())
        if match:
            lines.append((match.group(1), match.group(2) or "", match.group(3)))
    return lines


def parse_stage(sql: str) -> Stage:
    """Reads a stage's header.

    Raises:
        WarehouseError: The header lacks its table.
    """
    words: dict[str, str] = {}
    columns: dict[str, str] = {}
    for keyword, name, text in _header(sql):
        if keyword == "column":
            columns[name] = text
        elif not name:
            words[keyword] = text
    if "table" not in words:
        raise WarehouseError("a stage's header does not name its table")
    return Stage(
        table=words["table"],
        grain=words.get("grain", ""),
        reads=_names(words.get("reads", "")),
        params=_names(words.get("params", "")),
        columns=columns,
        sql=sql,
    )


def _folder(*parts: str) -> Traversable:
    return resources.files("ckpt_audit").joinpath("sql", *parts)


def load_stages() -> tuple[Stage, ...]:
    """All stages in the order of their numbers.

    Raises:
        WarehouseError: A stage reads a table that is made after it, or its file has another name.
    """
    found = []
    for entry in sorted(_folder().iterdir(), key=lambda item: item.name):
        match = _STAGE_NAME.fullmatch(entry.name)
        if match:
            stage = parse_stage(entry.read_text(encoding="utf-8"))
            if stage.table != match.group(2):
                raise WarehouseError(f"{entry.name} declares table {stage.table}")
            found.append(stage)
    made_by = {stage.table: position for position, stage in enumerate(found)}
    for position, stage in enumerate(found):
        late = [name for name in stage.reads if made_by.get(name, -1) >= position]
        if late:
            raise WarehouseError(f"stage {stage.table} reads {late[0]}, which is made after it")
    return tuple(found)


def load_checks() -> tuple[Check, ...]:
    """All checks in the order of their names."""
    found = []
    for entry in sorted(_folder("checks").iterdir(), key=lambda item: item.name):
        match = _CHECK_NAME.fullmatch(entry.name)
        if match:
            sql = entry.read_text(encoding="utf-8")
            words = {keyword: text for keyword, _, text in _header(sql)}
            found.append(
                Check(
                    table=match.group(1),
                    name=f"{match.group(1)}__{match.group(2)}",
                    severity=words.get("severity", "fail"),
                    says=words.get("says", ""),
                    sql=sql,
                )
            )
    return tuple(found)


def _offending(warehouse: Warehouse, check: Check) -> tuple[list[str], str]:
    """Runs that a check names, and what it found in words; its rows begin with the run."""
    rows = warehouse.rows(check.sql)
    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    words = f"check {check.name}: {check.says} ({count})"
    return sorted({str(row[0]) for row in rows}), words


def _refuse(warehouse: Warehouse, run: str, why: str, stages: Iterable[Stage]) -> str:
    """Takes a run out of every derived table and says so among the findings."""
    for stage in stages:
        if "run" in stage.columns:
            warehouse.execute(f"DELETE FROM {stage.table} WHERE run = $run", {"run": run})  # noqa: S608
    text = (
        f"its numbers contradict each other and are not shown: {why}; look at its logs with "
        "`ckpt-audit ingest --dry-run`, or forget the one that does not belong"
    )
    warehouse.execute(
        "INSERT INTO finding (kind, subject, text) VALUES ('refused_run', $run, $text)",
        {"run": run, "text": text},
    )
    return f"run {run}: {text}"


def _run_checks(
    warehouse: Warehouse, checks: Iterable[Check], stages: Iterable[Stage]
) -> list[str]:
    """Runs all checks; a run that fails one is refused, the others stand."""
    found = [(check, *_offending(warehouse, check)) for check in checks]
    warnings = [words for check, runs, words in found if runs and check.severity != "fail"]
    refused: dict[str, list[str]] = {}
    for check, runs, words in found:
        if check.severity == "fail":
            for run in runs:
                refused.setdefault(run, []).append(words)
    kept = tuple(stages)
    return warnings + [
        _refuse(warehouse, run, "; ".join(words), kept) for run, words in sorted(refused.items())
    ]


def build(warehouse: Warehouse, params: Mapping[str, Value]) -> list[str]:
    """Rebuilds every derived table; the caller holds the transaction.

    A run whose figures break a check of severity ``fail`` is taken out again, with a finding that
    says why: no number is better than a wrong one, and the other runs are not to suffer.

    Args:
        warehouse: An open warehouse inside a transaction.
        params: Values of all parameters that stages declare.

    Returns:
        What the checks found, a sentence each.
    """
    stages = load_stages()
    for stage in stages:
        bound = {name: params[name] for name in stage.params}
        warehouse.execute(f"CREATE OR REPLACE TABLE {stage.table} AS {stage.sql}", bound or None)
    return _run_checks(warehouse, load_checks(), stages)


def _run_settings(config: Config) -> pd.DataFrame:
    rows = []
    for ordinal, (name, run) in enumerate(sorted(config.runs.items())):
        match = run.match
        interval_s = run.configured_interval_s
        rows.append(
            {
                "run": name,
                "match_name": match.name if match else None,
                "match_user": match.user if match else None,
                "match_work_dir": match.work_dir if match else None,
                "target_step": run.target_step,
                "configured_interval_steps": run.configured_interval_steps,
                "configured_interval_us": None
                if interval_s is None
                else round(interval_s * US_PER_S),
                "n_accelerators": run.accelerators,
                "ordinal": ordinal,
            }
        )
    return pd.DataFrame(rows).astype(object)


def run(warehouse: Warehouse, config: Config) -> list[str]:
    """Rebuilds the derived tables in one transaction, under a configuration.

    Args:
        warehouse: Open for writing, with dated sources.
        config: The configuration.

    Returns:
        What the checks found, a sentence each.
    """
    params: dict[str, Value] = {
        "accelerators_per_node": config.accelerators_per_node,
        "verified_rank": 1 + GRADES.index(config.verified_grade),
    }
    with warehouse.transaction():
        warehouse.execute("DELETE FROM run_setting")
        warehouse.execute("DELETE FROM planned_window")
        warehouse.execute("DELETE FROM correction")
        warehouse.execute("DELETE FROM epoch_setting")
        if config.runs:
            warehouse.insert_table("run_setting", _run_settings(config))
        if config.planned_windows:
            warehouse.insert_table("planned_window", pd.DataFrame(config.planned_windows))
        if config.corrections:
            file = "the configuration" if config.path is None else config.path.name
            rows = correction_rows(config.corrections, file)
            warehouse.insert_table("correction", pd.DataFrame(rows).astype(object))
        epochs = [
            {"run": name, "start_at": epoch.start_at, "reason": epoch.reason}
            for name, run in sorted(config.runs.items())
            for epoch in run.epochs
        ]
        if epochs:
            warehouse.insert_table("epoch_setting", pd.DataFrame(epochs))
        return build(warehouse, params)
