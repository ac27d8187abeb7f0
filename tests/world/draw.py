"""Draws a scenario from a seed: which runs there are, how each attempt ends, how it is logged.

A scenario is plain data. Every kind of difficulty is a feature with a name, so that an answer
that differs from the truth can be counted for the features of its world.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

from .clock import DAY, HOUR, SECOND, instant

Restart = Literal["job", "append", "truncate", "array", "in_job"]
Stamps = Literal["seconds", "micros", "none"]

# Ways for an attempt to end, each a feature; the same words choose the text that is written.
FAULTS = (
    "xid79", "ecc", "nvlink", "linkflap", "watchdog", "hang", "torn_storage", "torn_gpu",
    "storage", "node", "host_oom", "cuda_oom", "data",
)  # fmt: skip
STOPS = ("preempt", "limit", "stop", "exit", "rollback", "maintenance", "mitigation")
# How the next attempt starts, or what it starts with.
STARTS = (
    "retries", "append", "truncate", "array", "in_job", "scratch", "resized", "at_last_step",
    "secondary", "crash_loop", "followers", "orphan", "double_final", "array_retries",
    "hang_in_save", "first_launch_fails", "never_back",
)  # fmt: skip
# What happens while a run makes progress.
COURSE = (
    "evaluation", "ends_after_evaluation", "degraded", "ends_while_slow", "stall", "save_outage",
    "short_steps", "async_saves", "ends_after_pause",
)  # fmt: skip
# How it is written down.
FORMS = (
    "micros", "no_stamps", "timer_without_saves", "every_kth", "zone", "clock_change",
    "month_border", "two_runs",
)  # fmt: skip
FEATURES = FAULTS + STOPS + STARTS + COURSE + FORMS

NEEDS = {
    "array_retries": ("array", "retries"), "ends_after_pause": ("async_saves",),
    "ends_while_slow": ("degraded",), "ends_after_evaluation": ("evaluation",),
    "timer_without_saves": ("no_stamps",),
}  # fmt: skip
# Of two that do not go together the second is left out.
APART = (
    ("no_stamps", "micros"),
    ("clock_change", "month_border"), ("array", "orphan"), ("array", "scratch"),
    ("async_saves", "torn_storage"), ("async_saves", "torn_gpu"), ("async_saves", "save_outage"),
    ("async_saves", "evaluation"), ("async_saves", "degraded"), ("async_saves", "at_last_step"),
    ("async_saves", "hang_in_save"), ("never_back", "double_final"), ("never_back", "two_runs"),
    ("async_saves", "orphan"), ("async_saves", "crash_loop"), ("async_saves", "stall"),
)  # fmt: skip
ZONES = ("America/Chicago", "Europe/Berlin", "Asia/Kolkata", "Australia/Sydney")


@dataclass(frozen=True, slots=True)
class Act:
    """How one attempt ends, and how the one after it starts.

    Attributes:
        how: Key of the ending.
        steps: Steps that the attempt does at least, before it ends.
        wait_s: Seconds from the end to the next submission.
        queue_s: Seconds from there to the start.
        restart: Where the next attempt runs.
        retries: Failed attempts before the next one that makes progress.
        hang_s: Seconds that a silent stop stays unseen.
        timeout_ms: Limit of the collective watchdog.
        back_saves: Saves that a person goes back beyond the newest.
        scratch: Whether the next attempt starts from random weights.
        n_nodes: Nodes of the next attempt; 0 is as before.
        marks: Further features of this act.
    """

    how: str
    steps: int
    wait_s: float = 60.0
    queue_s: float = 30.0
    restart: Restart = "job"
    retries: tuple[str, ...] = ()
    hang_s: float = 5400.0
    timeout_ms: int = 600_000
    back_saves: int = 0
    scratch: bool = False
    n_nodes: int = 0
    marks: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """One run when nothing goes wrong, and all that goes wrong."""

    name: str
    user: str
    first_node: int
    n_nodes: int
    submit: int
    step_s: float
    sigma: float
    save_every: int
    save_s: float
    eval_every: int
    eval_s: float
    acts: tuple[Act, ...]
    slow: tuple[int, int] = (0, 0)
    stalls: tuple[int, ...] = ()
    outages: tuple[int, ...] = ()
    first_retries: tuple[str, ...] = ()
    drain_steps: int = 0

    @property
    def workdir(self) -> str:
        """Working folder of its jobs."""
        return f"/lustre/projects/{self.user}/{self.name}"

    @property
    def checkpoints(self) -> str:
        """Folder of its checkpoints."""
        return f"/lustre/ckpt/{self.name}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a world is made of."""

    seed: int
    features: frozenset[str]
    zone: str
    stamps: Stamps
    log_every: int
    plans: tuple[Plan, ...]


