"""Lines over the days of the window: progress, and the age of the newest verified checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ckpt_audit.report.figures.svg import COLOURS, canvas, export, quiet_axes
from ckpt_audit.units import US_PER_DAY, US_PER_H, from_us


def _days(at_us: float, start_us: int) -> float:
    return (at_us - start_us) / US_PER_DAY


def _day_axis(axes: Any, start_us: int, end_us: int) -> None:
    """Dates, or hours where the window is short."""
    days = _days(end_us, start_us)
    axes.set_xlim(0, days)
    if days > 3:
        every = max(1, round(days / 10))
        ticks = range(0, int(days) + 1, every)
        stamps = [from_us(start_us + n * US_PER_DAY) for n in ticks]
        axes.set_xticks(list(ticks), [f"{s.day} {s:%b}" for s in stamps])
        return
    every_h = max(1, round(days * 24 / 8))
    hours = range(0, int(days * 24) + 1, every_h)
    stamps = [from_us(start_us + n * US_PER_H) for n in hours]
    axes.set_xticks([n / 24 for n in hours], [f"{s:%d %b %H:%M}" for s in stamps])


def progress(data: Mapping[str, Any], salt: str) -> str:
    """Steps over time with marks for saves, and a strip of states beneath.

    Args:
        data: ``start``, ``end`` in microseconds; ``line``, ``falls``, ``verified``,
            ``unverified``: (instant, step); ``states``: (start, end, colour); ``names``:
            (label, colour).
        salt: Of the ids.
    """
    start = data["start"]
    with canvas(4.3, salt, rows=2, sharex=True, height_ratios=(10, 1)) as (figure, (axes, strip)):
        x = [_days(at, start) for at, _ in data["line"]]
        axes.plot(x, [step for _, step in data["line"]], color=COLOURS["accent"], lw=1.8)
        _marks(axes, data["verified"], start, ("o", 3.5, "productive"), "verified checkpoint")
        _marks(axes, data["unverified"], start, ("X", 7, "lost"), "save that is not verified")
        _marks(axes, data["falls"], start, ("v", 7, "text"), "rollback")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.set_ylabel("step")
        quiet_axes(axes)
        _strip(strip, data["states"], start)
        strip.set_yticks([])
        strip.set_ylim(0, 1)
        for side in ("left", "bottom"):
            strip.spines[side].set_visible(False)
        strip.tick_params(length=0)
        _day_axis(strip, start, data["end"])
        handles, labels = axes.get_legend_handles_labels()
        handles += [_patch(colour) for _, colour in data["names"]]
        labels += [label for label, _ in data["names"]]
        figure.legend(
            handles,
            labels,
            loc="outside upper left",
            ncols=5,
            handlelength=1.0,
            handleheight=1.0,
            columnspacing=1.4,
        )
        return export(figure)


def _strip(axes: Any, states: Sequence[tuple[int, int, str]], start: int) -> None:
    """Stretches of one colour as one path: hundreds of rectangles would make the page heavy."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    by_colour: dict[str, list[tuple[float, float]]] = {}
    for first, last, colour in states:
        by_colour.setdefault(colour, []).append((_days(first, start), _days(last, start)))
    for colour, spans in by_colour.items():
        corners = [
            corner
            for a, b in spans
            for corner in ((a, 0.0), (a, 1.0), (b, 1.0), (b, 0.0), (a, 0.0))
        ]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(spans)
        axes.add_patch(PathPatch(Path(corners, codes), color=COLOURS[colour], lw=0))


def _patch(colour: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=COLOURS[colour], lw=0)


def _marks(
    axes: Any,
    marks: Sequence[tuple[int, int]],
    start: int,
    look: tuple[str, float, str],
    label: str,
) -> None:
    """Marks of one kind; a look is shape, size and colour."""
    shape, size, colour = look
    if marks:
        axes.plot(
            [_days(at, start) for at, _ in marks],
            [step for _, step in marks],
            ls="none",
            marker=shape,
            ms=size,
            color=COLOURS[colour],
            mec=COLOURS["paper"],
            mew=0.6,
            label=label,
        )


def checkpoint_age(data: Mapping[str, Any], salt: str) -> str:
    """A saw-tooth of age over time, with its highest point named.

    Args:
        data: ``start``, ``end`` in microseconds; ``line``: (instant, age in hours); ``worst``;
            ``dense``: the line is the oldest in each stretch.
        salt: Of the ids.
    """
    start = data["start"]
    with canvas(2.5, salt) as (figure, axes):
        x = [_days(at, start) for at, _ in data["line"]]
        y = [age for _, age in data["line"]]
        axes.fill_between(x, y, color=COLOURS["accent"], alpha=0.16, lw=0)
        axes.plot(x, y, color=COLOURS["accent"], lw=1.4)
        at, age = data["worst"]
        place = _days(at, start)
        axes.plot([place], [age], marker="o", ms=6, color=COLOURS["text"], mec=COLOURS["paper"])
        right = place < 0.8 * _days(data["end"], start)
        axes.annotate(
            f"oldest: {age:,.1f} h",
            (place, age),
            (7 if right else -7, 2),
            textcoords="offset points",
            ha="left" if right else "right",
        )
        axes.set_ylim(0, age * 1.18 if age > 0 else 1)
        axes.set_ylabel("oldest, hours" if data["dense"] else "age, hours")
        _day_axis(axes, start, data["end"])
        quiet_axes(axes)
        return export(figure)
