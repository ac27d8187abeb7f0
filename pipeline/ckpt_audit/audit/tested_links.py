"""Which incidents are linked, by which domain, and how sure that is.

Kinds of link are tested beside each other, and share the false discovery rate equally:

* two incidents of one *narrow* domain (a quarter of all exposure or less), by the gap between them
  on the domain's own clock;
* two incidents of one wide domain (all of the storage, the release that everything runs) only
  where the cause of both fits it;
* a run whose program failed again at the step where it had failed before;
* one incident that struck several nodes of one narrow domain at once, or of no common one where
  hosts themselves failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ckpt_audit.audit.domains import PARTS, Domains, Kind
from ckpt_audit.facts import Incident
from ckpt_audit.reliability.discovery import FALSE_DISCOVERY, q_values
from ckpt_audit.reliability.links import find_links
from ckpt_audit.reliability.repeats import burst_p, same_step_p
from ckpt_audit.reliability.shrinkage import shrunk_rates
from ckpt_audit.units import US_PER_S

# causes that a wide domain of a kind explains
FITS: Final = {"storage": "storage", "version": "software", "leaf": "network", "switch": "network"}
_AT_ONCE = frozenset({"network", "node", "gpu", "host_memory"})  # faults of parts, not of programs
_OF_HOSTS = frozenset({"node", "host_memory"})  # of these no other node shows the like by infection
# faults that a step can bring about; a part that breaks early after a restart, as in a cascade, is
# near to the step of the failure before by that alone
_OF_PROGRAM = frozenset({"software", "data", "oom", "unknown"})
_STAMP_S = 1.0  # resolution of stamps


@dataclass(frozen=True, slots=True)
class Link:
    """Two incidents, or one with itself, that are closer than chance.

    Attributes:
        first, second: Places among the events; the same where one struck several nodes at once.
        kind: ``node``, ``leaf``..., ``step`` or ``at_once``.
        domain: Name of what they share.
        gap_s: Time between their faults; of several nodes, between their first signs.
        p, q: Chance under the null, and false discovery rate at which it is believed.
        n: Nodes that were struck at once, else 2.
    """

    first: int
    second: int
    kind: str
    domain: str
    gap_s: float
    p: float
    q: float
    n: int = 2


@dataclass(frozen=True, slots=True)
class KindTest:
    """What was tested of one kind of link.

    Attributes:
        kind: See `Link`.
        cause: Only incidents of this cause were, since its domains are wide; None for narrow ones.
        domains: Domains that were exposed.
        tests: Tests made, those that could find nothing included.
        links: Found.
        variation: Coefficient of variation of the domains' rates; None where it was not asked.
    """

    kind: str
    cause: str | None
    domains: int
    tests: int
    links: int
    variation: float | None


@dataclass(frozen=True, slots=True)
class Tested:
    """All links, and what was tested for them."""

    links: tuple[Link, ...]
    tests: tuple[KindTest, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the tests of links are made on.

    Attributes:
        events: Primary incidents and followers, in the order of their faults.
        is_follower: Of each.
        domains: Exposure of all domains.
        step_s: Healthy time of a step by run, where known.
        exposure_s: Up-time by run.
        line_steps: Steps between log lines, by incident id.
        first_signs: First sign on each node, by incident id.
        window_s: How long several nodes may take to fail at once.
    """

    events: Sequence[Incident]
    is_follower: Sequence[bool]
    domains: Domains
    step_s: Mapping[str, float]
    exposure_s: Mapping[str, float]
    line_steps: Mapping[str, int]
    first_signs: Mapping[str, Mapping[str, int]]
    window_s: float


@dataclass(frozen=True, slots=True)
class _Level:
    """Tests of one kind: candidates with their p, those that could find nothing as None."""

    kind: str
    cause: str | None
    domains: int
    p: tuple[float, ...]
    links: tuple[Link | None, ...]


def all_links(given: Evidence, q: float = FALSE_DISCOVERY) -> Tested:
    """Test all kinds of link.

    Args:
        given: Incidents, exposure and signs.
        q: False discovery rate over all kinds together.
    """
    places = _rows(given)
    n_kinds = len(places) + bool(_has_steps(given)) + bool(_struck(given))
    links: list[Link] = []
    tests = []
    for (kind, cause), rows in places.items():
        found, test = _by_time(given, given.domains.kinds[kind], cause, rows, q, n_kinds)
        links += found
        tests.append(test)
    for level in (_same_step(given), _at_once(given)):
        if level is not None:
            found = _believed(level, q, n_kinds)
            links += found
            tests.append(
                KindTest(level.kind, level.cause, level.domains, len(level.p), len(found), None)
            )
    return Tested(tuple(links), tuple(tests))


