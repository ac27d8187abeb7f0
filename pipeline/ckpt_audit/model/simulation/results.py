"""What a simulation gives: seconds by bucket for every run, and their summaries with error bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.simulation.laws import Floats
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.scenario import Scenario

BUCKETS: Final = (
    "retained", "checkpoint", "tax", "lost_work", "detection", "restart", "spare_wait",
)  # fmt: skip
_Z95: Final = 1.959963984540054


@dataclass(frozen=True)
class Estimate:
    """A mean or share with its standard error, in the same unit."""

    value: float
    se: float


@dataclass(frozen=True)
class Quantile:
    """A quantile with the bounds of its 95 % interval; infinite where runs did not end."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Runs:
    """What each run did, shape ``(n,)`` each; times in seconds.

    The buckets add up to ``wall``: ``retained`` training, pauses for saves kept or not
    (``checkpoint``), slowdown by drains (``tax``), training discarded (``lost_work``),
    ``detection``, ``restart`` (attempts that failed included), and waiting for a node
    (``spare_wait``).
    """

    wall: Floats
    retained: Floats
    checkpoint: Floats
    tax: Floats
    lost_work: Floats
    detection: Floats
    restart: Floats
    spare_wait: Floats
    failures: Floats
    saves: Floats
    finished: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Runs]) -> Runs:
        """Put blocks of runs one behind the other."""
        return cls(
            **{
                part.name: np.concatenate([getattr(item, part.name) for item in parts])
                for part in fields(cls)
            }
        )


@dataclass(frozen=True)
class PolicyResult:
    """One policy's runs.

    Attributes:
        policy: the policy.
        runs: what each run did.
    """

    policy: Policy
    runs: Runs

    @property
    def goodput(self) -> Estimate:
        """Retained training over wall clock, of all runs together."""
        return self.share("retained")

    @property
    def finish_s(self) -> Floats:
        """Wall clock at which each run finished; infinite where it was given up."""
        return np.where(self.runs.finished, self.runs.wall, np.inf)

    def share(self, *buckets: str) -> Estimate:
        """Give the share of wall clock that some buckets took together.

        The share is of sums over all runs, which is what the closed forms give; its standard error
        is that of a ratio.

        Args:
            buckets: names among ``BUCKETS``.
        """
        wall = self.runs.wall
        spent = np.sum([getattr(self.runs, bucket) for bucket in buckets], axis=0)
        share = float(spent.sum() / wall.sum())
        return Estimate(share, _se(spent - share * wall) / float(wall.mean()))

    def mean(self, quantity: str) -> Estimate:
        """Give the mean of a field of ``Runs`` over the runs."""
        values = getattr(self.runs, quantity)
        return Estimate(float(values.mean()), _se(values))

    def finish(self, fraction: float) -> Quantile:
        """Give the wall clock by which a fraction of the runs has finished.

        Args:
            fraction: between 0 and 1; 0.5 for the median.

        Source: the interval is that of order statistics, by the normal form of the binomial.
        """
        ordered = np.sort(self.finish_s)
        n = ordered.size
        reach = _Z95 * math.sqrt(n * fraction * (1.0 - fraction))
        low, high = math.floor(n * fraction - reach), math.ceil(n * fraction + reach)
        return Quantile(
            value=_at(ordered, fraction),
            low=float(ordered[min(max(low, 0), n - 1)]),
            high=float(ordered[min(max(high, 0), n - 1)]),
        )

    def by(self, deadline_s: float) -> Quantile:
        """Give the probability of finishing by a deadline, with Wilson's interval (95 %)."""
        n = self.runs.wall.size
        p = float((self.finish_s <= deadline_s).mean())
        z2 = _Z95 * _Z95
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = _Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return Quantile(p, max(centre - half, 0.0), min(centre + half, 1.0))


@dataclass(frozen=True)
class Simulation:
    """Policies in one scenario, all against the same failures.

    Attributes:
        scenario: what was simulated.
        results: one for each policy, in the order given.
        seed: of all draws.
    """

    scenario: Scenario
    results: tuple[PolicyResult, ...]
    seed: int

    @property
    def best(self) -> int:
        """Place of the policy with the highest goodput."""
        return max(range(len(self.results)), key=lambda at: self.results[at].goodput.value)

    def difference(self, first: int, second: int) -> Estimate:
        """Give the goodput of one policy less that of another.

        Its error is of paired runs, and smaller than that of two unrelated simulations.

        Args:
            first, second: places of the policies.
        """
        a, b = self.results[first], self.results[second]
        paired = _influence(a) - _influence(b)
        return Estimate(a.goodput.value - b.goodput.value, _se(paired))


def _influence(result: PolicyResult) -> Floats:
    """What each run adds to the goodput of all, around it."""
    runs, goodput = result.runs, result.goodput.value
    return (runs.retained - goodput * runs.wall) / float(runs.wall.mean())


def _se(values: Floats) -> float:
    n = values.size
    return float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf


def _at(ordered: Floats, fraction: float) -> float:
    """Linear quantile of sorted values, some of which may be infinite."""
    place = fraction * (ordered.size - 1)
    low = math.floor(place)
    below, above = float(ordered[low]), float(ordered[min(low + 1, ordered.size - 1)])
    if place == low or below == above:
        return below
    return below + (above - below) * (place - low)
