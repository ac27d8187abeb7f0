"""The documents of the calculator, ``model/1`` and ``shards/1``; all times in seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ckpt_audit.documents import Json, document
from ckpt_audit.model.adamw import GUARD, ReplayCheck
from ckpt_audit.model.drain import (
    DRAIN_RULES,
    Drain,
    boundary_binds,
    drain_optimum,
    drain_shares,
    feasible_floor,
)
from ckpt_audit.model.elastic import Elastic, per_failure
from ckpt_audit.model.interval import daly, young
from ckpt_audit.model.renewal import Failures, flat
from ckpt_audit.model.tiers import Tier, plan
from ckpt_audit.model.torn import TARGETS, Snapshot, longest_worthwhile_window, staggered_traffic
from ckpt_audit.model.waste import RecoveryFailures, first_order
from ckpt_audit.model.whatif import (
    Setting,
    Spares,
    at_sizes,
    largest_term,
    sensitivity,
    tornado,
)
from ckpt_audit.units import S_PER_DAY, S_PER_H

PARTS = ("async", "fleet", "drain", "floor", "tiers", "elastic", "what_if")


def model_document(
    c: float,
    m: float,
    d: float,
    r: float,
    *,
    intervals: Sequence[float],
    recovery_failures: RecoveryFailures = "none",
    lag: float = 0.0,
    invalid: float = 0.0,
    shape: float | None = None,
    parts: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> Json:
    """The calculator: optima and the waste of some intervals, all times in seconds.

    Args:
        c: Mean exposed cost of a save.
        m: Mean up-time between incidents.
        d: Mean time from fault to detected.
        r: Mean time from detected to the first step.
        intervals: Useful training times between two pauses.
        recovery_failures: Where failures strike besides up-time.
        lag: From capture to when a state can be restored.
        invalid: Probability that a checkpoint that is needed cannot be used.
        shape: Of Weibull up-times; None for a constant rate.
        parts: Further parts by name, out of ``PARTS``; the others are null.
        notes: What whoever reads the numbers should know.

    Raises:
        ValueError: A time is out of range, or c is zero and there is no optimum.
    """
    setting = Setting(c, m, d, r, lag, invalid, shape, recovery_failures)
    best, region = setting.best(), flat(c, setting.failures)
    rows = [_model_row(i, setting) for i in intervals]
    largest, terms = largest_term(setting, best)
    late = [row["interval_s"] for row in rows if row["waste_exact"] is None]
    overlap = [f"at an interval of {i:g} s saves would overlap: nothing is said" for i in late]
    body = {
        "c_s": c,
        "m_s": m,
        "d_s": d,
        "r_s": r,
        "lag_s": lag,
        "invalid": invalid,
        "shape": shape,
        "recovery_failures": recovery_failures,
        "young_s": young(c, m),
        "daly_s": daly(c, m),
        "exact_s": best,
        "flat_low_s": region.low,
        "flat_high_s": region.high,
        "largest_term": largest,
        "terms": terms,
        "rows": rows,
        **{name: (parts or {}).get(name) for name in PARTS},
        "notes": [*notes, *overlap],
    }
    return document("model", body)


def _model_row(interval: float, setting: Setting) -> Json:
    first = first_order(interval, setting.c, setting.m, setting.d + setting.lag, setting.r)
    whole = setting.at(interval)
    exact: Json = {} if whole is None else asdict(whole)
    recovery = None if whole is None else whole.detection + whole.recovery
    # The first order puts the lag where the exact model has it: with the work that is lost.
    late = setting.lag / setting.m
    return {
        "interval_s": interval,
        "checkpoint": first.checkpoint,
        "checkpoint_exact": exact.get("checkpoint"),
        "lost_work": first.lost_work + late,
        "lost_work_exact": exact.get("lost_work"),
        "recovery": first.recovery - late,
        "recovery_exact": recovery,
        "waste_first_order": first.waste,
        "waste_exact": exact.get("waste"),
        "goodput_first_order": first.goodput,
        "goodput_exact": exact.get("goodput"),
    }


def add_capacity(rows: Sequence[Json], key: str, accelerators: int, price: float | None) -> None:
    """Adds accelerator-hours and capacity in money wasted a day; null where the share is.

    Args:
        rows: To be added to.
        key: Of the wasted share of wall clock.
        accelerators: Of the job.
        price: Of an accelerator-hour, or None.
    """
    for row in rows:
        waste = row[key]
        wasted = None if waste is None else waste * accelerators * S_PER_DAY / S_PER_H
        row["wasted_acc_h_per_day"] = wasted
        if price is not None:
            row["wasted_capacity_per_day"] = None if wasted is None else wasted * price


def drain_part(drain: Drain, failures: Failures, rule: str) -> Json:
    """Where the best interval lies under each rule of drains, and whether it can be had.

    Args:
        drain: How a save drains.
        failures: What failures cost.
        rule: The rule that is said to hold, of ``DRAIN_RULES``.
    """
    rows = []
    for name in DRAIN_RULES:
        steps = drain_optimum(drain, failures, name)
        at = drain_shares(steps, drain, failures, name)
        rows.append(
            {
                "rule": name,
                "steps": steps,
                "interval_s": steps * drain.step,
                "drains_in_flight": drain.in_flight(steps, name),
                "bandwidth_factor": max(1.0, drain.steps / steps),
                "waste_exact": at.waste,
                "goodput_exact": at.goodput,
                "saves": at.checkpoint,
                "rework": at.lost_work,
                "restart": at.detection + at.recovery,
            }
        )
    save = drain.as_save(drain.steps, "serial")
    return {
        "steps": drain.steps,
        "tax": drain.tax,
        "step_s": drain.step,
        "pause_s": drain.pause,
        "c_s": save.c,
        "lag_s": save.lag,
        "rule": rule,
        "floor_s": drain.steps * drain.step,
        "boundary_binds": boundary_binds(drain, failures.law.mean),
        "rules": rows,
    }


def floor_part(n_bytes: float, bandwidth: float, tax: float) -> Json:
    """The shortest interval that bytes and bandwidth (bytes per second) allow."""
    floor = feasible_floor(n_bytes, bandwidth, tax)
    return {
        "bytes": n_bytes,
        "bytes_per_s": bandwidth,
        "drain_s": floor.drain,
        "floor_s": floor.interval,
    }


def tiers_part(tiers: Sequence[Tier], d: float) -> Json:
    """How often to save to each tier."""
    best = plan(tiers, d)
    rows = [
        {
            "c_s": tier.c,
            "m_s": tier.m,
            "r_s": tier.r,
            "lag_s": tier.lag,
            "interval_s": interval,
            "every": every,
            "free_interval_s": free,
        }
        for tier, interval, every, free in zip(
            tiers, best.intervals, best.every, best.free_intervals, strict=True
        )
    ]
    return {
        "tiers": rows,
        "waste_first_order": best.waste,
        "free_waste_first_order": best.free_waste,
    }


def elastic_part(how: Elastic, interval: float, setting: Setting) -> Json:
    """What going on with one replica less costs a failure, against restarting, at an interval."""
    cost = per_failure(how, interval, setting.d, setting.r, setting.lag)
    return {
        "replicas": how.replicas,
        "reconfigure_s": how.reconfigure,
        "repair_s": how.repair,
        "rollback": how.rollback,
        "interval_s": interval,
        "elastic_s": cost.elastic,
        "restart_s": cost.restart,
        "gain_s": cost.gain,
    }


def what_if_part(
    setting: Setting,
    *,
    intervals: Sequence[float],
    means: Sequence[float],
    now: float | None = None,
    spares: Spares | None = None,
    accelerators: int | None = None,
    sizes: Sequence[int] = (),
) -> Json:
    """Sensitivity, levers and other sizes.

    Args:
        setting: The job.
        intervals: Of the sensitivity table.
        means: Mean up-times of the sensitivity table.
        now: The interval in use; None for the best one.
        spares: Spares to be kept, if that is a lever.
        accelerators: Of the job; needed for ``sizes``.
        sizes: Other sizes to ask about.
    """
    table = [
        {
            "m_s": row.m,
            "interval_s": row.interval,
            "waste_first_order": row.first_order,
            "waste_exact": row.exact,
        }
        for row in sensitivity(setting, intervals, means)
    ]
    levers = [
        {
            "lever": lever.name,
            "waste_exact": lever.waste,
            "gain": lever.gain,
            "interval_s": lever.interval,
            "waste_best": lever.waste_best,
        }
        for lever in tornado(setting, now, spares)
    ]
    scale = [
        {
            "accelerators": row.accelerators,
            "m_s": row.m,
            "interval_s": row.interval,
            "waste_best": row.waste_best,
            "waste_exact": row.waste_unchanged,
        }
        for row in (at_sizes(setting, accelerators, sizes, now) if accelerators else ())
    ]
    in_use = setting.fits(setting.best() if now is None else now)
    return {
        "interval_s": in_use,
        "waste_exact": setting.waste(in_use),
        "sensitivity": table,
        "tornado": levers,
        "scale": scale,
    }


def shards_document(
    snapshot: Snapshot,
    *,
    guards: Mapping[str, float | None],
    gradient_bytes: float,
    state_bytes: float,
    check: ReplayCheck | None,
) -> Json:
    """Whether a snapshot is torn, what replay costs, and how exact it is.

    Args:
        snapshot: Captured versions.
        guards: By shard, the largest share that one gradient makes up of a second moment, or None.
        gradient_bytes: Bytes of gradient a parameter and step.
        state_bytes: Bytes of state a parameter.
        check: A reconciliation tried on a small made-up model, or None.
    """
    rows = []
    for target in TARGETS:
        at = snapshot.reconcile(target)
        rows.append(
            {
                "target": target,
                "step": at.version,
                "traffic": at.traffic,
                "forward": at.forward,
                "back": at.back,
                "bytes_per_parameter": at.traffic * gradient_bytes,
                "exact": at.back == 0.0,
            }
        )
    windows = sorted({2, 4, 8, 16, 32, 64, snapshot.window} - {1})
    growth = [{"window_steps": w, **{t: staggered_traffic(w, t) for t in TARGETS}} for w in windows]
    return document(
        "shards",
        {
            "consistent": snapshot.is_consistent,
            "shards": len(snapshot.versions),
            "oldest_step": min(snapshot.versions),
            "newest_step": max(snapshot.versions),
            "window_steps": snapshot.window,
            "reconcile": rows,
            "growth": growth,
            "gradient_bytes_per_parameter": gradient_bytes,
            "state_bytes_per_parameter": state_bytes,
            "longest_window_steps": longest_worthwhile_window(gradient_bytes, state_bytes),
            "guard": GUARD,
            "guard_fires": [s for s, r in guards.items() if r is not None and r > GUARD],
            "guard_unknown": [s for s, r in guards.items() if r is None],
            "check": None if check is None else _check(check),
        },
    )


def _check(check: ReplayCheck) -> Json:
    names = ("parameters", "first_moment", "second_moment")
    return {
        **{
            side: dict(zip(names, getattr(check, side), strict=True))
            for side in ("torn", "forward", "back")
        },
        "refused": check.refused,
        "elements": check.elements,
    }
