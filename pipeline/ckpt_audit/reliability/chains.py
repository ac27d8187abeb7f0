"""What a plain window would group, and how much of that is chance.

A window is not a test: the more often things fail, the more of them fall into it. It is shown
beside the tested links so that a reader sees how far an answer depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ckpt_audit.reliability.grouping import Grouping, group_linked, in_order
from ckpt_audit.units import US_PER_S


@dataclass(frozen=True)
class WindowEffect:
    """What one window groups.

    Attributes:
        window_s: longest gap within a chain, seconds.
        n: events.
        grouped: events with another of their domain within the window.
        groups: chains of two or more.
        alone: events that are alone; beside ``groups`` what M would count.
        share: grouped over n, None with no event.
        share_by_chance: the same to be expected of independent events of constant rate.
    """

    window_s: float
    n: int
    grouped: int
    groups: int
    alone: int
    share: float | None
    share_by_chance: float | None


def window_effect(
    at_us: Sequence[int],
    domains: Sequence[Collection[str]],
    leader: Sequence[int | None],
    length_s: float,
    window_s: float,
) -> WindowEffect:
    """Chain incidents by a window, and say how many chance would chain.

    Args:
        at_us: fault moment of each incident, UTC microseconds, shape ``(n,)``.
        domains: names of the domains that each touched, shape ``(n,)``.
        leader: what each follows, or None, shape ``(n,)`` (see `grouping.followed`); followers
            are left out.
        length_s: how long failures were looked for, seconds.
        window_s: longest gap within a chain, seconds.

    Raises:
        ValueError: lengths differ, the window is negative or the length is not positive.

    Source: of n uniform moments on [0, T] one has no other within w on either side with
    probability (1 - w/T)^(2(n - 1)), the ends neglected, so that about ``1 - exp(-2 w n/T)`` are
    grouped.

    >>> moments = [0, 5_000_000, 500_000_000]
    >>> window_effect(moments, [{"leaf1"}] * 3, [None] * 3, 1000.0, 10.0).grouped
    2
    """
    if not length_s > 0.0:
        raise ValueError(f"the length must be more than 0 seconds, got {length_s}")
    found = grouped_within(at_us, domains, leader, window_s)
    own = [i for i, first in enumerate(leader) if first is None]
    joined = [i for i in own if found.label[i] == "correlated"]
    count = Counter(name for i in own for name in set(domains[i]))
    alone_by_chance = [
        max(0.0, 1.0 - window_s / length_s)
        ** (2 * sum(count[name] - 1 for name in set(domains[i])))
        for i in own
    ]
    return WindowEffect(
        window_s=window_s,
        n=len(own),
        grouped=len(joined),
        groups=len({found.group[i] for i in joined}),
        alone=len(own) - len(joined),
        share=len(joined) / len(own) if own else None,
        share_by_chance=1.0 - sum(alone_by_chance) / len(own) if own else None,
    )


def grouped_within(
    at_us: Sequence[int],
    domains: Sequence[Collection[str]],
    leader: Sequence[int | None],
    window_s: float,
) -> Grouping:
    """Group incidents that share a domain and are near in time; links chain.

    Args:
        at_us: fault moment of each incident, UTC microseconds, shape ``(n,)``.
        domains: names of the domains that each touched, shape ``(n,)``; unique over kinds.
        leader: what each follows, or None, shape ``(n,)`` (see `grouping.followed`).
        window_s: longest time between two linked fault moments, seconds.

    Raises:
        ValueError: lengths differ, or the window is negative.

    >>> found = grouped_within(
    ...     [0, 60_000_000, 90_000_000], [{"leaf1"}, {"leaf1"}, {"leaf2"}], [None] * 3, 600.0
    ... )
    >>> found.group, found.label
    ((0, 0, 1), ('correlated', 'correlated', 'isolated'))
    """
    if not window_s >= 0.0:
        raise ValueError(f"the window must be 0 or more seconds, got {window_s}")
    if not len(domains) == len(at_us) == len(leader):
        raise ValueError("moments, domains, runs and flags must have one entry per incident")
    return group_linked(at_us, leader, _near(at_us, domains, leader, round(window_s * US_PER_S)))


def _near(
    at_us: Sequence[int],
    domains: Sequence[Collection[str]],
    leader: Sequence[int | None],
    window_us: int,
) -> list[tuple[int, int]]:
    """Return the pairs of neighbours in a domain that are within the window."""
    latest: dict[str, int] = {}
    pairs = []
    for i in in_order(at_us):
        if leader[i] is not None:
            continue
        for domain in sorted(set(domains[i])):
            before = latest.get(domain)
            if before is not None and at_us[i] - at_us[before] <= window_us:
                pairs.append((before, i))
            latest[domain] = i
    return pairs
