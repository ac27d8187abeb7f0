"""Compares what the command line says with the truth, value by value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.world.clock import SECOND, iso_or_none
from tests.world.draw import Scenario
from tests.world.finish import how_of
from tests.world.random_truth import Incident, Truth

from .audit import Answers

Json = dict[str, Any]
NEAR_S = 2.5
LEDGER_SHARE = 0.005
EXACT = ("secondary", "attempts", "last_step", "resume_step", "verified_step", "steps_lost")
MOMENTS = (
    "last_step_at", "fault_at", "detected_at", "replaced_at", "launched_at", "load_started_at",
    "restored_at", "first_step_at",
)  # fmt: skip
# Every log and record has these, so they must not be null.
ALWAYS = ("detected_at", "replaced_at", "first_step_at", "last_step_at")
# With every k-th step logged, an attempt may have gone less than k steps beyond its last save.
UNCERTAIN = ("steps_lost", "lost_work_s")
# What starts up beside an orphan has launched before it takes over.
BEFORE_TAKEOVER = ("launched_at", "load_started_at", "restored_at")
DURATIONS = {
    "lost_work_s": "lost_work_us", "detection_s": "detection_us", "recovery_s": "recovery_us",
    "verified_checkpoint_age_s": "verified_age_us",
}  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """One value that is not what happened."""

    run: str
    what: str
    how: str
    got: object
    want: object
    place: str = ""

    def __str__(self) -> str:
        """In one line."""
        return f"{self.run} {self.place} {self.how} {self.what}: got {self.got}, want {self.want}"


@dataclass
class Score:
    """Values compared, and those that differ."""

    compared: int
    differences: list[Difference]


def micros(text: str) -> int:
    """A printed instant as microseconds UTC."""
    return round(datetime.fromisoformat(text).timestamp() * SECOND)


def compare(scenario: Scenario, truths: list[Truth], answers: Answers) -> Score:
    """Compare every run of a world."""
    score = Score(0, [])
    found = {item["run"]: item for item in answers.runs}
    for truth in truths:
        if truth.run not in found:
            score.differences.append(Difference(truth.run, "run", "", sorted(found), truth.run))
            continue
        _incidents(scenario, truth, answers, score)
        if truth.is_whole:
            _run(truth, found[truth.run], score, scenario.log_every)
            _ledger(scenario, truth, answers, score)
    score.differences += [
        Difference(name, "run", "", name, None) for name in set(found) - {t.run for t in truths}
    ]
    return score


def _run(truth: Truth, item: Json, score: Score, log_every: int) -> None:
    wanted = {"attempts": truth.launches, "launches_without_step": truth.without_step}
    for name, want in wanted.items():
        score.compared += 1
        # a launch that did fewer steps than a log prints one of looks like one without
        is_short = name == "launches_without_step" and log_every > 1 and item[name] > want
        if item[name] != want and not is_short:
            score.differences.append(Difference(truth.run, f"run {name}", "", item[name], want))


def pairs(truth: Truth, answers: Answers, slack: int) -> list[tuple[Incident | None, Json | None]]:
    """Each interruption beside the incident that is about it, None where there is none."""
    left = [item for item in answers.incidents if item["run"] == truth.run]
    found: list[tuple[Incident | None, Json | None]] = []
    for real in truth.incidents:
        mine = next((item for item in left if _same(real, item, slack)), None)
        if mine is not None:
            left.remove(mine)
        found.append((real, mine))
    return found + [(None, item) for item in left]


def _same(real: Incident, item: Json, slack: int) -> bool:
    if item["detected_at"] is not None:
        return abs(micros(item["detected_at"]) - real.detected_at) <= 900 * SECOND
    return item["last_step"] is not None and abs(item["last_step"] - real.last_step) <= slack


def _incidents(scenario: Scenario, truth: Truth, answers: Answers, score: Score) -> None:
    noise_s = _noise_s(scenario, truth)
    for real, item in pairs(truth, answers, scenario.log_every):
        score.compared += 1
        if real is not None and item is None and not real.is_seen:
            continue
        if real is None or item is None:
            what = "invented" if real is None else "missed"
            want_head = None if real is None else (real.kind, real.last_step)
            got_head = None if item is None else (item["id"], item["kind"], item["detected_at"])
            how = real.how if real else "?"
            score.differences.append(Difference(truth.run, what, how, got_head, want_head))
            continue
        for what, got, want, agrees in values(real, item, truth.step_s, noise_s):
            score.compared += 1
            unknown = got is None or (isinstance(got, tuple) and got[0] is None)
            may_be_unknown = not truth.is_whole or (scenario.log_every > 1 and what in UNCERTAIN)
            if not agrees and not (unknown and may_be_unknown):
                place = item["id"]
                score.differences.append(Difference(truth.run, what, real.how, got, want, place))


def _noise_s(scenario: Scenario, truth: Truth) -> float:
    """How far the slow excess of two drains can be off, steps being no two alike (3 sigma)."""
    plan = next(plan for plan in scenario.plans if plan.name == truth.run)
    return 3 * plan.sigma * plan.step_s * math.sqrt(2 * plan.drain_steps)


def values(
    real: Incident, item: Json, step_s: float, noise_s: float = 0.0
) -> list[tuple[str, object, object, bool]]:
    """Name, found, true and whether they agree, for all values of an incident.

    A silent stop has no moment of its own but that when the step under way was due, and steps
    differ: it and what is reckoned from it may be off by a part of a step. What a drain took from
    the steps is known no better than the steps are alike.
    """
    slack = 0.35 * step_s if real.evidence == "overdue" else 0.0
    causes = (real.cause, *how_of(real.how).also)
    found: list[tuple[str, object, object, bool]] = [
        ("kind", item["kind"], real.kind, item["kind"] == real.kind),
        ("cause", item["cause"], causes, item["cause"] in causes),
    ]
    bounds = item["bounds"]
    for name in EXACT:
        want, got = getattr(real, name), item[name]
        agrees = got == want
        if name in bounds and want is not None:
            agrees = _inside(bounds[name], want, 0.0)
        found.append((name, _shown(item, name), want, agrees))
    for name in MOMENTS:
        want = getattr(real, name)
        early = real.how == "orphan" and name in BEFORE_TAKEOVER
        agrees = early or _moment(name, item, want, slack)
        found.append((name, _shown(item, name), _text(want), agrees))
    for name, field in DURATIONS.items():
        want = getattr(real, field)
        if name == "lost_work_s" and real.resume_step is None:
            continue
        want_s = None if want is None else want / SECOND
        more = noise_s if name == "lost_work_s" else 0.0
        found.append(
            (name, _shown(item, name), want_s, _duration(name, item, want_s, slack + more))
        )
    wrong = {name: pair for name, pair in bounds.items() if _is_reversed(pair)}
    found.append(("bounds in order", wrong, {}, not wrong))
    return found


def _is_reversed(pair: list[Any]) -> bool:
    low, high = pair
    return low is not None and high is not None and bool(low > high)


def _text(at: int | None) -> str | None:
    return iso_or_none(at)


def _shown(item: Json, name: str) -> object:
    return (item[name], item["bounds"][name]) if name in item["bounds"] else item[name]


def _inside(pair: list[Any], want: float, slack: float) -> bool:
    low, high = pair
    return (low is None or low - slack <= want) and (high is None or want <= high + slack)


def _moment(name: str, item: Json, want: int | None, slack: float) -> bool:
    got, bounds = item[name], item["bounds"].get(name)
    near = NEAR_S + (slack if name == "fault_at" else 0.0)
    if want is None:
        return got is None
    if bounds is not None:
        ends = [None if end is None else micros(end) for end in bounds]
        return _inside(ends, want, near * SECOND)
    if got is None:
        return name not in ALWAYS
    return abs(micros(got) - want) <= near * SECOND


def _duration(name: str, item: Json, want: float | None, slack: float) -> bool:
    got, bounds = item[name], item["bounds"].get(name)
    near = 2 * NEAR_S + slack + 0.002 * (want or 0.0)
    if want is None:
        return got is None
    if bounds is not None:
        return _inside(bounds, want, near)
    return got is not None and abs(got - want) <= near


def _ledger(scenario: Scenario, truth: Truth, answers: Answers, score: Score) -> None:
    rows = [row for row in answers.ledger if row["run"] == truth.run]
    found = {row["bucket"]: row["observed_s"] for row in rows}
    allowed = LEDGER_SHARE * truth.allocated_us / SECOND
    allowed += len(truth.incidents) * truth.step_s * (scenario.log_every - 1) / 2
    for bucket in sorted(set(found) | set(truth.ledger)):
        got, want = found.get(bucket, 0.0), truth.ledger.get(bucket, 0) / SECOND
        score.compared += 1
        if abs(got - want) > allowed:
            score.differences.append(
                Difference(truth.run, f"ledger {bucket}", "", round(got, 1), round(want, 1))
            )
