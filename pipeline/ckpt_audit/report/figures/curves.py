"""Curves and dots: waste over the interval, failures over up-time, times to notice and recover."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ckpt_audit.report.figures.svg import COLOURS, canvas, export, quiet_axes
from ckpt_audit.units import S_PER_DAY, S_PER_H, S_PER_MIN, format_duration

_TICKS_S = (
    0.1,
    1,
    10,
    60,
    300,
    600,
    1200,
    2400,
    3600,
    7200,
    14400,
    28800,
    57600,
    86400,
    259200,
    604800,
)


def tick_label(value_s: float) -> str:
    """A round time on an axis.

    >>> tick_label(600), tick_label(7200), tick_label(259200.0), tick_label(0.1)
    ('10 min', '2 h', '3 d', '0.1 s')
    """
    if value_s < S_PER_MIN:
        return f"{value_s:g} s"
    if value_s < S_PER_H:
        return f"{value_s / S_PER_MIN:g} min"
    if value_s < 2 * S_PER_DAY and value_s != S_PER_DAY:
        return f"{value_s / S_PER_H:g} h"
    return f"{value_s / S_PER_DAY:g} d"


def _time_axis(axes: Any, low: float, high: float, most: int) -> None:
    """A logarithmic axis of time with round ticks."""
    axes.set_xscale("log")
    ticks = [t for t in _TICKS_S if low <= t <= high]
    every = max(1, math.ceil(len(ticks) / most))
    ticks = ticks[::every]
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, [tick_label(t) for t in ticks])
    axes.minorticks_off()


def interval(data: Mapping[str, Any], salt: str) -> str:
    """Expected waste over the interval, with its flat region and marks.

    Args:
        data: ``x_s``, ``waste``, ``low``, ``high`` of equal lengths; ``flat`` (low, high);
            ``marks``: (name, interval in seconds, waste).
        salt: Of the ids.
    """
    x = data["x_s"]
    with canvas(3.7, salt) as (figure, axes):
        low, high = data["flat"]
        if low is not None and high is not None:
            axes.axvspan(
                max(low, x[0]),
                min(high, x[-1]),
                color=COLOURS["productive"],
                alpha=0.16,
                lw=0,
                label="flat region",
            )
        top = max(data["waste"])
        if data["low"]:
            axes.fill_between(
                x,
                data["low"],
                data["high"],
                color=COLOURS["accent"],
                alpha=0.16,
                lw=0,
                label="range of M",
            )
        axes.plot(x, data["waste"], color=COLOURS["accent"], lw=2, label="expected waste")
        least, ceiling = min(data["waste"]), min(1.0, top * 1.12)
        _marks(axes, data["marks"], ceiling)
        axes.set_ylim(min(least * 0.6, min(data["low"] or (least,)) * 0.9), ceiling)
        ticks = axes.get_yticks()
        axes.set_yticks(ticks, [f"{100 * t:g}%" for t in ticks])
        axes.set_ylim(min(least * 0.6, min(data["low"] or (least,)) * 0.9), ceiling)
        _time_axis(axes, x[0], x[-1], 9)
        axes.set_xlabel("interval: useful training time between two saves")
        axes.set_ylabel("share of wall clock wasted")
        quiet_axes(axes)
        figure.legend(loc="outside upper left", ncols=3, handlelength=1.4)
        return export(figure)


def _marks(axes: Any, marks: Sequence[tuple[str, float, float]], ceiling: float) -> None:
    """Dots on the curve, their names stacked above, each beside its own line."""
    shapes = {"configured": "s", "effective": "^", "optimum": "o", "recommended": "D"}
    ordered = sorted(marks, key=lambda mark: mark[1])
    for at, (name, x, y) in enumerate(ordered):
        level = ceiling * (0.97 - 0.075 * at)
        axes.plot([x, x], [y, level], color=COLOURS["quiet"], lw=0.7, ls=(0, (3, 2)))
        axes.plot(
            [x],
            [y],
            marker=shapes.get(name, "o"),
            ms=7,
            color=COLOURS["text"],
            mec=COLOURS["paper"],
            mew=1.0,
            ls="none",
        )
        axes.annotate(
            f"{name} {format_duration(x)}",
            (x, level),
            (4, 0),
            textcoords="offset points",
            va="center",
        )


def cumulative(data: Mapping[str, Any], salt: str) -> str:
    """Failures over up-time, beside the line of a constant rate.

    Args:
        data: ``events`` and ``isolated``: up-time at each, hours; ``total_h``: all of it.
        salt: Of the ids.
    """
    total, events, isolated = data["total_h"], data["events"], data["isolated"]
    with canvas(3.0, salt) as (figure, axes):
        axes.plot(
            [0, total],
            [0, len(events)],
            color=COLOURS["quiet"],
            lw=1.2,
            ls=(0, (4, 3)),
            label="constant rate",
        )
        axes.step(
            [0, *events, total],
            [*range(len(events) + 1), len(events)],
            where="post",
            color=COLOURS["accent"],
            lw=2,
            label=f"all {data['noun']}",
        )
        if isolated:
            axes.step(
                [0, *isolated, total],
                [*range(len(isolated) + 1), len(isolated)],
                where="post",
                color=COLOURS["lost"],
                lw=1.4,
                ls=(0, (1, 1)),
                label="isolated only",
            )
        axes.set_xlim(0, total)
        axes.set_ylim(0, max(1, len(events)) * 1.05)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("up-time, hours")
        axes.set_ylabel(data["noun"])
        quiet_axes(axes)
        figure.legend(loc="outside upper left", ncols=3, handlelength=2.0)
        return export(figure)


def dots(data: Mapping[str, Any], salt: str) -> str:
    """Rows of dots on a logarithmic axis of time, a bar at the median of each.

    Args:
        data: ``rows``: (label, values in seconds).
        salt: Of the ids.
    """
    rows = data["rows"]
    values = [v for _, row in rows for v in row if v > 0]
    low, high = min(values) / 1.6, max(values) * 1.6
    with canvas(0.75 + 0.36 * len(rows), salt) as (figure, axes):
        for at, (label, row) in enumerate(rows):
            known = sorted(v for v in row if v > 0)
            if not known:
                continue
            spread = [-at + 0.12 * ((n * 7) % 5 - 2) / 2 for n in range(len(known))]
            colour = "detection" if label.startswith("Noticed") else "restart"
            axes.plot(
                known,
                spread,
                ls="none",
                marker="o",
                ms=6,
                color=COLOURS[colour],
                alpha=0.75,
                mec=COLOURS["paper"],
                mew=0.6,
            )
            middle = median(row)
            if middle > 0:
                axes.plot([middle, middle], [-at - 0.3, -at + 0.3], color=COLOURS["text"], lw=2)
        axes.set_yticks(
            [-at for at in range(len(rows))], [row[0] for row in rows], color=COLOURS["text"]
        )
        axes.set_ylim(-len(rows) + 0.4, 0.6)
        _time_axis(axes, low, high, 9)
        quiet_axes(axes, "x")
        return export(figure)
