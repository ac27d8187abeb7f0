"""How long up-times last, with no law assumed: survival, cumulative hazard, restricted mean.

The product-limit estimate of Kaplan and Meier, Nelson and Aalen's cumulative hazard, both with
pointwise bands that stay inside their range, and the mean up-time up to a horizon. Stretches that
ended for another reason leave the risk set without an event, after events at the same duration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ckpt_audit.reliability.fits import durations_and_events

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Survival:
    """Survival and cumulative hazard at each duration at which an event was seen.

    All arrays have the shape ``(k,)``, one entry for each such duration, ascending.

    Attributes:
        at_s: the durations.
        at_risk: stretches that lasted at least that long.
        events: of these, those that ended there with an event.
        survival: share that lasts longer (Kaplan-Meier).
        survival_low, survival_high: pointwise band; NaN where nothing outlasts the duration.
        hazard: cumulative hazard (Nelson-Aalen).
        hazard_low, hazard_high: pointwise band.
        longest_s: longest stretch, event or not: beyond it nothing is known. None of no stretch.
        confidence: of the bands, as a fraction.
    """

    at_s: Floats
    at_risk: NDArray[np.int64]
    events: NDArray[np.int64]
    survival: Floats
    survival_low: Floats
    survival_high: Floats
    hazard: Floats
    hazard_low: Floats
    hazard_high: Floats
    longest_s: float | None
    confidence: float


@dataclass(frozen=True)
class RestrictedMean:
    """Mean of the up-time cut at a horizon.

    Attributes:
        horizon_s: where it is cut.
        mean_s: area below the survival curve up to there.
        low_s, high_s: normal interval, kept within 0 and the horizon.
    """

    horizon_s: float
    mean_s: float
    low_s: float
    high_s: float


def survival(
    durations_s: ArrayLike, observed: ArrayLike | None = None, confidence: float = 0.95
) -> Survival:
    """Estimate survival and cumulative hazard.

    Args:
        durations_s: up-times, shape ``(n,)``, any one unit; 0 is allowed.
        observed: whether an event ended each; all, by default.
        confidence: of the pointwise bands, as a fraction.

    Raises:
        ValueError: a duration is negative or not finite, lengths differ, or the confidence is not
            between 0 and 1.

    Source: Kaplan and Meier 1958 (JASA 53) with Greenwood's variance on the scale of log(-log S);
    Nelson 1972, Aalen 1978 (Ann. Statist. 6) with the variance sum(d/n^2) on the scale of log H.

    >>> curve = survival([1, 2, 2, 4], [True, True, False, True])
    >>> curve.survival.tolist(), curve.hazard.round(4).tolist()
    ([0.75, 0.5, 0.0], [0.25, 0.5833, 1.5833])
    """
    times, seen = durations_and_events(durations_s, observed)
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    at, events = np.unique(times[seen], return_counts=True)
    at_risk = times.size - np.searchsorted(np.sort(times), at, side="left")
    kept = at_risk - events
    with np.errstate(divide="ignore", invalid="ignore"):
        lasting: Floats = np.cumprod(kept / at_risk, dtype=np.float64)
        greenwood = np.cumsum(events / (at_risk * kept))
        spread = z * np.sqrt(greenwood) / np.abs(np.log(lasting))
        low, high = lasting ** np.exp(spread), lasting ** np.exp(-spread)
        hazard = np.cumsum(events / at_risk)
        width = np.exp(z * np.sqrt(np.cumsum(events / at_risk.astype(float) ** 2)) / hazard)
    nothing = lasting <= 0.0
    low[nothing] = high[nothing] = math.nan
    return Survival(
        at_s=at,
        at_risk=at_risk.astype(np.int64),
        events=events.astype(np.int64),
        survival=lasting,
        survival_low=low,
        survival_high=high,
        hazard=hazard,
        hazard_low=hazard / width,
        hazard_high=hazard * width,
        longest_s=float(times.max()) if times.size else None,
        confidence=confidence,
    )


def restricted_mean(curve: Survival, horizon_s: float | None = None) -> RestrictedMean | None:
    """Give the mean up-time up to a horizon.

    Args:
        curve: the survival curve.
        horizon_s: where to cut; the longest stretch, by default.

    Returns:
        None where there is no stretch, or the horizon lies beyond the longest one while some
        stretch was still going on: nothing is known there.

    Raises:
        ValueError: the horizon is not positive and finite.

    Source: Irwin 1949; variance by Klein and Moeschberger, Survival Analysis (2003), section 4.5.

    >>> moments = [0, 5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478]
    >>> gaps = [after - before for before, after in zip(moments, moments[1:])]
    >>> mean = restricted_mean(survival([*gaps, 22], [True] * 10 + [False]), 500)
    >>> round(mean.mean_s, 6)
    150.659091
    """
    if curve.longest_s is None:
        return None
    horizon = curve.longest_s if horizon_s is None else horizon_s
    if not (math.isfinite(horizon) and horizon > 0.0):
        if horizon_s is None:
            return None
        raise ValueError(f"the horizon must be positive and finite, got {horizon_s}")
    last = float(curve.survival[-1]) if curve.survival.size else 1.0
    if horizon > curve.longest_s and last > 0.0:
        return None
    inside = curve.at_s < horizon
    edges = np.concatenate([[0.0], curve.at_s[inside], [horizon]])
    heights = np.concatenate([[1.0], curve.survival[inside]])
    areas = np.diff(edges) * heights
    mean = float(areas.sum())
    beyond = mean - np.cumsum(areas)[:-1]  # area to the right of each event
    d, n = curve.events[inside], curve.at_risk[inside].astype(float)
    left = n > d
    variance = float((beyond[left] ** 2 * d[left] / (n[left] * (n[left] - d[left]))).sum())
    spread = NormalDist().inv_cdf(0.5 + curve.confidence / 2.0) * math.sqrt(variance)
    return RestrictedMean(horizon, mean, max(0.0, mean - spread), min(horizon, mean + spread))
