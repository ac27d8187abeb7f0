"""The assumptions behind the interval, each with what the data say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ASSUMPTIONS = (
    "independent",
    "memoryless",
    "constant_c",
    "uniform_timing",
    "valid_saves",
    "small_c_over_m",
)
MOST_C_OVER_M = 0.01
MOST_CV = 0.5
FEWEST_SAVES = 5


@dataclass(frozen=True)
class Assumption:
    """One assumption of the model.

    Attributes:
        name: one of ``ASSUMPTIONS``.
        holds: whether the evidence agrees with it; None where there is none.
        evidence: the evidence in words.
    """

    name: str
    holds: bool | None
    evidence: str


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Return standard deviation over mean; None for fewer than two values or a mean of zero.

    >>> coefficient_of_variation([3.0, 3.0, 3.0])
    0.0
    """
    if len(values) < 2 or not np.mean(values) > 0.0:
        return None
    return float(np.std(values, ddof=1) / np.mean(values))


def gather(
    c_mean_s: float | None,
    m_used_s: float | None,
    m_low_s: float | None,
    m_high_s: float | None,
    c_values_s: Sequence[float],
    given: Sequence[Assumption] = (),
) -> tuple[Assumption, ...]:
    """Return all assumptions in order: those given, else judged here, else "not tested".

    Judged here are ``constant_c`` (coefficient of variation at most 0.5, from 5 saves on) and
    ``small_c_over_m`` (at most 0.01, where a first-order loss is 5 % off).

    Args:
        c_mean_s: mean exposed cost of a save, seconds, or None.
        m_used_s: mean up-time used, seconds, or None.
        m_low_s: lower end of its interval, seconds, or None.
        m_high_s: upper end, seconds, or None; may be infinite.
        c_values_s: measured costs, seconds, shape ``(n,)``.
        given: findings from elsewhere.

    Raises:
        ValueError: a name given is not one of ``ASSUMPTIONS``.
    """
    found = {name: Assumption(name, None, "not tested") for name in ASSUMPTIONS}
    cv = coefficient_of_variation(c_values_s)
    if cv is not None and len(c_values_s) >= FEWEST_SAVES:
        found["constant_c"] = Assumption(
            "constant_c",
            cv <= MOST_CV,
            f"coefficient of variation {cv:.2f} over {len(c_values_s)} saves (limit {MOST_CV:g})",
        )
    if c_mean_s is not None and m_used_s:
        between = ""
        if m_low_s and m_high_s:
            between = (
                f", {c_mean_s / m_high_s:.2g} to {c_mean_s / m_low_s:.2g} over the interval of M"
            )
        found["small_c_over_m"] = Assumption(
            "small_c_over_m",
            c_mean_s / m_used_s <= MOST_C_OVER_M,
            f"C/M is {c_mean_s / m_used_s:.2g}{between} (limit {MOST_C_OVER_M:g} for first-order "
            "losses; the exact form is used)",
        )
    for assumption in given:
        if assumption.name not in found:
            raise ValueError(f"{assumption.name!r} is not one of {', '.join(ASSUMPTIONS)}")
        found[assumption.name] = assumption
    return tuple(found[name] for name in ASSUMPTIONS)
