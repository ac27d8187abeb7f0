"""Laws of up-times, fitted by maximum likelihood where some stretches ended for another reason.

An exponential law (a constant rate), Weibull's and the lognormal, and how they compare. A shape
below 1 is evidence of something (bursts, a mixture, a trend) and not of a rate that falls: it is
asked last, never alone.

Rule of zeros: a duration of 0 says no more than "shorter than the resolution of the stamps". It
has no likelihood under these laws (a density at 0 is 0 or infinite). Zeros are counted and left
out, as of two events at one stamp; nothing is ever added to them, since the amount added would
decide the shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Law = Literal["exponential", "weibull", "lognormal"]
Floats = NDArray[np.float64]
FEWEST: Final = 2  # distinct observed durations that a law with two parameters takes
_PARAMETERS: Final[dict[Law, int]] = {"exponential": 1, "weibull": 2, "lognormal": 2}
_STEPS: Final = 200
_TOLERANCE: Final = 1e-10


@dataclass(frozen=True)
class LawFit:
    """One law fitted to durations.

    Attributes:
        law: which.
        shape: Weibull's shape, the lognormal's sigma; 1 for the exponential.
        shape_low, shape_high: ends of an interval of the shape; equal to it for the exponential.
        scale_s: Weibull's scale, the lognormal's median, the exponential's mean; unit of the input.
        mean_s: mean of the law.
        log_likelihood: of durations in the unit of the input.
        aic: Akaike's criterion; smaller is better.
        p_exponential: of the likelihood-ratio test of shape 1; None but for Weibull's law.
    """

    law: Law
    shape: float
    shape_low: float
    shape_high: float
    scale_s: float
    mean_s: float
    log_likelihood: float
    aic: float
    p_exponential: float | None


@dataclass(frozen=True)
class LawFits:
    """All laws on the same durations, or why there are none.

    Attributes:
        n_events: durations that ended with an event.
        n_censored: durations that ended for another reason.
        n_zero: durations of 0 that were left out.
        fits: the laws, best first by AIC.
        refusal: why there are no fits, or why they are less than they could be; None if neither.
    """

    n_events: int
    n_censored: int
    n_zero: int
    fits: tuple[LawFit, ...]
    refusal: str | None


def fit_laws(
    durations_s: ArrayLike, observed: ArrayLike | None = None, confidence: float = 0.95
) -> LawFits:
    """Fit the exponential, Weibull's and the lognormal law.

    Args:
        durations_s: up-times, shape ``(n,)``, any one unit.
        observed: whether an event ended each; false where it was cut off. All, by default.
        confidence: of the interval of the shape, as a fraction.

    Returns:
        The fits; none with a reason where no event was seen, or all durations are one value.

    Raises:
        ValueError: a duration is negative or not finite, lengths differ, or the confidence is not
            between 0 and 1.

    Source: W. Nelson, Applied Life Data Analysis (1982), ch. 8; Lawless, Statistical Models and
    Methods for Lifetime Data (2003), ch. 5.

    >>> hours = [54, 187, 216, 240, 244, 335, 361, 373, 375, 386] + [500] * 10
    >>> found = fit_laws(hours, [True] * 10 + [False] * 10)
    >>> weibull = next(fit for fit in found.fits if fit.law == "weibull")
    >>> [round(x, 3) for x in (weibull.shape, weibull.scale_s, weibull.log_likelihood)]
    [1.721, 606.528, -75.135]
    """
    times, events = durations_and_events(durations_s, observed)
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    n_zero = int((times == 0.0).sum())
    times, events = times[times > 0.0], events[times > 0.0]
    n_events, n_censored = int(events.sum()), int((~events).sum())
    if n_events == 0:
        reason = "no event was seen: a law cannot be told, only a bound of the mean"
        return LawFits(0, n_censored, n_zero, (), reason)
    flat = _exponential(times, n_events)
    if np.unique(times[events]).size < FEWEST:
        reason = "all events came at one duration: a law with a shape needs two that differ"
        return LawFits(n_events, n_censored, n_zero, (flat,), reason)
    z = _normal_quantile(0.5 + confidence / 2.0)
    found = [flat, _weibull(times, events, flat.log_likelihood, z), _lognormal(times, events, z)]
    fits = tuple(sorted((fit for fit in found if fit is not None), key=lambda fit: fit.aic))
    less = None if len(fits) == len(found) else "the lognormal fit did not converge"
    return LawFits(n_events, n_censored, n_zero, fits, less)


def durations_and_events(
    durations_s: ArrayLike, observed: ArrayLike | None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return durations and whether each ended with an event as arrays, or refuse them.

    Args:
        durations_s: shape ``(n,)``.
        observed: shape ``(n,)``; None for all.

    Raises:
        ValueError: a duration is negative or not finite, or lengths differ.
    """
    times = np.asarray(durations_s, dtype=np.float64).ravel()
    events = (
        np.ones(times.size, dtype=bool)
        if observed is None
        else np.asarray(observed, dtype=bool).ravel()
    )
    if times.size != events.size:
        raise ValueError("every duration needs to say whether an event ended it")
    if not (np.isfinite(times).all() and (times >= 0.0).all()):
        raise ValueError("a duration must be 0 or more and finite")
    return times, events


