"""Finds the few lines of a large log that can mean something.

One pass over a block finds every literal at once (Hyperscan); newline positions give the lines
that hold them. Lines without a literal are never looked at in Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import hyperscan
import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]
_ID_BITS = 8


@lru_cache(maxsize=8)
def _compiled(literals: tuple[bytes, ...]) -> hyperscan.Database:
    """What finds some literals; built once in a process, since that takes longer than a small log.

    It is never written to: each scanner has a scratch of its own.
    """
    database = hyperscan.Database()
    database.compile(
        expressions=[re.escape(literal) for literal in literals],
        ids=list(range(len(literals))),
        elements=len(literals),
        flags=[0] * len(literals),
    )
    return database


class LiteralScanner:
    """Finds where literals end in a block.

    Args:
        literals: At most 256 of them; a hit gives the index.
    """

    def __init__(self, literals: Sequence[bytes]) -> None:
        if len(literals) > 1 << _ID_BITS:
            raise ValueError("too many literals")
        self._database = _compiled(tuple(literals))
        self._scratch = hyperscan.Scratch(self._database)

    def scan(self, block: bytes) -> tuple[Positions, Positions]:
        """Gives the end of each hit, in order, and the index of its literal."""
        found: list[int] = []
        push = found.append

        def on_match(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            push(end << _ID_BITS | index)

        self._database.scan(block, match_event_handler=on_match, scratch=self._scratch)
        packed = np.array(found, dtype=np.int64)
        return packed >> _ID_BITS, packed & ((1 << _ID_BITS) - 1)


class LineIndex:
    """Where the lines of a block begin and end.

    Args:
        block: Whole lines.
        first_line: Number of the first.
    """

    def __init__(self, block: bytes, first_line: int) -> None:
        self.block = block
        self.first_line = first_line
        self._ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == 10)

    def line_of(self, positions: Positions) -> Positions:
        """Index (from 0) of the line that holds each position."""
        return np.searchsorted(self._ends, positions).astype(np.int64)

    def starts(self, lines: Positions) -> Positions:
        """Where lines begin."""
        if not len(self._ends):
            return np.zeros(len(lines), dtype=np.int64)
        return np.where(lines > 0, self._ends[np.maximum(lines - 1, 0)] + 1, 0)

    def number(self, position: int) -> int:
        """Number of the line that holds a position."""
        return self.first_line + int(np.searchsorted(self._ends, position))

    def segment(self, position: int) -> tuple[int, int]:
        """Bounds of the stretch between line ends of any kind that holds a position."""
        line = int(np.searchsorted(self._ends, position))
        first = int(self._ends[line - 1]) + 1 if line else 0
        start = max(first, self.block.rfind(b"\r", first, position) + 1)
        return start, self.end_of(position)

    def end_of(self, position: int) -> int:
        """Where the stretch that holds a position ends."""
        line = int(np.searchsorted(self._ends, position))
        end = int(self._ends[line]) if line < len(self._ends) else len(self.block)
        carriage = self.block.find(b"\r", position, end)
        return end if carriage < 0 else carriage
