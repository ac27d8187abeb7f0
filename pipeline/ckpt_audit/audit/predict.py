"""Seconds that the model expects in each bucket of a window, with the noise of few failures.

The point is the exact model for exponential up-times. The interval is posterior predictive: a rate
is drawn from what the incidents say of it, costs are drawn from the measured ones, the window is
played through failure by failure, many times. A plug-in or normal interval would be too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ckpt_audit.model.waste import checked, up_time_split
from ckpt_audit.reliability.sample import finite_values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bucket = Literal["productive", "checkpoint", "lost_work", "detection", "restart"]

BUCKETS: tuple[Bucket, ...] = ("productive", "checkpoint", "lost_work", "detection", "restart")
DRAWS = 999
_MOST_VALUES = 1000  # a longer sample is thinned: draws times values are held at once


@dataclass(frozen=True)
class Measured:
    """What was measured over a stretch of time, and goes into a prediction.

    Attributes:
        c_mean_s: mean exposed cost of a save, seconds.
        interval_s: useful training time between two pauses, seconds.
        m_s: mean up-time between incidents, seconds. With no incident, pass the one used for
            advice, exposure / (1/2).
        d_mean_s: mean time from fault to detected, seconds.
        r_mean_s: mean time from detected to the first step, failed retries included, seconds.
        exposure_s: up-time in which the incidents struck, seconds.
        n_incidents: incidents in that up-time.
        wall_s: wall clock of the same stretch, up-time and outages, seconds.
    """

    c_mean_s: float
    interval_s: float
    m_s: float
    d_mean_s: float
    r_mean_s: float
    exposure_s: float
    n_incidents: int
    wall_s: float

    def __post_init__(self) -> None:
        """Refuse what cannot have been measured."""
        for name in ("interval_s", "m_s", "exposure_s", "wall_s"):
            checked(name, getattr(self, name), positive=True)
        for name in ("c_mean_s", "d_mean_s", "r_mean_s", "n_incidents"):
            checked(name, getattr(self, name))
        if self.exposure_s > self.wall_s * (1.0 + 1e-9):
            raise ValueError(
                f"exposure_s ({self.exposure_s}) is up-time and cannot exceed wall_s "
                f"({self.wall_s})"
            )


@dataclass(frozen=True)
class Prediction:
    """Expected seconds of one bucket.

    Attributes:
        bucket: name of the bucket; ``restart`` holds waiting for nodes too (all of recovery).
        predicted_s: seconds by the exact model with the measured means.
        low_s: lower end of the predictive interval, seconds.
        high_s: upper end, seconds.
        in_sample: whether the window predicted is the one measured; agreement is then no success.
        draws_s: seconds of the simulated windows, in order of size, shape ``(draws,)``.
    """

    bucket: Bucket
    predicted_s: float
    low_s: float
    high_s: float
    in_sample: bool = True
    draws_s: Floats = field(default_factory=lambda: np.empty(0), compare=False, repr=False)

    def percentile(self, observed_s: float) -> float | None:
        """Give the share of the simulated windows below what was observed, in percent.

        Args:
            observed_s: seconds; those that just equal it count half.
        """
        if self.draws_s.size == 0:
            return None
        below = np.searchsorted(self.draws_s, observed_s, "left")
        up_to = np.searchsorted(self.draws_s, observed_s, "right")
        return float(50.0 * (below + up_to) / self.draws_s.size)


def predict(
    measured: Measured,
    *,
    seed: int,
    window_exposure_s: float | None = None,
    in_sample: bool = True,
    c_values_s: ArrayLike = (),
    d_values_s: ArrayLike = (),
    r_values_s: ArrayLike = (),
    confidence: float = 0.95,
    draws: int = DRAWS,
) -> tuple[Prediction, ...]:
    """Predict the seconds of each bucket of a window, from its up-time.

    Failures strike in up-time only, since a measured ``r_mean_s`` holds the failed retries. The
    interval is centred on the posterior of the rate, Gamma(n + 1/2, exposure); with few incidents
    the point, at ``m_s``, need not be in its middle.

    Args:
        measured: means, counts and exposure of the baseline.
        seed: of the generator; the same seed gives the same intervals.
        window_exposure_s: up-time of the window to predict, seconds; that of ``measured`` by
            default.
        in_sample: passed through to the result. Say False for a window that the measurements do
            not come from.
        c_values_s: measured costs of saves, seconds, shape ``(n,)``; the mean alone when empty.
        d_values_s: measured times from fault to detected, seconds, likewise.
        r_values_s: measured times from detected to the first step, seconds, likewise.
        confidence: of the intervals, as a fraction.
        draws: windows to simulate.

    Returns:
        One prediction per bucket, in the order of ``BUCKETS``.

    Raises:
        ValueError: a value is not finite, the up-time is negative, or confidence is not between
            0 and 1.

    Source: exact shares as in ``model.waste``, times up-time; Bayesian bootstrap of the costs by
    Rubin 1981 (Ann. Statist. 9(1)).
    """
    window_s = measured.exposure_s if window_exposure_s is None else window_exposure_s
    checked("window_exposure_s", window_s)
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    rng = np.random.default_rng(seed)
    rates = rng.gamma(measured.n_incidents + 0.5, 1.0 / measured.exposure_s, draws)
    c = Cost.of(c_values_s, measured.c_mean_s)
    d = Cost.of(d_values_s, measured.d_mean_s)
    r = Cost.of(r_values_s, measured.r_mean_s)
    simulated = simulate(rates, window_s, measured.interval_s, c, d, r, rng)
    tail = (1.0 - confidence) / 2.0
    expected = expected_s(measured, window_s)
    result = []
    for bucket in BUCKETS:
        ordered = np.sort(simulated[bucket])
        low, high = np.quantile(ordered, [tail, 1.0 - tail]).tolist()
        result.append(Prediction(bucket, expected[bucket], low, high, in_sample, ordered))
    return tuple(result)


def expected_s(measured: Measured, window_exposure_s: float) -> dict[Bucket, float]:
    """Give the expected seconds of each bucket in a window of this much up-time.

    Args:
        measured: means of the baseline.
        window_exposure_s: up-time of the window, seconds.

    >>> got = expected_s(Measured(60, 1140, 10800, 90, 510, 108000, 10, 120000), 108000)
    >>> round(got["productive"]), round(got["checkpoint"]), round(got["lost_work"])
    (97006, 5120, 5875)
    >>> got["detection"], got["restart"]
    (900.0, 5100.0)
    """
    split = up_time_split(measured.interval_s, measured.c_mean_s, measured.m_s)
    incidents = window_exposure_s / measured.m_s
    return {
        "productive": window_exposure_s * float(split.retained),
        "checkpoint": window_exposure_s * float(split.checkpoint),
        "lost_work": window_exposure_s * float(split.lost_work),
        "detection": incidents * measured.d_mean_s,
        "restart": incidents * measured.r_mean_s,
    }


def first_order_s(measured: Measured, window_exposure_s: float) -> dict[Bucket, float]:
    """Give the same by the first-order model, which is what a rule of thumb would have said.

    Args:
        measured: means of the baseline.
        window_exposure_s: up-time of the window, seconds.

    Source: Young 1974, Commun. ACM 17(9): a save each interval, half an interval an incident.

    >>> got = first_order_s(Measured(60, 1140, 10800, 90, 510, 108000, 10, 120000), 108000)
    >>> round(got["checkpoint"]), round(got["lost_work"]), round(got["productive"])
    (5684, 5700, 96616)
    """
    incidents = window_exposure_s / measured.m_s
    checkpoint = window_exposure_s * measured.c_mean_s / measured.interval_s
    lost = incidents * measured.interval_s / 2.0
    return {
        "productive": window_exposure_s - checkpoint - lost,
        "checkpoint": checkpoint,
        "lost_work": lost,
        "detection": incidents * measured.d_mean_s,
        "restart": incidents * measured.r_mean_s,
    }


@dataclass(frozen=True)
class Cost:
    """Measured values of a cost, shape ``(k,)`` with k at least 1, seconds."""

    values: Floats

    @classmethod
    def of(cls, values: ArrayLike, mean: float) -> Cost:
        """Take measured values, or their mean alone where there are none."""
        array = finite_values(values)
        if array.size == 0:
            return cls(np.array([mean]))
        if array.size <= _MOST_VALUES:
            return cls(array)
        thin = np.quantile(array, (np.arange(_MOST_VALUES) + 0.5) / _MOST_VALUES)
        return cls(thin * (array.mean() / thin.mean()) if thin.mean() > 0.0 else thin)

    def weights(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return the weights of the values in each draw, shape ``(draws, k)``."""
        return rng.dirichlet(np.ones(self.values.size), size=draws)

    def sums(self, counts: Ints, weights: Floats, rng: np.random.Generator) -> Floats:
        """Return, per draw, the sum of ``counts`` values taken with those weights."""
        return np.asarray(rng.multinomial(counts, weights) @ self.values, dtype=np.float64)


