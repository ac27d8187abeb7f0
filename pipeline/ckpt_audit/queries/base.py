"""What all queries share: the window as parameters, rows as dictionaries."""

from __future__ import annotations

from typing import Any

from ckpt_audit.facts import Window
from ckpt_audit.warehouse import Warehouse

FOREVER = Window(start_at=-(2**62), end_at=2**62, label="all")


def bounds_of(window: Window | None) -> dict[str, int]:
    """The window as bound parameters; None means all time."""
    chosen = window or FOREVER
    return {"start_at": chosen.start_at, "end_at": chosen.end_at}


def dicts(
    warehouse: Warehouse, sql: str, params: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """The rows of a query by column name; null stays None."""
    rows: list[dict[str, Any]] = warehouse.arrow(sql, params).to_pylist()
    return rows
