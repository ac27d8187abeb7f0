"""Listings of checkpoint folders: what ``find -printf`` says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._bounds import ImplausibleError
from ckpt_audit.ingest.formats._checkpoint_judge import Root
from ckpt_audit.ingest.formats._checkpoint_names import (
    MAX_TRACKER_BYTES,
    MEGATRON_TRACKER,
    TRACKERS,
    UNFINISHED,
    Named,
    read_name,
    signs_of,
)
from ckpt_audit.ingest.formats._stamps import check_year, read_iso
from ckpt_audit.records import ClockKind, Record, Rejected, StepBatch
from ckpt_audit.units import US_PER_S

MOST_ENTRIES = 1_000_000
OBSERVED = "# observed "
TRACKER = "#tracker"
_SURE = 95
_LOOKED_AT = 40
_MAX_REJECTED_TEXT = 200
_LINE = re.compile(r"(-?\d{1,12})(?:\.(\d{1,12}))?\t(\d{1,18})\t([a-zA-Z?])\t(.+)", re.ASCII)
_PARALLEL = re.compile(r"(?:mp|tp)_rank_\d+(?:_\w{1,40})?", re.ASCII)
_SLASHES = re.compile("//+")
_HERE = re.compile(r"\A(?:\./)+(?=[^/])")


class _Entry(NamedTuple):
    written_us: int | None
    size: int
    type: str
    path: str


def _entry(text: str) -> _Entry | None:
    match = _LINE.fullmatch(text)
    if match is None:
        return None
    seconds, fraction, size, kind, path = match.groups()
    written = int(seconds) * US_PER_S + int((fraction or "")[:6].ljust(6, "0"))
    try:
        check_year(written)
    except ImplausibleError:
        return _Entry(None, int(size), kind, _clean(path))
    return _Entry(written, int(size), kind, _clean(path))


def _clean(path: str) -> str:
    """A path without double or trailing slashes.

    >>> _clean("/ckpt//a/"), _clean("/"), _clean("./x")
    ('/ckpt/a', '/', 'x')
    """
    path = _SLASHES.sub("/", path)
    path = _HERE.sub("", path)
    return path.rstrip("/") or path[:1]


class _Listing:
    """The entries of a listing, by the folders that hold checkpoints."""

    def __init__(self) -> None:
        self.roots: dict[str, Root] = {}
        self.top: str | None = None
        self.n_entries = 0

    def root(self, path: str, line_no: int) -> Root:
        if path not in self.roots:
            self.roots[path] = Root(path, line_no)
        return self.roots[path]

    def add(self, line_no: int, entry: _Entry) -> None:
        self.n_entries += 1
        if self.n_entries == 1 and entry.type == "d":
            self.top = entry.path
        found = self._place(entry)
        if found is None:
            folder, _, base = entry.path.rpartition("/")
            if base == MEGATRON_TRACKER and entry.type == "f":
                self.root(folder, line_no).has_tracker = True
            return
        path, named, rest = found
        root = self.root(path, line_no)
        checkpoint = root.folder(named, line_no)
        if named.kind == "nemo" and named.rest.endswith(UNFINISHED) and entry.type == "f":
            checkpoint.is_unfinished = True
        elif entry.type == "d" or not rest:
            checkpoint.signs.update(signs_of(rest))
            checkpoint.is_link |= entry.type == "l" and not rest
        elif entry.type in "fl":
            is_link = entry.type == "l"
            checkpoint.add_file(rest, entry.size, entry.written_us, is_link=is_link)
        if "orbax" in checkpoint.signs or named.kind == "orbax":
            root.is_orbax = True

    def _place(self, entry: _Entry) -> tuple[str, Named, str] | None:
        """The root, the checkpoint and the name within it of an entry, or None."""
        parts = entry.path.split("/")
        first = self._first_below_top(entry.path, len(parts))
        number: tuple[int, Named] | None = None
        for at in range(first, min(len(parts), first + 64)):
            is_last = at == len(parts) - 1
            named = read_name(parts[at], is_folder=not is_last or entry.type != "f")
            if named is None:
                continue
            if named.kind == "number":
                if at > first or self.top is None:
                    number = number or (at, named)
                continue
            return self._split(parts, at, named)
        return None if number is None else self._split(parts, *number)

    def _first_below_top(self, path: str, n_parts: int) -> int:
        if self.top is None or not (path == self.top or path.startswith(self.top + "/")):
            return 0
        return min(self.top.count("/"), n_parts - 1)

    @staticmethod
    def _split(parts: list[str], at: int, named: Named) -> tuple[str, Named, str]:
        rest = "/".join(parts[at + 1 :])
        if not named.rest:
            return "/".join(parts[:at]), named, rest
        inner = f"{named.rest}/{rest}" if rest else named.rest
        if at > 1 and _PARALLEL.fullmatch(parts[at - 1]):
            return "/".join(parts[: at - 1]), named, f"/{parts[at - 1]}/{named.name}{inner}"
        return "/".join(parts[:at]), named, inner


def _read(source: ByteSource, options: ReadOptions) -> Iterator[StepBatch | Record]:
    listing = _Listing()
    observed_us = options.observed_us
    for line_no, raw in source.lines():
        text = raw.decode("utf-8", "replace")
        if text.startswith("#"):
            problem = None
            if text.startswith(OBSERVED):
                stamp = read_iso(text.removeprefix(OBSERVED).strip())
                if stamp.kind is ClockKind.UTC:
                    observed_us = stamp.clock_us
                else:
                    problem = "no ISO time with an offset; write it with date -Is"
            elif text.startswith(TRACKER):
                problem = _tracker(listing, line_no, text)
            if problem:
                yield Rejected(line_no, problem, text[:_MAX_REJECTED_TEXT])
            continue
        entry = _entry(text)
        if entry is not None:
            listing.add(line_no, entry)
        elif text.strip():
            reason = r"no line of find -printf '%T@\t%s\t%y\t%p\n'"
            yield Rejected(line_no, reason, text[:_MAX_REJECTED_TEXT])
        if listing.n_entries > MOST_ENTRIES:
            reason = f"more than {MOST_ENTRIES:,} entries: list fewer folders at a time"
            yield Rejected(line_no, reason, text[:_MAX_REJECTED_TEXT])
            return
    roots = [
        root
        for _, root in sorted(listing.roots.items())
        if root.has_checkpoints or root.trackers or root.has_tracker
    ]
    if not roots and listing.top is not None:
        roots = [Root(listing.top, 1)]
    for root in roots:
        yield from root.records(observed_us)


def _tracker(listing: _Listing, line_no: int, text: str) -> str | None:
    """Takes a line with the content of a tracker file, or says what is wrong with it."""
    parts = text.split("\t")
    folder, _, base = _clean(parts[1]).rpartition("/") if len(parts) > 1 else ("", "", "")
    if len(parts) != 3 or base not in TRACKERS or len(parts[2]) > MAX_TRACKER_BYTES:
        return r"expected #tracker\t<path of a tracker file>\t<its content>"
    listing.root(folder, line_no).trackers[base] = parts[2].strip()
    return None


def _sniff(head: bytes, _name: str) -> int:
    lines = without_nuls(head).split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    texts = [line.decode("utf-8", "replace").removesuffix("\r") for line in lines]
    said = [text for text in texts if text.strip() and not text.startswith("#")]
    good = sum(_LINE.fullmatch(text) is not None for text in said)
    return _SURE if good and 5 * good >= 4 * len(said) else 0


CHECKPOINT_LISTING = Format(
    name="checkpoint_listing",
    title=r"Listing of a checkpoint folder (find DIR -printf '%T@\t%s\t%y\t%p\n')",
    gives=(
        "which checkpoints were there when somebody looked, of which step and size, whether their "
        "files are evidence that they can be loaded, and which files are empty, short or missing"
    ),
    example=(
        "# observed 2026-05-04T10:00:00+00:00\n"
        "#tracker\t/ckpt/llama/latest_checkpointed_iteration.txt\t500\n"
        "1777885200.0000000000\t4096\td\t/ckpt/llama\n"
        "1777885200.0000000000\t3\tf\t/ckpt/llama/latest_checkpointed_iteration.txt\n"
        "1777885190.0000000000\t2147483648\tf\t"
        "/ckpt/llama/iter_0000500/mp_rank_00/model_optim_rng.pt\n"
    ),
    incremental=False,
    is_observation=True,
    sniff=_sniff,
    read=_read,
)
