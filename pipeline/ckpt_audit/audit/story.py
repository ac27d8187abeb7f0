"""One incident as a person would tell it, and what would change if a moment of it were wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ckpt_audit.audit.estimate import is_event
from ckpt_audit.facts import Incident
from ckpt_audit.units import US_PER_S, format_duration

Say = Callable[[int], str]

_KINDS = {
    "failure": "It counts as a failure",
    "preemption": "It counts as a preemption, which ends the time that is observed and is no event",
    "mitigation": "It counts as a mitigation, which ends the time that is observed and is no event",
    "planned": "It counts as planned, which ends the time that is observed and is no event",
    "operator_rollback": "It counts as a rollback by choice, which is no event of M",
    "unknown": "Nothing says how it ended; M is shown with and without it",
}
_DETECTORS = {
    "watchdog": "a watchdog gave up",
    "launcher": "the launcher gave up",
    "scheduler": "the scheduler ended the job",
    "person": "a person acted",
    "program": "the program stopped by plan",
}
_SOURCES = {
    "storage": "from storage",
    "local": "from the nodes' own disks",
    "peer": "from its peers' memory",
    "spare": "from a spare",
    "elastic": "from the groups that had gone on",
    "scratch": "from scratch",
}


@dataclass(frozen=True, slots=True)
class MeanTimes:
    """M of the run with all its events, and what one event more or less makes of it (seconds)."""

    exposure_s: float
    n_events: int

    def with_events(self, n_events: int) -> float | None:
        """M for another number of events, None for none."""
        return self.exposure_s / n_events if n_events > 0 else None


def telling(incident: Incident, say: Say) -> tuple[str, ...]:
    """The incident in sentences, in the order in which things happened.

    Args:
        incident: The incident.
        say: Prints an instant (microseconds UTC) for the reader.
    """
    parts = (_before(incident, say), _fault(incident, say), _return(incident, say), _cost(incident))
    return tuple(sentence for part in parts for sentence in part)


def _before(incident: Incident, say: Say) -> list[str]:
    told = []
    if incident.last_step is not None and incident.last_step_at is not None:
        told.append(f"Step {incident.last_step:,} was complete at {say(incident.last_step_at)}.")
    if incident.verified_step is None:
        told.append("No checkpoint was known to be good then.")
    else:
        age = format_duration(incident.verified_checkpoint_age_s)
        told.append(
            f"The newest checkpoint known to be good was that of step {incident.verified_step:,} "
            f"(by {incident.verified_grade}), {age} old when the fault struck."
        )
    behind = incident.verified_step_hindsight
    if behind is not None and behind != incident.verified_step:
        told.append(f"Today it is known that only step {behind:,} could have been loaded.")
    if incident.precursor_at is not None and incident.fault_at is not None:
        lead = format_duration((incident.fault_at - incident.precursor_at) / US_PER_S)
        told.append(f"A first sign had come {lead} before, at {say(incident.precursor_at)}.")
    return told


def _fault(incident: Incident, say: Say) -> list[str]:
    if incident.fault_at is None:
        return [f"When it ended is not known. The rule: {incident.rule}."]
    cause = "nothing says why" if incident.cause == "unknown" else f"cause {incident.cause}"
    during = "" if incident.phase == "step" else f" during {_phase(incident.phase)}"
    if incident.detection_s is None:
        told = [f"It was ended at {say(incident.fault_at)}{during} ({cause}): {incident.rule}."]
    else:
        told = [f"It failed at {say(incident.fault_at)}{during} ({cause}): {incident.rule}."]
        if incident.detected_at is not None:
            who = _DETECTORS.get(incident.detector or "", "somebody or something acted")
            after = format_duration(incident.detection_s)
            told.append(f"At {say(incident.detected_at)}, {after} later, {who}.")
            if incident.detection_timeout_s is not None:
                limit = format_duration(incident.detection_timeout_s)
                told.append(f"That is a configured wait of {limit}: lower it to notice earlier.")
    told += [f"A person overruled what was found ({words})." for words in incident.overruled]
    if incident.excluded:
        told.append("It lies in a stretch that a person excluded: it is in no figure.")
    kind = _KINDS.get(incident.kind, f"It counts as {incident.kind}")
    second = ", secondary: it belongs to the wake of the one before" if incident.secondary else ""
    return [*told, f"{kind}{second}."]


def _phase(phase: str) -> str:
    """A phase after "during".

    >>> _phase("first_step"), _phase("save")
    ('its first step', 'a save')
    """
    named = {"save": "a save", "evaluation": "an evaluation", "load": "a load"}
    return named.get(phase, f"its {phase.replace('_', ' ')}")


def _return(incident: Incident, say: Say) -> list[str]:
    if incident.first_step_at is None:
        return ["By the last evidence the run had not come back."]
    told = []
    failed = incident.attempts - 1
    if failed:
        tries = "One try to come back" if failed == 1 else f"{failed} tries to come back"
        told.append(f"{tries} failed, for {format_duration(incident.retries_s)} in all.")
    if incident.replaced_at is not None:
        told.append(f"Nodes were there again at {say(incident.replaced_at)}.")
    where = _SOURCES.get(incident.recovery_source, "from a source that nothing tells")
    if incident.resume_step is None:
        told.append(f"It came back {where}.")
    else:
        told.append(f"It resumed from step {incident.resume_step:,}, {where}.")
        newest = incident.verified_step
        if newest is not None and newest > incident.resume_step:
            told.append(f"It passed over step {newest:,}, which was known to be good then.")
    told.append(f"Its first step was complete at {say(incident.first_step_at)}.")
    parts = [
        (name, value)
        for name, value in (
            ("data", incident.data_s),
            ("compiling", incident.compile_s),
            ("setting up communication", incident.comm_init_s),
        )
        if value
    ]
    if parts:
        named = ", ".join(f"{name} {format_duration(value)}" for name, value in parts)
        told.append(f"The way there: of it {named}.")
    if incident.caught_up_at is not None:
        told.append(f"It was where it had been at {say(incident.caught_up_at)}.")
    return told


def _cost(incident: Incident) -> list[str]:
    if incident.loss_s is None:
        return []
    parts = [
        ("lost work", incident.lost_work_s),
        ("detection", incident.detection_s),
        ("recovery", incident.recovery_s),
    ]
    told = ", ".join(f"{name} {format_duration(value)}" for name, value in parts if value)
    steps = ""
    if incident.steps_lost is not None:
        unit = "step" if incident.steps_lost == 1 else "steps"
        steps = f" and {incident.steps_lost:,} {unit}"
    return [f"It cost {format_duration(incident.loss_s)}{steps}" + (f": {told}." if told else ".")]


def what_if(incident: Incident, means: MeanTimes | None, say: Say) -> tuple[str, ...]:
    """What would change if a moment, the kind or the chain were not what is said.

    Args:
        incident: The incident.
        means: M of its run, or None where there is none.
        say: Prints an instant for the reader.
    """
    return (
        *_if_fault(incident, say),
        *_if_detected(incident),
        *_if_steps(incident),
        *_if_kind(incident, means),
        *_if_chain(incident, means),
    )


def _if_fault(incident: Incident, say: Say) -> list[str]:
    low, high = incident.bounds.get("fault_at", (None, None))
    if low is None or high is None or incident.detected_at is None or incident.fault_at is None:
        return []
    told = []
    for end, word in ((low, "already"), (high, "only")):
        moved = incident.fault_at / US_PER_S - end
        if abs(moved) < 1 or incident.detection_s is None:
            continue
        detection = format_duration(incident.detection_s + moved)
        lost = "unknown"
        if incident.lost_work_s is not None:
            lost = format_duration(max(0.0, incident.lost_work_s - moved))
        told.append(
            f"Had it failed {word} at {say(round(end * US_PER_S))}, detection would be {detection} "
            f"and lost work {lost}; the loss in all stays the same."
        )
    return told


def _if_detected(incident: Incident) -> list[str]:
    if not incident.detection_s or incident.recovery_s is None:
        return []
    return [
        (
            "A minute that it was noticed earlier or later moves from recovery to detection, or "
            "back; the loss stays the same."
        )
    ]


def _if_steps(incident: Incident) -> list[str]:
    low, high = incident.bounds.get("steps_lost", (None, None))
    if low is None or high is None or low == high:
        return []
    return [
        (
            f"Only some steps are logged: it lost between {low:,.0f} and {high:,.0f} of them, and "
            "lost work and unsaved work move with that."
        )
    ]


def _if_kind(incident: Incident, means: MeanTimes | None) -> list[str]:
    if means is None:
        return []
    counts = is_event(incident)
    n_other = means.n_events + (-1 if counts else 1)
    now, then = means.with_events(means.n_events), means.with_events(n_other)
    was = "there is none" if now is None else f"it is {format_duration(now)}"
    would = (
        "there would be none to give" if then is None else f"it would be {format_duration(then)}"
    )
    other = "planned and no failure" if counts else "a failure"
    return [f"Were it {other}, M of the run would change: {was} now, {would}."]


def _if_chain(incident: Incident, means: MeanTimes | None) -> list[str]:
    if incident.attempts < 2 or means is None:
        return []
    then = means.with_events(means.n_events + incident.attempts - 1)
    return [
        (
            f"Were each of its {incident.attempts} attempts an incident of its own, M would be "
            f"{format_duration(then)}: failed retries are one incident with the fault before them."
        )
    ]