def _rows(given: Evidence) -> dict[tuple[str, str | None], list[tuple[int, str]]]:
    """Return event and domain by kind, and by cause where domains are wide."""
    rows: dict[tuple[str, str | None], list[tuple[int, str]]] = {
        (kind, None): [] for kind in given.domains.kinds
    }
    for place, item in enumerate(given.events):
        if given.is_follower[place]:
            continue
        for name in given.domains.names_of(item):
            kind = name.split(":", 1)[0]
            cause = FITS.get(kind)
            if given.domains.narrow(name):
                rows[kind, None].append((place, name))
            elif cause is not None and item.cause == cause:
                rows.setdefault((kind, cause), []).append((place, name))
    return {key: found for key, found in rows.items() if found}


def _by_time(
    given: Evidence,
    kind: Kind,
    cause: str | None,
    rows: Sequence[tuple[int, str]],
    q: float,
    levels: int,
) -> tuple[list[Link], KindTest]:
    """Test neighbours in time within each domain of a kind."""
    is_narrow = cause is None
    names = [name for name in kind.names if kind.wide(name) != is_narrow]
    number = {name: i for i, name in enumerate(names)}
    exposure = np.array([kind.exposure_s[kind.place[name]] for name in names])
    clock, slack = _readings(given, rows)
    found = find_links([number[name] for _, name in rows], clock, exposure, slack, q, levels)
    links = []
    for row in np.flatnonzero(found.linked).tolist():
        (first, name), (second, _) = rows[row], rows[int(found.after[row])]
        gap_s = _gap_s(given.events[first], given.events[second])
        p, q_of = float(found.p[row]), float(found.q[row])
        links.append(Link(first, second, kind.kind, name, gap_s, p, q_of))
    test = KindTest(kind.kind, cause, len(names), len(rows), len(links), found.shape**-0.5)
    return links, test


