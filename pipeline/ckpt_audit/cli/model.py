"""``ckpt-audit model``: the calculator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from ckpt_audit.cli import model_options as o
from ckpt_audit.cli.command import AsJson, add_command
from ckpt_audit.cli.session import Session, split_list
from ckpt_audit.cli.whole_file import write_whole
from ckpt_audit.errors import UsageError
from ckpt_audit.units import S_PER_MIN

if TYPE_CHECKING:
    from ckpt_audit.cli.model_inputs import Inputs
    from ckpt_audit.documents import Json
    from ckpt_audit.model.drain import DrainRule
    from ckpt_audit.model.waste import RecoveryFailures
    from ckpt_audit.model.whatif import Setting, Spares

INTERVALS_MIN = (10.0, 20.0, 40.0, 60.0, 120.0)
_MODES: dict[str, RecoveryFailures] = {"none": "none", "restore": "restore", "all": "all"}
_RULES: dict[str, DrainRule] = {"serial": "serial", "overlap": "overlap", "shrink": "shrink"}


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        model,
        name="model",
        examples=[
            "ckpt-audit model --c 4m --m 6h --d 5m --r 10m",
            "ckpt-audit model --c 1m --m 3h --interval 15m,20m,30m --json",
            "ckpt-audit model --c 4m --m 6h --accelerators 1024 --price 2 --what-if",
            "ckpt-audit model --drain-steps 30 --tax 0.03 --step 7s --m 3h",
            "ckpt-audit model --c 1m --fleet-rate 2e-5 --accelerators 16384",
            "ckpt-audit model --from-month 2026-05 --run llama-70b --what-if --figure what-if.svg",
            "ckpt-audit model --shards captured.csv",
        ],
    )


def model(
    session: Session,
    c: o.Cost = None,
    m: o.MeanUpTime = None,
    d: o.Detection = None,
    r: o.Recovery = None,
    interval: o.Intervals = None,
    accelerators: o.Accelerators = None,
    price: o.Price = None,
    recovery_failures: o.Failures = "none",
    law: o.Law = "exponential",
    lag: o.Lag = None,
    invalid: o.Invalid = None,
    async_pause: o.AsyncPause = None,
    async_slowdown: o.AsyncSlowdown = None,
    async_stretch: o.AsyncStretch = None,
    async_drain: o.AsyncDrain = None,
    drain_steps: o.DrainSteps = None,
    tax: o.Tax = None,
    step: o.Step = None,
    drain_rule: o.Rule = "serial",
    save_bytes: o.SaveBytes = None,
    save_bandwidth: o.SaveBandwidth = None,
    tier: o.Tiers = None,
    elastic: o.Going = None,
    fleet_rate: o.FleetRate = None,
    from_month: o.FromMonth = None,
    run: o.Run = None,
    what_if: o.WhatIf = False,
    means: o.Means = None,
    now: o.Now = None,
    scale: o.Scale = None,
    spares: o.SpareCount = None,
    replacement: o.Replacement = None,
    shards: o.Shards = None,
    figure: o.Figure = None,
    as_csv: o.AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Computes the best interval and the waste of others from given times.

    Young and Daly are approximations; exact is exact for failures at a constant rate. An interval
    is the training time between two saves; the mean up-time counts no outage.
    """
    from ckpt_audit.cli.model_inputs import Given, read_inputs

    if as_json and as_csv:
        raise UsageError("give either --json or --csv")
    if shards is not None:
        _torn(session, shards, as_json)
        return
    if price is not None and accelerators is None:
        raise UsageError("--price needs --accelerators")
    given = Given(
        c, m, d, r, lag, accelerators, fleet_rate, from_month, run, async_pause, async_slowdown,
        async_stretch, async_drain, drain_steps, tax, step, save_bytes, save_bandwidth,
    )  # fmt: skip
    asked = _Asked(
        intervals=[o.duration("--interval", part) for part in split_list(interval)],
        what_if=what_if or bool(scale) or bool(means) or spares is not None,
        means=[o.duration("--means", part) for part in split_list(means)],
        now=None if now is None else o.duration("--now", now),
        sizes=o.counts("--scale", split_list(scale)),
        spares=_spares(spares, replacement, accelerators),
        tiers=tier or [],
        elastic=elastic,
        rule=_one_of("--drain-rule", drain_rule, _RULES),
        accelerators=accelerators,
        price=price,
    )
    try:
        inputs = read_inputs(session, given)
        setting = _setting(inputs, law, invalid, recovery_failures)
        document = _document(inputs, setting, asked)
    except ValueError as error:
        raise UsageError(str(error)) from None
    _show(session, document, figure, as_csv=as_csv, as_json=as_json)


@dataclass(frozen=True)
class _Asked:
    """What is to be worked out."""

    intervals: list[float]
    what_if: bool
    means: list[float]
    now: float | None
    sizes: list[int]
    spares: Spares | None
    tiers: list[str]
    elastic: str | None
    rule: DrainRule
    accelerators: int | None
    price: float | None


_Choice = TypeVar("_Choice")


