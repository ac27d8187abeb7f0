from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ckpt_audit.ingest.base import MAX_LINE_BYTES, START, ByteSource, Mark
from ckpt_audit.ingest.streams import SourceError

CODECS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}
each_codec = pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS.keys())
texts = st.lists(st.sampled_from([b"a", b"line", b"\n", b"\r", b"\r\n", b"\0", b"\xff"])).map(
    b"".join
)


def _consume(source: ByteSource, size: int) -> bytes:
    """All of a source; checks that the numbers of lines are those of an editor."""
    number, content = 1, b""
    for line_no, block in source.blocks(size):
        assert line_no == number
        number += block.count(b"\n")
        content += block
    return content


@given(texts, st.integers(1, 50))
def test_blocks_are_the_content(data: bytes, size: int) -> None:
    source = ByteSource(io.BytesIO(data))
    source.peek(7)
    assert _consume(source, size) == data.replace(b"\0", b"")
    assert source.n_bytes == len(data)
    assert source.n_lines == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    assert source.sha256 == hashlib.sha256(data).hexdigest()
    assert source.overlong == []


@given(texts)
def test_lines_are_those_of_an_editor(data: bytes) -> None:
    data = data.replace(b"\0", b"")
    expected = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    if not expected[-1] and not data.endswith(b"\r"):
        expected.pop()
    assert list(ByteSource(io.BytesIO(data)).lines()) == list(enumerate(expected, 1))


@given(texts, st.integers(0, 30))
def test_skipping_is_as_if_all_was_read(data: bytes, n_lines: int) -> None:
    lines = [line + b"\n" for line in data.split(b"\n")[:-1]]
    mark = Mark(len(b"".join(lines[:n_lines])), min(n_lines, len(lines)) + 1)
    source = ByteSource(io.BytesIO(data))
    source.peek(3)
    source.skip(mark)
    rest = list(source.lines())
    assert rest == list(ByteSource(io.BytesIO(data)).lines())[mark.line_no - 1 :]
    assert source.sha256 == hashlib.sha256(data).hexdigest()


@each_codec
@pytest.mark.parametrize("members", [1, 3])
def test_compression_is_told_by_content(codec: Callable[[bytes], bytes], members: int) -> None:
    part = random.Random(1).randbytes(300_000) + b"\ntail"
    source = ByteSource.from_bytes(codec(part) * members)
    assert _consume(source, 10_000) == (part * members).replace(b"\0", b"")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "followed"])
def test_damaged_compression_is_one_sentence(kind: str, damage: str) -> None:
    packed = bytearray(CODECS[kind](random.Random(1).randbytes(300_000)))
    if damage == "cut":
        del packed[len(packed) // 2 :]
    elif damage == "flipped":
        packed[len(packed) // 2] ^= 0xFF
    else:
        packed += b"something else"
    source = ByteSource.from_bytes(bytes(packed), "a.gz")
    if kind == "zst" and damage == "flipped":
        pytest.skip("made without a checksum: nothing shows it")
    with pytest.raises(SourceError, match=r"^a\.gz: ") as caught:
        _consume(source, 100_000)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_a_bomb_needs_no_memory(tmp_path: Path, kind: str) -> None:
    size = 200 << 20
    path = tmp_path / "bomb.out"
    path.write_bytes(CODECS[kind](b"a" * (10 << 20)) * 20)
    tracemalloc.start()
    source = ByteSource.from_path(path)
    assert sum(len(line) for _, line in source.lines()) == MAX_LINE_BYTES
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    source.close()
    assert source.n_bytes == size
    assert source.overlong == [1]
    assert peak < 32 << 20


@pytest.mark.parametrize("size", [1000, MAX_LINE_BYTES, 3 * MAX_LINE_BYTES, 8 * MAX_LINE_BYTES])
def test_long_lines(size: int) -> None:
    long = MAX_LINE_BYTES
    bars = (b"c" * (long // 3 * 2) + b"\r") * 3
    data = b"".join(
        [b"x\n", b"a" * (3 * long), b"\ny\n", b"b" * long, b"\n", bars, b"end\n", b"d" * (2 * long)]
    )
    source = ByteSource(io.BytesIO(data))
    content = _consume(source, size)
    assert content == b"".join(
        [b"x\n", b"a" * long, b"\ny\n", b"b" * long, b"\n", bars, b"end\n", b"d" * long]
    )
    assert source.overlong == [2, 6]
    assert source.n_lines == 6
    assert source.sha256 == hashlib.sha256(data).hexdigest()


def test_pieces_of_a_line_have_its_number() -> None:
    data = b"first\n" + (b"c" * 700_000 + b"\r") * 3 + b"end\nlast"
    lines = [(number, line[-4:]) for number, line in ByteSource(io.BytesIO(data)).lines()]
    assert lines[0] == (1, b"irst")
    assert lines[-1] == (3, b"last")
    assert {number for number, _ in lines[1:-1]} == {2}
    assert lines[-2] == (2, b"\rend")


@given(st.lists(st.integers(0, 300), max_size=200), st.integers(0, 20_000), st.integers(100, 9000))
def test_marks_are_starts_of_lines(widths: list[int], distance: int, size: int) -> None:
    data = b"".join(b"x" * width + b"\n" for width in widths)
    source = ByteSource(io.BytesIO(data))
    _consume(source, size)
    mark = source.mark_before_end(distance)
    starts = [Mark(0, 1)]
    for width in widths:
        starts.append(Mark(starts[-1].offset + width + 1, starts[-1].line_no + 1))
    fitting = [start for start in starts if start.offset <= len(data) - distance]
    assert mark == (fitting[-1] if fitting else START)


def test_marks_after_a_skip() -> None:
    data = b"0123456\n" * 1000
    source = ByteSource(io.BytesIO(data))
    source.skip(Mark(800, 101))
    assert next(source.blocks(1000))[0] == 101
    for _ in source.blocks(1000):
        pass
    assert source.mark_before_end(7200) == Mark(800, 101)
    assert source.mark_before_end(7100) == Mark(896, 113)
    assert source.mark_before_end(7300) == START


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        ByteSource.from_path(tmp_path / "missing")
