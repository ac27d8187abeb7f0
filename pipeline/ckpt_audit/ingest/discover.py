"""Finds the files that are meant by paths, folders, globs and ``-``."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ckpt_audit.ingest.checkpoint_walk import is_weights, members

STDIN = "-"
_NEVER = (".duckdb", ".duckdb.wal")


@dataclass(frozen=True, slots=True)
class Found:
    """One input.

    Attributes:
        path: The path as it is shown and kept: as it was given, or below the folder given.
        is_named: Whether the person named this very file.
        problem: Why it cannot be read, or None.
        is_stream: Whether it can be read only once (standard input, a pipe).
        is_stranger: Whether its problem is none of ours: it was met in a folder and is no file.
        is_checkpoints: Whether it is a folder that holds checkpoints: they are listed, not read.
    """

    path: str
    is_named: bool
    problem: str | None = None
    is_stream: bool = False
    is_stranger: bool = False
    is_checkpoints: bool = False


def discover(arguments: Sequence[str]) -> list[Found]:
    """Lists the inputs, in the order of the arguments and sorted inside a folder.

    A folder that holds checkpoints is one input; what lies beside them in it is found as elsewhere.
    Hidden files and warehouses inside a folder are passed over, and so are links that lead out of
    it; pipes, devices and broken links there are strangers. A file that is reached twice comes
    once, and counts as named when it was named at all.

    Args:
        arguments: Files, folders, globs, or ``-`` for standard input.
    """
    found: dict[str, Found] = {}
    for argument in arguments:
        for item in _expand(argument):
            key = STDIN if item.path == STDIN else os.path.realpath(item.path)
            known = found.get(key)
            if known is None:
                found[key] = item
            elif item.is_named and not known.is_named:
                found[key] = replace(item, path=known.path)
    return list(found.values())


def _expand(argument: str) -> Iterator[Found]:
    if argument == STDIN:
        yield Found(STDIN, is_named=True, is_stream=True)
        return
    path = os.path.normpath(argument)
    if os.path.lexists(path):
        yield from _one(path, is_named=True)
        return
    is_glob = glob.has_magic(argument)
    # Path.glob refuses absolute patterns
    matches = sorted(glob.glob(argument, recursive=True)) if is_glob else []  # noqa: PTH207
    if not matches:
        what = "no file matches it" if is_glob else "no such file or folder"
        yield Found(path, is_named=True, problem=what)
    for match in matches:
        yield from _one(os.path.normpath(match), is_named=False)


def _one(path: str, is_named: bool) -> Iterator[Found]:
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        yield Found(path, is_named, problem=error.strerror or str(error))
        return
    if stat.S_ISDIR(mode):
        root = Path(path).resolve()
        yield from _walk(Path(path), root, {root}, is_named=is_named)
    elif stat.S_ISREG(mode):
        yield Found(path, is_named)
    elif is_named and stat.S_ISFIFO(mode):
        yield Found(path, is_named, is_stream=True)
    elif is_named and stat.S_ISCHR(mode):
        yield Found(path, is_named, problem="a device, which may never end; - is standard input")
    elif is_named:
        yield Found(path, is_named, problem="neither a file nor a folder")
    else:
        yield _stranger(path)


def _stranger(path: str) -> Found:
    return Found(path, is_named=False, problem="not a regular file", is_stranger=True)


def _walk(folder: Path, root: Path, seen: set[Path], *, is_named: bool = False) -> Iterator[Found]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield Found(str(folder), is_named=False, problem=error.strerror or str(error))
        return
    checkpoints = members(folder)
    if checkpoints:
        yield Found(str(folder), is_named=is_named, is_checkpoints=True)
    for entry in entries:
        if entry.name in checkpoints or (checkpoints and is_weights(entry.name)):
            continue
        if entry.name.startswith(".") or entry.name.endswith(_NEVER):
            continue
        real = Path(os.path.realpath(entry))  # unlike resolve, it does not mind a loop of links
        if entry.is_symlink() and not entry.exists():
            yield _stranger(str(entry))
            continue
        if not real.is_relative_to(root):
            continue
        if real.is_dir():
            if real not in seen:
                seen.add(real)
                yield from _walk(entry, root, seen)
        elif real.exists():
            yield from _one(str(entry), is_named=False)
