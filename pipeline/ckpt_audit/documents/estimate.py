"""The estimate of one run as JSON: sections that each say one thing, put side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ckpt_audit.audit.data import NamedLaw, Population, ReportData, RunEstimate, RunReport
from ckpt_audit.audit.estimate import POPULATIONS
from ckpt_audit.documents.process import process_sections, rate_section
from ckpt_audit.facts import Epoch, Run
from ckpt_audit.reliability.sample import NOTHING, Sample
from ckpt_audit.units import iso

Json = dict[str, Any]


def run_estimate(run: RunReport, data: ReportData) -> Json:
    """M, C, D and R of one run, and how sure they are.

    Args:
        run: The run.
        data: The report that it belongs to.
    """
    found: Json = {
        "run": run.run.run,
        "epochs": [epoch_row(epoch) for epoch in run.epochs] or [_whole(run.run, data)],
    }
    for section in SECTIONS:
        found |= section(run.estimate)
    found["costs"] = [_law(one) for one in run.costs]
    rates = data.fleet.rates if data.fleet else {}
    return found | {"rate": rate_section(rates.get(run.run.run))}


def _means(estimate: RunEstimate) -> Json:
    return {
        "m": [_population(item) for item in (*estimate.populations, *estimate.by_epoch)]
        or [_refused(name, estimate.refusal) for name in POPULATIONS if estimate.refusal]
    }


def _process(estimate: RunEstimate) -> Json:
    return process_sections(estimate.process)


def _costs(estimate: RunEstimate) -> Json:
    return {
        "c": _sample(estimate.c),
        "c_block": _sample(estimate.c_block or NOTHING),
        "c_commit": _sample(estimate.c_commit or NOTHING),
        "d": _sample(estimate.d),
        "r": _sample(estimate.r),
    }


def _law(one: NamedLaw) -> Json:
    law, shape = one.law, one.law.lognormal
    return {
        "cost": one.cost,
        "by": one.by,
        "key": one.key,
        **_sample(law.sample),
        "mean_low_s": law.mean_low,
        "mean_high_s": law.mean_high,
        "tail_share": law.tail_share,
        "timeout_s": one.timeout_s,
        "lognormal": None
        if shape is None
        else {
            "n": shape.n,
            "zeros": shape.zeros,
            "median_s": shape.median,
            "sigma": shape.sigma,
            "mean_s": shape.mean,
            "p99_s": shape.p99,
            "p": shape.p,
            "fits": shape.fits,
        },
        "drift": None
        if law.drift is None
        else {"tau": law.drift.tau, "p": law.drift.p, "significant": law.drift.significant},
        "shift": None
        if law.shift is None
        else {
            "at": iso(one.shift_at),
            "before_s": law.shift.before,
            "after_s": law.shift.after,
            "p": law.shift.p,
            "significant": law.shift.significant,
        },
    }


def _launches(estimate: RunEstimate) -> Json:
    return {"launches": {"n": estimate.launches, "reached_step": estimate.launches_reached_step}}


def epoch_row(epoch: Epoch) -> Json:
    """One stretch of one configuration."""
    return {
        "start": iso(epoch.started_at),
        "end": iso(epoch.ended_at),
        "accelerators": epoch.n_accelerators,
        "settings": list(epoch.settings),
        "why": epoch.why,
    }


def _whole(run: Run, data: ReportData) -> Json:
    start = max(data.window.start_at, run.started_at or data.window.start_at)
    end = min(data.window.end_at, run.ended_at or data.as_of)
    known = {"start": iso(start), "end": iso(end), "accelerators": run.n_accelerators}
    return known | {"settings": [], "why": None}


def _population(population: Population) -> Json:
    mean = population.mean_time
    return {
        "population": population.population,
        "epoch": population.epoch,
        "method": mean.method,
        "m_s": mean.m_s,
        "m_used_s": mean.m_used_s,
        "low_s": mean.low_s,
        "high_s": mean.high_s,
        "confidence": mean.confidence,
        "incidents": mean.incidents,
        "exposure_s": mean.exposure_s,
        "calendar_s": population.calendar_s,
        "per_1000_acc_h": population.per_1000_acc_h,
        "robust_low_s": population.robust.low_s if population.robust else None,
        "robust_high_s": population.robust.high_s if population.robust else None,
    }


def _refused(population: str, why: str) -> Json:
    """A population of which no M is given: nothing but the reason."""
    names = "m_s m_used_s low_s high_s confidence incidents exposure_s calendar_s per_1000_acc_h "
    names += "robust_low_s robust_high_s"
    return {"population": population, "epoch": None, "method": why} | dict.fromkeys(names.split())


def _sample(sample: Sample) -> Json:
    return {
        "n": sample.n,
        "median_s": sample.median,
        "mean_s": sample.mean,
        "p90_s": sample.p90,
        "p99_s": sample.p99,
        "max_s": sample.max,
    }


SECTIONS: Final[tuple[Callable[[RunEstimate], Json], ...]] = (_means, _process, _costs, _launches)
