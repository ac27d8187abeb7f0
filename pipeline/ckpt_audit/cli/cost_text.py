"""What ``estimate`` tells of the laws of C, D and R, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ckpt_audit.cli.tables import share, span, when
from ckpt_audit.units import format_duration

if TYPE_CHECKING:
    from ckpt_audit.audit.data import NamedLaw

_NAMES = {"c": "C", "d": "D", "r": "R"}
_UTC = ZoneInfo("UTC")
_HEAVY = 0.5  # share of the sum in the largest tenth, from which the mean rests on a few


def cost_lines(costs: Sequence[NamedLaw]) -> list[tuple[str, str]]:
    """Give name and sentence of what is worth telling of each cost.

    Args:
        costs: Laws of one run.
    """
    found = []
    for one in costs:
        told = _words(one)
        if told:
            found.append((_name(one), "; ".join(told)))
    return found


def _name(one: NamedLaw) -> str:
    name = _NAMES[one.cost]
    if one.by is None:
        return f"mean {name}"
    return f"{name}, {one.key}"


def _words(one: NamedLaw) -> list[str]:
    law, told = one.law, []
    if one.by is None and law.mean_low is not None:
        told.append(f"{span(law.mean_low, law.mean_high)} (95%)")
        if law.tail_share is not None and law.tail_share >= _HEAVY:
            told.append(f"the largest tenth is {share(law.tail_share)} of the sum")
        if law.lognormal is not None:
            fits = "lognormal" if law.lognormal.fits else "not lognormal"
            told.append(f"{fits} (p {law.lognormal.p:.2g})")
    if one.timeout_s is not None:
        told.append(f"is a configured wait of {format_duration(one.timeout_s)}")
    shift = law.shift
    if shift is not None and shift.significant:
        since = f" from {when(one.shift_at, _UTC)} UTC on" if one.shift_at is not None else ""
        told.append(
            f"was {format_duration(shift.before)} and is {format_duration(shift.after)}{since} "
            f"(p {shift.p:.2g})"
        )
    elif law.drift is not None and law.drift.significant:
        way = "rises" if law.drift.tau > 0.0 else "falls"
        told.append(f"{way} with time (p {law.drift.p:.2g})")
    return told
