"""Which interval to use, how sure that is, and whether a change is worth making."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ckpt_audit.audit.assumptions import Assumption, coefficient_of_variation, gather
from ckpt_audit.model.interval import daly, exact, flat_region, young
from ckpt_audit.model.waste import checked, exact_waste
from ckpt_audit.reliability.sample import finite_values

HOURS_PER_MONTH = 24 * 365.25 / 12
FLAT_EPS = 0.05
MIN_P_BETTER = 0.9
MIN_SAVING_RATIO = 0.005
MIN_SAVING_H_PER_MONTH = 1.0
FEW_INCIDENTS = 5
SAVES_NOT_AS_SET = (
    "the setting is near enough to the best: the loss is from saves that come later than set, or "
    "are not valid"
)
_Z_95 = 1.959963984540054
_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0)


@dataclass(frozen=True)
class IntervalAdvice:
    """Advice on the interval; intervals are useful training time between two pauses, seconds.

    Attributes:
        change: whether a change is advised.
        basis: what the mean up-time rests on: ``measured``, ``few failures observed``,
            ``no failures observed``, or ``unknown``.
        reason: why a change is advised or not, or why nothing can be said.
        assumptions: the six assumptions, in the order of ``ASSUMPTIONS``.
        young_s: first-order optimum.
        daly_s: higher-order optimum.
        exact_s: exact optimum.
        recommended_s: a round number of steps near the exact optimum.
        recommended_steps: the same in steps; None where the step time is not known.
        low_s: lower end of the 95 % interval of the optimum.
        high_s: upper end; infinite with no incident.
        flat_low_s: shortest interval within 5 % of the least waste that an interval decides.
        flat_high_s: longest such interval.
        current_s: the interval compared with: the effective one, else the configured one.
        waste_now: exact waste at it, a fraction of wall clock.
        waste_recommended: exact waste at the recommended interval, likewise.
        p_better: posterior probability that the recommended interval wastes less.
        saving_ratio: ``waste_now - waste_recommended``.
        saving_h: the same in hours of the wall clock given.
        c_s, m_s, d_s, r_s: what the figures above were computed from, seconds.
    """

    change: bool
    basis: str
    reason: str
    assumptions: tuple[Assumption, ...]
    young_s: float | None = None
    daly_s: float | None = None
    exact_s: float | None = None
    recommended_s: float | None = None
    recommended_steps: int | None = None
    low_s: float | None = None
    high_s: float | None = None
    flat_low_s: float | None = None
    flat_high_s: float | None = None
    current_s: float | None = None
    waste_now: float | None = None
    waste_recommended: float | None = None
    p_better: float | None = None
    saving_ratio: float | None = None
    saving_h: float | None = None
    c_s: float | None = None
    m_s: float | None = None
    d_s: float | None = None
    r_s: float | None = None


@dataclass(frozen=True)
class _Comparison:
    """The current interval against the recommended one."""

    waste_now: float | None
    waste_recommended: float
    p_better: float | None
    saving_ratio: float | None


def recommend_interval(
    *,
    c_mean_s: float | None,
    m_used_s: float | None,
    m_low_s: float | None,
    m_high_s: float | None,
    configured_s: float | None,
    effective_s: float | None,
    step_s: float | None,
    d_s: float,
    r_s: float,
    c_values_s: ArrayLike,
    n_incidents: int,
    wall_h: float = HOURS_PER_MONTH,
    wall_h_per_month: float = HOURS_PER_MONTH,
    assumptions: Sequence[Assumption] = (),
    refusal: str | None = None,
) -> IntervalAdvice:
    """Recommend an interval and say whether to change to it.

    A change is advised when the recommended interval is better with a probability of 0.9 or more,
    and saves 0.5 % of the wall clock or an hour a month, against the effective interval and
    against the configured one where both are known. With no incident none ever is.

    Args:
        c_mean_s: mean exposed cost of a save, seconds; None where it is not known.
        m_used_s: exposure over (incidents + 1/2), seconds; None where there is no exposure.
        m_low_s: lower end of the interval of the mean up-time, seconds.
        m_high_s: upper end, seconds; may be infinite.
        configured_s: configured interval as useful training time, seconds.
        effective_s: effective interval, as a random failure sees it, seconds.
        step_s: time of a healthy step, seconds.
        d_s: mean time from fault to detected, seconds.
        r_s: mean time from detected to the first step, seconds.
        c_values_s: measured costs of saves, seconds, shape ``(n,)``; may be empty.
        n_incidents: incidents that the mean up-time rests on.
        wall_h: wall clock for which the saving is stated, hours.
        wall_h_per_month: wall clock that the run has in a month, hours: less than a month where
            it runs in part of it.
        assumptions: what was found elsewhere of any of ``ASSUMPTIONS``; they replace those made
            here. Without, the first two, timing and valid saves are untested.
        refusal: why the data allow none, where that is known.

    Raises:
        ValueError: a time is not finite or, but for a cost, negative; the count is negative; an
            interval or the step time is zero; or an assumption has no known name.

    Source: optimum as in ``model.interval``; its spread is ``SE(ln I) = sqrt(1/r + cv^2/n)/2`` by
    the delta method; the rate is Gamma(r + 1/2, exposure) after Jeffreys' prior.
    """
    c_values = finite_values(c_values_s).tolist()
    current = _current(configured_s, effective_s, step_s)
    checked("n_incidents", n_incidents)
    made = gather(c_mean_s, m_used_s, m_low_s, m_high_s, c_values, assumptions)
    refusal = refusal or _refusal(c_mean_s, m_used_s)
    if refusal is not None or c_mean_s is None or m_used_s is None:
        return IntervalAdvice(False, "unknown", refusal or "", made, current_s=current)
    best = exact(c_mean_s, m_used_s)
    flat = flat_region(c_mean_s, m_used_s, FLAT_EPS)
    steps = None if step_s is None else round_steps(best, step_s, flat.low, flat.high)
    recommended = best if steps is None or step_s is None else steps * step_s
    low, high = _spread(best, c_mean_s, m_low_s, c_values, n_incidents)
    known = (c_mean_s, m_used_s, d_s, r_s, n_incidents)
    compared = _compare(recommended, current, *known)
    as_set = _compare(recommended, configured_s, *known)
    change, reason = _decide(compared, n_incidents, wall_h_per_month)
    if change and configured_s and not _decide(as_set, n_incidents, wall_h_per_month)[0]:
        change, reason = False, SAVES_NOT_AS_SET
    saving = compared.saving_ratio
    return IntervalAdvice(
        young_s=young(c_mean_s, m_used_s),
        daly_s=daly(c_mean_s, m_used_s),
        exact_s=best,
        recommended_s=recommended,
        recommended_steps=steps,
        low_s=low,
        high_s=high,
        flat_low_s=flat.low,
        flat_high_s=flat.high,
        current_s=current,
        waste_now=compared.waste_now,
        waste_recommended=compared.waste_recommended,
        p_better=compared.p_better,
        saving_ratio=saving,
        saving_h=None if saving is None else saving * wall_h,
        change=change,
        basis=_basis(n_incidents),
        reason=reason,
        assumptions=made,
        c_s=c_mean_s,
        m_s=m_used_s,
        d_s=d_s,
        r_s=r_s,
    )


def round_steps(optimum_s: float, step_s: float, low_s: float, high_s: float) -> int:
    """Return a round number of whole steps, at least 1, near an optimum.

    Round are 1 to 10, and 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 80 times a power of ten. Nearest
    is by ratio. Where no round number falls inside the region, it is the nearest whole number.

    Args:
        optimum_s: interval to be near, seconds.
        step_s: time of a step, seconds.
        low_s: lower end of the region, seconds.
        high_s: upper end, seconds.

    Raises:
        ValueError: the optimum or the step time is not a positive finite number.

    >>> round_steps(3062.0, step_s=7.0, low_s=2172.0, high_s=4293.0)
    400
    """
    best = float(checked("optimum_s", optimum_s, positive=True))
    step = float(checked("step_s", step_s, positive=True))
    target = best / step
    scale = 10.0 ** max(0, math.floor(math.log10(max(target, 1.0))) - 1)
    numbers = {float(n) for n in range(1, 11)}
    numbers |= {float(round(m * scale * ten)) for m in _ROUND for ten in (1.0, 10.0, 100.0)}
    inside = [n for n in numbers if low_s <= n * step <= high_s]
    if not inside:
        return max(1, round(target))
    return int(min(inside, key=lambda n: (abs(math.log(n / target)), n)))


def probability_better(
    new_s: float, current_s: float, c_s: float, exposure_s: float, n_incidents: int
) -> float:
    """Give the posterior probability that one interval wastes less than another.

    The cost of a save is taken as known; detection and recovery cancel.

    Args:
        new_s: one interval, seconds.
        current_s: the other, seconds.
        c_s: mean exposed cost of a save, seconds.
        exposure_s: up-time that the incidents were seen in, seconds.
        n_incidents: incidents in it.

    Raises:
        ValueError: an interval, cost or exposure is not a positive finite number, or the count is
            negative.

    Source: ``(e^(x(I+C)) - 1)/I`` of the two intervals is equal at one rate x only, below which
    the longer interval is better, since the ratio of the two rises with x; and the rate is
    Gamma(n + 1/2, exposure).

    >>> probability_better(3000.0, 3000.0, 240.0, 1e6, 10)
    0.0
    """
    for name, value in (("new_s", new_s), ("current_s", current_s), ("c_s", c_s)):
        checked(name, value, positive=True)
    checked("exposure_s", exposure_s, positive=True)
    checked("n_incidents", n_incidents)
    if new_s == current_s:
        return 0.0
    from scipy import optimize, special  # half a second to import, and only needed here

    short, long = min(new_s, current_s), max(new_s, current_s)

    def excess_of_long(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return (_log_expm1(rate * (long + c_s)) - math.log(long)) - (
            _log_expm1(rate * (short + c_s)) - math.log(short)
        )

    low, high = -math.log(long + c_s) - 2.0, -math.log(long + c_s) + 2.0
    while excess_of_long(low) > 0.0:
        low -= 2.0
    while excess_of_long(high) < 0.0:
        high += 2.0
    rate = math.exp(optimize.brentq(excess_of_long, low, high))
    longer_better = float(special.gammainc(n_incidents + 0.5, rate * exposure_s))
    return longer_better if new_s == long else 1.0 - longer_better


def _log_expm1(x: float) -> float:
    return x + math.log(-math.expm1(-x))


def _current(
    configured_s: float | None, effective_s: float | None, step_s: float | None
) -> float | None:
    for name, value in (
        ("configured_s", configured_s),
        ("effective_s", effective_s),
        ("step_s", step_s),
    ):
        if value is not None:
            checked(name, value, positive=True)
    return configured_s if effective_s is None else effective_s


def _refusal(c_mean_s: float | None, m_used_s: float | None) -> str | None:
    if c_mean_s is None:
        return "the cost of a save is not known, so no interval can be computed"
    if m_used_s is None:
        return "no up-time was observed, so no interval can be computed"
    checked("m_used_s", m_used_s, positive=True)
    if not math.isfinite(c_mean_s):
        raise ValueError(f"c_mean_s must be a finite number or None, got {c_mean_s}")
    if c_mean_s <= 0.0:
        return "saves cost nothing as measured, so no interval is too short but for storage"
    return None


def _basis(n_incidents: int) -> str:
    if n_incidents == 0:
        return "no failures observed"
    return "few failures observed" if n_incidents < FEW_INCIDENTS else "measured"


def _spread(
    best: float, c_s: float, m_low_s: float | None, c_values: list[float], n_incidents: int
) -> tuple[float | None, float]:
    """Return the 95 % interval of the optimum, seconds."""
    if n_incidents == 0:
        return (None if m_low_s is None else exact(c_s, m_low_s)), math.inf
    variance = 1.0 / n_incidents
    variance += (coefficient_of_variation(c_values) or 0.0) ** 2 / max(len(c_values), 1)
    factor = math.exp(_Z_95 * 0.5 * math.sqrt(variance))
    return best / factor, best * factor


def _compare(
    recommended: float,
    current: float | None,
    c_s: float,
    m_s: float,
    d_s: float,
    r_s: float,
    n_incidents: int,
) -> _Comparison:
    waste_recommended = float(exact_waste(recommended, c_s, m_s, d_s, r_s))
    if current is None:
        return _Comparison(None, waste_recommended, None, None)
    waste_now = float(exact_waste(current, c_s, m_s, d_s, r_s))
    exposure_s = m_s * (n_incidents + 0.5)
    p_better = probability_better(recommended, current, c_s, exposure_s, n_incidents)
    return _Comparison(waste_now, waste_recommended, p_better, waste_now - waste_recommended)


def _probability(value: float) -> str:
    """A probability in words that never rounds to certainty."""
    return "above 0.99" if value > 0.99 else f"{value:.2f}"


def _decide(compared: _Comparison, n_incidents: int, wall_h_per_month: float) -> tuple[bool, str]:
    """Return whether a change is advised, and why or why not."""
    saving, p_better = compared.saving_ratio, compared.p_better
    if saving is None or p_better is None:
        return False, "the current interval is not known"
    if n_incidents == 0:
        return False, "no failure was observed: the recommended interval is a starting point only"
    if saving <= 0.0:
        return False, "the current interval wastes no more than the recommended one"
    per_month_h = saving * wall_h_per_month
    enough = saving >= MIN_SAVING_RATIO or per_month_h >= MIN_SAVING_H_PER_MONTH
    figures = f"saves {saving:.2%} of wall clock, {per_month_h:.1f} h a month"
    if not enough:
        return False, f"a change is not worth making: it {figures}"
    if p_better < MIN_P_BETTER:
        return False, f"too uncertain: better with probability {_probability(p_better)}"
    return True, f"better with probability {_probability(p_better)}; {figures}"
