"""Failure domains and their clocks: how long what was at risk, in node-seconds of up-time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.facts import Incident, NodeSpan
from ckpt_audit.reliability.clocks import Clock, clock_of
from ckpt_audit.units import US_PER_S

WIDEST: Final = 0.25  # share of all exposure above which two events in a domain prove nothing
PARTS: Final = ("node", "leaf", "switch", "rack", "power")  # what a fault can be traced to
COHORTS: Final = ("storage", "version")  # what a whole attempt runs on


@dataclass(frozen=True)
class Kind:
    """All failure domains of one kind that were exposed.

    Attributes:
        kind: One of ``PARTS`` or ``COHORTS``, or another that a topology file names.
        names: Of the domains, with the kind in front (``leaf:leaf3``), sorted.
        exposure_s: Of each, node-seconds of up-time, all positive, shape ``(n,)``.
        share: Of each in all exposure, shape ``(n,)``.
        place: Of each name.
    """

    kind: str
    names: tuple[str, ...]
    exposure_s: NDArray[np.float64]
    share: NDArray[np.float64]
    place: Mapping[str, int]

    def wide(self, name: str) -> bool:
        """Whether a domain holds so much that sharing it proves nothing."""
        return bool(self.share[self.place[name]] > WIDEST)


class Domains:
    """Where and when attempts were exposed.

    Attributes:
        kinds: Kinds with exposure, by name.
        total_s: Exposure of all, node-seconds.
    """

    def __init__(
        self, spans: Sequence[NodeSpan], memberships: Sequence[tuple[str, str, str]]
    ) -> None:
        """Works out the exposure of every domain.

        Args:
            spans: Up-time of all attempts, by run and start.
            memberships: Kind, name and node.
        """
        self._spans = _with_storage(spans)
        self._by_run: dict[str, list[NodeSpan]] = {}
        for span in self._spans:
            self._by_run.setdefault(span.run, []).append(span)
        self._holds: dict[str, tuple[str, ...]] = {}  # node to names of its domains
        for kind, name, node in memberships:
            self._holds[node] = (*self._holds.get(node, ()), f"{kind}:{name}")
        self._columns_of: dict[str, list[int]] = {}  # of each node
        self._column: dict[str, int] = {}  # name of a domain to its place in the counts
        self._rows, self._units = self._count()
        self._place = {(span.run, span.attempt): i for i, span in enumerate(self._spans)}
        self.total_s = sum(_length_s(span) * max(1, len(span.nodes)) for span in self._spans)
        self.kinds = self._kinds()

    def names_of(self, incident: Incident) -> tuple[str, ...]:
        """Names of the exposed domains that an incident touched, sorted."""
        names = {f"node:{node}" for node in incident.nodes} | set(incident.domains)
        for node in incident.nodes:
            names.update(self._holds.get(node, ()))
        span = self.span_of(incident)
        if span is not None:
            names.update(_cohorts(span))
        return tuple(sorted(name for name in names if self._is_exposed(name)))

    def span_of(self, incident: Incident) -> NodeSpan | None:
        """Stretch of up-time that it ended: the last of its run that began before its fault."""
        own = self._by_run.get(incident.run, [])
        place = bisect_left(own, incident.fault_at or 0, key=lambda span: span.start_at)
        return own[place - 1] if place else None

    def held_by(self, name: str, span: NodeSpan) -> float:
        """How many nodes of an attempt a domain holds."""
        row = self._rows[self._place[span.run, span.attempt]]
        return float(self._units[row, self._column[name]]) if name in self._column else 0.0

    def holds_all(self, name: str, nodes: Sequence[str]) -> bool:
        """Whether a domain holds every one of the nodes."""
        return all(name in self._holds.get(node, ()) for node in nodes)

    def parts_of(self, kind: str, nodes: Sequence[str]) -> set[str]:
        """Names of the domains of a kind that hold any of the nodes."""
        names = {
            name
            for node in nodes
            for name in (f"node:{node}", *self._holds.get(node, ()))
            if name.startswith(f"{kind}:")
        }
        return {name for name in names if self._is_exposed(name)}

    def exposure_without(self, kind: str, nodes: Sequence[str]) -> dict[str, float]:
        """Exposure of the domains of a kind without some nodes, where any is left.

        Args:
            kind: One of those that hold nodes.
            nodes: Names of the nodes (``node:gpu012``).

        Returns:
            Node-seconds by name, in the order of names.
        """
        all_of = self.kinds[kind]
        left = dict(zip(all_of.names, all_of.exposure_s.tolist(), strict=True))
        alone = self.kinds.get("node")
        for node in nodes:
            for name in self.parts_of(kind, [node.removeprefix("node:")]):
                left[name] -= float(alone.exposure_s[alone.place[node]]) if alone else 0.0
        return {name: seconds for name, seconds in left.items() if seconds > 1.0}

    def clock(self, name: str) -> Clock:
        """Clock of a domain."""
        units = self._units[self._rows, self._column[name]]
        return clock_of(
            [
                (self._spans[i].start_at, self._spans[i].end_at, float(units[i]))
                for i in np.flatnonzero(units).tolist()
            ]
        )

    def narrow(self, name: str) -> bool:
        """Whether sharing the domain may mean something."""
        return self._is_exposed(name) and not self.kinds[name.split(":", 1)[0]].wide(name)

    def _is_exposed(self, name: str) -> bool:
        kind = self.kinds.get(name.split(":", 1)[0])
        return kind is not None and name in kind.place

    def _count(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Count how many nodes of each span a domain holds.

        Returns:
            Row of each span, shape ``(spans,)``, and counts by row and domain: most attempts are on
            the same nodes, and these have one row.
        """
        rows: dict[tuple[tuple[str, ...], str | None, tuple[str, ...]], int] = {}
        found: list[tuple[NDArray[np.int64], list[int]]] = []
        places = []
        for span in self._spans:
            key = (span.nodes, span.storage, span.versions)
            if key not in rows:
                rows[key] = len(found)
                found.append((self._columns_of_nodes(span.nodes), self._columns(_cohorts(span))))
            places.append(rows[key])
        units = np.zeros((len(found), len(self._column)), dtype=np.int32)
        for row, ((nodes, *_), (parts, cohorts)) in enumerate(zip(rows, found, strict=True)):
            units[row] = np.bincount(parts, minlength=units.shape[1])
            units[row, cohorts] = max(1, len(nodes))
        return np.array(places, dtype=np.int64), units

    def _columns_of_nodes(self, nodes: Sequence[str]) -> NDArray[np.int64]:
        columns: list[int] = []
        for node in nodes:
            if node not in self._columns_of:
                self._columns_of[node] = self._columns((f"node:{node}", *self._holds.get(node, ())))
            columns += self._columns_of[node]
        return np.array(columns, dtype=np.int64)

    def _columns(self, names: Sequence[str]) -> list[int]:
        return [self._column.setdefault(name, len(self._column)) for name in names]

    def _kinds(self) -> dict[str, Kind]:
        lengths = np.array([_length_s(span) for span in self._spans])
        by_row = np.bincount(self._rows, lengths, minlength=self._units.shape[0])
        exposure = dict(zip(self._column, (by_row @ self._units).tolist(), strict=True))
        found: dict[str, list[str]] = {}
        for name in sorted(exposure):
            if exposure[name] > 0.0:
                found.setdefault(name.split(":", 1)[0], []).append(name)
        order = {kind: place for place, kind in enumerate((*PARTS, *COHORTS))}
        kinds = {}
        for kind in sorted(found, key=lambda name: (order.get(name, len(order)), name)):
            seconds = np.array([exposure[name] for name in found[kind]])
            place = {name: i for i, name in enumerate(found[kind])}
            kinds[kind] = Kind(kind, tuple(place), seconds, seconds / self.total_s, place)
        return kinds


def _length_s(span: NodeSpan) -> float:
    return max(0, span.end_at - span.start_at) / US_PER_S


def _cohorts(span: NodeSpan) -> tuple[str, ...]:
    storage = () if span.storage is None else (f"storage:{span.storage}",)
    return (*storage, *(f"version:{text}" for text in span.versions))


def _with_storage(spans: Sequence[NodeSpan]) -> list[NodeSpan]:
    """Return the spans; one whose log does not tell its storage has that of its run."""
    known = {span.run: span.storage for span in spans if span.storage is not None}
    return [
        span
        if span.storage is not None or span.run not in known
        else NodeSpan(
            span.run,
            span.attempt,
            span.start_at,
            span.end_at,
            span.nodes,
            known[span.run],
            span.versions,
        )
        for span in spans
    ]