def _readings(given: Evidence, rows: Sequence[tuple[int, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Read the clock of its domain for each event, and by how much that may be off."""
    clock, slack = np.zeros(len(rows)), np.zeros(len(rows))
    by_name: dict[str, list[int]] = {}
    for row, (_, name) in enumerate(rows):
        by_name.setdefault(name, []).append(row)
    for name, own in by_name.items():
        if len(own) < 2:
            continue  # nothing to be near to
        clock_of_it = given.domains.clock(name)
        at = np.array([_moments(given.events[rows[row][0]]) for row in own], dtype=np.int64)
        low, middle, high = (clock_of_it.read(column) for column in at.T)
        clock[own] = middle
        off = np.maximum(high - middle, middle - low)
        slack[own] = np.maximum(off, 0.5 * _STAMP_S * clock_of_it.most)
    return clock, slack


def _moments(item: Incident) -> tuple[int, int, int]:
    """Return the earliest, the likely and the latest moment of its fault, microseconds."""
    at = item.fault_at or 0
    low, high = item.bounds.get("fault_at", (None, None))
    return (
        at if low is None else min(at, round(low * US_PER_S)),
        at,
        at if high is None else max(at, round(high * US_PER_S)),
    )


def _gap_s(first: Incident, second: Incident) -> float:
    return ((second.fault_at or 0) - (first.fault_at or 0)) / US_PER_S


def _has_steps(given: Evidence) -> bool:
    return any(_could_repeat(given, item) for item in given.events)


def _could_repeat(given: Evidence, item: Incident) -> bool:
    has_step = item.last_step is not None and bool(given.step_s.get(item.run))
    return has_step and item.cause in _OF_PROGRAM


def _same_step(given: Evidence) -> _Level | None:
    """Test each fault of a program against the next of its run: was that at the same step?"""
    if not _has_steps(given):
        return None
    by_run: dict[str, list[int]] = {}
    for place, item in enumerate(given.events):
        by_run.setdefault(item.run, []).append(place)
    p: list[float] = []
    links: list[Link | None] = []
    for run, own in by_run.items():
        # without the one that may have followed: a rate of one event where there are two
        seconds = max(given.exposure_s.get(run, 0.0), 1.0)
        rate = max(1, len(own) - 1) * given.step_s.get(run, 0.0) / seconds
        for first, second in zip(own, [*own[1:], None], strict=True):
            if _could_repeat(given, given.events[first]):
                link = None if second is None else _repeat(given, first, second, rate)
                p.append(1.0 if link is None else link.p)
                links.append(link)
    return _Level("step", None, len(by_run), tuple(p), tuple(links))


def _repeat(given: Evidence, first: int, second: int, rate: float) -> Link | None:
    one, two = given.events[first], given.events[second]
    back = one.resume_step
    if one.last_step is None or two.last_step is None or back is None:
        return None
    if not _could_repeat(given, two):
        return None
    ahead, done = one.last_step - back, two.last_step - back
    if ahead < 0 or done < 0:
        return None
    resolution = max(given.line_steps.get(item.id, 1) for item in (one, two))
    p = same_step_p(rate, float(ahead), float(done), float(max(1, resolution)))
    return Link(first, second, "step", f"step:{two.last_step}", _gap_s(one, two), p, 1.0)


def _struck(given: Evidence) -> bool:
    """Whether any event could show several nodes at once."""
    return "node" in given.domains.kinds and any(
        item.nodes and item.cause in _AT_ONCE for item in given.events
    )


def _at_once(given: Evidence) -> _Level | None:
    """Test whether an event struck more nodes of one domain than chance, within the window."""
    if not _struck(given):
        return None
    rates = _rates(given)
    p, links = [], []
    for place, item in enumerate(given.events):
        if given.is_follower[place] or not item.nodes or item.cause not in _AT_ONCE:
            continue
        link = _several(given, place, rates)
        links.append(link)
        p.append(1.0 if link is None else link.p)
    n = sum(len(kind.names) for name, kind in given.domains.kinds.items() if name in PARTS[1:])
    return _Level("at_once", None, n, tuple(p), tuple(links))


def _rates(given: Evidence) -> dict[str, float]:
    """Rate of each domain with parts, shrunk, and of all nodes, per node-second."""
    placed = sum(
        bool(item.nodes) and not follows
        for item, follows in zip(given.events, given.is_follower, strict=True)
    )
    rates = {"all": placed / given.domains.total_s}
    for name in PARTS[1:]:
        kind = given.domains.kinds.get(name)
        if kind is None:
            continue
        counts = dict.fromkeys(kind.names, 0)
        for place, item in enumerate(given.events):
            for domain in () if given.is_follower[place] else given.domains.names_of(item):
                if domain in counts:
                    counts[domain] += 1
        shrunk = shrunk_rates(list(counts.values()), kind.exposure_s).rates
        rates |= dict(zip(counts, shrunk.tolist(), strict=True))
    return rates


def _several(given: Evidence, place: int, rates: Mapping[str, float]) -> Link | None:
    """Take the smallest domain that holds all nodes of an event, and not all of its attempt."""
    item, span = given.events[place], given.domains.span_of(given.events[place])
    if span is None:
        return None
    signs = given.first_signs.get(item.id, {})
    first_at = min(signs.values(), default=0)
    near = [at for at in signs.values() if at - first_at <= given.window_s * US_PER_S]
    held = [
        (given.domains.held_by(name, span), name)
        for name in given.domains.names_of(item)
        if name in rates and given.domains.narrow(name)
    ]
    # all of its nodes in it, and not all of the attempt's
    fits = [
        (n, name)
        for n, name in held
        if n < len(span.nodes) and given.domains.holds_all(name, item.nodes)
    ]
    if item.cause in _OF_HOSTS and not fits:
        fits = [(float(len(span.nodes)), f"run:{item.run}")]
    if len(near) < 2 or not fits:
        return None
    n, name = min(fits)
    rate = rates[name] if name in rates else rates["all"]
    expected = rate * max(0.0, n - 1.0) * given.window_s
    gap_s = (max(near) - first_at) / US_PER_S
    p = burst_p(expected, len(near) - 1)
    return Link(place, place, "at_once", name, gap_s, p, 1.0, len(near))


def _believed(level: _Level, q: float, levels: int) -> list[Link]:
    """Give the links of a level at its share of the false discovery rate."""
    found = np.minimum(q_values(level.p) * levels, 1.0).tolist()
    return [
        Link(link.first, link.second, link.kind, link.domain, link.gap_s, link.p, q_of, link.n)
        for link, q_of in zip(level.links, found, strict=True)
        if link is not None and q_of <= q
    ]
