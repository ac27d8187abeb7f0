"""Failures of a fleet from a table of incidents: their rate and what process they are.

The clock is calendar time, for a table says nothing of what ran. So nothing here is the M of a job.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.audit.suspects import FEWEST
from ckpt_audit.ingest.incident_table import IncidentTable, TableRow
from ckpt_audit.reliability.change_point import ChangePoint, change_point
from ckpt_audit.reliability.dispersion import Dispersion, dispersion, robust_mean_time
from ckpt_audit.reliability.drift import CauseRate, cause_rates
from ckpt_audit.reliability.fits import LawFits, fit_laws
from ckpt_audit.reliability.power_law import PowerLaw, power_law
from ckpt_audit.reliability.rate import MeanTime, Rate, mean_time, per_1000_acc_h
from ckpt_audit.reliability.sample import Sample, summarise
from ckpt_audit.reliability.suspects import find_suspects
from ckpt_audit.reliability.trend import Trend, trend
from ckpt_audit.units import S_PER_H

CHAIN_S = 900.0
_SEED = 20_260_501
_FEWEST_DRAWS, _DRAWS, _MOST_NUMBERS = 199, 1999, 5_000_000
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chain:
    """Incidents joined where their starts are close.

    Attributes:
        window_s: How close.
        groups: Groups, those of one included.
        grouped_share: Share of incidents with another one as close.
        by_chance_share: The same for a constant rate.
        laws: Laws of the gaps between the first incidents of groups.
        shape_by_chance: Weibull shape that chaining gives a constant rate of as many incidents.
    """

    window_s: float
    groups: int
    grouped_share: float
    by_chance_share: float
    laws: LawFits
    shape_by_chance: float | None


@dataclass(frozen=True, slots=True)
class SuspectNode:
    """A node with more incidents than chance gives one of so many.

    Attributes:
        node: Its name.
        incidents: Those close together are one.
        expected: If all nodes failed alike.
        p, q: Chance of as many, and false discovery rate at which it is called suspect.
    """

    node: str
    incidents: int
    expected: float
    p: float
    q: float


@dataclass(frozen=True, slots=True)
class TableEstimate:
    """What a table of incidents says.

    Attributes:
        table: The table.
        start_s, end_s: Stretch of time that is counted, in the table's seconds.
        incidents: In it.
        nodes: Distinct nodes among them.
        mean_time: Calendar time between incidents of the fleet, with its exact interval.
        robust: The same with an interval that allows for bursts.
        per_node_day: Incidents per 1,000 node-days; None without a number of nodes.
        spread, trend, power_law, change: As of a run, on calendar time.
        laws: Laws of the gaps; gaps of 0 are left out.
        variation: Squared coefficient of variation of all gaps; None with fewer than two.
        chain: Incidents joined where close.
        causes: By class.
        repair: Durations of repairs, seconds.
        suspects: The least likely first; None without a number of nodes, with fewer than ten
            incidents, or with more nodes in the table than there are.
    """

    table: IncidentTable
    start_s: float
    end_s: float
    incidents: int
    nodes: int
    mean_time: MeanTime
    robust: MeanTime
    per_node_day: Rate | None
    spread: Dispersion | None
    trend: Trend
    power_law: PowerLaw | None
    change: ChangePoint | None
    laws: LawFits
    variation: float | None
    chain: Chain
    causes: tuple[CauseRate, ...]
    repair: Sample
    suspects: tuple[SuspectNode, ...] | None = None


def estimate_table(
    table: IncidentTable,
    nodes: int | None = None,
    since_s: float | None = None,
    until_s: float | None = None,
    chain_s: float = CHAIN_S,
) -> TableEstimate | None:
    """Estimate rate and process of the incidents of a table.

    Args:
        table: What was read.
        nodes: How many nodes were watched; None gives no rate per node.
        since_s, until_s: Stretch to count, in the table's seconds. By default from the table's
            start (its first incident, where moments are dates) to the last moment it tells of.
        chain_s: Incidents whose starts are this close are joined.

    Returns:
        None where no time lies between the ends.
    """
    relative, rows = table.is_relative, table.rows
    first = min(0.0, rows[0].start_s) if relative and rows else rows[0].start_s if rows else 0.0
    start = first if since_s is None else since_s
    end = table.last_s if until_s is None else until_s
    if not end > start:
        return None
    kept = [row for row in rows if start <= row.start_s <= end]
    clock = np.array([row.start_s - start for row in kept], dtype=np.float64)
    gaps, length = np.diff(clock), end - start
    draws = min(_DRAWS, max(_FEWEST_DRAWS, _MOST_NUMBERS // max(1, clock.size)))
    spread = dispersion([(clock, length)], _SEED)
    node_h = nodes * length / S_PER_H if nodes else None
    return TableEstimate(
        table=table,
        start_s=start,
        end_s=end,
        incidents=len(kept),
        nodes=len({row.node for row in kept if row.node is not None}),
        mean_time=mean_time(len(kept), length),
        robust=robust_mean_time(len(kept), length, spread),
        per_node_day=per_1000_acc_h(len(kept), node_h / 24.0) if node_h else None,
        spread=spread,
        trend=trend(clock, length, _SEED, draws),
        power_law=power_law(clock, length),
        change=change_point(clock, length, _SEED, draws),
        laws=fit_laws(gaps),
        variation=float(gaps.var() / gaps.mean() ** 2) if gaps.size > 1 and gaps.any() else None,
        chain=_chain(clock, length, chain_s),
        causes=_causes(kept, length),
        repair=summarise([row.end_s - row.start_s for row in kept if row.end_s is not None]),
        suspects=_suspects(kept, nodes, chain_s),
    )


def _suspects(
    rows: Sequence[TableRow], nodes: int | None, window: float
) -> tuple[SuspectNode, ...] | None:
    """Take every node as watched all the time, and what is close on one node as one incident."""
    starts: dict[str, list[float]] = {}
    for row in rows:
        if row.node is not None:
            starts.setdefault(row.node, []).append(row.start_s)
    names = sorted(starts)
    counts = [int(_firsts(np.sort(starts[name]), window).size) for name in names]
    if not nodes or nodes < max(2, len(names)) or sum(counts) < FEWEST:
        return None
    found = find_suspects(counts + [0] * (nodes - len(names)), np.ones(nodes))
    suspects = [
        SuspectNode(name, counts[i], float(found.expected[i]), float(found.p[i]), float(found.q[i]))
        for i, name in enumerate(names)
        if found.suspect[i]
    ]
    return tuple(sorted(suspects, key=lambda one: (one.p, one.node)))


def _chain(clock: Floats, length: float, window: float) -> Chain:
    near = np.diff(clock) <= window
    joined = np.append(False, near) | np.append(near, False) if clock.size else near
    rate = clock.size / length
    uniform = np.sort(np.random.default_rng(_SEED).uniform(0.0, length, clock.size))
    return Chain(
        window_s=window,
        groups=int(clock.size - near.sum()),
        grouped_share=float(joined.mean()) if clock.size else 0.0,
        by_chance_share=1.0 - math.exp(-2.0 * rate * window),
        laws=fit_laws(np.diff(_firsts(clock, window))),
        shape_by_chance=_shape(np.diff(_firsts(uniform, window))),
    )


def _firsts(clock: Floats, window: float) -> Floats:
    """First moment of each chain."""
    if not clock.size:
        return clock
    found: Floats = clock[np.append(True, np.diff(clock) > window)]
    return found


def _shape(gaps: Floats) -> float | None:
    return next((fit.shape for fit in fit_laws(gaps).fits if fit.law == "weibull"), None)


def _causes(rows: Sequence[TableRow], length: float) -> tuple[CauseRate, ...]:
    counted = Counter(row.cause or "unknown" for row in rows)
    return cause_rates({cause: [n] for cause, n in counted.items()}, [length])
