"""Whether failures become more or less frequent, on the clock of up-time.

Three old statistics are shown (Laplace's, that of MIL-HDBK-189C, Lewis and Robinson's), and one
decides: Lewis and Robinson's against permutations of the gaps. The first two take a constant rate
as their null and cry out at bursts too; permuting the gaps keeps whatever law they have, so that
only their order is tested, and keeps its size with ten events already.

Several runs are strata: gaps are permuted inside a run only, so that runs of different rates do
not make a trend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Truncation = Literal["time", "failure"]
FEWEST: Final = 10  # events below which no test is made
DRAWS: Final = 1999
LEVEL: Final = 0.05
_MOST: Final = 2_000_000  # random numbers held at once


@dataclass(frozen=True)
class Trend:
    """Tests of a trend; every figure is None where there are too few events.

    Attributes:
        n: events.
        exposure_s: length of the clock.
        laplace: Laplace's statistic, standard normal under a constant rate; above 0 failures
            become more frequent.
        laplace_p: its two-sided p value.
        mil_hdbk_189: twice the sum of log(T/t); small where failures become more frequent.
        mil_hdbk_189_df: degrees of freedom of its chi-square law.
        mil_hdbk_189_p: its two-sided p value.
        lewis_robinson: Laplace's statistic over the coefficient of variation of the gaps.
        reverse_arrangements: pairs of gaps of which the later is the longer; None with strata.
        p: two-sided, of Lewis and Robinson's statistic among permutations of the gaps.
        direction: ``more frequent``, ``less frequent`` or ``none`` (p above the level).
        refusal: why there is no test, or None.
    """

    n: int
    exposure_s: float
    laplace: float | None = None
    laplace_p: float | None = None
    mil_hdbk_189: float | None = None
    mil_hdbk_189_df: int | None = None
    mil_hdbk_189_p: float | None = None
    lewis_robinson: float | None = None
    reverse_arrangements: int | None = None
    p: float | None = None
    direction: str | None = None
    refusal: str | None = None


@dataclass(frozen=True)
class _Stratum:
    clock: Floats
    exposure: float


def trend(clock_s: ArrayLike, exposure_s: float, seed: int = 0, draws: int = DRAWS) -> Trend:
    """Test one sequence of events for a trend.

    Args:
        clock_s: moments on the clock of up-time, shape ``(n,)``.
        exposure_s: length of the clock, to the end of observation.
        seed: of the permutations; the same seed gives the same p.
        draws: permutations.

    Raises:
        ValueError: the length is not positive and finite, or a moment lies outside it.

    Source: Cox and Lewis 1966, ch. 3; MIL-HDBK-189C; Lewis and Robinson 1973; p by Barnard's rule.

    >>> found = trend([5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478], 1500)
    >>> [round(x, 6) for x in (found.laplace, found.mil_hdbk_189, found.lewis_robinson)]
    [-1.326949, 37.228081, -1.20114]
    """
    return stratified_trend([(clock_s, exposure_s)], seed, draws)


def stratified_trend(
    strata: Sequence[tuple[ArrayLike, float]], seed: int = 0, draws: int = DRAWS
) -> Trend:
    """Test several sequences at once for a trend that they share.

    Args:
        strata: moments and length of the clock of each run or epoch.
        seed: of the permutations.
        draws: permutations.

    Raises:
        ValueError: as `trend`.

    Source: as `trend`; statistics of strata are added and divided by the root of their number of
    events, so that a stratum speaks by its events.
    """
    if draws < 1:
        raise ValueError(f"at least one permutation is needed, got {draws}")
    parts = [_checked(clock, length) for clock, length in strata]
    n = sum(part.clock.size for part in parts)
    exposure = sum(part.exposure for part in parts)
    if n < FEWEST:
        return Trend(n, exposure, refusal=f"{n} events: a test needs {FEWEST} or more")
    usable = [part for part in parts if part.clock.size]
    laplace = sum(_laplace(part) for part in usable) / math.sqrt(
        sum(part.clock.size * part.exposure**2 / 12.0 for part in usable)
    )
    mil, df = sum(_mil(part) for part in usable), 2 * n
    p, robinson = _permuted(usable, seed, draws)
    sign = laplace if robinson is None else robinson
    return Trend(
        n=n,
        exposure_s=exposure,
        laplace=laplace,
        laplace_p=math.erfc(abs(laplace) / math.sqrt(2.0)),
        mil_hdbk_189=mil,
        mil_hdbk_189_df=df,
        mil_hdbk_189_p=chi_square_p(mil, df),
        lewis_robinson=robinson,
        reverse_arrangements=_reversed(usable[0]) if len(usable) == 1 else None,
        p=p,
        direction=None
        if p is None
        else "none"
        if p > LEVEL
        else "more frequent"
        if sign > 0.0
        else "less frequent",
        refusal=None if p is not None else "all gaps are alike: their order says nothing",
    )


def mil_hdbk_189(
    clock_s: ArrayLike, exposure_s: float, truncation: Truncation = "time"
) -> tuple[float, int, float]:
    """Give the statistic of MIL-HDBK-189C, its degrees of freedom and its two-sided p value.

    Args:
        clock_s: moments on the clock, shape ``(n,)``.
        exposure_s: length of the clock.
        truncation: ``failure`` where observation ended at the last event, which then is left out.

    Raises:
        ValueError: as `trend`; or no event is left.

    >>> value, df, p = mil_hdbk_189([5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478], 1500)
    >>> round(value, 6), df, round(p, 6)
    (37.228081, 20, 0.021973)
    """
    part = _checked(clock_s, exposure_s)
    n = part.clock.size - (truncation == "failure")
    if n < 1:
        raise ValueError("no event is left to test")
    value = _mil(_Stratum(part.clock[:n], part.exposure))
    return value, 2 * n, chi_square_p(value, 2 * n)


def chi_square_p(value: float, df: int) -> float:
    """Give the two-sided p value of a chi-square statistic: twice the smaller tail, 1 at most."""
    from scipy import special

    tails = float(special.chdtr(df, value)), float(special.chdtrc(df, value))
    return min(1.0, 2.0 * min(tails))


def _checked(clock_s: ArrayLike, exposure_s: float) -> _Stratum:
    clock = np.sort(np.asarray(clock_s, dtype=np.float64).ravel())
    if not (math.isfinite(exposure_s) and exposure_s > 0.0):
        raise ValueError(f"the clock must have a positive finite length, got {exposure_s}")
    if clock.size and not (clock[0] >= 0.0 and clock[-1] <= exposure_s):
        raise ValueError("a moment lies outside the clock")
    return _Stratum(clock, float(exposure_s))


def _laplace(part: _Stratum) -> float:
    return float((part.clock - part.exposure / 2.0).sum())


def _mil(part: _Stratum) -> float:
    # an event at 0 came before anything could be measured: it stands at the smallest moment seen
    seen = part.clock[part.clock > 0.0]
    floor = float(seen.min()) if seen.size else part.exposure
    return float(2.0 * np.log(part.exposure / np.maximum(part.clock, floor)).sum())


def _reversed(part: _Stratum) -> int:
    """Count the pairs of gaps of which the later one is the longer."""
    gaps = np.diff(np.concatenate([[0.0], part.clock]))
    if gaps.size > 3000:
        gaps = gaps[:3000]  # a count that people look at in short records only
    return int(sum((gaps[i + 1 :] > gaps[i]).sum() for i in range(gaps.size)))


def _variation(gaps: Floats) -> float:
    return float(gaps.std(ddof=1) / gaps.mean()) if gaps.size > 1 and gaps.mean() > 0.0 else 0.0


def _permuted(
    parts: Sequence[_Stratum], seed: int, draws: int
) -> tuple[float | None, float | None]:
    """Give the p value of the order of the gaps, and Lewis and Robinson's statistic.

    Under permutation the gaps' coefficient of variation stands still, so that the mean moment of
    the events decides. The last, cut-off gap stays last: it is no gap of the law.
    """
    rng = np.random.default_rng(seed)
    seen, drawn, spread, any_order = 0.0, np.zeros(draws), 0.0, False
    for part in parts:
        n = part.clock.size
        gaps = np.diff(np.concatenate([[0.0], part.clock]))
        variation = _variation(gaps)
        if variation <= 0.0:
            continue
        any_order = True
        scale = part.exposure * variation
        weights = np.arange(n, 0, -1.0)  # the sum of moments is that of gaps so weighted
        middle = n * part.exposure / 2.0
        seen += (float(weights @ gaps) - middle) / scale
        spread += n / 12.0
        drawn += (_weighted(rng, gaps, weights, draws) - middle) / scale
    if not any_order:
        return None, None
    centre = float(drawn.mean())
    extreme = np.abs(drawn - centre) >= abs(seen - centre) * (1.0 - 1e-9)
    return (1.0 + float(extreme.sum())) / (draws + 1.0), seen / math.sqrt(spread)


def _weighted(rng: np.random.Generator, gaps: Floats, weights: Floats, draws: int) -> Floats:
    """Give the weighted sum of the gaps in random orders, shape ``(draws,)``."""
    sums = np.empty(draws)
    rows = max(1, _MOST // gaps.size)
    for start in range(0, draws, rows):
        k = min(rows, draws - start)
        sums[start : start + k] = rng.permuted(np.tile(gaps, (k, 1)), axis=1) @ weights
    return sums
