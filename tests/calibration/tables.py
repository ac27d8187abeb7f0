"""The tables of docs/statistics.md, each computed from seeded simulations of a known truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ckpt_audit.reliability.change_point import change_point
from ckpt_audit.reliability.dispersion import WIDEN, dispersion, robust_mean_time
from ckpt_audit.reliability.drift import drift, rate_ratio
from ckpt_audit.reliability.fits import fit_laws
from ckpt_audit.reliability.gamma_poisson import CAUTION, fleet_prior, posterior
from ckpt_audit.reliability.pooling import Stretch, project, size_slope
from ckpt_audit.reliability.power_law import power_law
from ckpt_audit.reliability.rate import mean_time
from ckpt_audit.reliability.survival import restricted_mean, survival
from ckpt_audit.reliability.trend import trend
from tests.reliability.processes import cascades, changed_size, episodes, poisson, renewals

Floats = NDArray[np.float64]
Sequence_ = tuple[Floats, float]
Make = Callable[[np.random.Generator, int], Sequence_]
Row = tuple[object, ...]

NO_TREND: dict[str, Make] = {
    "constant rate": poisson,
    "Weibull 0.5": lambda rng, n: renewals(rng, n, 0.5),
    "Weibull 0.7": lambda rng, n: renewals(rng, n, 0.7),
    "Weibull 1.5": lambda rng, n: renewals(rng, n, 1.5),
    "cascade 0.1": lambda rng, n: cascades(rng, n, 0.1),
    "cascade 0.3": lambda rng, n: cascades(rng, n, 0.3),
    "change of size": changed_size,
}


def exact_interval(_size: int) -> Iterator[Row]:
    """Coverage of the exact interval, summed over all counts."""
    yield "events expected", "coverage"
    for expected in (1, 2, 3, 4, 5, 10, 30, 100):
        counts = range(int(expected + 12 * expected**0.5) + 12)
        held = [
            n
            for n in counts
            for got in [mean_time(n, float(expected))]
            if got.low_s <= 1.0 <= got.high_s
        ]
        yield expected, f"{stats.poisson.pmf(held, expected).sum():.3f}"


def interval_under_bursts(size: int) -> Iterator[Row]:
    """Coverage of three intervals of M: exact, for bursts, and the one of both that is shown."""
    yield (
        "process",
        "events expected",
        "exact",
        "robust",
        "robust where p of phi is 0.2 or less",
    )
    kinds = NO_TREND | {"episodes of 5 times": episodes}
    for name, make in kinds.items():
        if name == "change of size":
            continue
        for n in (10, 30, 100):
            rng = np.random.default_rng(n)
            held = np.zeros(3)
            for seed in range(size):
                clock, length = make(rng, n)
                spread = dispersion([(clock, length)], seed, draws=199)
                exact = mean_time(clock.size, length)
                robust = robust_mean_time(clock.size, length, spread)
                shown = robust if spread and spread.p <= WIDEN else exact
                held += [got.low_s <= 1.0 <= got.high_s for got in (exact, robust, shown)]
            yield name, n, *(f"{x:.3f}" for x in held / size)


def trend_size(size: int) -> Iterator[Row]:
    """Share of sequences without a trend in which each test sees one at 5 %."""
    yield (
        "process",
        "events expected",
        "permuted gaps",
        "Laplace",
        "MIL-HDBK-189C",
        "Lewis-Robinson",
    )
    for name, make in NO_TREND.items():
        for n in (12, 30, 100):
            rng = np.random.default_rng(n)
            found = [trend(*make(rng, n), seed=seed, draws=399) for seed in range(size)]
            tested = [f for f in found if f.p is not None]
            p = [
                [f.p, f.laplace_p, f.mil_hdbk_189_p, _two_sided(f.lewis_robinson or 0.0)]
                for f in tested
            ]
            yield name, n, *(f"{x:.3f}" for x in (np.array(p, dtype=float) <= 0.05).mean(axis=0))


def _two_sided(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2.0))


def trend_power(size: int) -> Iterator[Row]:
    """Share of sequences with a trend in which it is seen, and what is made of M now."""
    yield (
        "beta",
        "events expected",
        "permuted gaps",
        "Laplace",
        "log error of M: constant",
        "power law",
        "blended",
    )
    for beta in (0.5, 0.7, 1.0, 1.5):
        for n in (15, 60):
            rng = np.random.default_rng(n)
            seen, errors = np.zeros(2), []
            for seed in range(size):
                clock = n * rng.uniform(size=rng.poisson(n)) ** (1.0 / beta)
                found, fit = trend(clock, n, seed, draws=199), power_law(clock, n)
                seen += [(found.p or 1) <= 0.05, (found.laplace_p or 1) <= 0.05]
                if fit is not None:
                    values = (fit.m_constant_s, fit.m_now_s, fit.blended_m_s)
                    errors.append(np.log(np.array(values) * beta) ** 2)
            error = np.sqrt(np.mean(errors, axis=0))
            yield beta, n, *(f"{x:.2f}" for x in seen / size), *(f"{x:.2f}" for x in error)


def laws(size: int) -> Iterator[Row]:
    """Weibull's shape: coverage of its interval, and how often shape 1 is rejected."""
    yield "process", "gaps", "coverage of the shape", "shape 1 rejected", "median shape"
    for name, true in (("constant rate", 1.0), ("Weibull 0.7", 0.7), ("cascade 0.3", None)):
        for n in (20, 60, 150):
            rng = np.random.default_rng(n)
            covered, rejected, shapes = 0, 0, []
            for _ in range(size):
                gaps = (
                    rng.weibull(true, n)
                    if true
                    else np.diff(cascades(rng, int(1.3 * n) + 20, 0.3)[0])[:n]
                )
                fit = next(f for f in fit_laws(gaps).fits if f.law == "weibull")
                covered += fit.shape_low <= (true or math.nan) <= fit.shape_high
                rejected += (fit.p_exponential or 0.0) <= 0.05
                shapes.append(fit.shape)
            shown = f"{covered / size:.3f}" if true else "-"
            yield name, n, shown, f"{rejected / size:.3f}", f"{np.median(shapes):.2f}"


