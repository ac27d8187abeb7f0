"""Measured times of one run as laws that a simulation can draw from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ckpt_audit.audit.data import RunReport
from ckpt_audit.audit.estimate import is_event, sets_interval
from ckpt_audit.model.simulation import Measured, up_times
from ckpt_audit.units import US_PER_S

_SHORTEST_S = 1e-6  # up-times of no length happened, and have to be drawn as some


@dataclass(frozen=True)
class MeasuredLaws:
    """What was measured; None where nothing was.

    Attributes:
        up: Up-time between incidents, those that were cut off included.
        c, d, r: Exposed cost of a save, fault to detected, detected to the first step.
        n_failures: Number of up-times that an event ended.
        why: Why there is no law of up-times, or None.
    """

    up: Measured | None
    c: Measured | None
    d: Measured | None
    r: Measured | None
    n_failures: int
    why: str | None = None


def measured_laws(run: RunReport) -> MeasuredLaws:
    """Give the laws of a run in its window.

    The events are those that set the interval: failures of unknown cause and preemptions without
    a save among them, followers of a cascade not. An up-time that ended in another way, or goes
    on, was cut off. Costs are those that `estimate` shows.

    Args:
        run: All about the run.
    """
    events = {item.id for item in run.incidents if sets_interval(item)}
    lengths = [(item.end_at - item.start_at) / US_PER_S for item in run.uptime]
    has_failed = [item.incident in events for item in run.uptime]
    up, why = None, run.estimate.refusal
    if why is None:
        try:
            up = up_times(np.maximum(lengths, _SHORTEST_S), has_failed)
        except ValueError as error:
            why = str(error)
    unplanned = [item for item in run.incidents if item.kind != "planned" and not item.excluded]
    return MeasuredLaws(
        up=up,
        c=_law([save.cost_s for save in run.checkpoints if not save.excluded]),
        d=_law([item.detection_s for item in run.incidents if is_event(item)]),
        r=_law([item.recovery_s for item in unplanned]),
        n_failures=sum(has_failed),
        why=why,
    )


def _law(values: list[float | None]) -> Measured | None:
    known = tuple(value for value in values if value is not None)
    return Measured(known) if known else None
