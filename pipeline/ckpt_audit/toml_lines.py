"""Which line of a TOML text a key stands in; the parser of the library does not tell."""

from __future__ import annotations

import re

# Strings of every kind and comments: what is inside one is neither a key nor the head of a table.
# None of the alternatives can be read in two ways, so that no text takes more than linear time.
_OPAQUE = re.compile(
    r'"""(?:[^\\"]|\\.|"(?!""))*+"""'
    r"|'''(?:[^']|'(?!''))*+'''"
    r'|"(?:[^\\"\n]|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*",
    re.DOTALL,
)
_HEAD = re.compile(r"(\[\[?)\s*([^\[\]]*?)\s*\]\]?")


def line_of(text: str, key: str, table: str | None = None, row: int | None = None) -> int | None:
    r"""Line of a key, as well as it can be told.

    Args:
        text: The TOML text.
        key: The key.
        table: Name of the table that it is in, or None: at the top.
        row: Which table of a list of tables, counted from 0, or None.

    Returns:
        The line, counted from 1; that of the head of the table where the key is not in it; None
        where neither is found.

    >>> line_of('a = 1\n[[b]]\nc = 1\n[[b]]\nc = 2', "c", "b", 1)
    5
    """
    lines = _plain(text)
    heads = _heads(lines)
    wanted = re.compile(rf"""(^|[{{,.\[\s"'])["']?{re.escape(key)}["']?\s*(=|\.|\])""")
    if row is not None:
        rows = [
            place for place, (_, name, is_list) in enumerate(heads) if is_list and name == table
        ]
        if row < len(rows):
            begin = heads[rows[row]][0]
            later = [number for number, name, _ in heads if number > begin and name != table]
            later += [heads[at][0] for at in rows[row + 1 : row + 2]]
            end = min(later, default=len(lines) + 1)
            inside = range(begin + 1, end)
            return next((n for n in inside if wanted.search(lines[n - 1])), begin)
        if table is not None and not rows:  # written inline
            return line_of(text, table)
    by_line = {number: name for number, name, _ in heads}
    section = ""
    for number, line in enumerate(lines, start=1):
        if number in by_line:
            section = by_line[number]
            if section == key or (table is None and section.startswith(f"{key}.")):
                return number
            continue
        is_inside = table is None or section == table or table.startswith(f"{section}.")
        if is_inside and wanted.search(line):
            return number
    return None


def row_lines(text: str, table: str) -> list[int]:
    """Lines of the heads of a list of tables, in their order; empty where it is written inline."""
    return [number for number, name, is_list in _heads(_plain(text)) if is_list and name == table]


def _plain(text: str) -> list[str]:
    """The lines without comments and without what long strings hold."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        if found[0] == "#" or "\n" in found:
            return "\n" * found.count("\n")
        return found

    return _OPAQUE.sub(blank, text).split("\n")


def _heads(lines: list[str]) -> list[tuple[int, str, bool]]:
    """Line, name and whether it is one of a list, of every head of a table."""
    found = []
    for number, line in enumerate(lines, start=1):
        match = _HEAD.fullmatch(line.strip())
        if match:
            name = match.group(2).replace('"', "").replace("'", "")
            found.append((number, name, match.group(1) == "[["))
    return found
