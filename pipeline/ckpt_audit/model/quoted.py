"""What an often quoted simulation of checkpoints at 16,384 GPUs expects, in closed form.

Its rule counts whole steps: a failure after m steps drops the step under way; the step within the
interval is j = p mod k; a checkpoint whose drain is not over (j < d) does not count, so that
``j`` or ``j + k`` steps are lost; failures strike in up-time only. Pauses and taxes are spread
evenly over all steps. The rule is kept here to tell its figures from those of
`ckpt_audit.model.drain`, in which a drain keeps its bytes. It differs from them in four ways: the
step under way is in no column, so that columns do not add up to 1; a failure soon after a restart
rolls back beyond the checkpoint just restored; a pause has no place in the interval; and whoever
calls it with ``drains = min(k, S)`` lets a drain shrink.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ckpt_audit.model.waste import checked


@dataclass(frozen=True)
class QuotedShares:
    """Shares of wall clock (fractions) by that rule; they miss 1 by the steps under way.

    Attributes:
        goodput: steps kept, at healthy speed.
        rework: steps done again, at healthy speed.
        restart: detection and restart.
        tax: what saves made steps longer by.
    """

    goodput: float
    rework: float
    restart: float
    tax: float


def quoted_shares(
    k: int, drains: int, cost: float, step: float, m: float, dr: float
) -> QuotedShares:
    """Give the expectation of the rule for saves ``k`` steps apart.

    Args:
        k: steps between two saves.
        drains: steps until a save counts; 1 for a blocking save.
        cost: exposed cost of a save, spread over its ``k`` steps.
        step: time of a healthy step.
        m: mean up-time between incidents.
        dr: detection and restart, per failure.

    Raises:
        ValueError: an argument is out of range, or a save takes longer than ``k`` steps to count.

    Source: with e = step + cost/k, whole steps per failure are 1/(exp(e/M) - 1) and steps lost
    (k - 1)/2 + drains, on average over a run that is long.

    >>> at = quoted_shares(k=10, drains=10, cost=2.1, step=7.0, m=50_000 * 3600 / 16_384, dr=390.0)
    >>> [round(100 * share, 4) for share in (at.goodput, at.rework, at.restart, at.tax)]
    [92.8361, 0.8922, 3.4282, 2.8118]
    """
    if not 1 <= drains <= k:
        raise ValueError(f"a save must count within its interval of {k} steps, got {drains}")
    mean, fixed = float(checked("m", m, positive=True)), float(checked("dr", dr))
    healthy, excess = float(checked("step", step, positive=True)), float(checked("cost", cost)) / k
    done = 1.0 / math.expm1((healthy + excess) / mean)
    lost = (k - 1) / 2.0 + drains
    wall = mean + fixed
    return QuotedShares(
        (done - lost) * healthy / wall, lost * healthy / wall, fixed / wall, done * excess / wall
    )
