"""The options of ``ckpt-audit simulate``, and the scenario that they describe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ckpt_audit.errors import UsageError
from ckpt_audit.units import parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ckpt_audit.audit.samples import MeasuredLaws
    from ckpt_audit.model.simulation import (
        Cascade,
        Drain,
        FailureClass,
        Law,
        Policy,
        Scenario,
        Spares,
    )

T = TypeVar("T")

MEASURED = "measured"
NEVER = "never"
NEVER_S = 1e15  # beyond any run, and far from where a double loses the seconds of one


@dataclass(frozen=True)
class Given:
    """The words of the options; None where one was left out."""

    c: str | None
    m: str | None
    d: str | None
    r: str | None
    work: str
    law: str = "exponential"
    c_law: str = "constant"
    d_law: str = "constant"
    r_law: str = "constant"
    interval: Sequence[str] = ()
    by_age: Sequence[str] = ()
    age: str = "restart"
    tier: Sequence[str] = ()
    failures: Sequence[str] = ()
    spares: int | None = None
    repair: str | None = None
    mode: str = "blocking"
    drain_steps: float | None = None
    step: str | None = None
    tax: float | None = None
    drain_rule: str | None = None
    lag: str = "0"
    cascade: str | None = None
    invalid: float = 0.0
    retry: str = "0"
    recovery_failures: str = "none"

    @property
    def needs_data(self) -> bool:
        """Whether something is to be taken from the warehouse."""
        return MEASURED in (self.law, self.c_law, self.d_law, self.r_law)


def seconds(option: str, text: str) -> float:
    """Read a duration, or say which option it was not for."""
    try:
        return parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def scenario_of(given: Given, measured: MeasuredLaws | None) -> tuple[Scenario, dict[str, str]]:
    """Make the scenario, and say how each law was given.

    Args:
        given: The words of the options.
        measured: What the warehouse has; None where it was not asked.

    Raises:
        UsageError: An option cannot be read, or they do not fit together.
    """
    from ckpt_audit.model.simulation import Scenario

    everything = given.law == MEASURED
    up = _up_law(given, measured)
    c, c_name = _cost_law("c", given.c, given.c_law, measured, everything)
    d, d_name = _cost_law("d", given.d, given.d_law, measured, everything)
    r, r_name = _cost_law("r", given.r, given.r_law, measured, everything)
    scenario = _checked(
        Scenario,
        work_s=seconds("--work", given.work),
        up=up,
        saves=_saves(given, c),
        d=d,
        r=r,
        recovery_failures=given.recovery_failures,
        lag_s=seconds("--lag", given.lag),
        drain=_drain(given),
        cascade=_cascade(given.cascade),
        invalid=given.invalid,
        retry_s=seconds("--retry", given.retry),
        classes=_classes(given.failures),
        spares=_spares(given),
    )
    return scenario, {
        "up": NEVER if given.m == NEVER else given.law,
        "c": c_name,
        "d": d_name,
        "r": r_name,
    }


def policies_of(given: Given, default_s: Sequence[float]) -> list[Policy]:
    """Make the policies.

    Args:
        given: The words of the options.
        default_s: Intervals to compare where none is given, seconds.

    Raises:
        UsageError: An option cannot be read.
    """
    from ckpt_audit.model.simulation import Policy

    every = tuple(_whole("--tier", _parts("--tier", tier, 2, 2)[1]) for tier in given.tier)
    rules: list[tuple[tuple[float, ...], tuple[float, ...]]] = [
        ((0.0,), (seconds("--interval", part),)) for part in given.interval
    ]
    for rule in given.by_age:
        pairs = [_parts("--by-age", pair, 2, 2) for pair in rule.split(",")]
        rules.append(
            (
                tuple(seconds("--by-age", start) for start, _ in pairs),
                tuple(seconds("--by-age", interval) for _, interval in pairs),
            )
        )
    rules = rules or [((0.0,), (interval,)) for interval in default_s]
    return [
        _checked(Policy, intervals_s=intervals, starts_s=starts, clock=given.age, every=every)
        for starts, intervals in rules
    ]


def _checked(make: Callable[..., T], **values: Any) -> T:
    """Make a value of the model; what it refuses is wrong use."""
    try:
        return make(**values)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _up_law(given: Given, measured: MeasuredLaws | None) -> Law:
    from ckpt_audit.model.simulation import Constant

    if given.law == MEASURED:
        if given.m is not None:
            raise UsageError("give either --m, or --law measured")
        if measured is None or measured.up is None:
            raise UsageError(f"--law measured: {measured.why if measured else 'there are no data'}")
        return measured.up
    if given.m is None:
        raise UsageError("--m is needed, or --law measured")
    if given.m == NEVER:
        return Constant(NEVER_S)
    return _law("--law", given.law, seconds("--m", given.m))


def _cost_law(
    name: str, text: str | None, law: str, measured: MeasuredLaws | None, everything: bool
) -> tuple[Law, str]:
    """The law of C, D or R: measured where that is asked for, or where all is and it is not given.

    D and R are none where nothing says otherwise; C has to be known.
    """
    if law == MEASURED or (everything and text is None):
        if law == MEASURED and text is not None:
            raise UsageError(f"give either --{name}, or --{name}-law measured")
        found: Law | None = getattr(measured, name) if measured else None
        if found is None:
            raise UsageError(f"no {name.upper()} was measured in this window: give --{name}")
        return found, MEASURED
    if text is None and name == "c":
        raise UsageError("--c is needed, or --c-law measured")
    return _law(f"--{name}-law", law, seconds(f"--{name}", text or "0")), law


def _law(option: str, text: str, mean: float) -> Law:
    from ckpt_audit.model.simulation import parse_law

    try:
        return parse_law(text, mean)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def _saves(given: Given, first: Law) -> tuple[Law, ...]:
    """The cost of a save for each tier: that of the first, and what further ones add."""
    from ckpt_audit.model.simulation import shifted

    saves, added = [first], 0.0
    for tier in given.tier:
        added += seconds("--tier", _parts("--tier", tier, 2, 2)[0])
        saves.append(shifted(first, added))
    return tuple(saves)


def _drain(given: Given) -> Drain | None:
    from ckpt_audit.model.simulation import Drain

    options = {
        "--drain-steps": given.drain_steps,
        "--step": given.step,
        "--tax": given.tax,
        "--drain-rule": given.drain_rule,
    }
    if given.mode == "blocking":
        for option, value in options.items():
            if value is not None:
                raise UsageError(f"{option} goes with --mode async")
        return None
    if given.mode != "async":
        raise UsageError(f"--mode is blocking or async, not '{given.mode}'")
    if given.drain_steps is None or given.step is None:
        raise UsageError("--mode async needs --drain-steps and --step")
    return _checked(
        Drain,
        work_s=given.drain_steps * seconds("--step", given.step),
        tax=given.tax or 0.0,
        rule=given.drain_rule or "serial",
    )


def _cascade(text: str | None) -> Cascade | None:
    from ckpt_audit.model.simulation import Cascade

    if text is None:
        return None
    parts = _parts("--cascade", text, 2, 3)
    return _checked(
        Cascade,
        probability=_number("--cascade", parts[0]),
        window_s=seconds("--cascade", parts[1]),
        clock=parts[2] if len(parts) > 2 else "restart",
    )


def _classes(texts: Sequence[str]) -> tuple[FailureClass, ...]:
    """The failures given, and before them the rest: one node, and local copies survive."""
    from ckpt_audit.model.simulation import FailureClass

    kinds: list[FailureClass] = []
    for text in texts:
        parts = _parts("--failures", text, 2, 4)
        r = None
        if len(parts) > 3:
            r = _law("--failures", "constant", seconds("--failures", parts[3]))
        kinds.append(
            _checked(
                FailureClass,
                share=_number("--failures", parts[0]),
                nodes=_whole("--failures", parts[1]),
                tier=_whole("--failures", parts[2]) if len(parts) > 2 else 0,
                r=r,
            )
        )
    rest = 1.0 - math.fsum(kind.share for kind in kinds)
    if rest < -1e-9:
        raise UsageError("--failures: the shares add up to more than 1")
    return (FailureClass(max(rest, 0.0)), *kinds)


def _spares(given: Given) -> Spares | None:
    from ckpt_audit.model.simulation import Constant, Spares

    if given.spares is None:
        if given.repair is not None:
            raise UsageError("--repair needs --spares")
        return None
    if given.repair is None:
        raise UsageError("--spares needs --repair, the time until a failed node is a spare again")
    return Spares(given.spares, Constant(seconds("--repair", given.repair)))


def _parts(option: str, text: str, least: int, most: int) -> list[str]:
    parts = text.split(":")
    if not least <= len(parts) <= most or not all(parts):
        raise UsageError(f"{option}: '{text}' has not the form that the help shows")
    return parts


def _number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{option}: '{text}' is no number")
    return value


def _whole(option: str, text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"{option}: '{text}' is no whole number")
    return int(text)
