"""Opens an input as a stream of decompressed bytes, told by magic bytes and never by name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from ckpt_audit.errors import CkptAuditError

_XZ_MEMORY_LIMIT = 512 << 20
_CHUNK = 1 << 18

_GZIP = b"\x1f\x8b"
_BZIP2 = b"BZh"
_XZ = b"\xfd7zXZ\x00"
_ZSTD = b"\x28\xb5\x2f\xfd"

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


class SourceError(CkptAuditError):
    """An input that cannot be read to its end."""


class Readable(Protocol):
    """What a source needs of a stream."""

    def read(self, size: int, /) -> bytes:
        """Returns up to ``size`` bytes, and nothing only at the end."""

    def close(self) -> None:
        """Releases the stream."""


class _Decompressor(Protocol):
    """The shape shared by ``bz2.BZ2Decompressor`` and ``lzma.LZMADecompressor``."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Inflated:
    """Streams bz2 or xz of any number of members in bounded memory."""

    def __init__(self, raw: BinaryIO, kind: str) -> None:
        self._raw = raw
        self._kind = kind
        self._inner = self._new()
        self._ended = False

    def _new(self) -> _Decompressor:
        if self._kind == "bz2":
            return cast(_Decompressor, bz2.BZ2Decompressor())
        return cast(_Decompressor, lzma.LZMADecompressor(memlimit=_XZ_MEMORY_LIMIT))

    def read(self, size: int, /) -> bytes:
        while not self._ended:
            if self._inner.eof:
                rest = (self._inner.unused_data or self._raw.read(_CHUNK)).lstrip(b"\0")
                if not rest:
                    self._ended = not self._raw.read(1)
                    if not self._ended:
                        raise EOFError("data after the end of the compressed stream")
                    break
                self._inner = self._new()
                data = self._inner.decompress(rest, size)
            elif self._inner.needs_input:
                chunk = self._raw.read(_CHUNK)
                if not chunk:
                    raise EOFError("the compressed data ends too early")
                data = self._inner.decompress(chunk, size)
            else:
                data = self._inner.decompress(b"", size)
            if data:
                return data
        return b""

    def close(self) -> None:
        self._raw.close()


class _Guarded:
    """Turns every way in which reading can fail into one sentence."""

    def __init__(self, inner: Readable, raw: BinaryIO, where: str) -> None:
        self._inner = inner
        self._raw = raw
        self._where = where

    def read(self, size: int, /) -> bytes:
        try:
            return self._inner.read(size)
        except (EOFError, lzma.LZMAError, zlib.error) as error:
            raise SourceError(
                f"damaged or unfinished compressed file ({error}); copy it again", self._where
            ) from error
        except OSError as error:
            reason = (error.strerror or str(error)).splitlines()[0]
            raise SourceError(f"cannot be read: {reason}", self._where) from error

    def close(self) -> None:
        self._inner.close()
        self._raw.close()  # gzip leaves it open


def decompressed(raw: BinaryIO, where: str) -> Readable:
    """Wraps a binary stream so that it gives decompressed bytes.

    Args:
        raw: The stream, at its beginning.
        where: The name that errors give.

    Returns:
        A stream that raises SourceError and nothing else.
    """
    buffered = io.BufferedReader(cast(io.RawIOBase, raw), _CHUNK)
    try:
        magic = buffered.peek(6)[:6]
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", where) from error
    stream: Readable = buffered
    if magic.startswith(_GZIP):
        stream = cast(Readable, gzip.GzipFile(fileobj=buffered, mode="rb"))
    elif magic.startswith(_BZIP2):
        stream = _Inflated(cast(BinaryIO, buffered), "bz2")
    elif magic.startswith(_XZ):
        stream = _Inflated(cast(BinaryIO, buffered), "xz")
    elif magic.startswith(_ZSTD):
        stream = _zstd(cast(BinaryIO, buffered))
    return _Guarded(stream, raw, where)


def _zstd(raw: BinaryIO) -> Readable:
    """A reader of zstd that, unlike others, notices when the data ends too early."""
    import pyarrow as pa

    return cast(Readable, pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))


def open_path(path: Path, where: str) -> Readable:
    """Opens a file for reading decompressed bytes.

    Raises:
        SourceError: The file cannot be opened.
    """
    try:
        raw = path.open("rb", buffering=0)
    except OSError as error:
        raise SourceError(f"cannot be opened: {error.strerror or error}", where) from error
    return decompressed(cast(BinaryIO, raw), where)


def without_compression_suffix(name: str) -> str:
    """The name that the file had before it was compressed.

    >>> without_compression_suffix("slurm-1.out.gz")
    'slurm-1.out'
    """
    for suffix in COMPRESSION_SUFFIXES:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name
