"""A rate where few events are seen: what is known beforehand, and how far the data move it.

A prior of the rate is a gamma law: so many events in so much exposure. Without knowledge it is
Jeffreys' (half an event, no exposure). A fleet's prior comes from the runs themselves: their
counts say how much their rates differ, and the more they do, the less any of them says of another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.reliability.shrinkage import likeliest_shape

Floats = NDArray[np.float64]
CAUTION: Final = 1.353  # one-sided 95 % point: half the square of 1.645


@dataclass(frozen=True)
class Prior:
    """A gamma law of the rate.

    Attributes:
        events: its shape: how many events it counts for.
        exposure: its rate parameter: how much exposure it counts for; the unit of the data.
        origin: where it comes from, in words.
    """

    events: float
    exposure: float
    origin: str


JEFFREYS: Final = Prior(0.5, 0.0, "none (Jeffreys)")


@dataclass(frozen=True)
class Posterior:
    """What is known of a rate after the data.

    Attributes:
        prior: what was known before.
        events, exposure: the data.
        rate: mean of the rate, events per unit of exposure.
        low, high: central interval of the rate.
        level: probability that it is meant to hold.
        data_share: weight of the data's own rate in the mean, 0 to 1; the rest is the prior's.
    """

    prior: Prior
    events: int
    exposure: float
    rate: float
    low: float
    high: float
    level: float
    data_share: float


def posterior(
    events: int, exposure: float, prior: Prior = JEFFREYS, level: float = 0.95
) -> Posterior:
    """Give the rate after the data.

    Args:
        events: seen.
        exposure: in which they could strike, any unit, that of the prior.
        prior: what was known before.
        level: probability of the interval.

    Raises:
        ValueError: a count or an exposure is negative or not finite, prior and data have no
            exposure, the prior has no events, or the level is out of range.

    Source: Gamma(a + r, b + T) is the posterior of Gamma(a, b) after r Poisson events in T; its
    mean is the data's rate with weight T/(b + T) and the prior's with the rest.

    >>> after = posterior(2, 100.0, Prior(1.16727, 45.2317, "fleet"))
    >>> round(after.rate, 6), round(after.data_share, 3)
    (0.021808, 0.689)
    """
    if events < 0 or not (math.isfinite(exposure) and exposure >= 0.0):
        raise ValueError("events and exposure must be 0 or more and finite")
    if not (prior.events > 0.0 and prior.exposure >= 0.0 and prior.exposure + exposure > 0.0):
        raise ValueError("a prior needs events, and prior or data some exposure")
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level must be between 0 and 1, got {level}")
    from scipy import special

    shape, size, tail = prior.events + events, prior.exposure + exposure, (1.0 - level) / 2.0
    return Posterior(
        prior=prior,
        events=events,
        exposure=exposure,
        rate=shape / size,
        low=float(special.gammaincinv(shape, tail)) / size,
        high=float(special.gammaincinv(shape, 1.0 - tail)) / size,
        level=level,
        data_share=exposure / size,
    )


def fleet_prior(
    counts: Sequence[int],
    exposures: Sequence[float],
    origin: str = "runs of this site",
    caution: float = 0.0,
) -> Prior | None:
    """Estimate the prior that the counts of several runs speak for.

    Args:
        counts: events of each run.
        exposures: exposure of each, all positive, any one unit (accelerator-hours).
        origin: where they come from, in words.
        caution: how far the log-likelihood may be below its best for the smallest shape that is
            taken: with 0 the likeliest, with `CAUTION` one that allows for rates that differ more
            than the few counts show, so that intervals hold.

    Returns:
        The prior; None with fewer than two runs or no event. Where the counts differ no more than
        chance makes them, it counts for all the events there are and no more: pooled data are
        evidence of that size, not certainty.

    Raises:
        ValueError: lengths differ, or a number is out of range.

    Source: empirical Bayes (Robbins 1955): the shape maximises the negative binomial likelihood of
    the counts, the mean being the pooled rate.

    >>> prior = fleet_prior([2, 3, 14, 5, 0], [100, 200, 150, 400, 80])
    >>> round(prior.events, 4), round(prior.exposure, 3)
    (1.1673, 45.232)
    """
    n, e = _counts(counts, exposures)
    total = float(n.sum())
    if n.size < 2 or total == 0.0:
        return None
    pooled = total / float(e.sum())
    shape = min(likeliest_shape(n, e, pooled, caution), total)
    return Prior(shape, shape / pooled, origin)


def _counts(counts: Sequence[int], exposures: Sequence[float]) -> tuple[Floats, Floats]:
    if len(counts) != len(exposures):
        raise ValueError("every count needs an exposure")
    n, e = np.asarray(counts, dtype=np.float64), np.asarray(exposures, dtype=np.float64)
    if not (np.isfinite(e).all() and (e > 0.0).all() and (n >= 0.0).all()):
        raise ValueError("counts must be 0 or more, exposures positive and finite")
    return n, e
