"""From matplotlib to a piece of SVG that belongs to the page: its fonts, its colours, no ids twice.

Colours are drawn with placeholders, one a name of the palette, and become CSS variables, so that a
figure follows light and dark without being drawn again.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 9.2
TEXT_PT = 9.0
NAMES = (
    "text",
    "quiet",
    "line",
    "paper",
    "productive",
    "checkpoint",
    "lost",
    "detection",
    "replacement",
    "restart",
    "startup",
    "stall",
    "degraded",
    "evaluation",
    "idle",
    "orphan",
    "planned",
    "unknown",
    "queue",
    "queue2",
    "off",
    "accent",
    "warn",
)
COLOURS = {name: f"#{0xA1B000 + 7 * at + 3:06x}" for at, name in enumerate(NAMES)}

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": TEXT_PT,
    "axes.edgecolor": COLOURS["line"],
    "axes.labelcolor": COLOURS["quiet"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "text.color": COLOURS["text"],
    "text.parse_math": False,
    "xtick.color": COLOURS["line"],
    "ytick.color": COLOURS["line"],
    "xtick.labelcolor": COLOURS["quiet"],
    "ytick.labelcolor": COLOURS["quiet"],
    "grid.color": COLOURS["line"],
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "path.simplify": True,
}


@contextmanager
def canvas(height_in: float, salt: str, rows: int = 1, **grid: Any) -> Iterator[tuple[Any, Any]]:
    """A figure of the page's width and its axes; no window, no state left behind.

    Args:
        height_in: Height in inches.
        salt: Of the ids, different for every figure of a page.
        rows: Axes, one above the other.
        grid: Passed on to ``subplots``.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    style: Any = {**_STYLE, "svg.hashsalt": salt}
    with mpl.rc_context(style):
        layout = ConstrainedLayoutEngine(w_pad=0.01, h_pad=0.03)
        figure = Drawing(figsize=(WIDTH_IN, height_in), layout=layout)
        FigureCanvasSVG(figure)
        yield figure, figure.subplots(rows, 1, **grid)


def export(figure: Figure) -> str:
    """The figure as an ``<svg>`` element, without prolog, metadata, ids of groups, or colours."""
    stream = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(stream, format="svg", metadata=nothing)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns(:xlink)?="[^"]*"', "", text)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*pt"', r"\1", text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*pt"', r"\1", text)
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(
        r"font: (?:\d+|bold) ([\d.]+)px [^;\"]*", r"font-weight: 600; font-size: \1px", text
    )
    text = re.sub(r"(\d+\.\d{2})\d+", r"\1", text)
    for name, colour in COLOURS.items():
        text = text.replace(colour, f"var(--c-{name})")
    return re.sub(r"\n\s*", "\n", text)


def described(svg: str, anchor: str, title: str, description: str) -> str:
    """Puts role, title and description on a drawing."""
    head = f'<svg role="img" aria-labelledby="{escape(anchor)}-t {escape(anchor)}-d"'
    body = (
        f'<title id="{escape(anchor)}-t">{escape(title)}</title>'
        f'<desc id="{escape(anchor)}-d">{escape(description)}</desc>'
    )
    svg = svg.replace("<svg", head, 1)
    end = svg.index(">") + 1
    return svg[:end] + body + svg[end:]


def quiet_axes(axes: Axes, grid: str = "y") -> None:
    """Only a base line, and a faint grid along one axis."""
    axes.grid(visible=True, axis=grid)  # type: ignore[arg-type]
    axes.tick_params(length=0)
    for side in ("left", "top", "right"):
        axes.spines[side].set_visible(False)
