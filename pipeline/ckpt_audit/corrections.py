"""What persons overrule, made ready for the stages: which correction counts, and where it stands.

Of several corrections of one thing the last in the file counts. The order of those that do not
touch each other must not show in any figure or list, so they are numbered by what they say.
"""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_audit.config import Correction
from ckpt_audit.printable import printable

Row = dict[str, str | int | None]

_SAYS = ("incident action moment into run kind cause set_at start_at end_at reason line").split()


def correction_rows(corrections: Sequence[Correction], file: str) -> list[Row]:
    """Rows of the table ``correction``.

    Args:
        corrections: In the order of the file.
        file: Its name, for people.

    Returns:
        A row a correction. ``superseded_by`` is the line of a later one that says something else
        of the same thing. Of a ``reclassify`` that is superseded in its kind or in its cause only,
        the rest stays.
    """
    last = {thing: one for one in corrections for thing in _things(one)}
    rows = [_row(one, last, file) for one in corrections]
    rows.sort(key=lambda row: tuple(_sortable(row[key]) for key in _SAYS))
    for ordinal, row in enumerate(rows, start=1):
        row["ordinal"] = ordinal
        row["into_incident"] = row.pop("into")
    return rows


def _things(one: Correction) -> list[tuple[str, str | None]]:
    """What a correction decides; two that decide one thing contradict or repeat each other."""
    if one.action in ("merge", "split"):
        return [("chain", one.incident)]
    if one.action == "set":
        return [(str(one.moment), one.incident)]
    if one.action == "reclassify":
        said = {"kind": one.kind, "cause": one.cause}
        return [(thing, one.incident) for thing, value in said.items() if value is not None]
    return []


def _row(one: Correction, last: dict[tuple[str, str | None], Correction], file: str) -> Row:
    things = _things(one)
    stale = {thing: last[thing, one.incident] for thing, _ in things}
    stale = {thing: other for thing, other in stale.items() if other is not one}
    row: Row = {key: getattr(one, key) for key in _SAYS if key != "line"}
    later = list(stale.values())
    is_superseded = bool(things) and len(stale) == len(things)
    if not is_superseded:
        row |= dict.fromkeys(stale)
    return row | {
        "reason": printable(one.reason),  # it goes to pages and terminals
        "line": one.line,
        "place": f"{file}:{one.line}" if one.line else file,
        "superseded_by": _line(later[-1]) if is_superseded else None,
    }


def _line(one: Correction) -> str:
    return f"line {one.line}" if one.line else "a later one"


def _sortable(value: str | int | None) -> tuple[bool, str, int]:
    return (value is not None, value if isinstance(value, str) else "",
            value if isinstance(value, int) else 0)  # fmt: skip
