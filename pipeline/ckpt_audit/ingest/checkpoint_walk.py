"""Walks a folder of checkpoints without opening anything in it but small tracker files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from ckpt_audit.ingest.formats._checkpoint_names import (
    MAX_TRACKER_BYTES,
    MEGATRON_TRACKER,
    TRACKERS,
    is_temporary_name,
    read_name,
    signs_of,
)
from ckpt_audit.ingest.formats.checkpoint_listing import MOST_ENTRIES, TRACKER
from ckpt_audit.ingest.streams import SourceError
from ckpt_audit.printable import printable

_DEEPEST = 32
_MOST_LOOKED_INTO = 16
_MOST_NAMES = 1000
_SURE_KINDS = ("iter", "global_step", "checkpoint", "orbax", "fairseq", "nemo")
_WEIGHTS = (".pt", ".pth", ".bin", ".safetensors", ".ckpt", ".npz", ".distcp")
_NS_PER_S = 1_000_000_000


def members(folder: Path) -> frozenset[str]:
    """Names in a folder that belong to checkpoints, with the files that point to the newest.

    Empty where the folder does not look like one that holds checkpoints. Names that others use
    too, such as ``step-500`` and ``500``, count where there is the state of a model in them.
    """
    sure: set[str] = set()
    weak: dict[str, set[str]] = {"step": set(), "number": set()}
    trackers: set[str] = set()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name in TRACKERS and entry.is_file(follow_symlinks=False):
                    trackers.add(entry.name)
                    continue
                named = read_name(entry.name, is_folder=not entry.is_file(follow_symlinks=False))
                if named is not None and not entry.name.startswith("."):
                    (sure if named.kind in _SURE_KINDS else weak[named.kind]).add(entry.name)
    except OSError:
        return frozenset()  # whoever reads the folder next says why
    has_state = bool(sure)
    for kind, names in weak.items():
        if names and (_holds_state(folder, names, kind) or any(map(is_temporary_name, sure))):
            sure |= names
            has_state = True
    if has_state or MEGATRON_TRACKER in trackers:
        return frozenset(sure | trackers)
    return frozenset()


def is_weights(name: str) -> bool:
    """Whether a file beside checkpoints is another form of the model, and nothing to be read."""
    return name.endswith(_WEIGHTS)


def _holds_state(folder: Path, names: Iterable[str], kind: str) -> bool:
    wanted = {"orbax", "commit"} if kind == "number" else {"orbax", "commit", "distcp", "metadata"}
    return any(
        wanted.intersection(signs_of(path))
        for name in sorted(names)[-_MOST_LOOKED_INTO:]
        for path in _names_below(folder / name)
    )


def _names_below(folder: Path) -> Iterator[str]:
    """Some names in a folder and in the folders in it."""
    inner: list[str] = []
    try:
        if folder.is_symlink():
            return
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST_NAMES), entries, strict=False):
                yield entry.name
                if entry.is_dir(follow_symlinks=False) and len(inner) < _MOST_LOOKED_INTO:
                    inner.append(entry.name)
        for name in inner:
            with os.scandir(folder / name) as entries:
                for _, entry in zip(range(_MOST_NAMES), entries, strict=False):
                    yield f"{name}/{entry.name}"
    except OSError:
        return


def listing(root: Path) -> Iterator[bytes]:
    """The listing of a folder of checkpoints, in the form of ``checkpoint_listing``.

    The same folder gives the same bytes; links are named and never followed.

    Args:
        root: The folder.

    Yields:
        Lines.

    Raises:
        SourceError: A folder cannot be read, or there are too many entries: a part would be taken
            for the whole.
    """
    top = os.path.abspath(root)  # noqa: PTH100 - as logs print it, without links resolved
    yield f"# checkpoints of {printable(top)}\n0.0000000000\t0\td\t{printable(top)}\n".encode()
    wanted = members(root)
    n_entries = 1
    for name in sorted(wanted):
        if name in TRACKERS:
            content = _tracker(Path(top, name))
            if content is not None:
                yield f"{TRACKER}\t{printable(top)}/{name}\t{content}\n".encode()
        for line in _below(Path(top, name)):
            n_entries += 1
            if n_entries > MOST_ENTRIES:
                reason = f"more than {MOST_ENTRIES:,} entries; list and ingest fewer at a time"
                raise SourceError(reason, printable(top))
            yield line


def _below(path: Path) -> Iterator[bytes]:
    waiting = [(path, 0)]
    while waiting:
        at, depth = waiting.pop()
        try:
            facts = at.lstat()
            is_folder = stat.S_ISDIR(facts.st_mode)
            inner = sorted(os.listdir(at), reverse=True) if is_folder else []  # noqa: PTH208
        except FileNotFoundError:
            continue  # deleted while it was looked at
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror or error}", str(at)) from error
        yield _line(at, facts)
        if depth < _DEEPEST:
            waiting += [(at / name, depth + 1) for name in inner]


def _line(path: Path, facts: os.stat_result) -> bytes:
    mode = facts.st_mode
    if stat.S_ISDIR(mode):
        kind, size, time_ns = "d", 0, 0  # these change with what is listed anyway
    else:
        kind = "f" if stat.S_ISREG(mode) else "l" if stat.S_ISLNK(mode) else "?"
        size, time_ns = facts.st_size, max(facts.st_mtime_ns, 0)
    seconds, rest = divmod(time_ns, _NS_PER_S)
    return f"{seconds}.{rest:09d}0\t{size}\t{kind}\t{printable(str(path))}\n".encode()


def _tracker(path: Path) -> str | None:
    """The content of a tracker file; None where it is no small regular file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        content = os.read(handle, MAX_TRACKER_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    text = printable(content.decode("utf-8", "replace").strip())
    return text if len(text) <= MAX_TRACKER_BYTES and len(content) <= MAX_TRACKER_BYTES else None
