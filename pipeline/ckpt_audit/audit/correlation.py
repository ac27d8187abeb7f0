"""Which incidents belong together: tested links, groups, M with and without them, and bursts.

All of it is asked of the whole past up to the end of the window, of all runs together: a month
holds too few incidents, and a domain has no border between runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ckpt_audit.audit.coincidence import Coincidence, RunBursts, bursts_of, coincidences_of
from ckpt_audit.audit.domains import Domains
from ckpt_audit.audit.process import Process
from ckpt_audit.audit.tested_links import Evidence, KindTest, Link, Tested, all_links
from ckpt_audit.facts import Epoch, Incident, Lifetime
from ckpt_audit.reliability.chains import WindowEffect, window_effect
from ckpt_audit.reliability.discovery import FALSE_DISCOVERY
from ckpt_audit.reliability.grouping import Grouping, followed, group_linked
from ckpt_audit.reliability.rate import MeanTime, mean_time
from ckpt_audit.units import US_PER_S, format_duration

WINDOWS_S: Final = (60.0, 300.0, 1800.0, 3600.0)  # shown beside the configured one


@dataclass(frozen=True, slots=True)
class Correlation:
    """How one incident stands to others: isolated, correlated or cascade, and by which rule."""

    incident: str
    label: str
    group: str | None
    rule: str


@dataclass(frozen=True, slots=True)
class Root:
    """The member of a group that showed signs of a fault before any member had failed.

    Attributes:
        incident: Its id.
        sign_at: First sign, UTC microseconds.
        lead_s: From it to the first fault of the group.
    """

    incident: str
    sign_at: int
    lead_s: float


@dataclass(frozen=True, slots=True)
class NamedLink:
    """A link with the ids of its incidents."""

    first: str
    second: str
    link: Link


@dataclass(frozen=True, slots=True)
class Group:
    """Incidents that belong together.

    Attributes:
        id: ``group-`` and the id of its first incident.
        label: ``correlated``, or ``cascade`` where only followers make it one.
        incidents, runs: Of its members, in the order of their faults.
        domains: What its links share.
        rule: Why, in words.
        p, q: Of its weakest link; None for a cascade, which is a rule and no test.
        links: All of them.
        root: Where it may have begun, None where no sign preceded the first fault.
    """

    id: str
    label: str
    incidents: tuple[str, ...]
    runs: tuple[str, ...]
    domains: tuple[str, ...]
    rule: str
    p: float | None
    q: float | None
    links: tuple[NamedLink, ...]
    root: Root | None


@dataclass(frozen=True, slots=True)
class PlainWindow:
    """What a plain window would have grouped, and M with each group counted once."""

    effect: WindowEffect
    is_configured: bool
    once: MeanTime


@dataclass(frozen=True, slots=True)
class Findings:
    """All that is said of correlation.

    Attributes:
        start_at, end_at: Of the past that was asked.
        level: False discovery rate of the links.
        incidents: Failures, followers included.
        unplaced: Those that no line traces to a node: only their time and cohort can link them.
        exposure_s: Up-time of all runs.
        by_incident: Label of each, by id.
        tests: What was tested.
        groups: By their first incident.
        means: M of ``all``, ``isolated``, ``groups`` (correlated ones and followers) and ``once``
            (isolated ones, each correlated group as one event, no followers).
        windows: What plain windows would say.
        bursts: By run.
        coincidences: By pair of runs.
    """

    start_at: int
    end_at: int
    level: float
    incidents: int
    unplaced: int
    exposure_s: float
    by_incident: Mapping[str, Correlation]
    tests: tuple[KindTest, ...]
    groups: tuple[Group, ...]
    means: Mapping[str, MeanTime]
    windows: tuple[PlainWindow, ...]
    bursts: tuple[RunBursts, ...]
    coincidences: tuple[Coincidence, ...]


@dataclass(frozen=True, slots=True)
class History:
    """What is known of all runs up to the end of the window.

    Attributes:
        events: Failures and ends of unknown kind, in the order of their faults.
        domains: Exposure of failure domains.
        lifetimes: Of all runs.
        epochs: By run.
        processes: By run.
        step_s: Healthy time of a step by run.
        line_steps, first_signs: By incident id.
        window_s: The configured window.
    """

    events: Sequence[Incident]
    domains: Domains
    lifetimes: Sequence[Lifetime]
    epochs: Mapping[str, Sequence[Epoch]]
    processes: Mapping[str, Process | None]
    step_s: Mapping[str, float]
    line_steps: Mapping[str, int]
    first_signs: Mapping[str, Mapping[str, int]]
    window_s: float


def correlate(past: History) -> Findings:
    """Test, group and count.

    Args:
        past: All runs up to the end of the window.
    """
    events = past.events
    at_us = [item.fault_at or 0 for item in events]
    leader = followed(at_us, [item.run for item in events], [item.secondary for item in events])
    by_run = _exposure_by_run(past.lifetimes)
    tested = all_links(
        Evidence(
            events=events,
            is_follower=[first is not None for first in leader],
            domains=past.domains,
            step_s=past.step_s,
            exposure_s=by_run,
            line_steps=past.line_steps,
            first_signs=past.first_signs,
            window_s=past.window_s,
        ),
        FALSE_DISCOVERY,
    )
    pairs = [(link.first, link.second) for link in tested.links]
    grouping = group_linked(
        at_us, leader, pairs, [link.first for link in tested.links if link.first == link.second]
    )
    groups = _groups(events, leader, grouping, tested)
    exposure_s = sum(by_run.values())
    return Findings(
        start_at=min((life.start_at for life in past.lifetimes), default=0),
        end_at=max((life.end_at for life in past.lifetimes), default=0),
        level=FALSE_DISCOVERY,
        incidents=len(events),
        unplaced=sum(not item.nodes for item in events),
        exposure_s=exposure_s,
        by_incident=_labels(events, grouping, groups),
        tests=tested.tests,
        groups=groups,
        means=_means(grouping, groups, exposure_s),
        windows=_windows(past, at_us, leader, exposure_s),
        bursts=bursts_of(past.lifetimes, past.epochs, past.processes, past.window_s),
        coincidences=coincidences_of(events, past.lifetimes, past.window_s),
    )


def _exposure_by_run(lifetimes: Sequence[Lifetime]) -> dict[str, float]:
    found: dict[str, float] = {}
    for life in lifetimes:
        length = max(0, life.end_at - life.start_at) / US_PER_S
        found[life.run] = found.get(life.run, 0.0) + length
    return found


def _groups(
    events: Sequence[Incident],
    leader: Sequence[int | None],
    grouping: Grouping,
    tested: Tested,
) -> tuple[Group, ...]:
    members: dict[int, list[int]] = {}
    for place in sorted(range(len(events)), key=lambda i: (events[i].fault_at or 0, i)):
        members.setdefault(grouping.group[place], []).append(place)
    links: dict[int, list[Link]] = {}
    for link in tested.links:
        links.setdefault(grouping.group[link.first], []).append(link)
    return tuple(
        _group(events, leader, places, links.get(number, []))
        for number, places in members.items()
        if len(places) > 1 or number in links
    )


def _group(
    events: Sequence[Incident],
    leader: Sequence[int | None],
    places: Sequence[int],
    links: Sequence[Link],
) -> Group:
    named = tuple(
        NamedLink(events[link.first].id, events[link.second].id, link)
        for link in sorted(links, key=lambda one: (one.first, one.second, one.kind, one.domain))
    )
    # a run that fails again at its step may do so as a follower: that alone correlates nothing
    counts = [link for link in links if leader[link.first] is None and leader[link.second] is None]
    followers = [place for place in places if leader[place] is not None]
    reasons = [_reason(link) for link in named]
    if followers:
        n = len(followers)
        verb = "struck before the recovery from another was complete"
        reasons.append(f"{n} {verb}")
    return Group(
        id=f"group-{events[places[0]].id}",
        label="correlated" if counts else "cascade",
        incidents=tuple(events[place].id for place in places),
        runs=tuple(dict.fromkeys(events[place].run for place in places)),
        domains=tuple(sorted({link.domain for link in links})),
        rule="; ".join(dict.fromkeys(reasons)),
        p=max((link.p for link in links), default=None),
        q=max((link.q for link in links), default=None),
        links=named,
        root=_root([events[place] for place in places]),
    )


def _reason(named: NamedLink) -> str:
    link = named.link
    kind, name = link.domain.split(":", 1)
    where = name if name.startswith(kind) else f"{kind} {name}"
    gap = format_duration(link.gap_s)
    if link.kind == "at_once":
        return f"{link.n} nodes of {where} within {gap}"
    if link.kind == "step":
        return f"failed again at {where}"
    return f"{where} twice within {gap}"


def _root(members: Sequence[Incident]) -> Root | None:
    """Return the member with the earliest sign, where that preceded all faults of the group."""
    signs = [(item.precursor_at, item.id) for item in members if item.precursor_at is not None]
    first = min(item.fault_at or 0 for item in members)
    if len(members) < 2 or not signs or min(signs)[0] >= first:
        return None
    sign_at, name = min(signs)
    return Root(name, sign_at, (first - sign_at) / US_PER_S)


def _labels(
    events: Sequence[Incident], grouping: Grouping, groups: Sequence[Group]
) -> dict[str, Correlation]:
    of = {name: group for group in groups for name in group.incidents}
    found = {}
    for item, label in zip(events, grouping.label, strict=True):
        group = of.get(item.id)
        in_group = group is not None and (label != "isolated" or len(group.incidents) > 1)
        found[item.id] = Correlation(
            incident=item.id,
            label=label,
            group=group.id if group is not None and in_group else None,
            rule=group.rule
            if group is not None and in_group
            else f"no link at a false discovery rate of {FALSE_DISCOVERY:.0%}",
        )
    return found


def _means(grouping: Grouping, groups: Sequence[Group], exposure_s: float) -> dict[str, MeanTime]:
    if exposure_s <= 0.0:
        return {}
    n, isolated = len(grouping.label), grouping.label.count("isolated")
    once = isolated + sum(group.label == "correlated" for group in groups)
    counts = {"all": n, "isolated": isolated, "groups": n - isolated, "once": once}
    return {name: mean_time(count, exposure_s) for name, count in counts.items()}


def _windows(
    past: History, at_us: Sequence[int], leader: Sequence[int | None], exposure_s: float
) -> tuple[PlainWindow, ...]:
    starts = [life.start_at for life in past.lifetimes]
    ends = [life.end_at for life in past.lifetimes]
    length_s = (max(ends, default=0) - min(starts, default=0)) / US_PER_S
    if length_s <= 0.0 or exposure_s <= 0.0:
        return ()
    narrow = [
        [name for name in past.domains.names_of(item) if past.domains.narrow(name)]
        for item in past.events
    ]
    found = []
    for window_s in sorted({*WINDOWS_S, past.window_s}):
        effect = window_effect(at_us, narrow, leader, length_s, window_s)
        once = mean_time(effect.alone + effect.groups, exposure_s)
        found.append(PlainWindow(effect, window_s == past.window_s, once))
    return tuple(found)
