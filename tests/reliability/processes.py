"""Sequences of events of known nature, for calibration; rate about 1 per unit of the clock."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def poisson(rng: np.random.Generator, expected: float) -> tuple[Floats, float]:
    """A constant rate."""
    return np.sort(rng.uniform(0.0, expected, rng.poisson(expected))), expected


def renewals(rng: np.random.Generator, n: int, shape: float) -> tuple[Floats, float]:
    """Weibull gaps of mean 1, in equilibrium: watched for a time that begins anywhere."""
    mean = math.gamma(1.0 + 1.0 / shape)
    clock = np.cumsum(rng.weibull(shape, 60 + int(4 * n)) / mean) - 30.0
    return clock[(clock > 0.0) & (clock <= n)], float(n)


def cascades(rng: np.random.Generator, n: int, p: float) -> tuple[Floats, float]:
    """A constant rate of primaries, each event followed by another soon with probability p.

    A follower comes after a mean of 0.02 of the mean gap; n events are expected.
    """
    primaries, _ = poisson(rng, n * (1.0 - p))
    found = list(primaries / (1.0 - p))
    at = 0
    while at < len(found):
        if rng.random() < p:
            found.append(found[at] + rng.exponential(0.02))
        at += 1
    clock = np.sort(np.array(found))
    return clock[clock <= n], float(n)


def changed_size(rng: np.random.Generator, n: int) -> tuple[Floats, float]:
    """Four times the accelerators from a day on, seen on the clock of accelerator time.

    On calendar time this is a trend. The rate per accelerator is constant, so on the clock of
    exposure there is none.
    """
    units = np.where(np.arange(30) < 20, 1.0, 4.0)
    rate = n / units.sum()
    calendar = [day + rng.uniform(0, 1, rng.poisson(rate * size)) for day, size in enumerate(units)]
    moments = np.sort(np.concatenate(calendar))
    edges = np.concatenate([[0.0], np.cumsum(units)])
    return np.interp(moments, np.arange(31), edges), float(edges[-1])


def episodes(rng: np.random.Generator, n: int) -> tuple[Floats, float]:
    """A tenth of the clock, in stretches anywhere, has five times the rate of the rest."""
    base = 1.0 / 1.4
    clock = list(rng.uniform(0.0, n, rng.poisson(base * n)))
    for _ in range(5):
        start = rng.uniform(0.0, n)
        more = rng.poisson(4.0 * base * n / 50.0)
        clock += list((start + rng.uniform(0.0, n / 50.0, more)) % n)
    return np.sort(np.array(clock)), float(n)