def simulate(
    rates: Floats,
    window_s: float,
    interval_s: float,
    c: Cost,
    d: Cost,
    r: Cost,
    rng: np.random.Generator,
) -> dict[Bucket, Floats]:
    """Play a window of up-time once per rate.

    Every recovery starts a fresh interval, and so does the window; what is unsaved when the window
    ends is productive.

    Args:
        rates: incidents per second of up-time, shape ``(b,)``.
        window_s: up-time of the window, seconds.
        interval_s: useful training time between two pauses, seconds.
        c: cost of a save.
        d: time from fault to detected.
        r: time from detected to the first step.
        rng: generator of all draws.

    Returns:
        Seconds of each bucket, shape ``(b,)``.
    """
    draws = rates.size
    weights = c.weights(draws, rng)
    cost = np.maximum(weights @ c.values, 0.0)
    counts = rng.poisson(rates * window_s)
    draw, up = _up_times(counts, window_s, rng)
    failed = np.ones(up.size, dtype=bool)
    failed[-draws:] = False  # the stretch that the end of the window cuts short
    whole = np.floor(up / (interval_s + cost[draw]))
    rest = np.maximum(up - whole * (interval_s + cost[draw]), 0.0)

    def per_draw(values: Floats) -> Floats:
        return np.asarray(np.bincount(draw, weights=values, minlength=draws), dtype=np.float64)

    lost = per_draw(np.where(failed, np.minimum(rest, interval_s), 0.0))
    pauses = per_draw(whole * cost[draw] + np.maximum(rest - interval_s, 0.0))
    saves = per_draw(whole + (rest > interval_s)).astype(np.int64)
    # Up-times used the mean cost of the draw: add what the costs of its own saves differ by.
    noise = c.sums(saves, weights, rng) - saves * cost
    checkpoint = np.clip(pauses + noise, 0.0, window_s)
    return {
        "productive": np.maximum(window_s - checkpoint - lost, 0.0),
        "checkpoint": checkpoint,
        "lost_work": lost,
        "detection": d.sums(counts, d.weights(draws, rng), rng),
        "restart": r.sums(counts, r.weights(draws, rng), rng),
    }


def _up_times(counts: Ints, window_s: float, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return the draw and length of every up-time; the last ones end with the window, one a draw.

    Given their number, the failures of a Poisson process are uniform over the window.
    """
    draws = counts.size
    draw = np.concatenate([np.repeat(np.arange(draws), counts), np.arange(draws)])
    at = np.concatenate([rng.uniform(0.0, window_s, int(counts.sum())), np.full(draws, window_s)])
    order = np.lexsort((at, draw))
    ends = at[order]
    starts = np.concatenate([[0.0], ends[:-1]])
    starts[np.concatenate([[0], np.cumsum(counts + 1)[:-1]])] = 0.0
    up = np.empty_like(ends)
    up[order] = ends - starts
    return draw, up
