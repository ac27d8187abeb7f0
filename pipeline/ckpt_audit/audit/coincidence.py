"""Failures that come close in time: in bursts of one run, and of two runs together.

Neither names a pair. They are asked where all is in one domain, and links by time say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from ckpt_audit.audit.process import Process, clocks_of
from ckpt_audit.facts import Epoch, Incident, Lifetime
from ckpt_audit.reliability.bursts import BurstTest, co_occurrence, short_gap_test
from ckpt_audit.reliability.discovery import q_values
from ckpt_audit.reliability.levels import LEVEL
from ckpt_audit.units import US_PER_S

_MOST_RUNS: Final = 10
_SHORTEST_S: Final = 1.0  # resolution of stamps
_SEED: Final = 20_260_501


@dataclass(frozen=True, slots=True)
class RunBursts:
    """Short gaps of one run, all of its failures counted."""

    run: str
    beta: float
    test: BurstTest
    q: float | None


@dataclass(frozen=True, slots=True)
class Coincidence:
    """Failures of two runs against each other, over the time that they have in common."""

    runs: tuple[str, str]
    length_s: float
    test: BurstTest
    q: float | None


def bursts_of(
    lifetimes: Sequence[Lifetime],
    epochs: Mapping[str, Sequence[Epoch]],
    processes: Mapping[str, Process | None],
    window_s: float,
) -> tuple[RunBursts, ...]:
    """Test short gaps by run, followers counted: they are what a cascade consists of.

    Where a run has a trend that is seen, its power law is the null.

    Args:
        lifetimes: Of all runs.
        epochs, processes: By run.
        window_s: Gaps of at most this are short.
    """
    by_run: dict[str, list[Lifetime]] = {}
    for life in lifetimes:
        if life.end_at > life.start_at:
            by_run.setdefault(life.run, []).append(replace(life, is_secondary=False))
    found = []
    for run, lives in by_run.items():
        clocks = clocks_of(lives, epochs.get(run, ()))
        beta = _beta(processes.get(run))
        strata = [(clock.at_s, clock.length_s) for clock in clocks]
        test = short_gap_test(strata, max(window_s, _SHORTEST_S), beta, _SEED)
        found.append(RunBursts(run, beta, test, None))
    q = _q([one.test for one in found])
    return tuple(replace(one, q=value) for one, value in zip(found, q, strict=True))


def _beta(process: Process | None) -> float:
    if process is None or process.power_law is None or process.trend.p is None:
        return 1.0
    return process.power_law.beta if process.trend.p <= LEVEL else 1.0


def coincidences_of(
    events: Sequence[Incident], lifetimes: Sequence[Lifetime], window_s: float
) -> tuple[Coincidence, ...]:
    """Test pairs of the ten runs with most incidents over their common time.

    Args:
        events: Failures of all runs; followers are left out.
        lifetimes: Of all runs.
        window_s: Two faults at most this far apart coincide.
    """
    moments: dict[str, list[int]] = {}
    for item in events:
        if not item.secondary and item.fault_at is not None:
            moments.setdefault(item.run, []).append(item.fault_at)
    spans: dict[str, tuple[int, int]] = {}
    for life in lifetimes:
        low, high = spans.get(life.run, (life.start_at, life.end_at))
        spans[life.run] = (min(low, life.start_at), max(high, life.end_at))
    known = [run for run in moments if run in spans]
    busiest = sorted(known, key=lambda run: (-len(moments[run]), run))[:_MOST_RUNS]
    found = []
    for pair in combinations(sorted(busiest), 2):
        start, end = max(spans[run][0] for run in pair), min(spans[run][1] for run in pair)
        if end <= start:
            continue
        one, two = (
            [(at - start) / US_PER_S for at in moments[run] if start <= at <= end] for run in pair
        )
        length_s = (end - start) / US_PER_S
        test = co_occurrence(one, two, length_s, max(window_s, _SHORTEST_S), _SEED)
        found.append(Coincidence((pair[0], pair[1]), length_s, test, None))
    q = _q([one.test for one in found])
    return tuple(replace(one, q=value) for one, value in zip(found, q, strict=True))


def _q(tests: Sequence[BurstTest]) -> list[float | None]:
    """Return the q value of each test that was made."""
    made = [test.p for test in tests if test.p is not None]
    values = iter(q_values(made).tolist())
    return [None if test.p is None else next(values) for test in tests]
