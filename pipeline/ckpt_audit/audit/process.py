"""What kind of process the failures of a run are: from its first step to the end of the window.

The clock is up-time, weighed by accelerators, and runs within one epoch only: a change of size or
of release is no trend. Failures that struck before another's recovery was complete are no events
here, as in the M that sets the interval. A month alone holds too few failures to be asked, so all
of the run's past is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np

from ckpt_audit.facts import Epoch, Lifetime
from ckpt_audit.reliability.change_point import ChangePoint, change_point
from ckpt_audit.reliability.dispersion import Dispersion, dispersion
from ckpt_audit.reliability.drift import (
    CauseRate,
    Drift,
    RateRatio,
    cause_rates,
    drift,
    early_life,
    rate_ratio,
)
from ckpt_audit.reliability.fits import LawFits, fit_laws
from ckpt_audit.reliability.pooling import Pooled, Stretch, pool
from ckpt_audit.reliability.power_law import PowerLaw, pooled_power_law
from ckpt_audit.reliability.survival import RestrictedMean, Survival, restricted_mean, survival
from ckpt_audit.reliability.trend import DRAWS, Trend, stratified_trend
from ckpt_audit.units import S_PER_H, US_PER_S
from ckpt_audit.windows import months_between

FEWEST_FOR_SHAPE = 20
EARLY_IN_RUN_S = 3 * 24 * S_PER_H
EARLY_AFTER_START_S = S_PER_H
_SEED = 20_260_501  # any fixed number: the same warehouse gives the same figures
_FEWEST_DRAWS, _MOST_NUMBERS = 199, 5_000_000  # long records need no fine p value


@dataclass(frozen=True, slots=True)
class Month:
    """Failures and up-time of one calendar month."""

    month: str
    incidents: int
    exposure_s: float


@dataclass(frozen=True, slots=True)
class Clock:
    """Failures of one epoch on its clock of up-time.

    Attributes:
        epoch: Its number, or None where no epochs are known.
        at_s: Moments on the clock, seconds at ``accelerators``.
        length_s: Length of the clock.
        accelerators: Size that the clock is scaled to; None where it is not known.
    """

    epoch: int | None
    at_s: tuple[float, ...]
    length_s: float
    accelerators: float | None


@dataclass(frozen=True, slots=True)
class Process:
    """Everything about the process of a run's failures, to the end of the window.

    Attributes:
        start_at, end_at: From the first step to the last evidence in the window.
        incidents: Primary failures.
        exposure_s: Up-time in which they could strike.
        clocks: By epoch.
        spread: How much counts vary; None with too few.
        trend: Tests of a trend over the epochs.
        power_law: A rate that changes as a power of up-time.
        change: The likeliest single change within the newest epoch.
        laws: Laws of the time from a start to its failure.
        curve, mean: Survival since a start, and the mean up to the longest one.
        months: Counts by calendar month.
        drift: Of the months.
        this_month: The last month against all before it.
        early_in_run: The first three days of a run against the rest.
        early_after_start: The first hour after a start against the rest.
        causes: Rates by cause, with their drift over the months.
        pooled: Epochs of different size together; None where a size is not known.
        stretches: What was pooled.
    """

    start_at: int
    end_at: int
    incidents: int
    exposure_s: float
    clocks: tuple[Clock, ...]
    spread: Dispersion | None
    trend: Trend
    power_law: PowerLaw | None
    change: ChangePoint | None
    laws: LawFits
    curve: Survival
    mean: RestrictedMean | None
    months: tuple[Month, ...]
    drift: Drift
    this_month: RateRatio | None
    early_in_run: RateRatio | None
    early_after_start: RateRatio | None
    causes: tuple[CauseRate, ...]
    pooled: Pooled | None
    stretches: tuple[Stretch, ...]


def ends_in_event(life: Lifetime) -> bool:
    """Whether a failure that is no follower of another ended it."""
    return life.kind in ("failure", "unknown") and not life.is_secondary


def process_of(
    lifetimes: Sequence[Lifetime], epochs: Sequence[Epoch], zone: ZoneInfo
) -> Process | None:
    """Describe the process of one run's failures.

    Args:
        lifetimes: Of the run, in the order of their starts, cut at the end of the window.
        epochs: Of the run, in their order; may be none.
        zone: Of calendar months.

    Returns:
        None where there is no up-time.
    """
    lives = [life for life in lifetimes if life.end_at > life.start_at]
    if not lives:
        return None
    clocks = clocks_of(lives, epochs)
    strata = [(clock.at_s, clock.length_s) for clock in clocks]
    durations = [_seconds(life) for life in lives]
    ended = [ends_in_event(life) for life in lives]
    curve = survival(durations, ended)
    months, by_cause = _by_month(lives, zone)
    exposures = [item.exposure_s for item in months]
    counts = [item.incidents for item in months]
    stretches = _stretches(clocks)
    newest = clocks[-1]
    draws = min(DRAWS, max(_FEWEST_DRAWS, _MOST_NUMBERS // max(1, sum(ended))))
    return Process(
        start_at=min(life.start_at for life in lives),
        end_at=max(life.end_at for life in lives),
        incidents=sum(ended),
        exposure_s=sum(durations),
        clocks=tuple(clocks),
        spread=dispersion(strata, _SEED),
        trend=stratified_trend(strata, _SEED, draws),
        power_law=pooled_power_law(strata),
        change=change_point(newest.at_s, newest.length_s, _SEED, draws),
        laws=_laws(durations, ended),
        curve=curve,
        mean=restricted_mean(curve),
        months=months,
        drift=drift(counts, exposures, _SEED),
        this_month=_last_against_rest(counts, exposures),
        early_in_run=_early_in_run(lives),
        early_after_start=early_life(
            [d for d, e in zip(durations, ended, strict=True) if e],
            [(0.0, d) for d in durations],
            EARLY_AFTER_START_S,
        ),
        causes=cause_rates(by_cause, exposures, seed=_SEED),
        pooled=pool(stretches, seed=_SEED) if stretches else None,
        stretches=tuple(stretches),
    )


def clocks_of(lives: Sequence[Lifetime], epochs: Sequence[Epoch]) -> list[Clock]:
    """Lay up-time end to end, one clock for each epoch that has any.

    Args:
        lives: Of one run, in the order of their starts.
        epochs: Of the run, in their order; an attempt belongs to the last that began before it.
    """
    starts = np.array([epoch.started_at for epoch in epochs], dtype=np.int64)
    groups: dict[int | None, list[Lifetime]] = {}
    for life in lives:
        place = int(np.searchsorted(starts, life.start_at, side="right")) - 1
        number = epochs[max(place, 0)].epoch if epochs else None
        groups.setdefault(number, []).append(life)
    return [_clock(number, group) for number, group in groups.items()]


def _clock(number: int | None, lives: Sequence[Lifetime]) -> Clock:
    sizes = [life.n_accelerators for life in lives]
    known = [size for size in sizes if size]
    is_known = len(known) == len(sizes)
    seconds = [_seconds(life) for life in lives]
    mean = (
        sum(s * n for s, n in zip(seconds, known, strict=True)) / sum(seconds) if is_known else 1.0
    )
    at, gone = [], 0.0
    for index, life in enumerate(lives):
        gone += seconds[index] * (known[index] / mean if is_known else 1.0)
        if ends_in_event(life):
            at.append(gone)
    return Clock(number, tuple(at), gone, mean if is_known else None)


def _seconds(life: Lifetime) -> float:
    return (life.end_at - life.start_at) / US_PER_S


def _laws(durations: Sequence[float], ended: Sequence[bool]) -> LawFits:
    n = sum(ended)
    if n >= FEWEST_FOR_SHAPE:
        return fit_laws(durations, ended)
    incidents = "1 incident" if n == 1 else f"{n} incidents"
    reason = f"{incidents}: the law of up-times needs {FEWEST_FOR_SHAPE} or more"
    return LawFits(n, len(ended) - n, sum(d == 0.0 for d in durations), (), reason)


def _by_month(
    lives: Sequence[Lifetime], zone: ZoneInfo
) -> tuple[tuple[Month, ...], dict[str, list[int]]]:
    windows = months_between(
        min(life.start_at for life in lives), max(life.end_at for life in lives), zone
    )
    causes = sorted({life.cause or "unknown" for life in lives if ends_in_event(life)})
    by_cause = {cause: [0] * len(windows) for cause in causes}
    edges = np.array([window.start_at for window in windows], dtype=np.int64)
    exposure_us = [0] * len(windows)
    for life in lives:
        first, last = (
            int(np.searchsorted(edges, at, side="right")) - 1 for at in (life.start_at, life.end_at)
        )
        for place in range(first, last + 1):
            window = windows[place]
            start, end = max(life.start_at, window.start_at), min(life.end_at, window.end_at)
            exposure_us[place] += max(0, end - start)
        if ends_in_event(life):
            # a failure at the very first instant of a month ended the exposure of the last
            place = int(np.searchsorted(edges, life.end_at - 1, side="right")) - 1
            by_cause[life.cause or "unknown"][place] += 1
    months = tuple(
        Month(window.label, sum(counts[i] for counts in by_cause.values()), us / US_PER_S)
        for i, (window, us) in enumerate(zip(windows, exposure_us, strict=True))
    )
    return months, by_cause


def _last_against_rest(counts: Sequence[int], exposures: Sequence[float]) -> RateRatio | None:
    before = sum(exposures[:-1])
    if not (exposures[-1] > 0.0 and before > 0.0):
        return None
    return rate_ratio(counts[-1], exposures[-1], sum(counts[:-1]), before)


def _early_in_run(lives: Sequence[Lifetime]) -> RateRatio | None:
    """Ages are calendar time since the first step of the run."""
    born = min(life.start_at for life in lives)
    spans = [((life.start_at - born) / US_PER_S, (life.end_at - born) / US_PER_S) for life in lives]
    ages = [end for (_, end), life in zip(spans, lives, strict=True) if ends_in_event(life)]
    return early_life(ages, spans, EARLY_IN_RUN_S)


def _stretches(clocks: Sequence[Clock]) -> list[Stretch]:
    if any(clock.accelerators is None for clock in clocks):
        return []
    return [
        Stretch(len(clock.at_s), clock.length_s / S_PER_H, max(1, round(clock.accelerators)))
        for clock in clocks
        if clock.accelerators is not None
    ]