def _exponential(times: Floats, n_events: int) -> LawFit:
    mean = float(times.sum()) / n_events
    likelihood = -n_events * (math.log(mean) + 1.0)
    return _fit("exponential", 1.0, 0.0, mean, mean, likelihood)


def _weibull(times: Floats, events: NDArray[np.bool_], flat: float, z: float) -> LawFit:
    """Solve the profile equation of the shape; scaled by the largest so that no power overflows."""
    top = float(times.max())
    logs = np.log(times / top)
    r, mean_log = int(events.sum()), float(logs[events].mean())

    def sums(shape: float) -> tuple[float, float, float]:
        weights = np.exp(shape * logs)
        return (
            float(weights.sum()),
            float((weights * logs).sum()),
            float((weights * logs * logs).sum()),
        )

    def slope(shape: float) -> float:
        s0, s1, _ = sums(shape)
        return s1 / s0 - 1.0 / shape - mean_log

    shape = _root(slope)
    s0, s1, s2 = sums(shape)
    scale = top * math.exp(math.log(s0 / r) / shape)
    likelihood = (
        r * math.log(shape)
        - r * shape * math.log(scale)
        + (shape - 1.0) * r * (mean_log + math.log(top))
        - r
    )
    # curvature of the profile likelihood in log(shape): positive at its maximum
    information = r * (1.0 + shape * shape * (s2 / s0 - (s1 / s0) ** 2))
    mean = scale * math.exp(math.lgamma(1.0 + 1.0 / shape)) if shape > 1.0 / 150.0 else math.inf
    ratio = max(0.0, 2.0 * (likelihood - flat))
    return _fit("weibull", shape, z / math.sqrt(information), scale, mean, likelihood, _chi1(ratio))


def _root(slope: Callable[[float], float]) -> float:
    """Find the shape at which the profile equation, which rises with it, is zero."""
    low, high = 1e-3, 1.0
    while slope(high) < 0.0 and high < 1e6:
        low, high = high, 2.0 * high
    while slope(low) > 0.0:
        low /= 2.0
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        if slope(middle) < 0.0:
            low = middle
        else:
            high = middle
        if high / low - 1.0 < _TOLERANCE:
            break
    return math.sqrt(low * high)


