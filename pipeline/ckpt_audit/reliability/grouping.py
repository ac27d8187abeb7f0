"""Which incidents belong together: isolated, correlated, or a failure that followed another.

The rule is simple and stated, not a test: over a long time some incidents share a switch by chance
within the window, the more of them the higher the rate is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from ckpt_audit.units import US_PER_S

Label = Literal["isolated", "correlated", "cascade"]
DEFAULT_WINDOW_S = 600.0


@dataclass(frozen=True)
class Grouping:
    """Groups of incidents, in the order in which the incidents were given.

    Attributes:
        group: group number of each incident, shape ``(n,)``; groups are numbered from 0 by their
            earliest incident.
        label: label of each incident, shape ``(n,)``.
        rule: the rule in one sentence, for the reader.
    """

    group: tuple[int, ...]
    label: tuple[Label, ...]
    rule: str


def group_incidents(
    at_us: Sequence[int],
    domains: Sequence[Collection[str]],
    run_ids: Sequence[str],
    secondary: Sequence[bool] | None = None,
    window_s: float = DEFAULT_WINDOW_S,
) -> Grouping:
    """Group incidents that share a failure domain at nearly the same time.

    A *follower* is an incident flagged secondary with an earlier one in its run. It joins the
    group of the latest earlier incident of its run, is labelled ``cascade``, and links nothing
    else: a follower on the same switch does not make its primary correlated.
    The others are joined when they share a domain and their fault moments are at most ``window_s``
    apart, and so on from one to the next. Of these, one alone in its group is ``isolated``, two or
    more are ``correlated``.

    Args:
        at_us: fault moment of each incident, UTC microseconds, shape ``(n,)``.
        domains: names of the leaf switches and nodes that each incident touched, shape ``(n,)``;
            a name must be unique over kinds of domain. Leave out what every incident shares (the
            cluster, the only storage system), which says nothing.
        run_ids: run of each incident, shape ``(n,)``.
        secondary: whether each was marked as one that struck before the recovery of another was
            complete, shape ``(n,)``; none by default.
        window_s: longest time between two linked fault moments, seconds.

    Raises:
        ValueError: lengths differ, or the window is negative.

    >>> found = group_incidents(
    ...     [0, 60_000_000, 90_000_000], [{"leaf1"}, {"leaf1"}, {"leaf2"}], ["a", "b", "c"]
    ... )
    >>> found.group, found.label
    ((0, 0, 1), ('correlated', 'correlated', 'isolated'))
    """
    n = len(at_us)
    flags = [False] * n if secondary is None else list(secondary)
    if not n == len(domains) == len(run_ids) == len(flags):
        raise ValueError("moments, domains, runs and flags must have one entry per incident")
    if not window_s >= 0.0:
        raise ValueError(f"the window must be 0 or more seconds, got {window_s}")
    order = sorted(range(n), key=lambda i: (at_us[i], i))
    leader = _leaders(order, run_ids, flags)
    parent = list(range(n))
    for i, j in _linked(order, at_us, domains, leader, round(window_s * US_PER_S)):
        parent[_root(parent, j)] = _root(parent, i)
    labels = _labels(parent, leader)
    for i, first in enumerate(leader):
        if first is not None:
            parent[_root(parent, i)] = _root(parent, first)
    numbers: dict[int, int] = {}
    for i in order:
        numbers.setdefault(_root(parent, i), len(numbers))
    return Grouping(
        group=tuple(numbers[_root(parent, i)] for i in range(n)),
        label=labels,
        rule=rule_text(window_s),
    )


def rule_text(window_s: float) -> str:
    """State the rule in one sentence.

    >>> rule_text(600)[:60]
    'Incidents are correlated when they share a leaf switch or a '
    """
    return (
        "Incidents are correlated when they share a leaf switch or a node and their faults are "
        f"at most {window_s:g} s apart; one that strikes its own run before the recovery of "
        "an earlier one is complete is a cascade."
    )


def _leaders(order: list[int], run_ids: Sequence[str], flags: list[bool]) -> list[int | None]:
    """Return, for each follower, the incident of its run before it; None for the others."""
    leader: list[int | None] = [None] * len(order)
    latest: dict[str, int] = {}
    for i in order:
        if flags[i]:
            leader[i] = latest.get(run_ids[i])
        latest[run_ids[i]] = i
    return leader


def _linked(
    order: list[int],
    at_us: Sequence[int],
    domains: Sequence[Collection[str]],
    leader: list[int | None],
    window_us: int,
) -> list[tuple[int, int]]:
    """Return the pairs of neighbours in a domain that are within the window."""
    latest: dict[str, int] = {}
    pairs = []
    for i in order:
        if leader[i] is not None:
            continue
        for domain in sorted(set(domains[i])):
            before = latest.get(domain)
            if before is not None and at_us[i] - at_us[before] <= window_us:
                pairs.append((before, i))
            latest[domain] = i
    return pairs


def _labels(parent: list[int], leader: list[int | None]) -> tuple[Label, ...]:
    """Return the labels, by the size of the groups before followers join them."""
    size = Counter(_root(parent, i) for i, first in enumerate(leader) if first is None)
    return tuple(
        "cascade"
        if first is not None
        else "correlated"
        if size[_root(parent, i)] > 1
        else "isolated"
        for i, first in enumerate(leader)
    )


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
