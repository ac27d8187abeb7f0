"""M, C, D and R of one run in one window, and how its incidents stand to each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ckpt_audit.audit.data import Correlation, Population, RunEstimate
from ckpt_audit.facts import Checkpoint, Incident, LedgerRow, UpTime
from ckpt_audit.reliability.chains import group_incidents
from ckpt_audit.reliability.rate import mean_time, per_1000_acc_h
from ckpt_audit.reliability.sample import summarise
from ckpt_audit.units import S_PER_H, US_PER_S

POPULATIONS = ("all", "isolated", "correlated", "interval")
INCOMPLETE = (
    "records incomplete: the log shows more launches than they do; take them with "
    "sacct --duplicates"
)
JOINING_DOMAINS = ("leaf", "rack", "power", "node")


def is_event(incident: Incident) -> bool:
    """Whether an incident is an event of M: a failure, or an end of unknown kind."""
    return incident.kind in ("failure", "unknown") and not incident.excluded


def sets_interval(incident: Incident) -> bool:
    """Whether it belongs to the M that sets the interval.

    Every primary event that discarded work at random: failures, and preemptions that no save
    preceded. A follower of a cascade costs detection and restart, not a choice of interval.
    """
    if incident.secondary or incident.excluded:
        return False
    if is_event(incident):
        return True
    return incident.kind == "preemption" and (incident.steps_lost or 0) > 0


def correlate(incidents: Sequence[Incident], window_s: float) -> dict[str, Correlation]:
    """Labels every event of all runs as isolated, correlated or a cascade.

    Args:
        incidents: Incidents of all runs, in the order of their faults.
        window_s: Faults closer than this that share a failure domain are joined, seconds.

    Returns:
        Incident id to its label; planned ends and preemptions have none.
    """
    events = [item for item in incidents if is_event(item) and item.fault_at is not None]
    if not events:
        return {}
    grouping = group_incidents(
        at_us=[item.fault_at or 0 for item in events],
        domains=[_domains(item) for item in events],
        run_ids=[item.run for item in events],
        secondary=[item.secondary for item in events],
        window_s=window_s,
    )
    first: dict[int, str] = {}
    for item, group in zip(events, grouping.group, strict=True):
        first.setdefault(group, item.id)
    return {
        item.id: Correlation(
            incident=item.id,
            label=label,
            group=None if label == "isolated" else f"group-{first[group]}",
            rule=f"shares a domain within {window_s:g} s",
        )
        for item, group, label in zip(events, grouping.group, grouping.label, strict=True)
    }


def _domains(incident: Incident) -> set[str]:
    named = {name for name in incident.domains if name.split(":", 1)[0] in JOINING_DOMAINS}
    return named | {f"node:{node}" for node in incident.nodes}


@dataclass(frozen=True, slots=True)
class Observed:
    """What one run did in the window: the input of its estimates."""

    incidents: tuple[Incident, ...]
    correlations: dict[str, Correlation]
    uptime: tuple[UpTime, ...]
    calendar: tuple[LedgerRow, ...]
    checkpoints: tuple[Checkpoint, ...]
    launches: tuple[int, int]
    n_unrecorded: int = 0


def exposure_s(uptime: Iterable[UpTime]) -> float:
    """Sum of the up-time, seconds."""
    return sum(item.end_at - item.start_at for item in uptime) / US_PER_S


def _exposure_acc_h(uptime: Iterable[UpTime]) -> float | None:
    total = 0.0
    for item in uptime:
        if item.n_accelerators is None:
            return None
        total += (item.end_at - item.start_at) / US_PER_S * item.n_accelerators
    return total / S_PER_H


def members(observed: Observed, population: str) -> list[Incident]:
    """Incidents of one population of DOMAIN's M.

    Args:
        observed: The run in the window.
        population: One of ``POPULATIONS``.
    """
    if population == "interval":
        return [item for item in observed.incidents if sets_interval(item)]
    events = [item for item in observed.incidents if is_event(item)]
    if population == "all":
        return events
    labels = {item.id: observed.correlations[item.id].label for item in events}
    isolated = population == "isolated"
    return [item for item in events if (labels[item.id] == "isolated") == isolated]


def _populations(observed: Observed) -> tuple[Population, ...]:
    exposure = exposure_s(observed.uptime)
    if exposure <= 0:
        return ()
    calendar_s = sum(row.observed_us for row in observed.calendar) / US_PER_S
    acc_h = _exposure_acc_h(observed.uptime)
    found = []
    for name in POPULATIONS:
        n = len(members(observed, name))
        rate = None if not acc_h else per_1000_acc_h(n, acc_h).value
        found.append(
            Population(
                population=name,
                mean_time=mean_time(n, exposure),
                calendar_s=calendar_s,
                per_1000_acc_h=rate,
            )
        )
    return tuple(found)


def estimate(observed: Observed) -> RunEstimate:
    """M of every population, and the distributions of C, D and R."""
    events = [item for item in observed.incidents if is_event(item)]
    unplanned = [
        item for item in observed.incidents if item.kind != "planned" and not item.excluded
    ]
    launches, reached = observed.launches
    refusal = INCOMPLETE if observed.n_unrecorded else None
    return RunEstimate(
        populations=() if refusal else _populations(observed),
        c=summarise([save.cost_s for save in observed.checkpoints if save.cost_s is not None]),
        d=summarise([item.detection_s for item in events if item.detection_s is not None]),
        r=summarise([item.recovery_s for item in unplanned if item.recovery_s is not None]),
        launches=launches,
        launches_reached_step=reached,
        refusal=refusal,
        c_block=summarise([s.block_s for s in observed.checkpoints if s.block_s is not None]),
        c_commit=summarise([s.commit_s for s in observed.checkpoints if s.commit_s is not None]),
    )
