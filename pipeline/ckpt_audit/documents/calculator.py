"""The document of the calculator, ``model/1``: waste and optima from given times."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_audit.documents import Json, document
from ckpt_audit.model.interval import daly, exact, flat_region, young
from ckpt_audit.model.waste import RecoveryFailures, exact_shares, first_order


def model_document(
    c: float,
    m: float,
    d: float,
    r: float,
    *,
    intervals: Sequence[float],
    recovery_failures: RecoveryFailures = "none",
) -> Json:
    """The calculator: optima and the waste of some intervals, all times in seconds.

    Args:
        c: Mean exposed cost of a save.
        m: Mean up-time between incidents.
        d: Mean time from fault to detected.
        r: Mean time from detected to the first step.
        intervals: Useful training times between two pauses.
        recovery_failures: Where failures strike besides up-time.

    Raises:
        ValueError: A time is out of range, or c is zero and there is no optimum.
    """
    flat = flat_region(c, m)
    body = {
        "c_s": c,
        "m_s": m,
        "d_s": d,
        "r_s": r,
        "recovery_failures": recovery_failures,
        "young_s": young(c, m),
        "daly_s": daly(c, m),
        "exact_s": exact(c, m),
        "flat_low_s": flat.low,
        "flat_high_s": flat.high,
        "rows": [_model_row(i, c, m, d, r, recovery_failures) for i in intervals],
    }
    return document("model", body)


def _model_row(
    interval: float, c: float, m: float, d: float, r: float, mode: RecoveryFailures
) -> Json:
    first = first_order(interval, c, m, d, r)
    whole = exact_shares(interval, c, m, d, r, mode)
    return {
        "interval_s": interval,
        "checkpoint": first.checkpoint,
        "checkpoint_exact": whole.checkpoint,
        "lost_work": first.lost_work,
        "lost_work_exact": whole.lost_work,
        "recovery": first.recovery,
        "recovery_exact": whole.detection + whole.recovery,
        "waste_first_order": first.waste,
        "waste_exact": whole.waste,
        "goodput_first_order": first.goodput,
        "goodput_exact": whole.goodput,
    }
