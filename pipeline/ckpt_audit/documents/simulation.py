"""The document of the simulator, ``simulate/1``: what each policy gave, with error bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ckpt_audit.documents import Json, document
from ckpt_audit.model.simulation import (
    Constant,
    Exponential,
    Law,
    Policy,
    PolicyResult,
    Scenario,
    Simulation,
)
from ckpt_audit.model.waste import exact_waste

QUANTILES = {"p5": 0.05, "p50": 0.5, "p95": 0.95}
_SHARES = ("checkpoint", "tax", "lost_work", "detection", "restart", "spare_wait")
_Z95 = 1.959963984540054


def simulate_document(
    found: Simulation,
    *,
    laws: dict[str, str],
    mode: str,
    deadline_s: float | None = None,
    horizon_s: float | None = None,
    notes: Sequence[str] = (),
) -> Json:
    """What was simulated, and a row for each policy.

    Args:
        found: The simulation.
        laws: How each law was given, by the names up, c, d and r.
        mode: ``blocking`` or ``async``.
        deadline_s: Wall clock by which the work should be done.
        horizon_s: Wall clock at which runs were given up.
        notes: What a reader should know beside the numbers.
    """
    scenario, best = found.scenario, found.best
    body = {
        "c_s": scenario.saves[0].mean,
        "m_s": scenario.up.mean,
        "d_s": scenario.d.mean,
        "r_s": scenario.r.mean,
        "laws": laws,
        "mode": mode,
        "recovery_failures": scenario.recovery_failures,
        "work_s": scenario.work_s,
        "deadline_s": deadline_s,
        "given_up_after_s": horizon_s,
        "runs": int(found.results[0].runs.wall.size),
        "seed": found.seed,
        "best": best,
        "notes": [*notes, *_said(found, horizon_s)],
        "rows": [_row(found, at, deadline_s) for at in range(len(found.results))],
    }
    return document("simulate", body)


def _row(found: Simulation, at: int, deadline_s: float | None) -> Json:
    result, scenario = found.results[at], found.scenario
    runs, goodput = result.runs, result.goodput
    below = found.difference(found.best, at)
    shares = {name: result.share(name) for name in _SHARES}
    recovery = result.share("detection", "restart", "spare_wait")
    median, late = result.finish(0.5), result.finish(0.9)
    by = None if deadline_s is None else result.by(deadline_s)
    return {
        **_policy(result.policy, scenario),
        "goodput": goodput.value,
        "goodput_se": goodput.se,
        "goodput_exact": _exact(scenario, result.policy),
        "below_best": below.value,
        "below_best_se": below.se,
        "waste": 1.0 - goodput.value,
        **{name: share.value for name, share in shares.items()},
        "recovery": recovery.value,
        "se": {name: share.se for name, share in (*shares.items(), ("recovery", recovery))},
        "lost_work_s": result.mean("lost_work").value,
        "failures": result.mean("failures").value,
        "saves": result.mean("saves").value,
        "finished": float(runs.finished.mean()),
        "finish_mean_s": result.mean("wall").value if runs.finished.all() else None,
        "finish_median_s": median.value,
        "finish_median_low_s": median.low,
        "finish_median_high_s": median.high,
        "finish_p90_s": late.value,
        "finish_p90_low_s": late.low,
        "finish_p90_high_s": late.high,
        "p_deadline": None if by is None else by.value,
        "p_deadline_low": None if by is None else by.low,
        "p_deadline_high": None if by is None else by.high,
        "distribution": _distribution(result),
    }


def _policy(policy: Policy, scenario: Scenario) -> Json:
    """The policy; ``interval_s`` is its first interval where it has several."""
    used = [scenario.interval(interval) for interval in policy.intervals_s]
    return {
        "interval_s": policy.intervals_s[0],
        "interval_used_s": used[0],
        "policy": {
            "starts_s": list(policy.starts_s),
            "intervals_s": list(policy.intervals_s),
            "clock": policy.clock,
            "every": list(policy.every),
        },
    }


def _distribution(result: PolicyResult) -> Json:
    """Quantiles over the runs: shares of each run's own wall clock, and times."""
    runs = result.runs
    values = {
        "goodput": runs.retained / runs.wall,
        **{name: getattr(runs, name) / runs.wall for name in _SHARES},
        "lost_work_s": runs.lost_work,
        "finish_s": result.finish_s,
    }
    return {name: _quantiles(of.tolist()) for name, of in values.items()}


def _quantiles(values: Sequence[float]) -> Json:
    ordered = sorted(values)
    last = len(ordered) - 1
    # The nearest value, for between a time and one that never ends there is nothing.
    return {name: ordered[round(q * last)] for name, q in QUANTILES.items()}


def _exact(scenario: Scenario, policy: Policy) -> float | None:
    """The exact goodput, where a closed form knows the scenario."""
    known = (
        isinstance(scenario.up, Exponential)
        and isinstance(scenario.saves[0], Constant)
        and policy.is_fixed
        and policy.n_tiers == 1
        and scenario.drain is None
        and scenario.cascade is None
        and scenario.spares is None
        and len(scenario.classes) == 1
        and scenario.lag_s == 0.0
        and scenario.invalid == 0.0
        and (scenario.recovery_failures == "none" or _are_constant(scenario.d, scenario.r))
    )
    whole = scenario.work_s / policy.shortest_s
    if not known or abs(whole - round(whole)) > 1e-9:  # a last interval that is shorter
        return None
    waste = exact_waste(
        policy.shortest_s,
        scenario.saves[0].mean,
        scenario.up.mean,
        scenario.d.mean,
        scenario.r.mean,
        scenario.recovery_failures,
    )
    return 1.0 - float(waste)


def _are_constant(*laws: Law) -> bool:
    return all(isinstance(law, Constant) for law in laws)


def _said(found: Simulation, horizon_s: float | None) -> list[str]:
    """What the result itself calls for."""
    notes = []
    for at, result in enumerate(found.results):
        never = int((~result.runs.finished).sum())
        if never:
            after = "" if horizon_s is None else f" after {horizon_s / 3600.0:,.0f} h"
            notes.append(
                f"row {at + 1}: {never:,} of {result.runs.wall.size:,} runs were given up{after}; "
                "their finish counts as never, and shares are of the time until then"
            )
    rivals = [
        str(at + 1) for at in range(len(found.results)) if at != found.best and _is_close(found, at)
    ]
    if rivals and found.results[found.best].goodput.value > 0.0:
        notes.append(
            f"row {found.best + 1} is best, but these runs cannot tell it from row "
            f"{', '.join(rivals)}: more runs would"
        )
    return notes


def _is_close(found: Simulation, at: int) -> bool:
    below = found.difference(found.best, at)
    return not math.isfinite(below.se) or below.value <= _Z95 * below.se
