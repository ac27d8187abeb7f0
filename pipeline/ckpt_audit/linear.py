"""Regular expressions of other people, in time that grows with the line and no faster (RE2)."""

from __future__ import annotations

import re
from collections.abc import Sequence


class LinearPattern:
    """A pattern of which every group has a name.

    Args:
        text: The expression; RE2 has no backreferences, and looks neither ahead nor behind.

    Raises:
        ValueError: It is none; the text says why.
    """

    def __init__(self, text: str) -> None:
        try:
            compiled = re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"is no regular expression: {error}") from None
        self.text = text
        self.names = tuple(compiled.groupindex)
        if compiled.groups != len(self.names):
            raise ValueError("has a group without a name: begin it with (?P<name> or (?:")
        self.find(("",))

    def find(self, lines: Sequence[str]) -> list[dict[str, str] | None]:
        """The groups of the first match in each line, or None where there is none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            found = pc.extract_regex(pa.array(lines, pa.string()), pattern=self.text)
        except pa.ArrowInvalid as error:
            raise ValueError(f"cannot be matched in bounded time: {error}") from None
        groups: list[dict[str, str] | None] = found.to_pylist()
        return groups