def _one_of(option: str, text: str, choices: Mapping[str, _Choice]) -> _Choice:
    if text not in choices:
        raise UsageError(f"{option} is {', '.join(choices)}, not '{text}'")
    return choices[text]


def _spares(count: int | None, replacement: str | None, used: int | None) -> Spares | None:
    if count is None and replacement is None:
        return None
    if count is None or replacement is None or used is None:
        raise UsageError("--spares, --replacement and --accelerators belong together")
    from ckpt_audit.model.whatif import Spares

    return Spares(count, used, o.duration("--replacement", replacement))


def _setting(inputs: Inputs, law: str, invalid: float | None, failures: str) -> Setting:
    from ckpt_audit.model.whatif import Setting

    return Setting(
        inputs.c,
        inputs.m,
        inputs.d,
        inputs.r,
        inputs.lag,
        invalid or 0.0,
        o.shape(law),
        _one_of("--recovery-failures", failures, _MODES),
    )


def _document(inputs: Inputs, setting: Setting, asked: _Asked) -> Json:
    from ckpt_audit.cli.model_inputs import read_elastic, read_tiers
    from ckpt_audit.documents import calculator as make

    intervals = asked.intervals or [minutes * S_PER_MIN for minutes in INTERVALS_MIN]
    parts: dict[str, Json] = dict(inputs.parts)
    if inputs.drain is not None:
        bare = replace(setting.failures, lag=max(inputs.lag - _drain_lag(inputs), 0.0))
        parts["drain"] = make.drain_part(inputs.drain, bare, asked.rule)
        inputs.notes.extend(_drain_notes(parts["drain"]))
    if asked.tiers:
        parts["tiers"] = make.tiers_part(read_tiers(asked.tiers), setting.d)
    if asked.elastic is not None:
        at = setting.best() if asked.now is None else asked.now
        parts["elastic"] = make.elastic_part(read_elastic(asked.elastic), at, setting)
    if asked.what_if:
        if asked.sizes and asked.accelerators is None:
            raise UsageError("--scale needs --accelerators")
        parts["what_if"] = make.what_if_part(
            setting,
            intervals=intervals,
            means=asked.means or [setting.m / 2, setting.m, 2 * setting.m],
            now=asked.now,
            spares=asked.spares,
            accelerators=asked.accelerators,
            sizes=asked.sizes,
        )
    document = make.model_document(
        setting.c, setting.m, setting.d, setting.r,
        intervals=intervals, recovery_failures=setting.recovery_failures, lag=setting.lag,
        invalid=setting.invalid, shape=setting.shape, parts=parts, notes=inputs.notes,
    )  # fmt: skip
    if asked.accelerators is not None:
        _add_capacity(document, asked.accelerators, asked.price)
    return document


def _drain_lag(inputs: Inputs) -> float:
    return 0.0 if inputs.drain is None else inputs.drain.as_save(inputs.drain.steps, "serial").lag


def _drain_notes(part: Json) -> list[str]:
    rows = {row["rule"]: row for row in part["rules"]}
    said, kept = rows[part["rule"]], rows["serial"]
    if said["steps"] >= part["steps"]:
        return []
    if part["rule"] == "shrink":
        why = (
            "a drain that shrinks moves the same bytes in fewer steps: it needs "
            f"{said['bandwidth_factor']:.3g} times the bandwidth for nothing"
        )
    else:
        why = f"overlapping drains need {said['bandwidth_factor']:.3g} times the bandwidth"
    best = f"{kept['steps']} steps and {kept['goodput_exact']:.2%}"
    not_this = f"{said['steps']} steps and {said['goodput_exact']:.2%}"
    return [f"{why}; with the bytes and one drain in flight the best is {best}, not {not_this}"]


def _add_capacity(document: Json, accelerators: int, price: float | None) -> None:
    from ckpt_audit.documents.calculator import add_capacity

    add_capacity(document["rows"], "waste_exact", accelerators, price)
    part = document["what_if"]
    if part is not None:
        for name in ("sensitivity", "tornado"):
            add_capacity(part[name], "waste_exact", accelerators, price)
        for row in part["scale"]:
            add_capacity([row], "waste_exact", row["accelerators"], price)


def _show(
    session: Session, document: Json, figure: Path | None, *, as_csv: bool, as_json: bool
) -> None:
    from ckpt_audit.cli import model_text
    from ckpt_audit.documents import dumps

    for note in document["notes"]:
        session.say(f"note: {note}")
    if figure is not None:
        from ckpt_audit.report.figures import calculator

        if figure.suffix not in (".svg", ".png"):
            raise UsageError(f"--figure: {figure} should end in .svg or .png")
        write_whole(figure, calculator.draw(document, figure.suffix[1:]))
        session.say(f"figure: {figure}")
    if as_json:
        session.out(dumps(document))
    elif as_csv:
        session.out(model_text.csv_text(document))
    else:
        session.out(model_text.text(document))


def _torn(session: Session, file: Path, as_json: bool) -> None:
    from ckpt_audit.cli import shards as torn
    from ckpt_audit.documents import dumps

    document = torn.read(file)
    session.out(dumps(document) if as_json else torn.text(document))