def _lognormal(times: Floats, events: NDArray[np.bool_], z: float) -> LawFit | None:
    """Fit by expectation and maximisation (Tobit), then the interval by the information."""
    logs = np.log(times)
    r = int(events.sum())
    if r == times.size:
        mu, sigma = float(logs.mean()), float(logs.std())
    else:
        solved = _censored_normal(logs, events)
        if solved is None:
            return None
        mu, sigma = solved
    if sigma <= 0.0:
        return None
    likelihood = _normal_likelihood(logs, events, mu, math.log(sigma)) - float(logs[events].sum())
    # interval of sigma from the curvature in log(sigma), mu held at its own best for each
    spread = z / math.sqrt(_sigma_information(logs, events, mu, sigma))
    mean = math.exp(min(mu + sigma * sigma / 2.0, 700.0))
    return _fit("lognormal", sigma, spread, math.exp(mu), mean, likelihood)


def _censored_normal(logs: Floats, events: NDArray[np.bool_]) -> tuple[float, float] | None:
    from scipy import optimize

    centre, width = float(logs[events].mean()), float(logs[events].std()) or 1.0
    scaled = (logs - centre) / width
    found = optimize.minimize(
        lambda x: _negative(scaled, events, x[0], x[1]),
        np.array([0.3, 0.3]),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-7 * logs.size, "maxiter": _STEPS},
    )
    mu, log_sigma = (float(x) for x in found.x)
    if not (math.isfinite(mu) and abs(log_sigma) < 20.0):
        return None
    return centre + width * mu, width * math.exp(log_sigma)


def _negative(
    logs: Floats, events: NDArray[np.bool_], mu: float, log_sigma: float
) -> tuple[float, Floats]:
    """Minus the log-likelihood of a censored normal sample, and its slopes."""
    from scipy import special

    sigma = math.exp(log_sigma)
    y = (logs - mu) / sigma
    seen, cut = y[events], y[~events]
    log_tail = special.log_ndtr(-cut)
    hazard = np.exp(-0.5 * cut * cut - 0.5 * math.log(2.0 * math.pi) - log_tail)
    value = (
        seen.size * (log_sigma + 0.5 * math.log(2.0 * math.pi))
        + 0.5 * float(seen @ seen)
        - float(log_tail.sum())
    )
    by_mu = -(float(seen.sum()) + float(hazard.sum())) / sigma
    by_sigma = seen.size - float(seen @ seen) - float(hazard @ cut)
    return value, np.array([by_mu, by_sigma])


def _normal_likelihood(
    logs: Floats, events: NDArray[np.bool_], mu: float, log_sigma: float
) -> float:
    return -_negative(logs, events, mu, log_sigma)[0]


def _sigma_information(logs: Floats, events: NDArray[np.bool_], mu: float, sigma: float) -> float:
    """Information on log(sigma) with mu unknown: Schur's complement of the numeric Hessian."""
    h = 1e-4
    at = np.array([mu, math.log(sigma)])
    step = np.array([h * sigma, h])
    hessian = np.empty((2, 2))
    for i in range(2):
        ends = [
            _negative(logs, events, *(at + sign * step * (np.arange(2) == i)))[1]
            for sign in (1.0, -1.0)
        ]
        hessian[i] = (ends[0] - ends[1]) / (2.0 * step[i])
    cross = (hessian[0, 1] + hessian[1, 0]) / 2.0
    return float(max(hessian[1, 1] - cross * cross / hessian[0, 0], 1e-12))


def _fit(
    law: Law,
    shape: float,
    spread: float,
    scale: float,
    mean: float,
    likelihood: float,
    p: float | None = None,
) -> LawFit:
    spread = min(spread, 700.0)
    aic = 2.0 * _PARAMETERS[law] - 2.0 * likelihood
    low, high = shape * math.exp(-spread), shape * math.exp(spread)
    return LawFit(law, shape, low, high, scale, mean, likelihood, aic, p)


def _chi1(value: float) -> float:
    """Probability that a chi-square variable of one degree of freedom exceeds a value."""
    return math.erfc(math.sqrt(value / 2.0))


def _normal_quantile(p: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)
