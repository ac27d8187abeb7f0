"""Rates of all runs together, what they say of each, and of a job of another size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ckpt_audit.audit.process import Process
from ckpt_audit.reliability.gamma_poisson import (
    CAUTION,
    JEFFREYS,
    Posterior,
    fleet_prior,
    posterior,
)
from ckpt_audit.reliability.pooling import Pooled, Projection, Stretch, pool, project

_SEED = 20_260_501


@dataclass(frozen=True, slots=True)
class Fleet:
    """Rates per accelerator-hour over all runs of known size.

    Attributes:
        stretches: Epochs of all runs, with their sizes.
        pooled: All of them under one rate, and whether that may be done.
        rates: Rate of each run, with what the other runs say as prior.
    """

    stretches: tuple[Stretch, ...]
    pooled: Pooled
    rates: Mapping[str, Posterior]

    def projection(self, accelerators: int) -> Projection:
        """M of a job of so many accelerators."""
        return project(self.stretches, accelerators, seed=_SEED)


def fleet_of(processes: Mapping[str, Process | None]) -> Fleet | None:
    """Put the runs together.

    A run's prior is that of the other runs, so that its own failures count once. With fewer than
    two others nothing says how much runs differ, and there is no prior but Jeffreys'. The prior is
    a cautious one: few runs hardly say how much they differ.

    Args:
        processes: By run; None where there is none.

    Returns:
        None where no run has up-time of known size.
    """
    known = {run: found.stretches for run, found in processes.items() if found and found.stretches}
    stretches = tuple(item for run in sorted(known) for item in known[run])
    if not stretches:
        return None
    totals = {run: _total(items) for run, items in known.items()}
    rates = {}
    for run in sorted(totals):
        others = [totals[name] for name in sorted(totals) if name != run]
        counts, hours = [n for n, _ in others], [e for _, e in others]
        prior = fleet_prior(counts, hours, "other runs", CAUTION)
        rates[run] = posterior(*totals[run], prior or JEFFREYS)
    return Fleet(stretches, pool(stretches, seed=_SEED), rates)


def _total(stretches: Sequence[Stretch]) -> tuple[int, float]:
    """Events and accelerator-hours."""
    return (
        sum(item.events for item in stretches),
        sum(item.exposure_h * item.accelerators for item in stretches),
    )
