"""Bars: the ledger, the costs of incidents, observed on predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ckpt_audit.report.figures.svg import COLOURS, WIDTH_IN, canvas, export, quiet_axes

Piece = tuple[str, str, float]
_POINTS_A_CHARACTER = 5.2
_LABEL_GAP = 0.012
_NAMED_FROM = 0.005  # of the lost time; smaller pieces are named in the table


def ledger(data: Mapping[str, Any], salt: str) -> str:
    """Calendar and allocated time as 100% bars, and the lost part drawn out beneath.

    Args:
        data: ``calendar``, ``allocated``, ``lost``: (label, colour, hours) in order.
        salt: Of the ids.
    """
    bars = [("Calendar time", data["calendar"]), ("Allocated", data["allocated"])]
    bars = [(name, pieces) for name, pieces in bars if pieces]
    lost = data["lost"]
    height = 0.75 * len(bars) + (1.35 if lost else 0.0)
    with canvas(height, salt) as (figure, axes):
        top = len(bars) + (1.6 if lost else 0.0)
        at = top - 0.5
        for name, pieces in bars:
            _bar(axes, pieces, at, 0.34)
            total = sum(p[2] for p in pieces)
            _over(axes, f"{name}, {total:,.1f} h", _kept(pieces), at + 0.25)
            at -= 1.0
        if lost:
            _zoom(axes, data["allocated"], lost, at + 1.0 - 0.17, at - 0.05)
        axes.set_xlim(0, 1)
        axes.set_ylim(0.0, top)
        axes.axis("off")
        return export(figure)


def _kept(pieces: Sequence[Piece]) -> str:
    total = sum(p[2] for p in pieces)
    kept = sum(p[2] for p in pieces if p[1] == "productive")
    if not total:
        return ""
    percent = 100 * kept / total
    if kept != total:
        percent = min(percent, 99.9)
    return f"{percent:.1f}% into new steps"


def _bar(axes: Any, pieces: Sequence[Piece], at: float, height: float) -> None:
    total = sum(p[2] for p in pieces)
    left = 0.0
    for _, colour, value in pieces:
        width = value / total if total else 0.0
        axes.barh(
            at,
            width,
            height,
            left,
            color=COLOURS[colour],
            edgecolor=COLOURS["paper"],
            linewidth=0.8 if width > 0.004 else 0.0,
        )
        left += width


def _over(axes: Any, left: str, right: str, at: float) -> None:
    axes.text(0, at, left, ha="left", va="bottom", color=COLOURS["quiet"])
    axes.text(1, at, right, ha="right", va="bottom", color=COLOURS["quiet"])


def _zoom(
    axes: Any, allocated: Sequence[Piece], lost: Sequence[Piece], above: float, at: float
) -> None:
    """The lost part of the bar above, over the full width, each piece named."""
    total = sum(p[2] for p in allocated)
    start = sum(p[2] for p in allocated if p[1] == "productive") / total
    edge = at + 0.24
    outline = [(start, above), (0.0, edge), (1.0, edge), (1.0, above)]
    axes.fill(
        [x for x, _ in outline], [y for _, y in outline], color=COLOURS["line"], alpha=0.35, lw=0
    )
    _bar(axes, lost, at, 0.46)
    whole = sum(p[2] for p in lost)
    centre, places, names = 0.0, [], []
    for label, _, value in lost:
        width = value / whole
        if width >= _NAMED_FROM:
            places.append(centre + width / 2)
            names.append((label, f"{value:,.1f} h" if value >= 0.05 else "<0.1 h"))
        centre += width
    _labels(axes, places, names, at - 0.23)


def _labels(
    axes: Any, places: Sequence[float], names: Sequence[tuple[str, str]], under: float
) -> None:
    """Names under their pieces, moved apart; the smallest that do not fit are left to the table."""
    widths = [
        max(len(label), len(value)) * _POINTS_A_CHARACTER / (WIDTH_IN * 72) + _LABEL_GAP
        for label, value in names
    ]
    fit = 0
    while fit < len(widths) and sum(widths[: fit + 1]) <= 1.0:
        fit += 1
    for at, middle in enumerate(_apart(places[:fit], widths[:fit])):
        place, (label, value) = places[at], names[at]
        axes.plot(
            [place, place, middle, middle],
            [under, under - 0.05, under - 0.14, under - 0.18],
            color=COLOURS["quiet"],
            lw=0.6,
        )
        axes.text(middle, under - 0.2, label, ha="center", va="top")
        axes.text(middle, under - 0.46, value, ha="center", va="top", color=COLOURS["quiet"])


def _apart(places: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Middles of labels in order, none over another, between 0 and 1.

    >>> _apart([0.5, 0.5], [0.2, 0.2])
    [0.5, 0.7]
    """
    lefts: list[float] = []
    free = 0.0
    for place, width in zip(places, widths, strict=True):
        lefts.append(max(free, place - width / 2))
        free = lefts[-1] + width
    limit = 1.0
    for at in reversed(range(len(lefts))):
        lefts[at] = min(lefts[at], limit - widths[at])
        limit = lefts[at]
    return [round(left + width / 2, 6) for left, width in zip(lefts, widths, strict=True)]


