"""A run's failures as a process, and the rates of all runs, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ckpt_audit.audit.data import ReportData
from ckpt_audit.audit.fleet import Fleet
from ckpt_audit.audit.process import Process
from ckpt_audit.reliability.fits import LawFit
from ckpt_audit.reliability.gamma_poisson import Posterior
from ckpt_audit.reliability.pooling import Projection
from ckpt_audit.reliability.rate import MeanTime
from ckpt_audit.reliability.survival import Survival
from ckpt_audit.units import S_PER_H, iso

Json = dict[str, Any]
_POINTS = 100  # of a curve
KEYS = "shape trend basis dispersion survival drift change_point early_life causes pooled".split()


def process_sections(process: Process | None) -> Json:
    """All sections; each is null where there is nothing to say it from."""
    if process is None:
        return dict.fromkeys(KEYS)
    return {
        "shape": _shape(process),
        "trend": _trend(process),
        "basis": {
            "start": iso(process.start_at),
            "end": iso(process.end_at),
            "incidents": process.incidents,
            "exposure_s": process.exposure_s,
            "epochs": [
                {
                    "epoch": clock.epoch,
                    "incidents": len(clock.at_s),
                    "exposure_s": clock.length_s,
                    "accelerators": clock.accelerators,
                }
                for clock in process.clocks
            ],
        },
        "dispersion": None if process.spread is None else asdict(process.spread),
        "survival": _survival(process),
        "drift": {
            **asdict(process.drift),
            "months": [asdict(month) for month in process.months],
            "newest_against_earlier": _asdict(process.this_month),
        },
        "change_point": _asdict(process.change),
        "early_life": {
            "in_run": _asdict(process.early_in_run),
            "after_start": _asdict(process.early_after_start),
        },
        "causes": [
            {
                "cause": item.cause,
                "incidents": item.events,
                "share": item.share,
                **_mean_time(item.mean_time),
                "drift_p": None if item.drift is None else item.drift.p,
            }
            for item in process.causes
        ],
        "pooled": _asdict(process.pooled),
    }


def _asdict(value: Any) -> Json | None:
    return None if value is None else asdict(value)


def _mean_time(mean: MeanTime) -> Json:
    return {
        "m_s": mean.m_s,
        "low_s": mean.low_s,
        "high_s": mean.high_s,
        "confidence": mean.confidence,
    }


def _shape(process: Process) -> Json:
    laws = process.laws
    by_name = {fit.law: fit for fit in laws.fits}
    weibull = by_name.get("weibull")
    return {
        "weibull_shape": None if weibull is None else weibull.shape,
        "weibull_shape_low": None if weibull is None else weibull.shape_low,
        "weibull_shape_high": None if weibull is None else weibull.shape_high,
        "p_exponential": None if weibull is None else weibull.p_exponential,
        "best_law": laws.fits[0].law if laws.fits else None,
        "events": laws.n_events,
        "censored": laws.n_censored,
        "zeros_left_out": laws.n_zero,
        "laws": [_law(fit) for fit in laws.fits],
        "refusal": laws.refusal,
    }


def _law(fit: LawFit) -> Json:
    return asdict(fit)


def _trend(process: Process) -> Json:
    return {**asdict(process.trend), "power_law": _asdict(process.power_law)}


def _survival(process: Process) -> Json:
    curve: Survival = process.curve
    n = curve.at_s.size
    every = max(1, -(-n // _POINTS))
    places = sorted({*range(0, n, every), n - 1} if n else ())
    return {
        "restricted_mean": _asdict(process.mean),
        "longest_s": curve.longest_s,
        "confidence": curve.confidence,
        "points": [
            {
                "at_s": float(curve.at_s[i]),
                "at_risk": int(curve.at_risk[i]),
                "survival": float(curve.survival[i]),
                "low": float(curve.survival_low[i]),
                "high": float(curve.survival_high[i]),
                "hazard": float(curve.hazard[i]),
                "hazard_low": float(curve.hazard_low[i]),
                "hazard_high": float(curve.hazard_high[i]),
            }
            for i in places
        ],
    }


def rate_section(rate: Posterior | None) -> Json | None:
    """Rate of one run per 1,000 accelerator-hours, with what the others say of it."""
    if rate is None:
        return None
    return {
        "per_1000_acc_h": 1000.0 * rate.rate,
        "low": 1000.0 * rate.low,
        "high": 1000.0 * rate.high,
        "level": rate.level,
        "prior": rate.prior.origin,
        "prior_events": rate.prior.events,
        "prior_exposure_acc_h": rate.prior.exposure,
        "data_share": rate.data_share,
    }


def fleet_section(data: ReportData, accelerators: tuple[int, ...] = ()) -> Json | None:
    """Rates of all runs together, and M of jobs of other sizes.

    Args:
        data: The report.
        accelerators: Sizes to project to, besides those of the runs.
    """
    fleet: Fleet | None = data.fleet
    if fleet is None:
        return None
    sizes = {item.accelerators for item in fleet.stretches} | set(accelerators)
    return {
        **asdict(fleet.pooled),
        "projections": [_projection(fleet.projection(size)) for size in sorted(sizes)],
    }


def _projection(found: Projection) -> Json:
    return {
        "accelerators": found.accelerators,
        "m_s": None if found.m_h is None else found.m_h * S_PER_H,
        "low_s": found.low_h * S_PER_H,
        "high_s": found.high_h * S_PER_H,
        "far": found.far,
        "proportional": found.proportional,
    }
