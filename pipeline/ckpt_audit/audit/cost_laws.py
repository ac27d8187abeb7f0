"""C, D and R of one run as laws: in all, and by tier, detector and stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ckpt_audit.audit.data import By, Cost, NamedLaw
from ckpt_audit.audit.estimate import Observed, is_event
from ckpt_audit.facts import Checkpoint, Incident
from ckpt_audit.reliability.cost_law import cost_law

STAGES: Final = ("replacement", "retries", "launch", "restore", "warmup")


def cost_laws(observed: Observed) -> tuple[NamedLaw, ...]:
    """Describe every cost of a run in a window.

    Args:
        observed: The run in the window.
    """
    saves = sorted(observed.counted_saves, key=lambda save: (save.started_at or 0, save.step))
    events = [item for item in observed.incidents if is_event(item)]
    unplanned = [x for x in observed.incidents if x.kind != "planned" and not x.excluded]
    found = [
        _law("c", None, None, ((x.cost_s, x.started_at) for x in saves)),
        *_grouped("c", "tier", saves, lambda x: x.tier, lambda x: (x.cost_s, x.started_at)),
        _law("d", None, None, ((x.detection_s, x.fault_at) for x in events)),
        *_by_detector(events),
        _law("r", None, None, ((x.recovery_s, x.detected_at) for x in unplanned)),
    ]
    for stage in STAGES:
        values = ((getattr(x, f"{stage}_s"), x.detected_at) for x in unplanned)
        found.append(_law("r", "stage", stage, values))
    return tuple(one for one in found if one.law.sample.n)


Pairs = Iterable[tuple[float | None, int | None]]


def _law(
    cost: Cost, by: By | None, key: str | None, values: Pairs, timeout_s: float | None = None
) -> NamedLaw:
    known = [(max(0.0, value), at) for value, at in values if value is not None]
    law = cost_law([value for value, _ in known])
    shift_at = None
    if law.shift is not None and law.shift.significant and law.shift.place < len(known):
        shift_at = known[law.shift.place][1]
    return NamedLaw(cost, by, key, law, shift_at, timeout_s)


def _grouped(
    cost: Cost,
    by: By,
    items: Iterable[Checkpoint],
    key_of: Callable[[Checkpoint], str],
    value_of: Callable[[Checkpoint], tuple[float | None, int | None]],
) -> list[NamedLaw]:
    groups: dict[str, list[tuple[float | None, int | None]]] = {}
    for item in items:
        groups.setdefault(key_of(item), []).append(value_of(item))
    if len(groups) == 1:
        return []  # all of them, which is told already
    return [_law(cost, by, key, values) for key, values in sorted(groups.items())]


def _by_detector(events: Iterable[Incident]) -> list[NamedLaw]:
    """Times until noticed, by who noticed, and the configured wait that most of them are."""
    groups: dict[str, list[Incident]] = {}
    for item in events:
        groups.setdefault(item.detector or "unknown", []).append(item)
    found = []
    for key, items in sorted(groups.items()):
        waits = [x.detection_timeout_s for x in items if x.detection_timeout_s is not None]
        most = max(waits, key=lambda wait: (waits.count(wait), wait), default=None)
        timeout_s = most if most is not None and 2 * waits.count(most) > len(items) else None
        values = ((x.detection_s, x.fault_at) for x in items)
        found.append(_law("d", "detector", key, values, timeout_s))
    return found
