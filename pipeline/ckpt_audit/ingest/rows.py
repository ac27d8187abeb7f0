"""Collects what a reader yields and appends it to the raw tables in large pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import pyarrow as pa

from ckpt_audit.records import (
    CheckpointRecord,
    DomainRecord,
    JobRecord,
    LogEvent,
    NodeRecord,
    Record,
    Rejected,
    StepBatch,
)
from ckpt_audit.warehouse import Warehouse

_FLUSH_AT = 200_000
_TEXT, _BIG, _SMALL = pa.string(), pa.int64(), pa.int32()
_TYPES: dict[str, dict[str, Any]] = {
    "raw_step": {"clock_kind": _TEXT, "emitter": _TEXT},
    "raw_event": {
        "kind": _TEXT, "clock_kind": _TEXT, "code": _TEXT, "node": _TEXT, "rank": _SMALL,
        "path": _TEXT, "job_ref": _TEXT, "text": _TEXT,
    },
    "raw_job": {
        "cluster": _TEXT, "job_id": _TEXT, "job_id_raw": _TEXT, "step_id": _TEXT, "name": _TEXT,
        "user": _TEXT, "account": _TEXT, "partition": _TEXT, "work_dir": _TEXT, "reason": _TEXT,
        "comment": _TEXT, "state": _TEXT, "cancelled_by": _TEXT, "exit_code": _SMALL,
        "exit_signal": _SMALL, "clock_kind": _TEXT, "nodes": pa.list_(_TEXT),
    },
    "raw_domain": {"node": _TEXT, "kind": _TEXT, "name": _TEXT},
    "raw_node": {
        "node": _TEXT, "state": _TEXT, "clock_kind": _TEXT, "reason": _TEXT, "user": _TEXT,
        "text": _TEXT,
    },
    "raw_checkpoint": {
        "root": _TEXT, "name": _TEXT, "layout": _TEXT, "grade": _TEXT, "why": _TEXT,
        "bad_files": pa.list_(_TEXT), "is_pointed": pa.bool_(),
    },
    "rejected_line": {"reason": _TEXT, "text": _TEXT},
}  # fmt: skip
_SHAPES: dict[str, type[Any]] = {
    "raw_step": StepBatch,
    "raw_event": LogEvent,
    "raw_job": JobRecord,
    "raw_domain": DomainRecord,
    "raw_node": NodeRecord,
    "raw_checkpoint": CheckpointRecord,
    "rejected_line": Rejected,
}
_COLUMNS = {name: [field.name for field in fields(shape)] for name, shape in _SHAPES.items()}
_TABLE_OF = {shape: name for name, shape in _SHAPES.items()}
_LARGEST = {_BIG: 2**63 - 1, _SMALL: 2**31 - 1}


class RowWriter:
    """Appends the rows of one source.

    Args:
        warehouse: Where to.
        source_id: The source.
        keep_from: Rows of earlier lines are there already and are passed over.
        on_reject: Is told of each line that was not understood.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        source_id: int,
        keep_from: int,
        on_reject: Callable[[Rejected], None],
    ) -> None:
        self.n_rows = 0
        self._warehouse = warehouse
        self._source_id = source_id
        self._keep_from = keep_from
        self._on_reject = on_reject
        self._columns: dict[str, dict[str, list[Any]]] = {}

    def add(self, item: StepBatch | Record) -> None:
        """Takes a batch of steps or one record."""
        if isinstance(item, StepBatch):
            self._add_steps(item)
            return
        if item.line_no < self._keep_from:
            return
        if isinstance(item, Rejected):
            self._on_reject(item)
        else:
            self.n_rows += 1
        table = _TABLE_OF[type(item)]
        columns = self._of(table)
        for name, values in columns.items():
            values.append(getattr(item, name))
        self._flush_when_large(table)

    def _add_steps(self, batch: StepBatch) -> None:
        columns = self._of("raw_step")
        if batch.line_no and min(batch.line_no) >= self._keep_from:
            for name, values in columns.items():
                values.extend(getattr(batch, name))
            self.n_rows += len(batch)
        else:
            kept = [at for at, number in enumerate(batch.line_no) if number >= self._keep_from]
            for name, values in columns.items():
                column = getattr(batch, name)
                values.extend(column[at] for at in kept)
            self.n_rows += len(kept)
        self._flush_when_large("raw_step")

    def _of(self, table: str) -> dict[str, list[Any]]:
        if table not in self._columns:
            self._columns[table] = {name: [] for name in _COLUMNS[table]}
        return self._columns[table]

    def _flush_when_large(self, table: str) -> None:
        if len(self._columns[table]["line_no"]) >= _FLUSH_AT:
            self._flush(table)

    def finish(self) -> None:
        """Appends what is left."""
        for table in _SHAPES:  # rejected lines last: appending may reject
            if table in self._columns:
                self._flush(table)

    def _flush(self, table: str) -> None:
        columns = self._columns.pop(table)
        if not columns["line_no"]:
            return
        try:
            data = _arrow(table, columns)
        except (OverflowError, pa.ArrowInvalid):
            data = _arrow(table, self._without_overflow(table, columns))
        ids = pa.array([self._source_id], _SMALL).take(pa.array([0] * len(data)))
        self._warehouse.insert_table(table, data.append_column("source_id", ids))

    def _without_overflow(self, table: str, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Rejects the rows with a number that no clock, step or count can have."""
        large = {
            at
            for name, values in columns.items()
            for at, value in enumerate(values)
            if isinstance(value, int) and abs(value) > _LARGEST.get(_type(table, name), 0)
        }
        for at in sorted(large):
            number = columns["line_no"][at]
            text = str(columns["text"][at]) if "text" in columns else ""
            self.add(
                Rejected(number, "a number is too large to be true; is the file damaged?", text)
            )
        self.n_rows -= len(large)
        keep = [at for at in range(len(columns["line_no"])) if at not in large]
        return {name: [values[at] for at in keep] for name, values in columns.items()}


def _type(table: str, column: str) -> Any:
    return _TYPES[table].get(column, _BIG)


def _arrow(table: str, columns: dict[str, list[Any]]) -> pa.Table:
    arrays = [pa.array(values, _type(table, name)) for name, values in columns.items()]
    return pa.table(arrays, names=list(columns))


def table_columns(table: str) -> Sequence[str]:
    """Columns of a raw table besides ``source_id``, in the order of its record's fields."""
    return _COLUMNS[table]
