"""Which shards of a checkpoint are missing or short, told by their names and by its siblings."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product

MOST_NAMED = 20
_SHORT_TENTHS = 9  # shorter than so many tenths of what it is elsewhere is short
_SMALLEST = 4096  # bytes; below, sizes vary for other reasons
_MOST_SHAPES = 8
_MOST_CELLS = 2_000_000
_DIGITS = re.compile(r"\d+", re.ASCII)
_GRIDS = (
    re.compile(r"(?:\A|/)mp_rank_(\d{1,9})(?:_(\d{1,9}))?(?:_(\d{1,9}))?(?=[_/])", re.ASCII),
    re.compile(r"zero_pp_rank_(\d{1,9})_mp_rank_(\d{1,9})_", re.ASCII),
    re.compile(r"model_part-(\d{1,9})(?:-shard(\d{1,9}))?", re.ASCII),
    re.compile(r"-shard(\d{1,9})\.pt", re.ASCII),
)
_OF = re.compile(r"-(\d{1,6})-of-(\d{1,6})\.", re.ASCII)

Sizes = Mapping[str, int]


@dataclass(slots=True)
class Verdict:
    """What the shards of one checkpoint say.

    Attributes:
        missing: Names that should be there, at most ``MOST_NAMED``.
        short: Names of shards that are too short, likewise.
        n_missing, n_short: How many there are.
        is_confirmed: Every shard is there as in a sibling, at its size.
    """

    missing: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)
    n_missing: int = 0
    n_short: int = 0
    is_confirmed: bool = False
    _known: set[str] = field(default_factory=set)

    def add_missing(self, names: Iterable[str]) -> None:
        """Notes names that should be there."""
        for name in names:
            if name not in self._known:
                self._known.add(name)
                self.n_missing += 1
                if len(self.missing) < MOST_NAMED:
                    self.missing.append(name)

    def add_short(self, name: str) -> None:
        """Notes a shard that is too short."""
        self.n_short += 1
        if len(self.short) < MOST_NAMED:
            self.short.append(name)


def judge_shards(all_sizes: list[Sizes]) -> list[Verdict]:
    """Judges the checkpoints of one folder and layout by one another.

    Shards whose names differ by numbers alone are a family. A family of another size than that of
    its siblings, with shards of other sizes too, is one of another number of ranks: of that
    nothing can be told.

    Args:
        all_sizes: For each checkpoint the sizes of its shards by name; -1 is unknown.
    """
    families = [_families(sizes) for sizes in all_sizes]
    verdicts = [Verdict(is_confirmed=bool(sizes)) for sizes in all_sizes]
    places: dict[str, dict[int, dict[str, int]]] = {}
    cells = _MOST_CELLS
    for at, found in enumerate(families):
        for family, names in found.items():
            places.setdefault(family, {})[at] = names
            gaps = list(islice(_grid_gaps(names), max(cells, 0)))
            cells -= len(gaps) + len(names)
            verdicts[at].add_missing(gaps)
    for family in sorted(places):
        _judge_family(places[family], verdicts)
    _absent_families(families, places, verdicts)
    for verdict in verdicts:
        verdict.is_confirmed &= not (verdict.n_missing or verdict.n_short)
    return verdicts


def _families(sizes: Sizes) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for name, size in sizes.items():
        found.setdefault(_DIGITS.sub("#", name), {})[name] = size
    return found


def _grid_gaps(names: Sizes) -> Iterator[str]:
    """Names that the names themselves show to be missing: a hole in the ranks."""
    for pattern in _GRIDS:
        hits = [match for match in map(pattern.search, names) if match is not None]
        if len(hits) == len(names):
            yield from _holes(hits, names)
            break
    counts = [match for match in map(_OF.search, names) if match is not None]
    if counts and len(counts) == len(names):
        match = counts[0]
        for number in range(1, min(int(match[2]), _MOST_CELLS) + 1):
            name = _replaced(match, {1: number})
            if name not in names:
                yield name


def _holes(hits: list[re.Match[str]], names: Sizes) -> Iterator[str]:
    used = [at for at in range(1, hits[0].re.groups + 1) if hits[0][at] is not None]
    seen = [sorted({int(hit[at]) for hit in hits if hit[at] is not None}) for at in used]
    if not all(seen):
        return
    n_cells = 1
    for values in seen:
        n_cells *= values[-1] + 1
    if n_cells == len(names) or n_cells > min(_MOST_CELLS, 8 * len(names) + 64):
        return
    for cell in product(*(range(values[-1] + 1) for values in seen)):
        name = _replaced(hits[0], dict(zip(used, cell, strict=True)))
        if name not in names:
            yield name


def _replaced(match: re.Match[str], numbers: dict[int, int]) -> str:
    text = match.string
    for group in sorted(numbers, reverse=True):
        start, end = match.span(group)
        text = f"{text[:start]}{numbers[group]:0{end - start}d}{text[end:]}"
    return text


def _judge_family(members: dict[int, dict[str, int]], verdicts: list[Verdict]) -> None:
    shapes: dict[frozenset[str], list[int]] = {}
    for at, sizes in members.items():
        shapes.setdefault(frozenset(sizes), []).append(at)
    examples = {shape: members[places[0]] for shape, places in shapes.items()}
    common = sorted(shapes, key=lambda shape: (-len(shapes[shape]), -len(shape)))[:_MOST_SHAPES]
    for shape, places in shapes.items():
        larger = next((other for other in common if _lacks(shape, other, examples)), None)
        if larger is not None:
            gone = sorted(larger - shape)
            for at in places:
                verdicts[at].add_missing(gone)
        if len(places) > 1:
            _compare(shape, places, members, verdicts)
            continue
        verdicts[places[0]].is_confirmed = False
        if larger is not None:
            for name in sorted(shape):
                _judge_size(
                    name, members[places[0]][name], examples[larger][name], verdicts[places[0]]
                )


def _compare(
    shape: frozenset[str],
    places: list[int],
    members: dict[int, dict[str, int]],
    verdicts: list[Verdict],
) -> None:
    """Compares each shard with the same one of the others."""
    for name in sorted(shape):
        sizes = sorted(members[at][name] for at in places)
        for at in places:
            own = members[at][name]
            _judge_size(name, own, _median_of_others(sizes, own), verdicts[at])


def _lacks(
    shape: frozenset[str], other: frozenset[str], examples: dict[frozenset[str], dict[str, int]]
) -> bool:
    """Whether shards of a sibling of the same number of ranks are missing."""
    if not shape < other:
        return False
    here, there = examples[shape], examples[other]
    same = sum(10 * abs(here[name] - there[name]) <= there[name] for name in shape)
    return 2 * same >= len(shape)


def _median_of_others(ordered: list[int], own: int) -> int:
    """The upper median of a sorted list without one of its values."""
    middle = (len(ordered) - 1) // 2
    return ordered[middle if middle < bisect_left(ordered, own) else middle + 1]


def _judge_size(name: str, size: int, expected: int, verdict: Verdict) -> None:
    if size < 0 or expected < 0:
        verdict.is_confirmed = False
    elif expected >= _SMALLEST and 10 * size < _SHORT_TENTHS * expected:
        verdict.add_short(name)


def _absent_families(
    families: list[dict[str, dict[str, int]]],
    places: dict[str, dict[int, dict[str, int]]],
    verdicts: list[Verdict],
) -> None:
    """Notes families that most siblings have, and a checkpoint lacks with nothing instead."""
    usual = {family for family, members in places.items() if 2 * len(members) > len(families)}
    for found, verdict in zip(families, verdicts, strict=True):
        absent = usual - set(found)
        if not found or not absent or set(found) - usual:
            continue
        for family in sorted(absent):
            verdict.add_missing(sorted(next(iter(places[family].values()))))
        verdict.is_confirmed = False
