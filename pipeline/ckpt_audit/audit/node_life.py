"""Whether nodes fail more often when they are new to the runs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from ckpt_audit.facts import Incident, NodeSpan
from ckpt_audit.reliability.drift import RateRatio, early_life
from ckpt_audit.units import S_PER_H, US_PER_S

EARLY_S: Final = 3 * 24 * S_PER_H  # of up-time on a node


def early_by_node(spans: Iterable[NodeSpan], events: Sequence[Incident]) -> RateRatio | None:
    """Hold the rate of a node's first days in use against the rest.

    Age is the up-time that a node has served, of all runs, since the data begin: a node that was
    there before counts as new, which draws the ratio towards 1.

    Args:
        spans: Up-time of every attempt with its nodes.
        events: Failures; those that name one node, and follow no other, count.

    Returns:
        Early rate over later rate; None where no node has served for long enough.
    """
    lives: dict[str, list[tuple[int, int]]] = {}
    for span in spans:
        for node in span.nodes:
            lives.setdefault(node, []).append((span.start_at, span.end_at))
    served = {node: _Served(stretches) for node, stretches in lives.items()}
    ages = [
        served[item.nodes[0]].age_s(item.fault_at)
        for item in events
        if len(item.nodes) == 1
        and item.nodes[0] in served
        and item.fault_at is not None
        and not item.secondary
    ]
    if not served:
        return None
    known = [age for age in ages if age is not None]
    return early_life(known, [(0.0, one.total_s) for one in served.values()], EARLY_S)


class _Served:
    """Up-time that one node has served, stretch by stretch."""

    def __init__(self, stretches: list[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._before: list[int] = []
        total = 0
        for begin, stop in sorted(stretches):
            start = max(begin, self._ends[-1]) if self._ends else begin
            if stop <= start:
                continue
            self._starts.append(start)
            self._ends.append(stop)
            self._before.append(total)
            total += stop - start
        self.total_s = total / US_PER_S

    def age_s(self, at: int) -> float | None:
        """Up-time served by a moment, seconds; None before the first."""
        place = bisect_right(self._starts, at) - 1
        if place < 0:
            return None
        here = min(at, self._ends[place]) - self._starts[place]
        return min((self._before[place] + here) / US_PER_S, self.total_s) or None
