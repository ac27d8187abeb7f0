"""M, C, D and R of one run in one window, and how its incidents stand to each other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ckpt_audit.audit.correlation import Correlation
from ckpt_audit.audit.data import Population, RunEstimate
from ckpt_audit.audit.process import Process
from ckpt_audit.facts import Checkpoint, Epoch, Incident, LedgerRow, UpTime
from ckpt_audit.reliability.dispersion import Dispersion, robust_mean_time
from ckpt_audit.reliability.levels import WIDEN
from ckpt_audit.reliability.rate import mean_time, per_1000_acc_h
from ckpt_audit.reliability.sample import Sample, summarise
from ckpt_audit.units import S_PER_H, US_PER_S

POPULATIONS = ("all", "isolated", "correlated", "interval")
INCOMPLETE = (
    "records incomplete: the log shows more launches than they do; take them with "
    "sacct --duplicates"
)
MOST_UNSEEN = 0.1  # of the events, beyond which those that no log tells of matter
_BURSTS_INCLUDED = ("all", "interval")  # those that bursts belong to


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
    n_unlogged: int = 0
    epochs: tuple[Epoch, ...] = ()

    @property
    def counted_saves(self) -> tuple[Checkpoint, ...]:
        """The saves without those of stretches that a person excluded."""
        return tuple(save for save in self.checkpoints if not save.excluded)


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


def _populations(observed: Observed, process: Process | None) -> tuple[Population, ...]:
    exposure = exposure_s(observed.uptime)
    if exposure <= 0:
        return ()
    calendar_s = sum(row.observed_us for row in observed.calendar) / US_PER_S
    found = []
    for name in POPULATIONS:
        one = _population(observed, name, exposure)
        if name in _BURSTS_INCLUDED and process is not None and process.spread is not None:
            one = _allow_for_bursts(one, process.spread)
        found.append(replace(one, calendar_s=calendar_s))
    return tuple(found)


def _population(observed: Observed, name: str, exposure: float) -> Population:
    n = len(members(observed, name))
    acc_h = _exposure_acc_h(observed.uptime)
    return Population(
        population=name,
        mean_time=mean_time(n, exposure),
        calendar_s=None,
        per_1000_acc_h=None if not acc_h else per_1000_acc_h(n, acc_h).value,
    )


def _allow_for_bursts(one: Population, spread: Dispersion) -> Population:
    """Give the wider interval too, and let it count where counts may well be uneven."""
    robust = robust_mean_time(one.mean_time.incidents, one.mean_time.exposure_s, spread)
    is_uneven = spread.p <= WIDEN
    return replace(one, robust=robust, mean_time=robust if is_uneven else one.mean_time)


def _by_epoch(observed: Observed) -> tuple[Population, ...]:
    """Give M of each epoch that has up-time in the window; nothing where it holds one only."""
    starts = [epoch.started_at for epoch in observed.epochs]

    def place(at: int) -> int:
        return max(0, bisect_right(starts, at) - 1)

    found = []
    for index, epoch in enumerate(observed.epochs if len(starts) > 1 else ()):
        part = replace(
            observed,
            incidents=tuple(
                item
                for item in observed.incidents
                if item.fault_at is not None and place(item.fault_at) == index
            ),
            uptime=tuple(item for item in observed.uptime if place(item.start_at) == index),
        )
        exposure = exposure_s(part.uptime)
        if exposure > 0:
            found += [
                replace(_population(part, name, exposure), epoch=epoch.epoch)
                for name in POPULATIONS
            ]
    return tuple(found)


def estimate(observed: Observed, process: Process | None = None) -> RunEstimate:
    """Put the estimates of one run together.

    Args:
        observed: The run in the window.
        process: Its failures as a process, over all of its past.
    """
    launches, reached = observed.launches
    refusal = _refusal(observed)
    c, c_block, c_commit = _costs_of_saves(observed)
    d, r = _delays(observed)
    return RunEstimate(
        populations=() if refusal else _populations(observed, process),
        c=c,
        d=d,
        r=r,
        launches=launches,
        launches_reached_step=reached,
        refusal=refusal,
        c_block=c_block,
        c_commit=c_commit,
        process=None if refusal else process,
        by_epoch=() if refusal else _by_epoch(observed),
    )


def _refusal(observed: Observed) -> str | None:
    """Why no M is given: failures may be missing from what was read, and nobody knows how many."""
    if observed.n_unrecorded:
        return INCOMPLETE
    unseen = observed.n_unlogged
    if unseen > MOST_UNSEEN * sum(is_event(item) for item in observed.incidents):
        starts = "1 start" if unseen == 1 else f"{unseen} starts"
        return (
            f"logs incomplete: {starts} may have done steps and left no log that was read; where a "
            "requeue began it anew, let it append with #SBATCH --open-mode=append"
        )
    return None


def _costs_of_saves(observed: Observed) -> tuple[Sample, Sample, Sample]:
    """Summarise exposed cost, pause and time until durable of the saves."""
    saves = observed.counted_saves
    return (
        summarise([save.cost_s for save in saves if save.cost_s is not None]),
        summarise([save.block_s for save in saves if save.block_s is not None]),
        summarise([save.commit_s for save in saves if save.commit_s is not None]),
    )


def _delays(observed: Observed) -> tuple[Sample, Sample]:
    """Summarise detection of events and recovery from all that was not planned."""
    events = [item for item in observed.incidents if is_event(item)]
    unplanned = [
        item for item in observed.incidents if item.kind != "planned" and not item.excluded
    ]
    return (
        summarise([item.detection_s for item in events if item.detection_s is not None]),
        summarise([item.recovery_s for item in unplanned if item.recovery_s is not None]),
    )
