"""Where C, M, D, R of the calculator come from: given, measured, or derived from something else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ckpt_audit import workflow
from ckpt_audit.cli.model_options import duration, fields, number, optional, size
from ckpt_audit.errors import NoDataError, UsageError
from ckpt_audit.units import S_PER_H, format_duration

if TYPE_CHECKING:
    from ckpt_audit.cli.session import Session
    from ckpt_audit.documents import Json
    from ckpt_audit.model.drain import Drain
    from ckpt_audit.model.elastic import Elastic
    from ckpt_audit.model.tiers import Tier


@dataclass(frozen=True)
class Given:
    """What was said of one save, as text; None where nothing was."""

    c: str | None = None
    m: str | None = None
    d: str | None = None
    r: str | None = None
    lag: str | None = None
    accelerators: int | None = None
    fleet_rate: float | None = None
    from_month: str | None = None
    run: str | None = None
    pause: str | None = None
    slowdown: float | None = None
    stretch: float | None = None
    drain: str | None = None
    drain_steps: int | None = None
    tax: float | None = None
    step: str | None = None
    save_bytes: str | None = None
    save_bandwidth: str | None = None


@dataclass
class Inputs:
    """The five means in seconds, and where they are from.

    Attributes:
        drain: How a save drains, where that was said in steps.
        parts: Parts of the document that come of it.
        notes: What whoever reads the numbers should know.
    """

    c: float = 0.0
    m: float = 0.0
    d: float = 0.0
    r: float = 0.0
    lag: float = 0.0
    drain: Drain | None = None
    parts: dict[str, Json] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_inputs(session: Session, given: Given) -> Inputs:
    """Works out C, M, D and R.

    Raises:
        UsageError: Something is missing, or two options say the same thing.
        NoDataError: What was measured does not say it.
        ValueError: A value is out of range.
    """
    _refuse_contradictions(given)
    measured = _measured(session, given) if given.from_month is not None else {}
    inputs = Inputs(lag=optional("--lag", given.lag))
    _save(inputs, given, measured)
    _mean_up_time(inputs, given, measured)
    inputs.d = optional("--d", given.d, measured.get("d") or 0.0)
    inputs.r = optional("--r", given.r, measured.get("r") or 0.0)
    _floor(inputs, given)
    return inputs


def _refuse_contradictions(given: Given) -> None:
    by_time = [given.slowdown, given.stretch, given.drain]
    by_steps = [given.drain_steps, given.tax, given.step]
    if given.slowdown is not None and given.stretch is not None:
        raise UsageError("give either --async-slowdown or --async-stretch")
    if any(x is not None for x in by_time) and any(x is not None for x in by_steps):
        raise UsageError("give either --async-drain or --drain-steps, --tax and --step")
    if any(x is not None for x in by_steps) and None in by_steps:
        raise UsageError("--drain-steps, --tax and --step belong together")
    if given.drain is not None and given.slowdown is None and given.stretch is None:
        raise UsageError("--async-drain needs --async-slowdown or --async-stretch")
    if given.drain is None and (given.slowdown is not None or given.stretch is not None):
        raise UsageError("--async-slowdown and --async-stretch need --async-drain")
    asynchronous = any(x is not None for x in [given.pause, *by_time, *by_steps])
    if given.c is not None and asynchronous:
        raise UsageError("C of an asynchronous save is computed: leave out --c")
    if given.fleet_rate is not None and given.m is not None:
        raise UsageError("give either --m or --fleet-rate")
    if given.fleet_rate is not None and given.accelerators is None:
        raise UsageError("--fleet-rate needs --accelerators")
    if given.run is not None and given.from_month is None:
        raise UsageError("--run needs --from-month")
    if (given.save_bytes is None) != (given.save_bandwidth is None):
        raise UsageError("--save-bytes and --save-bandwidth belong together")


def _measured(session: Session, given: Given) -> dict[str, float | None]:
    with session.settled_warehouse() as warehouse:
        config = session.config
        window = workflow.choose_window(
            warehouse, config, session.now, given.from_month, None, None
        )
        names = None if given.run is None else [given.run]
        data = workflow.load_report_data(warehouse, config, window, names)
    if len(data.runs) != 1:
        found = ", ".join(one.run.run for one in data.runs) or "none"
        raise UsageError(f"--from-month needs one run, say which with --run: {found}")
    advice = data.runs[0].advice
    return {"c": advice.c_s, "m": advice.m_s, "d": advice.d_s, "r": advice.r_s}


def _missing(option: str, given: Given) -> Exception:
    if given.from_month is None:
        return UsageError(f"missing option '{option}'")
    return NoDataError(f"{option[2:].upper()} was not measured in that month: say {option}")


def _save(inputs: Inputs, given: Given, measured: dict[str, float | None]) -> None:
    from ckpt_audit.model import costs
    from ckpt_audit.model.drain import Drain

    pause = optional("--async-pause", given.pause)
    if given.drain_steps is not None:
        inputs.drain = Drain(
            given.drain_steps, given.tax or 0.0, optional("--step", given.step), pause
        )
        save = inputs.drain.as_save(given.drain_steps, "serial")
        told = f"step time +{given.tax:.3g} for {given.drain_steps} steps"
    elif given.drain is not None:
        drain = duration("--async-drain", given.drain)
        if given.slowdown is not None:
            save = costs.of_throughput(pause, given.slowdown, drain)
            other = costs.of_step_time(pause, given.slowdown, drain).c
            told = f"throughput -{given.slowdown:.3g}"
            inputs.notes.append(
                f"{told} for {drain:g} s of wall time: C is {save.c:.2f} s; "
                f"were it step time +{given.slowdown:.3g}, C would be {other:.2f} s"
            )
        else:
            save = costs.of_step_time(pause, given.stretch or 0.0, drain)
            told = f"step time +{given.stretch:.3g}"
    elif given.pause is not None:
        save, told = costs.AsyncSave(pause, pause), "a pause alone"
    else:
        known = None if given.c is None else duration("--c", given.c)
        inputs.c = _known("--c", known, measured.get("c"), given)
        return
    inputs.c, inputs.lag = save.c, inputs.lag + save.lag
    inputs.parts["async"] = {
        "pause_s": pause,
        "c_s": save.c,
        "lag_s": inputs.lag,
        "meaning": told,
    }


def _known(option: str, said: float | None, measured: float | None, given: Given) -> float:
    value = measured if said is None else said
    if value is None:
        raise _missing(option, given)
    return value


def _mean_up_time(inputs: Inputs, given: Given, measured: dict[str, float | None]) -> None:
    from ckpt_audit.model import fleet

    if given.fleet_rate is not None and given.accelerators is not None:
        inputs.m = fleet.from_rate(given.fleet_rate, given.accelerators) * S_PER_H
        inputs.parts["fleet"] = {
            "per_acc_h": given.fleet_rate,
            "accelerators": given.accelerators,
            "m_s": inputs.m,
        }
        inputs.notes.append(
            f"M of {format_duration(inputs.m)} is from a rate that was given, not the site's own"
        )
    else:
        said = None if given.m is None else duration("--m", given.m)
        inputs.m = _known("--m", said, measured.get("m"), given)
    warning = fleet.device_warning(inputs.m / S_PER_H, given.accelerators)
    if warning is not None:
        inputs.notes.append(warning)


def _floor(inputs: Inputs, given: Given) -> None:
    from ckpt_audit.documents.calculator import floor_part

    if given.save_bytes is None or given.save_bandwidth is None:
        return
    n_bytes, bandwidth = (
        size("--save-bytes", given.save_bytes),
        size("--save-bandwidth", given.save_bandwidth),
    )
    inputs.parts["floor"] = part = floor_part(n_bytes, bandwidth, given.tax or 0.0)
    if inputs.drain is None:
        return
    steps = part["floor_s"] / inputs.drain.step
    if steps > inputs.drain.steps:
        inputs.notes.append(
            f"the bytes of a save need {steps:.1f} steps at this bandwidth, and not the "
            f"{inputs.drain.steps} that were given"
        )


def read_tiers(texts: list[str]) -> list[Tier]:
    """Tiers as ``C:M[:R[:LAG]]``.

    Raises:
        UsageError: One is not of that form.
    """
    from ckpt_audit.model.tiers import Tier

    return [
        Tier(*(duration("--tier", part) for part in fields("--tier", text, 2, 4))) for text in texts
    ]


def read_elastic(text: str) -> Elastic:
    """Going on with fewer replicas, as ``N:TIME:REPAIR[:SHARE]``.

    Raises:
        UsageError: It is not of that form.
        ValueError: A value is out of range.
    """
    from ckpt_audit.model.elastic import Elastic

    n, go, repair, *share = fields("--elastic", text, 3, 4)
    if not (n.isascii() and n.isdigit()):
        raise UsageError(f"--elastic: {n!r} is no number of replicas")
    return Elastic(
        int(n[:9]),
        duration("--elastic", go),
        duration("--elastic", repair),
        number("--elastic", share[0]) if share else 0.0,
    )
