"""The options of the calculator, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ckpt_audit.errors import UsageError
from ckpt_audit.units import parse_duration_s


def _option(name: str, metavar: str, text: str, **more: Any) -> Any:
    return typer.Option(name, metavar=metavar, help=text, show_default=False, **more)


Cost = Annotated[str | None, _option("--c", "DURATION", "Exposed cost of a save.")]
MeanUpTime = Annotated[str | None, _option("--m", "DURATION", "Mean up-time between incidents.")]
Detection = Annotated[str | None, _option("--d", "DURATION", "From a fault to its detection.")]
Recovery = Annotated[str | None, _option("--r", "DURATION", "From detection to the first step.")]
Intervals = Annotated[
    list[str] | None,
    _option(
        "--interval",
        "DURATIONS",
        "Intervals to compare, such as 45m,60m,2h. [default: 10m,20m,40m,60m,120m]",
    ),
]
Accelerators = Annotated[
    int | None,
    _option("--accelerators", "N", "Of the job: show the waste in accelerator-hours a day.", min=1),
]
Price = Annotated[
    float | None,
    _option(
        "--price", "PRICE", "Price of an accelerator-hour: show the waste in money a day.", min=0.0
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
Law = Annotated[
    str,
    typer.Option("--law", metavar="LAW", help="Of up-times: exponential, or weibull:SHAPE."),
]
Lag = Annotated[
    str | None,
    _option("--lag", "DURATION", "From the end of a save (or its drain) until it can be restored."),
]
Invalid = Annotated[
    float | None,
    _option("--invalid", "SHARE", "Share of checkpoints that turn out unusable, below 1.", min=0.0),
]
AsyncPause = Annotated[
    str | None, _option("--async-pause", "DURATION", "Asynchronous save: what it stops.")
]
AsyncSlowdown = Annotated[
    float | None,
    _option("--async-slowdown", "SHARE", "Asynchronous save: throughput lost meanwhile.", min=0.0),
]
AsyncStretch = Annotated[
    float | None,
    _option("--async-stretch", "SHARE", "The same as step time: 0.04 for 4% longer.", min=0.0),
]
AsyncDrain = Annotated[
    str | None, _option("--async-drain", "DURATION", "Asynchronous save: how long it drains.")
]
DrainSteps = Annotated[
    int | None, _option("--drain-steps", "N", "Steps that a drain takes.", min=1)
]
Tax = Annotated[
    float | None,
    _option("--tax", "SHARE", "How much longer a step takes while a save drains.", min=0.0),
]
Step = Annotated[str | None, _option("--step", "DURATION", "Time of a healthy step.")]
Rule = Annotated[
    str,
    typer.Option(
        "--drain-rule",
        metavar="RULE",
        help="Saves closer than a drain: serial (cannot be), overlap or shrink.",
    ),
]
SaveBytes = Annotated[
    str | None, _option("--save-bytes", "SIZE", "Bytes of a save, such as 1.2TB.")
]
SaveBandwidth = Annotated[
    str | None, _option("--save-bandwidth", "SIZE", "Bytes per second that drains get, as 5GB.")
]
Tiers = Annotated[
    list[str] | None,
    _option("--tier", "C:M[:R[:LAG]]", "A tier of storage; give it again, the fastest first."),
]
Going = Annotated[
    str | None,
    _option(
        "--elastic",
        "N:TIME:REPAIR[:SHARE]",
        "Replicas, time to go on without one, its repair, share that rolls back.",
    ),
]
FleetRate = Annotated[
    float | None,
    _option("--fleet-rate", "RATE", "Failures per accelerator-hour: M of that and the size."),
]
FromMonth = Annotated[
    str | None, _option("--from-month", "MONTH", "Take C, M, D, R as measured in this month.")
]
Run = Annotated[str | None, _option("--run", "RUN", "Whose C, M, D, R with --from-month.")]
WhatIf = Annotated[
    bool, typer.Option("--what-if", help="Show the waste by interval and M, and each lever.")
]
Means = Annotated[
    list[str] | None,
    _option("--means", "DURATIONS", "M values of --what-if. [default: M/2, M, 2M]"),
]
Scale = Annotated[
    list[str] | None, _option("--scale", "NUMBERS", "Other sizes, in accelerators: 4096,8192.")
]
Now = Annotated[
    str | None, _option("--now", "DURATION", "Interval in use, for levers. [default: the best]")
]
SpareCount = Annotated[
    int | None, _option("--spares", "N", "Lever: accelerators to be kept idle.", min=0)
]
Replacement = Annotated[
    str | None, _option("--replacement", "DURATION", "The part of R that spares would save.")
]
Shards = Annotated[
    Path | None,
    _option("--shards", "FILE", "Captured step of each shard (CSV or JSON): is it torn?"),
]
AsCsv = Annotated[bool, typer.Option("--csv", help="The table, comma-separated, on stdout.")]
Figure = Annotated[
    Path | None, _option("--figure", "FILE", "Write a figure (.svg or .png) besides.")
]

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*([kKMGTP]?)(i?)B?\s*", re.ASCII)
_POWER = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def duration(option: str, text: str) -> float:
    """A duration in seconds.

    Raises:
        UsageError: It is none.
    """
    try:
        return parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def optional(option: str, text: str | None, default: float = 0.0) -> float:
    """A duration in seconds, or what stands for one that was not given."""
    return default if text is None else duration(option, text)


def size(option: str, text: str) -> float:
    """A number of bytes: powers of 1000, or of 1024 with an i.

    Raises:
        UsageError: It is none.

    >>> size("--save-bytes", "1.2TB"), size("--save-bytes", "4KiB")
    (1200000000000.0, 4096.0)
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(f"{option}: {text!r} is no size (try 800GB, 1.2TB or 500GiB)")
    return float(match[1]) * float((1024 if match[3] else 1000) ** _POWER[match[2]])


def fields(option: str, text: str, least: int, most: int) -> list[str]:
    """The parts of a value with colons.

    Raises:
        UsageError: There are not as many as there may be.
    """
    parts = text.split(":")
    if not least <= len(parts) <= most or not all(parts):
        raise UsageError(f"{option}: {text!r} should have {least} to {most} parts with : between")
    return parts


def number(option: str, text: str) -> float:
    """A plain number.

    Raises:
        UsageError: It is none.
    """
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{option}: {text!r} is no number") from None


def counts(option: str, texts: Sequence[str]) -> list[int]:
    """Whole numbers above zero.

    Raises:
        UsageError: One is none.
    """
    if not all(text.isascii() and text.isdigit() and int(text[:15]) > 0 for text in texts):
        raise UsageError(f"{option}: {','.join(texts)!r} are no numbers of accelerators")
    return [int(text[:15]) for text in texts]


def shape(law: str) -> float | None:
    """The shape of a law; None for the exponential one.

    Raises:
        UsageError: It is no law that the calculator knows.

    >>> shape("exponential"), shape("weibull:0.7")
    (None, 0.7)
    """
    name, _, rest = law.partition(":")
    if name == "exponential" and not rest:
        return None
    if name != "weibull" or not rest:
        raise UsageError(f"--law is exponential or weibull:SHAPE, not '{law}'")
    return number("--law", rest)