def incident_cost(data: Mapping[str, Any], salt: str) -> str:
    """Stacked bars of the costliest incidents.

    Args:
        data: ``bars``: (label, lost work, detection, recovery) in hours, the largest first.
        salt: Of the ids.
    """
    bars = data["bars"]
    parts = (("Work lost", "lost"), ("Noticing", "detection"), ("Recovering", "restart"))
    with canvas(0.7 + 0.27 * len(bars), salt) as (figure, axes):
        places = [-at for at in range(len(bars))]
        left = [0.0] * len(bars)
        for part, (name, colour) in enumerate(parts, start=1):
            widths = [bar[part] for bar in bars]
            axes.barh(
                places,
                widths,
                0.66,
                left,
                color=COLOURS[colour],
                label=name,
                edgecolor=COLOURS["paper"],
                linewidth=0.8,
            )
            left = [a + b for a, b in zip(left, widths, strict=True)]
        for place, total in zip(places, left, strict=True):
            text = f"{total:,.1f} h" if total >= 0.05 else "<0.1 h"
            axes.annotate(
                text,
                (total, place),
                (5, 0),
                textcoords="offset points",
                va="center",
                color=COLOURS["quiet"],
            )
        axes.set_yticks(places, [bar[0] for bar in bars], color=COLOURS["text"])
        axes.set_xlabel("hours")
        axes.set_xlim(0, max(left) * 1.09)
        quiet_axes(axes, "x")
        figure.legend(loc="outside upper left", ncols=3, handlelength=1.0, handleheight=1.0)
        return export(figure)


def model(data: Mapping[str, Any], salt: str) -> str:
    """A dot for what was observed on a bar for what was to be expected.

    Args:
        data: ``rows``: (label, observed, predicted, low, high, flag) in hours; at least one.
        salt: Of the ids.
    """
    rows = data["rows"]
    with canvas(1.0 + 0.42 * len(rows), salt) as (figure, axes):
        for at, row in enumerate(rows):
            _compared(axes, -at, *row[1:])
        places = [-at for at in range(len(rows))]
        axes.set_yticks(places, [row[0] for row in rows], color=COLOURS["text"])
        axes.set_ylim(-len(rows) + 0.4, 0.6)
        axes.margins(x=0.08)
        axes.set_xlim(left=0)
        axes.set_xlabel("hours")
        quiet_axes(axes, "x")
        figure.legend(handles=_model_legend(), loc="outside upper left", ncols=3, handlelength=1.4)
        return export(figure)


def _compared(
    axes: Any,
    at: float,
    observed: float,
    predicted: float,
    low: float | None,
    high: float | None,
    flag: bool,
) -> None:
    """One row: range, prediction, observation, and a word where the last is outside."""
    if low is not None and high is not None:
        axes.barh(at, high - low, 0.5, low, color=COLOURS["accent"], alpha=0.22, lw=0)
    axes.plot([predicted, predicted], [at - 0.25, at + 0.25], color=COLOURS["accent"], lw=2)
    axes.plot(
        [observed],
        [at],
        marker="D" if flag else "o",
        ms=8 if flag else 7,
        ls="none",
        color=COLOURS["warn" if flag else "text"],
        mec=COLOURS["paper"],
        mew=1.0,
    )
    if flag:
        axes.annotate(
            "outside",
            (observed, at),
            (9, 0),
            textcoords="offset points",
            va="center",
            color=COLOURS["warn"],
        )


def _model_legend() -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    paper, text = COLOURS["paper"], COLOURS["text"]
    return [
        Patch(color=COLOURS["accent"], alpha=0.22, lw=0, label="95% range"),
        Line2D([], [], color=COLOURS["accent"], lw=2, label="predicted"),
        Line2D([], [], marker="o", ms=7, ls="none", color=text, mec=paper, label="observed"),
    ]