def draw(seed: int, allowed: frozenset[str], forced: frozenset[str] = frozenset()) -> Scenario:
    """Draw the scenario of a seed.

    Args:
        seed: Chooses everything.
        allowed: Features that may occur; each of them occurs in about a third of the worlds.
        forced: Features that must occur.
    """
    rng = random.Random(f"{seed}/draw")
    chosen = {name for name in FEATURES if (rng.random() < 0.34) & (name in allowed)}
    chosen |= forced
    for name, others in NEEDS.items():
        if name in chosen:
            chosen |= set(others)
    for name, other in APART:
        if name in chosen:
            chosen.discard(other)
    chosen -= {name for name, others in NEEDS.items() if not chosen >= set(others)}
    if not chosen & set(FAULTS):
        usable = [name for name in FAULTS if name in allowed and not name.startswith("torn")]
        chosen.add(rng.choice(usable or ["data"]))
    features = frozenset(chosen)
    zone = _zone(features, rng)
    stamps: Stamps = "seconds"
    if "micros" in features:
        stamps = "micros"
    if "no_stamps" in features:
        stamps = "none"
    start = _start(features, zone, rng)
    names = ["alpha"] if "two_runs" not in features else ["alpha", "beta"]
    plans = tuple(_plan(name, place, features, start, rng) for place, name in enumerate(names))
    every = rng.choice((2, 5, 10)) if "every_kth" in features else 1
    plans = tuple(_seen(plan, every) for plan in plans)
    return Scenario(seed, features, zone, stamps, every, plans)


def _seen(plan: Plan, every: int) -> Plan:
    """No attempt with progress ends before its first line, no hang is within a healthy gap."""
    nodes = [act.n_nodes or plan.n_nodes for act in plan.acts]
    line_s = every * plan.step_s * max(1.0, plan.n_nodes / min(nodes))
    acts = [
        _with(
            act,
            steps=max(act.steps, every + 1) if act.steps else 0,
            hang_s=max(act.hang_s, 6 * line_s) if act.hang_s else 0.0,
        )
        for act in plan.acts
    ]
    return replace(plan, acts=tuple(acts))


def _zone(features: frozenset[str], rng: random.Random) -> str:
    if "clock_change" in features:
        return rng.choice(("America/Chicago", "Europe/Berlin"))
    return rng.choice(ZONES) if "zone" in features else "UTC"


def _start(features: frozenset[str], zone: str, rng: random.Random) -> int:
    """When the first run is submitted, so that the special moment falls inside it."""
    if "clock_change" in features:
        changes = {
            "America/Chicago": ("2026-03-08T08:00:00", "2026-11-01T07:00:00"),
            "Europe/Berlin": ("2026-03-29T01:00:00", "2026-10-25T01:00:00"),
        }[zone]
        return instant(rng.choice(changes)) - round(rng.uniform(6, 30) * HOUR)
    if "month_border" in features:
        return instant("2026-06-01T00:00:00") - round(rng.uniform(6, 30) * HOUR)
    return instant("2026-05-03T00:00:00") + round(rng.uniform(0, 10) * DAY)


def _plan(name: str, place: int, features: frozenset[str], start: int, rng: random.Random) -> Plan:
    long = bool(features & {"orphan", "resized"})
    step_s = round(rng.uniform(45 if long else 20, 120), 1)
    if "short_steps" in features:
        step_s = round(rng.uniform(45, 70) if long else rng.uniform(6, 19), 1)
    save_every = rng.randint(40 if "orphan" in features else 30, 70)
    acts = _acts(features, save_every, rng)
    total = sum(act.steps for act in acts)
    marked = sorted(rng.sample(range(save_every * 2, total - 20), 2))
    if "ends_while_slow" in features:
        marked[0] = acts[0].steps - 25
    failed = ("rendezvous", "node_fail") if "first_launch_fails" in features else ()
    submit = start + place * round(rng.uniform(0.1, 3) * HOUR)
    return Plan(
        name=f"{name}-{seed_word(rng)}", user=("ada", "bo")[place], first_node=1 + 20 * place,
        n_nodes=rng.choice((4, 8)), submit=submit - submit % SECOND, step_s=step_s,
        sigma=rng.choice((0.003, 0.01, 0.02)), save_every=save_every,
        save_s=round(step_s * rng.uniform(0.6, 3.0), 1),
        eval_every=rng.randint(100, 200) if "evaluation" in features else 0,
        eval_s=round(step_s * rng.uniform(0.8, 2.5), 1), acts=acts,
        slow=(marked[0], marked[0] + 60) if "degraded" in features else (0, 0),
        stalls=(marked[1],) if "stall" in features else (),
        outages=(rng.randint(1, 4) * save_every,) if "save_outage" in features else (),
        first_retries=failed, drain_steps=rng.randint(4, 9) if "async_saves" in features else 0,
    )  # fmt: skip


