"""A run's failures as a process, in sentences; figures of tests are in the JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ckpt_audit.cli.tables import share, span
from ckpt_audit.reliability.levels import LEVEL, WIDEN
from ckpt_audit.units import format_duration

if TYPE_CHECKING:
    from ckpt_audit.audit.process import Process
    from ckpt_audit.reliability.drift import RateRatio
    from ckpt_audit.reliability.gamma_poisson import Posterior
    from ckpt_audit.reliability.pooling import Pooled, Projection


def process_lines(process: Process) -> list[tuple[str, str]]:
    """Names and sentences, for all of the run's past.

    Args:
        process: The run's failures.
    """
    n, exposure = process.incidents, format_duration(process.exposure_s)
    return [
        ("over all of the run", f"{counted(n)} in {exposure} of up-time"),
        ("counts", _counts(process)),
        ("trend", _trend(process)),
        ("month to month", _drift(process)),
        *_change(process),
        ("early in the run", early_words(process.early_in_run, "the first three days")),
        ("after a start", early_words(process.early_after_start, "the first hour")),
        ("law of up-times", _law(process)),
        ("causes", _causes(process)),
    ]


def _counts(process: Process) -> str:
    spread = process.spread
    if spread is None:
        return "too few to see whether they come in bursts"
    verdict = "as even as a constant rate makes them"
    if spread.phi > 1.0 and spread.p <= WIDEN:
        surely = "" if spread.p <= LEVEL else "perhaps "
        verdict = f"{surely}more uneven than a constant rate: the interval of M is widened"
    return f"{verdict} (variance over mean {spread.phi:.1f})"


def _trend(process: Process) -> str:
    found, law = process.trend, process.power_law
    if found.p is None:
        return f"not tested ({found.refusal})"
    if found.direction == "none" or law is None:
        return "none seen"
    return (
        f"failures become {found.direction}; M now about {format_duration(law.blended_m_s)} "
        f"(constant rate {format_duration(law.m_constant_s)}, "
        f"fitted {format_duration(law.m_now_s)})"
    )


def _drift(process: Process) -> str:
    found = process.drift
    if found.p is None:
        months = "month" if found.stretches == 1 else "months"
        return f"not tested ({counted(found.n)} in {found.stretches} {months})"
    if found.p > LEVEL:
        return "no drift seen"
    newest = process.this_month
    more = "" if newest is None or newest.ratio is None else f"; the newest {_times(newest)}"
    return f"the rate is not the same in all months{more}"


def _change(process: Process) -> Iterator[tuple[str, str]]:
    found = process.change
    if found is not None and found.p <= LEVEL:
        before, after = format_duration(found.m_before_s), format_duration(found.m_after_s)
        where = f"{format_duration(found.at_s)} of up-time ({span(found.low_s, found.high_s)})"
        yield "change", f"the rate seems to change after {where}: M {before} before, {after} after"


def counted(n: int) -> str:
    """So many incidents.

    >>> counted(1), counted(1200)
    ('1 incident', '1,200 incidents')
    """
    return f"{n:,} incident" + ("" if n == 1 else "s")


def early_words(found: RateRatio | None, what: str) -> str:
    """Give what a rate early in life is beside the rest.

    Args:
        found: The comparison, or None where there is nothing to compare with.
        what: Early means.
    """
    if found is None:
        return "no other time to hold it against"
    if found.p is None:
        return f"not tested ({counted(found.events + found.other_events)})"
    if found.p > LEVEL:
        return f"{what} no different from the rest"
    return f"the rate in {what} is {_times(found)}"


def _times(found: RateRatio) -> str:
    if found.ratio is None:
        return f"over {found.low:.1f} times that of the rest"
    return f"{found.ratio:.1f} times that of the rest ({found.low:.1f} to {found.high:.1f})"


def _law(process: Process) -> str:
    laws = process.laws
    weibull = next((fit for fit in laws.fits if fit.law == "weibull"), None)
    if weibull is None:
        return f"not fitted ({laws.refusal})"
    words = f"{laws.fits[0].law} fits best; Weibull shape {weibull.shape:.2f}"
    words += f" ({weibull.shape_low:.2f} to {weibull.shape_high:.2f})"
    if weibull.shape_high < 1.0:
        words += ": of bursts, a mixture or a trend, not proof of a falling rate"
    return words


def _causes(process: Process) -> str:
    shown = [f"{item.cause} {item.events:,} ({share(item.share)})" for item in process.causes[:6]]
    left = len(process.causes) - len(shown)
    return ", ".join(shown) + (f", {left} more" if left > 0 else "") if shown else "none"


def rate_words(rate: Posterior) -> str:
    """Rate of one run per 1,000 accelerator-hours, with the weight of its own data."""
    words = f"{1000 * rate.rate:.4f} ({1000 * rate.low:.4f} to {1000 * rate.high:.4f})"
    if rate.prior.exposure:
        words += f"; its own data weigh {share(rate.data_share)}, those of other runs the rest"
    return words


def pooled_words(pooled: Pooled) -> str:
    """Rate of all runs together, and whether it may be one."""
    if pooled.per_1000_acc_h is None:
        return f"under {pooled.high:.4f} per 1,000 accelerator-hours: no incident seen"
    words = f"{pooled.per_1000_acc_h:.4f} per 1,000 accelerator-hours"
    words += f" ({pooled.low:.4f} to {pooled.high:.4f})"
    if not pooled.pooled:
        words += "; runs or epochs differ more than chance: take each by itself"
    slope = pooled.slope
    if slope is not None and slope.p_proportional <= LEVEL:
        words += f"; grows as accelerators to the power {slope.slope:.2f}"
    return words


def projection_words(found: Projection) -> str:
    """M of a job of another size."""
    point = "unknown" if found.m_h is None else format_duration(found.m_h * 3600.0)
    words = f"M {point}, {span(found.low_h * 3600.0, found.high_h * 3600.0)}"
    return words + ("; far from every size seen" if found.far else "")
