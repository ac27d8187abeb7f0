"""Writes ``sql/README.md`` from the headers of the stages: ``python -m tests.sql.make_readme``."""

from __future__ import annotations

from pathlib import Path

from ckpt_audit.stages import Check, Stage, load_checks, load_stages
from tests.sql import harness

TARGET = Path(__file__).parents[2] / "sql" / "README.md"

_INTRO = """\
# The derived tables

Made by `python -m tests.sql.make_readme` from the headers of the files; do not edit.

A stage is one SELECT in `NN_table.sql`; the runner makes the table, in the order of the numbers.
`schema/` holds the raw tables that the readers of formats fill. A check in `checks/` returns rows
that must not be. Instants (`_at`, `_low`, `_high`) are microseconds UTC, durations (`_us`)
microseconds; null means unknown, never zero. Each stage has cases with inputs and what must come
out in `tests/sql/<table>/`.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _stage(number: int, stage: Stage, kinds: dict[str, str]) -> list[str]:
    reads = ", ".join(f"`{name}`" for name in stage.reads) or "nothing"
    lines = [f"## {number}. {stage.table}", "", f"One row: {stage.grain}.", "", f"Reads {reads}."]
    if stage.params:
        lines += ["", "Parameters: " + ", ".join(f"`${name}`" for name in stage.params) + "."]
    lines += ["", "| column | type | meaning |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {kinds[name].lower()} | {_cell(meaning)} |"
        for name, meaning in stage.columns.items()
    ]
    return [*lines, ""]


def _checks(checks: tuple[Check, ...]) -> list[str]:
    lines = ["## Checks", "", "| check | severity | says |", "|---|---|---|"]
    lines += [f"| `{check.name}` | {check.severity} | {_cell(check.says)} |" for check in checks]
    return lines


def text() -> str:
    """The page."""
    kinds = harness.columns()
    lines = [_INTRO]
    for number, stage in enumerate(load_stages(), 1):
        lines += _stage(number, stage, kinds[stage.table])
    return "\n".join([*lines, *_checks(load_checks())]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
