"""What a format of input is, and the stream of bytes that it reads."""

from __future__ import annotations

import hashlib
import io
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ckpt_audit.ingest.streams import Readable, decompressed, open_path
from ckpt_audit.records import Record, StepBatch

MAX_LINE_BYTES = 1 << 20
BLOCK_BYTES = 8 << 20
HEAD_BYTES = 256 << 10  # what ``sniff`` gets to see
CONTEXT_BYTES = 1 << 20  # how far before its old end a file that grew is read again
REDO_BYTES = 64 << 10  # how far before it rows are replaced
MAX_NUL_BYTES = 64 << 20  # how many at the beginning are passed over to recognise a file
_NUL = b"\0"
_NEWLINE = 10
SURE = 50  # a format recognises a file from this confidence on


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person says about an input that its content does not.

    Attributes:
        columns: Column names of a table without a header, or None.
        delimiter: What separates its columns, or None to find it.
        observed_us: When a folder is looked at (UTC microseconds); None for files, which say so
            themselves or do not.
        health_pattern: For lines of health logs, or None: the usual forms.
    """

    columns: tuple[str, ...] | None = None
    delimiter: str | None = None
    observed_us: int | None = None
    health_pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a source: the byte offset at which a line starts, and the line's number."""

    offset: int
    line_no: int


START = Mark(0, 1)


def without_nuls(head: bytes) -> bytes:
    r"""The beginning of a file without the NULs that truncation or a crash left in it.

    >>> without_nuls(b"\0\0a\0b")
    b'ab'
    """
    return head.lstrip(_NUL)[:HEAD_BYTES].replace(_NUL, b"")


