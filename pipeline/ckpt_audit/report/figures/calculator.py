"""Figures of the calculator, as files of their own: waste over the interval, and the levers."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

_STYLE: dict[str, Any] = {
    "svg.hashsalt": "ckpt-audit",
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.parse_math": False,
}
_COLOURS = ("#4059ad", "#97d8c4", "#f4b942", "#8b5fbf", "#6b9ac4")


def draw(document: Mapping[str, Any], kind: str) -> bytes:
    """Draw what the calculator worked out; the same numbers give the same bytes.

    Args:
        document: As ``model_document`` makes it.
        kind: ``svg`` or ``png``.

    Returns:
        The bytes of the file.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    part = document["what_if"]
    with mpl.rc_context(rc=_STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(8.0, 3.4 if part is None else 6.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1 if part is None else 2, 1, squeeze=False)[:, 0]
        _waste(axes[0], document["rows"] if part is None else part["sensitivity"])
        if part is not None:
            _levers(axes[1], part["tornado"])
        stream = io.BytesIO()
        nothing = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        figure.savefig(stream, format=kind, metadata=nothing, dpi=120)
    return stream.getvalue()


def _waste(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Exact waste over the interval as lines, one for each M, and the first order dashed."""
    groups: dict[float | None, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row.get("m_s"), []).append(row)
    for place, (m_s, group) in enumerate(groups.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        at = [row["interval_s"] / 60.0 for row in group]
        label = "exact" if m_s is None else f"M {m_s / 3600.0:.3g} h"
        exact = [_percent(row["waste_exact"]) for row in group]
        axes.plot(at, exact, color=colour, marker="o", markersize=3.5, label=label)
        first = [_percent(row["waste_first_order"]) for row in group]
        axes.plot(at, first, color=colour, linestyle="--", linewidth=0.9)
    axes.set_xscale("log")
    ticks = sorted({row["interval_s"] / 60.0 for row in rows})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("interval, minutes")
    axes.set_ylabel("wasted, %")
    axes.set_title("Waste: exact (lines) and first order (dashed)", loc="left", fontsize=10)
    axes.legend()


def _percent(value: float | None) -> float:
    return float("nan") if value is None else 100.0 * value


def _levers(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """What each lever saves, the largest on top."""
    told = sorted((row for row in rows if row["gain"] is not None), key=lambda row: row["gain"])
    axes.barh(
        [row["lever"] for row in told], [100.0 * row["gain"] for row in told], color=_COLOURS[0]
    )
    axes.axvline(0.0, color="#555555", linewidth=0.8)
    axes.set_xlabel("points of waste saved at the interval in use")
    axes.set_title("Levers", loc="left", fontsize=10)
