"""From a fault to the next step: detection, a node in place of the failed one, restart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.simulation.laws import Floats
from ckpt_audit.model.simulation.scenario import Scenario
from ckpt_audit.model.simulation.streams import draw_kinds

Ints = NDArray[np.int64]


@dataclass
class Recovery:
    """Recoveries under way, shape ``(m,)`` each; times in seconds.

    Attributes:
        at: wall clock of the fault; it moves on as time is spent.
        d, r: detection and restart of the attempt.
        kind: class of the failure.
        second: time from the fault until a second failure strikes; infinite where none does. What
            is left of it when the recovery is over stays here.
        pool: wall clock at which each spare node is ready, shape ``(spares, m)``, or None.
        detection, restart, spare_wait: time spent.
        need: lowest tier that survived.
    """

    at: Floats
    d: Floats
    r: Floats
    kind: Ints
    second: Floats
    pool: Floats | None
    detection: Floats
    restart: Floats
    spare_wait: Floats
    need: Ints

    @classmethod
    def begun(
        cls,
        at: Floats,
        d: Floats | float,
        r: Floats | float,
        kind: Ints | None = None,
        second: Floats | None = None,
        pool: Floats | None = None,
    ) -> Recovery:
        """Begin recoveries; numbers stand for the same in all of them."""
        size = at.size
        return cls(
            at=at.copy(),
            d=np.broadcast_to(d, size).astype(np.float64),
            r=np.broadcast_to(r, size).astype(np.float64),
            kind=np.zeros(size, dtype=np.int64) if kind is None else kind.copy(),
            second=np.full(size, np.inf) if second is None else second.copy(),
            pool=pool,
            detection=np.zeros(size),
            restart=np.zeros(size),
            spare_wait=np.zeros(size),
            need=np.zeros(size, dtype=np.int64),
        )


def recover(scenario: Scenario, rng: np.random.Generator, recovery: Recovery) -> None:
    """Play recoveries to their end, in place.

    Args:
        scenario: what is simulated.
        rng: for what only a struck recovery needs: later attempts, and when they are struck.
        recovery: as begun.
    """
    _own_restart(scenario, rng, recovery, np.arange(recovery.at.size))
    under_way = np.arange(recovery.at.size)
    while under_way.size:
        under_way = _attempt(scenario, rng, recovery, under_way)
        if under_way.size:
            recovery.d[under_way] = scenario.d.draw(rng, (under_way.size,))
            recovery.r[under_way] = scenario.r.draw(rng, (under_way.size,))
            if len(scenario.classes) > 1:
                recovery.kind[under_way] = draw_kinds(scenario, rng, (under_way.size,))
            _own_restart(scenario, rng, recovery, under_way)


def _own_restart(
    scenario: Scenario, rng: np.random.Generator, recovery: Recovery, which: Ints
) -> None:
    """Take the restart of the failure's class where it has one, and note what it destroyed."""
    for number, kind in enumerate(scenario.classes):
        of_kind = which[recovery.kind[which] == number]
        recovery.need[of_kind] = np.maximum(recovery.need[of_kind], kind.tier)
        if kind.r is not None and of_kind.size:
            recovery.r[of_kind] = kind.r.draw(rng, (of_kind.size,))


def _attempt(scenario: Scenario, rng: np.random.Generator, recovery: Recovery, which: Ints) -> Ints:
    """Play one attempt of each, and return those that were struck."""
    d, r, second = recovery.d[which], recovery.r[which], recovery.second[which]
    strike = second
    if scenario.recovery_failures == "all":
        strike = np.minimum(second, scenario.up.draw(rng, (which.size,)))
    detection = np.minimum(strike, d)
    is_detected = strike >= d
    recovery.at[which] += detection
    recovery.detection[which] += detection
    _wait_for_spares(scenario, rng, recovery, which[is_detected])

    left = strike - d
    if scenario.recovery_failures == "restore":
        left = np.minimum(left, scenario.up.draw(rng, (which.size,)))
    restart = np.where(is_detected, np.minimum(left, r), 0.0)
    recovery.at[which] += restart
    recovery.restart[which] += restart

    struck = ~is_detected | (left < r)
    used = struck & (second <= d + left)
    recovery.second[which] = np.where(used, np.inf, second - detection - restart)
    return which[struck]


def _wait_for_spares(
    scenario: Scenario, rng: np.random.Generator, recovery: Recovery, which: Ints
) -> None:
    """Replace failed nodes: the ones ready first are taken, and the failed ones go into repair."""
    if scenario.spares is None or recovery.pool is None:
        return
    nodes = np.array([kind.nodes for kind in scenario.classes])[recovery.kind[which]]
    for number in np.unique(nodes[nodes > 0]):
        these = which[nodes == number]
        now = recovery.at[these]
        repaired = now + scenario.spares.repair.draw(rng, (int(number), these.size))
        ready = np.sort(np.concatenate([recovery.pool[:, these], repaired]), axis=0)
        wait = np.maximum(ready[number - 1] - now, 0.0)
        recovery.pool[:, these] = ready[number:]
        recovery.at[these] += wait
        recovery.spare_wait[these] += wait
