"""``ckpt-audit model``: the calculator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ckpt_audit.cli.command import AsJson, add_command
from ckpt_audit.cli.session import Session, split_list
from ckpt_audit.cli.tables import facts, hours, share, span, table
from ckpt_audit.errors import UsageError
from ckpt_audit.units import S_PER_DAY, S_PER_H, S_PER_MIN, format_duration, parse_duration_s

if TYPE_CHECKING:
    from ckpt_audit.documents import Json
    from ckpt_audit.model.waste import RecoveryFailures

INTERVALS_MIN = (10.0, 20.0, 40.0, 60.0, 120.0)
_MODES: dict[str, RecoveryFailures] = {"none": "none", "restore": "restore", "all": "all"}

Cost = Annotated[str, typer.Option("--c", metavar="DURATION", help="Exposed cost of a save.")]
MeanUpTime = Annotated[
    str, typer.Option("--m", metavar="DURATION", help="Mean up-time between incidents.")
]
Detection = Annotated[
    str, typer.Option("--d", metavar="DURATION", help="From a fault to its detection.")
]
Recovery = Annotated[
    str, typer.Option("--r", metavar="DURATION", help="From detection to the first step.")
]
Intervals = Annotated[
    list[str] | None,
    typer.Option(
        "--interval",
        metavar="DURATIONS",
        help="Intervals to compare, such as 45m,60m,2h. [default: 10m,20m,40m,60m,120m]",
        show_default=False,
    ),
]
Accelerators = Annotated[
    int | None,
    typer.Option(
        "--accelerators",
        min=1,
        metavar="N",
        help="Show the waste in accelerator-hours a day.",
        show_default=False,
    ),
]
Price = Annotated[
    float | None,
    typer.Option(
        "--price",
        min=0.0,
        metavar="PRICE",
        help="Price of an accelerator-hour: show the waste in money a day.",
        show_default=False,
    ),
]
Failures = Annotated[
    str,
    typer.Option(
        "--recovery-failures",
        metavar="WHERE",
        help="Where failures strike besides up-time: none, restore or all.",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        model,
        name="model",
        examples=[
            "ckpt-audit model --c 4m --m 6h --d 5m --r 10m",
            "ckpt-audit model --c 1m --m 3h --interval 15m,20m,30m --json",
            "ckpt-audit model --c 4m --m 6h --accelerators 1024 --price 2",
        ],
    )


def model(
    session: Session,
    c: Cost,
    m: MeanUpTime,
    d: Detection = "0",
    r: Recovery = "0",
    interval: Intervals = None,
    accelerators: Accelerators = None,
    price: Price = None,
    recovery_failures: Failures = "none",
    as_json: AsJson = False,
) -> None:
    """Computes the best interval and the waste of others from given times.

    Young and Daly are approximations; exact is exact for failures at a constant rate. An interval
    is the training time between two saves; the mean up-time counts no outage.
    """
    from ckpt_audit.documents import dumps
    from ckpt_audit.documents.calculator import model_document

    if price is not None and accelerators is None:
        raise UsageError("--price needs --accelerators")
    mode = _mode(recovery_failures)
    times = [_seconds(*given) for given in (("--c", c), ("--m", m), ("--d", d), ("--r", r))]
    intervals = [_seconds("--interval", part) for part in split_list(interval)]
    intervals = intervals or [minutes * S_PER_MIN for minutes in INTERVALS_MIN]
    try:
        document = model_document(*times, intervals=intervals, recovery_failures=mode)
    except ValueError as error:
        raise UsageError(str(error)) from None
    for row in document["rows"]:
        _add_capacity(row, accelerators, price)
    session.out(dumps(document) if as_json else _text(document, accelerators, price))


def _seconds(option: str, text: str) -> float:
    try:
        return parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def _mode(text: str) -> RecoveryFailures:
    if text not in _MODES:
        raise UsageError(f"--recovery-failures is {', '.join(_MODES)}, not '{text}'")
    return _MODES[text]


def _add_capacity(row: dict[str, float], accelerators: int | None, price: float | None) -> None:
    if accelerators is None:
        return
    row["wasted_acc_h_per_day"] = row["waste_exact"] * accelerators * S_PER_DAY / S_PER_H
    if price is not None:
        row["wasted_capacity_per_day"] = row["wasted_acc_h_per_day"] * price


def _text(document: Json, accelerators: int | None, price: float | None) -> str:
    best = facts(
        [
            ("exact optimum", format_duration(document["exact_s"])),
            ("Daly", format_duration(document["daly_s"])),
            ("Young", format_duration(document["young_s"])),
            ("as good within 5%", span(document["flat_low_s"], document["flat_high_s"])),
        ]
    )
    names = ["checkpoint", "lost_work", "recovery", "waste", "goodput"]
    headers = ["interval", *(name.replace("_", " ") for name in names), "first-order waste"]
    if accelerators is not None:
        headers.append("acc-h wasted a day")
    if price is not None:
        headers.append("capacity wasted a day")
    rows = []
    for row in document["rows"]:
        cells = [format_duration(row["interval_s"])]
        cells += [share(row[f"{name}_exact"]) for name in names]
        cells.append(share(row["waste_first_order"]))
        if accelerators is not None:
            cells.append(hours(row["wasted_acc_h_per_day"] * S_PER_H))
        if price is not None:
            cells.append(f"{row['wasted_capacity_per_day']:,.0f}")
        rows.append(cells)
    return f"{best}\n\n{table(headers, rows, '>' * len(headers))}"