def seed_word(rng: random.Random) -> str:
    """A word that makes names of runs differ."""
    return rng.choice(("7b", "13b", "30b", "moe", "vision", "long"))


def _acts(features: frozenset[str], save_every: int, rng: random.Random) -> tuple[Act, ...]:
    hows = [name for name in FAULTS + STOPS if name in features]
    hows += [rng.choice(hows) for _ in range(max(0, rng.randint(4, 7) - len(hows)))]
    rng.shuffle(hows)
    acts = [_act(how, features, save_every, rng) for how in hows[:8]]
    acts = _special(acts, features, save_every, rng)
    if "array" in features:
        acts = [_with(act, restart="array") if act.restart == "job" else act for act in acts]
    last = rng.choice(("open", "target"))
    if "double_final" in features or "two_runs" in features:
        last = "target"
    if "never_back" in features:
        last = rng.choice(("xid79", "data", "node"))
    return (*acts, Act(last, rng.randint(2 * save_every, 4 * save_every)))


def _act(how: str, features: frozenset[str], save_every: int, rng: random.Random) -> Act:
    steps = rng.randint(save_every + 5, 5 * save_every)
    starts: list[Restart] = ["job"]
    if how in ("node", "preempt", "xid79", "host_oom"):
        starts += [name for name in ("append", "truncate") if name in features]
    if "array" in features:
        starts = ["array"]
    if "in_job" in features and how in ("xid79", "ecc", "cuda_oom", "data", "storage", "watchdog"):
        starts = ["in_job"]
    restart = rng.choice(starts)
    retries: tuple[str, ...] = ()
    may_retry = restart == "job" or (restart == "array" and "array_retries" in features)
    if "retries" in features and how in FAULTS and may_retry:
        kinds = ("load_error", "node_fail", "zero_exit", "rendezvous")
        retries = tuple(rng.choice(kinds) for _ in range(rng.randint(0, 3)))
    return Act(
        how, steps, wait_s=rng.uniform(20, 2400), queue_s=rng.uniform(5, 1500), restart=restart,
        retries=retries, hang_s=rng.uniform(3600, 3 * 3600),
        timeout_ms=rng.choice((600_000, 1_800_000)),
        back_saves=rng.randint(1, 2) if how == "rollback" else 0,
    )  # fmt: skip


def _special(
    acts: list[Act], features: frozenset[str], save_every: int, rng: random.Random
) -> list[Act]:
    """Give marks to some of the acts, or put further acts between them."""
    found: list[Act] = []
    if "hang_in_save" in features:
        found.append(Act("hang_in_save", 2 * save_every, hang_s=rng.uniform(3600, 9000)))
    if "orphan" in features:
        found.append(Act("orphan", 2 * save_every, wait_s=1, queue_s=10))
    for place, act in enumerate(acts):
        fault = act.how in FAULTS
        found.append(_marked(act, place, features, rng) if fault else act)
        if fault and "secondary" in features and place == 1:
            found.append(Act("linkflap", rng.randint(4, 12), wait_s=200))
        if fault and "crash_loop" in features and place == 2:
            found.append(Act("data", save_every + rng.randint(5, 20)))
            found += [Act("data", 0, wait_s=100, marks=frozenset({"loop"}))] * 2
    return found


def _marked(act: Act, place: int, features: frozenset[str], rng: random.Random) -> Act:
    values: dict[str, object] = {}
    marks: set[str] = set()
    if "scratch" in features and place == 0 and act.restart in ("job", "array"):
        values["scratch"] = True
    if "resized" in features and place == 1 and act.restart in ("job", "array"):
        values["n_nodes"] = rng.choice((3, 6))
    if "at_last_step" in features and act.how in ("data", "xid79", "storage", "cuda_oom"):
        marks.add("at_last_step")
    if "followers" in features and act.how in ("watchdog", "linkflap", "ecc"):
        marks.add("followers")
    return _with(act, **values, marks=frozenset(marks))


def _with(act: Act, **values: object) -> Act:
    return replace(act, **values)  # type: ignore[arg-type]