class ByteSource:
    r"""A stream of decompressed bytes that counts what was consumed.

    Memory is bounded whatever the input: a stretch without ``\n`` or ``\r`` over
    ``MAX_LINE_BYTES`` is cut and the rest of it skipped (its line is noted in ``overlong``), and
    a line that long which does hold ``\r`` (progress bars) comes in pieces. NULs are dropped.

    Args:
        stream: Where the bytes come from, at its beginning.
        name: The name that errors and formats give.

    Attributes:
        n_bytes: Decompressed bytes consumed so far.
        overlong: Lines of which something was skipped.
        ends_open: Whether the last line consumed has no end.
    """

    def __init__(self, stream: Readable, name: str = "") -> None:
        self.name = name
        self.n_bytes = 0
        self.overlong: list[int] = []
        self._stream = stream
        self._ahead = b""
        self._ahead_at = 0
        self._hash = hashlib.sha256()
        self._n_newlines = 0
        self.ends_open = False
        self._start = START
        self._recent: deque[tuple[Mark, bytes]] = deque()

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "") -> ByteSource:
        """A source over bytes in memory, compressed or not."""
        return cls(decompressed(io.BytesIO(data), name), name)

    @classmethod
    def from_path(cls, path: Path, name: str | None = None) -> ByteSource:
        """A source over a file.

        Raises:
            SourceError: The file cannot be opened.
        """
        shown = str(path) if name is None else name
        return cls(open_path(path, shown), shown)

    @property
    def n_lines(self) -> int:
        """Lines consumed so far, counted as an editor would."""
        return self._n_newlines + self.ends_open

    @property
    def sha256(self) -> str:
        """Hex digest of the decompressed bytes consumed so far."""
        return self._hash.hexdigest()

    def close(self) -> None:
        """Releases the stream."""
        self._stream.close()

    def peek(self, size: int | None = None) -> bytes:
        """Up to ``size`` bytes that come next, without consuming them.

        Args:
            size: How many; without it, what a format is recognised by: leading NULs, up to
                ``MAX_NUL_BYTES``, and ``HEAD_BYTES`` after them.
        """
        wanted = HEAD_BYTES if size is None else size
        parts = [self._ahead[self._ahead_at :]]
        n_bytes, is_all_nul = len(parts[0]), size is None and not parts[0].strip(_NUL)
        while n_bytes < wanted and (chunk := self._stream.read(wanted - n_bytes)):
            parts.append(chunk)
            n_bytes += len(chunk)
            if is_all_nul:
                text = chunk.lstrip(_NUL)
                is_all_nul = not text
                wanted = min(n_bytes - len(text), MAX_NUL_BYTES) + HEAD_BYTES
        self._ahead, self._ahead_at = b"".join(parts), 0
        return self._ahead[:wanted]

    def _read(self, size: int) -> bytes:
        if self._ahead:
            chunk = self._ahead[self._ahead_at : self._ahead_at + size]
            self._ahead_at += len(chunk)
            if self._ahead_at == len(self._ahead):
                self._ahead, self._ahead_at = b"", 0
        else:
            chunk = self._stream.read(size)
        self._hash.update(chunk)
        self.n_bytes += len(chunk)
        return chunk

    def skip(self, mark: Mark) -> None:
        """Consumes what lies before a line; to be called before anything else is consumed.

        Raises:
            EOFError: The stream ends before the mark.
        """
        while self.n_bytes < mark.offset:
            if not self._read(min(BLOCK_BYTES, mark.offset - self.n_bytes)):
                raise EOFError(f"{self.name} ends before byte {mark.offset}")
        self._n_newlines = mark.line_no - 1
        self._start = mark

    def hash_until(self, size: int) -> str:
        """Consumes until ``size`` bytes were consumed, or the end, and gives the digest so far."""
        while self.n_bytes < size and self._read(min(BLOCK_BYTES, size - self.n_bytes)):
            pass
        return self.sha256

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
        r"""Gives the rest of the source as blocks that end where lines end.

        Args:
            size: About how many bytes a block should have.

        Yields:
            The number of the block's first line, and the block. It ends in ``\n`` except at the
            end of the source and inside a line over ``MAX_LINE_BYTES``: then the next block goes
            on in the same line and has its number (so the number of a line is always that of the
            block plus the count of ``\n`` before it).
        """
        carry, skipping = b"", False
        while chunk := self._read(size):
            if skipping:
                at = _first_end(chunk)
                if at < 0:
                    continue
                chunk, skipping = chunk[at:], False
            cut = chunk.rfind(b"\n") + 1
            if cut and len(chunk) - cut <= MAX_LINE_BYTES and chunk[cut : cut + 1] != _NUL:
                # the common case, with one copy of the bytes
                ready = b"".join((carry, memoryview(chunk)[:cut]))
                carry = chunk[cut:]
                yield from self._emit(ready, self.n_bytes - len(carry) - len(ready))
                continue
            carry += chunk
            cut = carry.rfind(b"\n") + 1
            if len(carry) - cut > MAX_LINE_BYTES:
                cut = max(cut, carry.rfind(b"\r") + 1)
            if cut:
                ready, carry = carry[:cut], carry[cut:]
                yield from self._emit(ready, self.n_bytes - len(carry) - len(ready))
            if carry.startswith(_NUL):
                text = carry.lstrip(_NUL)
                nuls, carry = carry[: len(carry) - len(text)], text
                yield from self._emit(nuls, self.n_bytes - len(text) - len(nuls))
            if len(carry) > MAX_LINE_BYTES:
                skipping = _NUL not in carry
                yield from self._emit(carry, self.n_bytes - len(carry))
                carry = b""
        if carry:
            yield from self._emit(carry, self.n_bytes - len(carry))

    def _emit(self, raw: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
        line_no = self._n_newlines + 1
        self._remember(Mark(offset, line_no), raw)
        kept = raw.replace(_NUL, b"") if _NUL in raw else raw
        if len(kept) > MAX_LINE_BYTES:
            kept = self._without_overlong(kept, line_no)
        # four times as fast as bytes.count, and every byte of the input passes here
        self._n_newlines += int(np.count_nonzero(np.frombuffer(raw, dtype=np.uint8) == _NEWLINE))
        self.ends_open = not raw.endswith(b"\n")
        if kept:
            yield line_no, kept

    def _without_overlong(self, raw: bytes, line_no: int) -> bytes:
        """Cuts every stretch without a line end that is longer than is read."""
        parts: list[bytes] = []
        kept_to = at = 0
        while len(raw) - at > MAX_LINE_BYTES:
            window = at + MAX_LINE_BYTES + 1
            end = max(raw.rfind(b"\n", at, window), raw.rfind(b"\r", at, window))
            if end >= 0:
                at = end + 1
                continue
            number = line_no + raw.count(b"\n", 0, at)
            if not self.overlong or self.overlong[-1] != number:
                self.overlong.append(number)
            parts.append(raw[kept_to : at + MAX_LINE_BYTES])
            rest = _first_end(raw, at + MAX_LINE_BYTES)
            at = kept_to = len(raw) if rest < 0 else rest
        parts.append(raw[kept_to:])
        return b"".join(parts)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        r"""Gives the rest of the source line by line, without ``\n`` or ``\r\n``.

        A line over ``MAX_LINE_BYTES`` is cut, or comes in several pieces with the same number.
        """
        last = 0
        for first, block in self.blocks(MAX_LINE_BYTES):
            parts = block.split(b"\n")
            if not parts[-1]:
                parts.pop()
            for number, line in enumerate(parts, first):
                if line or number != last:
                    yield number, line.removesuffix(b"\r")
                last = number

    def _remember(self, mark: Mark, raw: bytes) -> None:
        self._recent.append((mark, raw))
        size = sum(len(block) for _, block in self._recent)
        while size - len(self._recent[0][1]) > 2 * CONTEXT_BYTES:
            size -= len(self._recent.popleft()[1])

    def mark_before_end(self, distance: int) -> Mark:
        """The nearest start of a line at least ``distance`` bytes before the last byte consumed.

        It is only looked for among the last bytes, twice ``CONTEXT_BYTES`` of them; where there
        is none, it is where reading began. To be called after everything was consumed.
        """
        wanted = self.n_bytes - distance
        for mark, raw in reversed(self._recent):
            if mark.offset > wanted:
                continue
            cut = raw.rfind(b"\n", 0, wanted - mark.offset) + 1
            if cut:
                return Mark(mark.offset + cut, mark.line_no + raw.count(b"\n", 0, cut))
            if self._starts_line(mark):
                return mark
        return self._start if self._start.offset <= wanted else START

    def _starts_line(self, mark: Mark) -> bool:
        ends = {at.offset + len(block): block[-1:] for at, block in self._recent}
        return mark == self._start or ends.get(mark.offset) == b"\n"


def _first_end(data: bytes, start: int = 0) -> int:
    """Position of the first line end from ``start`` on, or -1."""
    ends = [at for at in (data.find(b"\n", start), data.find(b"\r", start)) if at >= 0]
    return min(ends, default=-1)


@dataclass(frozen=True, slots=True)
class Format:
    """One format of input.

    Attributes:
        name: Short name, as in ``--format``.
        title: What people call it.
        gives: One sentence: what is learned from such a file.
        example: A line, or a few.
        incremental: Whether a file that grew may be read from a line near its old end. Such a
            reader's rows may depend on lines at most 64 KiB after them and half a mebibyte before.
        is_observation: Whether such a file says what was there at one time: a later one stands
            beside it and does not take its place, even where it begins with the same bytes.
        is_rewritten: Whether such a file is written anew when there is more to say: what a path
            says now takes the place of what it said.
        sniff: How sure it is, 0 to 100, from the first bytes and the base name. The content
            decides; a name only breaks ties.
        read: Gives the rows, in any order, and what it had to reject.
    """

    name: str
    title: str
    gives: str
    example: str
    incremental: bool
    sniff: Callable[[bytes, str], int]
    read: Callable[[ByteSource, ReadOptions], Iterator[StepBatch | Record]]
    is_observation: bool = False
    is_rewritten: bool = False
