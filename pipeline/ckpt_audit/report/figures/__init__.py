"""Drawings: numbers in, a piece of SVG out. The only place that imports matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ckpt_audit.report.blocks import Figure
from ckpt_audit.report.figures import bars, curves, lines

DRAWINGS: dict[str, Callable[[Mapping[str, Any], str], str]] = {
    "ledger": bars.ledger,
    "incident_cost": bars.incident_cost,
    "model": bars.model,
    "interval": curves.interval,
    "cumulative": curves.cumulative,
    "dots": curves.dots,
    "progress": lines.progress,
    "checkpoint_age": lines.checkpoint_age,
}


def draw(figure: Figure) -> str:
    """Draws one figure.

    Args:
        figure: What to draw.

    Returns:
        An ``<svg>`` element with title and description; the same figure gives the same text.
    """
    from ckpt_audit.report.figures.svg import described

    svg = DRAWINGS[figure.drawing](figure.data, figure.anchor)
    return described(svg, figure.anchor, figure.title, figure.description)


def draw_all(figures: Iterable[Figure]) -> dict[str, str]:
    """Draws figures, by their anchors."""
    return {figure.anchor: draw(figure) for figure in figures}