def changes(size: int) -> Iterator[Row]:
    """The change-point test: rejections, and coverage of where the change is."""
    yield "rates before and after", "rejected", "place covered", "median error of the place"
    for before, after in ((40, 40), (20, 60), (40, 10), (8, 30)):
        rng = np.random.default_rng(before)
        found = []
        for seed in range(size):
            clock = np.concatenate(
                [
                    rng.uniform(0, 60, rng.poisson(0.6 * before)),
                    rng.uniform(60, 100, rng.poisson(0.4 * after)),
                ]
            )
            got = change_point(clock, 100.0, seed, draws=199)
            if got is not None:
                inside = got.low_s <= 60 <= got.high_s
                found.append((got.p <= 0.05, inside, abs(got.at_s - 60)))
        rejected, inside, error = np.array(found, dtype=float).T
        same = before == after
        yield (
            f"{before}, {after} per 100",
            f"{rejected.mean():.3f}",
            "-" if same else f"{inside.mean():.3f}",
            "-" if same else f"{np.median(error):.1f}",
        )


def drifts(size: int) -> Iterator[Row]:
    """Month to month: rejections at 5 % in six unequal months, and the ratio's coverage."""
    yield "events expected", "constant rate", "last month doubled", "tripled", "ratio 2 covered"
    exposure = np.array([300.0, 700.0, 500.0, 650.0, 720.0, 600.0])
    for n in (12, 30, 100):
        rng = np.random.default_rng(n)
        shown = []
        for factor in (1.0, 2.0, 3.0):
            weights = exposure * np.array([1, 1, 1, 1, 1, factor]) / exposure.sum()
            p = [
                drift(rng.poisson(n * weights).tolist(), exposure.tolist(), s, 199).p
                for s in range(size)
            ]
            shown.append(np.mean([x is not None and x <= 0.05 for x in p]))
        held = [
            got.low <= 2.0 <= got.high
            for _ in range(size)
            for got in [rate_ratio(int(rng.poisson(n / 3)), 1.0, int(rng.poisson(n)), 6.0)]
        ]
        yield n, *(f"{x:.3f}" for x in shown), f"{np.mean(held):.3f}"


