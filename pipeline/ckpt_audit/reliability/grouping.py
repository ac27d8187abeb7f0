"""Groups of incidents: what is linked belongs together, and links chain.

Which pairs are linked is decided elsewhere, by a test (`links`) or by a plain window (`chains`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Label = Literal["isolated", "correlated", "cascade"]


@dataclass(frozen=True)
class Grouping:
    """Groups of incidents, in the order in which the incidents were given.

    Attributes:
        group: group number of each incident, shape ``(n,)``; groups are numbered from 0 by their
            earliest incident.
        label: label of each incident, shape ``(n,)``.
    """

    group: tuple[int, ...]
    label: tuple[Label, ...]


def followed(
    at_us: Sequence[int], run_ids: Sequence[str], secondary: Sequence[bool]
) -> list[int | None]:
    """Give, for each follower, the incident that it follows; None for the others.

    A *follower* is an incident flagged secondary with an earlier one in its run. It follows the
    latest of these.

    Args:
        at_us: fault moment of each incident, UTC microseconds, shape ``(n,)``.
        run_ids: run of each, shape ``(n,)``.
        secondary: whether each struck before the run had recovered from another, shape ``(n,)``.

    Raises:
        ValueError: lengths differ.
    """
    n = len(at_us)
    if not n == len(run_ids) == len(secondary):
        raise ValueError("moments, domains, runs and flags must have one entry per incident")
    leader: list[int | None] = [None] * n
    latest: dict[str, int] = {}
    for i in in_order(at_us):
        if secondary[i]:
            leader[i] = latest.get(run_ids[i])
        latest[run_ids[i]] = i
    return leader


def group_linked(
    at_us: Sequence[int],
    leader: Sequence[int | None],
    pairs: Iterable[tuple[int, int]],
    several: Iterable[int] = (),
) -> Grouping:
    """Group incidents by links and followers.

    A follower joins the group of what it follows and is labelled ``cascade``; it makes nothing
    correlated, and its own links do not count. Of the others, one alone in its group is
    ``isolated``, two or more are ``correlated``.

    Args:
        at_us: fault moment of each incident, UTC microseconds, shape ``(n,)``.
        leader: what each follows, or None, shape ``(n,)`` (see `followed`).
        pairs: linked incidents.
        several: incidents that struck several parts of one domain at once: correlated, though
            they are one incident.

    Raises:
        ValueError: lengths differ.

    >>> found = group_linked([0, 60, 90], [None, None, None], [(0, 1)])
    >>> found.group, found.label
    ((0, 0, 1), ('correlated', 'correlated', 'isolated'))
    """
    n = len(at_us)
    if len(leader) != n:
        raise ValueError("every incident needs what it follows, or None")
    parent = list(range(n))
    for i, j in pairs:
        if leader[i] is None and leader[j] is None:
            parent[_root(parent, j)] = _root(parent, i)
    labels = _labels(parent, leader, frozenset(several))
    for i, first in enumerate(leader):
        if first is not None:
            parent[_root(parent, i)] = _root(parent, first)
    numbers: dict[int, int] = {}
    for i in in_order(at_us):
        numbers.setdefault(_root(parent, i), len(numbers))
    return Grouping(tuple(numbers[_root(parent, i)] for i in range(n)), labels)


def in_order(at_us: Sequence[int]) -> list[int]:
    """Give the incidents in the order of their moments; equal moments stay as they were given."""
    return sorted(range(len(at_us)), key=lambda i: (at_us[i], i))


def _labels(
    parent: list[int], leader: Sequence[int | None], several: frozenset[int]
) -> tuple[Label, ...]:
    """Return the labels, by the size of the groups before followers join them."""
    size = Counter(_root(parent, i) for i, first in enumerate(leader) if first is None)
    return tuple(
        "cascade"
        if first is not None
        else "correlated"
        if size[_root(parent, i)] > 1 or i in several
        else "isolated"
        for i, first in enumerate(leader)
    )


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
