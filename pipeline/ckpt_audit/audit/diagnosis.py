"""Why a loss is not as expected: what each part that differs is made of, with its seconds.

A part that the tests do not flag is not explained, and what no reason accounts for stays
unexplained: a reason that is made up costs more than none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ckpt_audit.audit.components import Part, PartTest, Stretch
from ckpt_audit.facts import Incident
from ckpt_audit.units import format_duration

NOT_KEPT: Final = 1.1  # effective interval over that before, from which it was not kept
MOST_OF: Final = 0.5  # share of a part from which a reason names it

STAGES: Final = ("replacement_s", "retries_s", "launch_s", "restore_s", "warmup_s")
_STAGE_CAUSE: Final = {
    "replacement_s": ("waiting_for_nodes", "nodes were waited for"),
    "retries_s": ("failed_retries", "retries failed"),
    "launch_s": ("slow_launch", "the launch took"),
    "restore_s": ("slow_restore", "the load took"),
    "warmup_s": ("slow_warmup", "the warm-up took"),
}


@dataclass(frozen=True)
class Reason:
    """One reason for a loss that is not as expected.

    Attributes:
        part: the part that it explains.
        cause: a word for programs.
        seconds: of the window that it accounts for; negative where less was lost.
        evidence: what speaks for it, in words.
    """

    part: Part
    cause: str
    seconds: float
    evidence: str


@dataclass(frozen=True)
class Seen:
    """What a diagnosis looks at, of the stretch before and of the window.

    Attributes:
        stretch: its figures.
        events: incidents that count for the mean up-time.
        n_joined: of these, those that share a cause with another or follow one.
        effective_s: interval as a random failure sees it, seconds; None where not known.
    """

    stretch: Stretch
    events: tuple[Incident, ...]
    n_joined: int
    effective_s: float | None


def diagnose(tests: Sequence[PartTest], base: Seen, window: Seen) -> tuple[Reason, ...]:
    """Name what each flagged part is made of, the largest reason first.

    Args:
        tests: as ``compare_parts`` gives them.
        base: the stretch before.
        window: the window.
    """
    explain: dict[Part, Callable[[PartTest, Seen, Seen], Reason]] = {
        "incidents": _incidents,
        "rollback": _rollback,
        "detection": _detection,
        "recovery": _recovery,
        "save_cost": _save_cost,
    }
    found = [explain[test.part](test, base, window) for test in tests if test.flag]
    return tuple(sorted(found, key=lambda reason: (-abs(reason.seconds), reason.cause)))


def _excess(test: PartTest) -> float:
    return test.excess_s or 0.0


def _incidents(test: PartTest, base: Seen, window: Seen) -> Reason:
    """More or fewer of them, or some that came together."""
    expected = test.expected or 0.0
    more = window.stretch.incidents - expected
    usual = base.n_joined * window.stretch.exposure_s / base.stretch.exposure_s
    joined = window.n_joined - usual
    told = f"{test.n} incidents where {expected:.1f} were expected"
    if more < 0.0:
        return Reason("incidents", "fewer_incidents", _excess(test), told)
    if joined >= MOST_OF * more:
        together = f"{told}; {window.n_joined} of them came with another or in its wake"
        return Reason("incidents", "correlated_incidents", _excess(test), together)
    return Reason("incidents", "more_incidents", _excess(test), told)


def _rollback(test: PartTest, base: Seen, window: Seen) -> Reason:
    """Saves that could not be loaded, or that came late, or neither."""
    excess, n = _excess(test), test.n
    told = (
        f"{format_duration(test.observed)} lost an incident where "
        f"{format_duration(test.expected)} were expected"
    )
    passed = [_passed_over_s(item) for item in window.events]
    usual = math.fsum(_passed_over_s(item) for item in base.events) / max(1, len(base.events))
    skipped_s = math.fsum(passed) - n * usual
    if skipped_s >= MOST_OF * excess:
        times = sum(value > 0.0 for value in passed)
        older = f"{told}; {times} of {n} resumed from before the newest save"
        return Reason("rollback", "invalid_saves", min(skipped_s, excess), older)
    now, before = window.effective_s, base.stretch.interval_s
    if now is not None and now > NOT_KEPT * before:
        late = f"{told}; the interval was {format_duration(now)} and not {format_duration(before)}"
        return Reason("rollback", "interval_not_kept", excess, late)
    return Reason("rollback", "older_checkpoints", excess, told)


def _passed_over_s(incident: Incident) -> float:
    """Training time lost beyond that since the newest save: it was not what was loaded."""
    if incident.lost_work_s is None or incident.unsaved_work_s is None:
        return 0.0
    return max(0.0, incident.lost_work_s - incident.unsaved_work_s)


def _detection(test: PartTest, base: Seen, window: Seen) -> Reason:
    """Later or sooner; where most waits equal a configured one, which."""
    told = (
        f"noticed after {format_duration(test.observed)} on average where "
        f"{format_duration(test.expected)} were usual"
    )
    if _excess(test) < 0.0:
        return Reason("detection", "sooner_detection", _excess(test), told)
    limits = Counter(
        item.detection_timeout_s for item in window.events if item.detection_timeout_s is not None
    )
    if limits:
        limit, times = max(limits.items(), key=lambda pair: (pair[1], pair[0]))
        before = Counter(item.detection_timeout_s for item in base.events)
        if times >= MOST_OF * max(1, test.n) or limit not in before:
            waits = f"{told}; {times} of {test.n} waited for a limit of {format_duration(limit)}"
            return Reason("detection", "configured_timeout", _excess(test), waits)
    return Reason("detection", "late_detection", _excess(test), told)


def _recovery(test: PartTest, base: Seen, window: Seen) -> Reason:
    """The stage of the way back that differs most."""
    told = (
        f"{format_duration(test.observed)} to come back where "
        f"{format_duration(test.expected)} were usual"
    )
    if _excess(test) < 0.0:
        return Reason("recovery", "quicker_recovery", _excess(test), told)
    differences = []
    for stage in STAGES:
        usual, now = _stage_mean(base.events, stage), _stage_mean(window.events, stage)
        if usual is not None and now is not None:
            differences.append((now - usual, stage, now, usual))
    if not differences:
        return Reason("recovery", "slow_recovery", _excess(test), told)
    most, stage, now, usual = max(differences)
    if most * test.n < MOST_OF * _excess(test):
        return Reason("recovery", "slow_recovery", _excess(test), told)
    cause, words = _STAGE_CAUSE[stage]
    stage_told = f"{told}; {words} for {format_duration(now)} and not {format_duration(usual)}"
    return Reason("recovery", cause, _excess(test), stage_told)


def _stage_mean(events: Sequence[Incident], stage: str) -> float | None:
    known = [value for item in events if (value := getattr(item, stage)) is not None]
    return math.fsum(known) / len(known) if known else None


def _save_cost(test: PartTest, _base: Seen, _window: Seen) -> Reason:
    """Costlier or cheaper saves."""
    cause = "costlier_saves" if _excess(test) > 0.0 else "cheaper_saves"
    told = (
        f"{format_duration(test.observed)} a save on average where "
        f"{format_duration(test.expected)} were usual, over {test.n} saves"
    )
    return Reason("save_cost", cause, _excess(test), told)