def shrinking(size: int) -> Iterator[Row]:
    """Root mean square error of the log rate of 30 jobs: alone, pooled, with the fleet's prior."""
    yield (
        "true variation of rates",
        "alone",
        "pooled",
        "likeliest prior",
        "cautious prior",
        "interval covers",
    )
    for cv in (0.0, 0.3, 0.7, 1.5):
        rng = np.random.default_rng(30)
        errors, held = [], []
        for _ in range(max(10, size // 10)):
            truth = np.full(30, 0.02) if cv == 0 else rng.gamma(cv**-2, 0.02 * cv**2, 30)
            truth = np.maximum(truth, 1e-6)
            e = rng.uniform(50, 400, 30)
            n = rng.poisson(truth * e)
            prior = fleet_prior(n.tolist(), e.tolist())
            if prior is None:
                continue
            careful = fleet_prior(n.tolist(), e.tolist(), caution=CAUTION) or prior
            best, after = (
                [posterior(int(k), float(x), law) for k, x in zip(n, e, strict=True)]
                for law in (prior, careful)
            )
            pooled = np.full(30, n.sum() / e.sum())
            ways = ((n + 0.5) / e, pooled, [b.rate for b in best], [a.rate for a in after])
            errors.append([np.mean(np.log(np.array(way) / truth) ** 2) for way in ways])
            held += [a.low <= t <= a.high for a, t in zip(after, truth, strict=True)]
        yield cv, *(f"{x:.2f}" for x in np.sqrt(np.mean(errors, axis=0))), f"{np.mean(held):.3f}"


def projections(size: int) -> Iterator[Row]:
    """M of 1,024 accelerators from jobs of 32 to 256."""
    yield "rate grows as size to the", "slope covered", "slope of 1 rejected", "M covered"
    sizes = [32, 64, 64, 128, 256]
    for slope in (1.0, 0.8, 0.5):
        rng = np.random.default_rng(17)
        covered, rejected, held, n = 0, 0, 0, 0
        for _ in range(size):
            rates = [0.02 * (s / 64) ** slope for s in sizes]
            seen = [
                Stretch(int(rng.poisson(r * 800.0)), 800.0, s)
                for r, s in zip(rates, sizes, strict=True)
            ]
            fit = size_slope(seen)
            if fit is None:
                continue
            n += 1
            covered += fit.low <= slope <= fit.high
            rejected += fit.p_proportional <= 0.05
            got = project(seen, 1024)
            held += got.low_h <= 1.0 / (0.02 * (1024 / 64) ** slope) <= got.high_h
        yield slope, f"{covered / n:.3f}", f"{rejected / n:.3f}", f"{held / n:.3f}"


def lasting(size: int) -> Iterator[Row]:
    """Bands of the survival curve and the restricted mean, up-times cut off at 1.5 means."""
    yield "up-times", "survival at 0.5 covered", "hazard at 0.5 covered", "restricted mean covered"
    truth = 1 - math.exp(-1.0)
    for n in (10, 30, 100):
        rng = np.random.default_rng(n)
        held = np.zeros(3)
        for _ in range(size):
            draws = rng.exponential(1.0, n)
            curve = survival(np.minimum(draws, 1.5), draws < 1.5)
            mean = restricted_mean(curve, 1.0)
            place = int(np.searchsorted(curve.at_s, 0.5, side="right")) - 1
            if place >= 0:
                held[0] += curve.survival_low[place] <= math.exp(-0.5) <= curve.survival_high[place]
                held[1] += curve.hazard_low[place] <= 0.5 <= curve.hazard_high[place]
            held[2] += mean is not None and mean.low_s <= truth <= mean.high_s
        yield n, *(f"{x:.3f}" for x in held / size)


TABLES: dict[str, Callable[[int], Iterator[Row]]] = {
    "exact_interval": exact_interval,
    "interval_under_bursts": interval_under_bursts,
    "trend_size": trend_size,
    "trend_power": trend_power,
    "laws": laws,
    "changes": changes,
    "drifts": drifts,
    "shrinking": shrinking,
    "projections": projections,
    "lasting": lasting,
}
