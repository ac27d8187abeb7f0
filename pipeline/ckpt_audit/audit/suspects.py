"""Nodes and switches with more incidents than their exposure lets expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ckpt_audit.audit.domains import PARTS, Domains
from ckpt_audit.facts import Incident
from ckpt_audit.reliability.discovery import FALSE_DISCOVERY
from ckpt_audit.reliability.suspects import find_suspects
from ckpt_audit.units import S_PER_H

FEWEST: Final = 10  # incidents below which nothing is tested
_SHOWN: Final = 20  # parts of a kind, those that are not suspect among them


@dataclass(frozen=True, slots=True)
class Part:
    """One node or switch beside its share.

    Attributes:
        name: With its kind, ``node:gpu012``.
        incidents: Ids; a group is one, whatever its size.
        expected: Incidents that its exposure lets expect.
        node_h: Its exposure.
        p, q: Chance of as many, and false discovery rate at which it is called suspect.
        suspect: It is.
    """

    name: str
    incidents: tuple[str, ...]
    expected: float
    node_h: float
    p: float
    q: float
    suspect: bool


@dataclass(frozen=True, slots=True)
class KindOfPart:
    """All parts of one kind.

    Attributes:
        kind: ``node``, ``leaf``...
        parts: How many were exposed.
        incidents: How many incidents were placed in them.
        node_h: Exposure of all.
        level: False discovery rate of all kinds together.
        left_out: Suspect nodes whose incidents and exposure are not counted here.
        worst: The least likely first; suspects all, of the others a few.
        refusal: Why nothing was tested, or None.
    """

    kind: str
    parts: int
    incidents: int
    node_h: float
    level: float
    left_out: tuple[str, ...]
    worst: tuple[Part, ...]
    refusal: str | None


def suspects_of(
    events: Sequence[Incident], group_of: Mapping[str, str], domains: Domains
) -> tuple[KindOfPart, ...]:
    """Test nodes first, then what holds them, suspect nodes left out.

    A node that fails again and again makes its switch look bad too; so the switch is asked about
    its other nodes.

    Args:
        events: Failures of all runs; followers are left out.
        group_of: Group by incident id, of those that are in one.
        domains: Exposure.
    """
    kinds = [kind for kind in PARTS if kind in domains.kinds]
    own = [item for item in events if not item.secondary]
    found: list[KindOfPart] = []
    bad: tuple[str, ...] = ()
    for kind in kinds:
        one = _kind(kind, own, group_of, domains, bad, len(kinds))
        if kind == "node":
            bad = tuple(part.name for part in one.worst if part.suspect)
        found.append(one)
    return tuple(found)


def _kind(
    kind: str,
    events: Sequence[Incident],
    group_of: Mapping[str, str],
    domains: Domains,
    bad: tuple[str, ...],
    levels: int,
) -> KindOfPart:
    exposure = domains.exposure_without(kind, bad)
    seen: dict[str, dict[str, str]] = {name: {} for name in exposure}
    for item in events:
        left = [node for node in item.nodes if f"node:{node}" not in bad]
        if item.nodes and not left:
            continue
        for name in domains.parts_of(kind, left):
            if name in seen:
                seen[name].setdefault(group_of.get(item.id, item.id), item.id)
    names = list(exposure)
    n = sum(len(ids) for ids in seen.values())
    refusal = None
    if len(names) < 2:
        refusal = "fewer than two of them"
    elif n < FEWEST:
        refusal = f"{n} incidents: a test needs {FEWEST} or more"
    worst = [] if refusal else _parts(names, seen, exposure, levels)
    return KindOfPart(
        kind=kind,
        parts=len(names),
        incidents=n,
        node_h=sum(exposure.values()) / S_PER_H,
        level=FALSE_DISCOVERY,
        left_out=bad,
        worst=tuple(worst),
        refusal=refusal,
    )


def _parts(
    names: Sequence[str],
    seen: Mapping[str, Mapping[str, str]],
    exposure: Mapping[str, float],
    levels: int,
) -> list[Part]:
    found = find_suspects(
        [len(seen[name]) for name in names],
        [exposure[name] for name in names],
        FALSE_DISCOVERY,
        levels,
    )
    parts = [
        Part(
            name=name,
            incidents=tuple(seen[name].values()),
            expected=float(found.expected[i]),
            node_h=exposure[name] / S_PER_H,
            p=float(found.p[i]),
            q=float(found.q[i]),
            suspect=bool(found.suspect[i]),
        )
        for i, name in enumerate(names)
    ]
    ranked = sorted((part for part in parts if part.incidents), key=lambda one: (one.p, one.name))
    return [part for i, part in enumerate(ranked) if part.suspect or i < _SHOWN]
