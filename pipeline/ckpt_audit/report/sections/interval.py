"""Is the interval right?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ckpt_audit.model.waste import exact_waste
from ckpt_audit.report.blocks import Block, Cell, Column, Facts, Figure, Row, Section, Table, Text
from ckpt_audit.report.numbers import between, duration, hours_us, plural, probability, share
from ckpt_audit.report.sections.context import FEW, Context
from ckpt_audit.units import S_PER_MIN

POINTS = 160

ASSUMPTIONS: dict[str, str] = {
    "independent": "Failures strike independently of each other",
    "memoryless": "A failure is as likely early as late after a start",
    "constant_c": "Every save costs about the same",
    "uniform_timing": "Failures strike anywhere between two saves",
    "valid_saves": "Every save that counts can be loaded",
    "small_c_over_m": "A save is short beside the time between failures",
}


def section(ctx: Context) -> Section:
    """Configured and seen beside the optimum and its flat region."""
    anchor, title = ctx.anchor("interval"), "Is the save interval right?"
    advice = ctx.one.advice
    if advice.exact_s is None:
        reason = advice.reason.rstrip(".") or "too little is known"
        known = tuple(item for item in _facts(ctx).items if not item[1].startswith("unknown"))
        blocks: tuple[Block, ...] = (Facts(known),) if known else ()
        return Section(anchor, title, f"It cannot be said: {reason}.", blocks)
    parts: list[Block] = []
    figure = _figure(ctx)
    if figure is not None:
        parts.append(figure)
    parts += [_facts(ctx), _check(ctx), _sensitivity(ctx), _assumptions(ctx)]
    return Section(anchor, title, _answer(ctx), tuple(parts))


def _answer(ctx: Context) -> str:
    a = ctx.one.advice
    region = f"the flat region ({between(a.flat_low_s, a.flat_high_s)})"
    if a.change and _inside(ctx):
        return f"It could be better: {duration(a.current_s)} is at the edge of {region}."
    if a.change:
        return f"No: {duration(a.current_s)} lies outside {region} around {duration(a.exact_s)}."
    if a.current_s is None:
        return f"The present interval is unknown; the optimum is {duration(a.exact_s)}."
    if _inside(ctx):
        return f"Yes: {duration(a.current_s)} is inside {region}."
    return f"{duration(a.current_s)} is outside {region}, but no change is advised: {a.reason}."


def _inside(ctx: Context) -> bool:
    a = ctx.one.advice
    if a.current_s is None or a.flat_low_s is None or a.flat_high_s is None:
        return False
    return a.flat_low_s <= a.current_s <= a.flat_high_s


def _facts(ctx: Context) -> Facts:
    a, cadence = ctx.one.advice, ctx.one.cadence
    configured = "unknown"
    every_s = cadence.configured_s
    if cadence.configured_steps is not None:
        configured = plural(cadence.configured_steps, "step")
        if every_s is not None:
            configured += f" ({duration(every_s)})"
    found = "found in the log; " if cadence.is_found else ""
    seen = "unknown" if cadence.observed_steps is None else plural(cadence.observed_steps, "step")
    recommended = duration(a.recommended_s)
    if a.recommended_steps is not None:
        recommended = f"{plural(a.recommended_steps, 'step')} ({recommended})"
    now = "unknown" if a.waste_now is None else share(a.waste_now, 1.0)
    then = "unknown" if a.waste_recommended is None else share(a.waste_recommended, 1.0)
    better = "unknown" if a.p_better is None else probability(a.p_better)
    return Facts(
        (
            ("Configured", configured, f"{found}most often seen: {seen}"),
            ("As a failure sees it", duration(cadence.effective_s), "effective interval"),
            ("Mean between saves", duration(cadence.mean_s), "between verified checkpoints"),
            ("Recommended", recommended, "a round number near the optimum"),
            ("Optimum", duration(a.exact_s), f"exact; 95%: {between(a.low_s, a.high_s)}"),
            ("First-order optimum", duration(a.young_s), "Young, √(2CM)"),
            ("Higher-order optimum", duration(a.daly_s), "Daly 2006"),
            ("Flat region", between(a.flat_low_s, a.flat_high_s), "waste within 5% of the least"),
            ("Expected waste", f"{now} now, {then} then", "share of wall-clock time"),
            ("Chance that it is better", better, a.basis),
        )
    )


def _check(ctx: Context) -> Text:
    """The cheapest check: time spent saving against time rolled back."""
    saving, lost = ctx.bucket_us("checkpoint"), ctx.bucket_us("lost_work")
    text = (
        f"The cheapest check: {hours_us(saving)} were spent saving and {hours_us(lost)} were "
        "rolled back. The two are about equal at the optimum; "
    )
    if saving > 2 * lost:
        return Text(text + "here saving cost more, which speaks for saving less often.")
    if lost > 2 * saving:
        return Text(text + "here rollbacks cost more, which speaks for saving more often.")
    return Text(text + "here they are within a factor of two.")


def _inputs(ctx: Context) -> tuple[float, float, float, float] | None:
    """C, M used, D, R in seconds, the very ones behind the advice, or None."""
    a = ctx.one.advice
    if a.exact_s is None or a.c_s is None or a.m_s is None:
        return None
    return a.c_s, a.m_s, a.d_s or 0.0, a.r_s or 0.0


def _wastes(x_s: Sequence[float], c: float, m: float, d: float, r: float) -> list[float]:
    values = exact_waste(np.asarray(x_s), c, m, d, r)
    return [float(v) for v in np.atleast_1d(values)]


def _figure(ctx: Context) -> Figure | None:
    inputs, a = _inputs(ctx), ctx.one.advice
    if inputs is None or a.exact_s is None:
        return None
    c, m, d, r = inputs
    marks = [
        (name, at)
        for name, at in (
            ("configured", ctx.one.cadence.configured_s),
            ("effective", ctx.one.cadence.effective_s),
            ("optimum", a.exact_s),
            ("recommended", a.recommended_s),
        )
        if at is not None and at > 0
    ]
    low = min([a.exact_s / 6, *(at / 1.5 for _, at in marks)])
    high = max([a.exact_s * 6, *(at * 1.5 for _, at in marks)])
    x_s = [float(v) for v in np.geomspace(low, high, POINTS)]
    population = ctx.population("interval") or ctx.population("all")
    band = (
        _band(x_s, c, d, r, population.mean_time.low_s, population.mean_time.high_s)
        if (population is not None)
        else ((), ())
    )
    data: dict[str, Any] = {
        "x_s": tuple(x_s),
        "waste": tuple(_wastes(x_s, c, m, d, r)),
        "low": band[0],
        "high": band[1],
        "flat": (a.flat_low_s, a.flat_high_s),
        "marks": tuple((name, at, _wastes([at], c, m, d, r)[0]) for name, at in marks),
    }
    return Figure(
        ctx.anchor("figure-interval"),
        "interval",
        "Expected waste over the interval",
        f"Curve of expected waste with the least at {duration(a.exact_s)}; flat between "
        f"{between(a.flat_low_s, a.flat_high_s)}. The band is the uncertainty of M.",
        data,
        _curve_table(ctx, data),
    )


def _band(
    x_s: list[float], c: float, d: float, r: float, m_low: float, m_high: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Waste at both ends of the interval of M."""
    if not m_low > 0:
        return (), ()
    worst = _wastes(x_s, c, m_low, d, r)
    best = _wastes(x_s, c, m_high, d, r) if math.isfinite(m_high) else [c / (x + c) for x in x_s]
    return tuple(best), tuple(worst)


def _curve_table(ctx: Context, data: dict[str, Any]) -> Table:
    rows = [(name, at, waste) for name, at, waste in data["marks"]]
    rows += [("", data["x_s"][i], data["waste"][i]) for i in range(0, POINTS, 16)]
    columns = (
        Column("Mark"),
        Column("Interval", numeric=True),
        Column("Expected waste", numeric=True),
    )
    cells = tuple(
        Row((Cell(name), Cell(duration(at), sort=at), Cell(share(waste, 1.0), sort=waste)))
        for name, at, waste in sorted(rows, key=lambda row: row[1])
    )
    return Table(
        ctx.anchor("table-curve"), "Expected waste over the interval", columns, cells, folded=True
    )


def _sensitivity(ctx: Context) -> Block:
    """Waste for some intervals at the low end, the value and the high end of M."""
    inputs = _inputs(ctx)
    population = ctx.population("interval") or ctx.population("all")
    if inputs is None or population is None:
        return Text("Without C and M there is no table of other intervals.", "quiet")
    c, m, d, r = inputs
    means = [population.mean_time.low_s, m]
    if math.isfinite(population.mean_time.high_s):
        means.append(population.mean_time.high_s)
    names = ["low end", "used", "high end"]
    columns = (
        Column("Interval"),
        *(
            Column(f"M {duration(value)} ({name})", numeric=True)
            for name, value in zip(names, means, strict=False)
        ),
    )
    rows = []
    for minutes in (10, 20, 40, 60, 120):
        wastes = [_wastes([minutes * S_PER_MIN], c, value, d, r)[0] for value in means]
        cells = [Cell(share(w, 1.0), sort=w) for w in wastes]
        rows.append(Row((Cell(f"{minutes} min", sort=float(minutes)), *cells)))
    return Table(
        ctx.anchor("table-sensitivity"),
        "Expected waste at other intervals, over the range of M",
        columns,
        tuple(rows),
        "Measured C, D and R; exact model.",
    )


def _assumptions(ctx: Context) -> Table:
    columns = (Column("Assumption"), Column("Holds?"), Column("Evidence"))
    words = {True: "yes", False: "no", None: "not tested"}
    rows = tuple(
        Row(
            (
                Cell(ASSUMPTIONS.get(a.name, a.name.replace("_", " "))),
                Cell(words[a.holds], muted=a.holds is None),
                Cell(a.evidence, muted=a.holds is None),
            )
        )
        for a in ctx.one.advice.assumptions
    )
    note = ""
    if len(ctx.events) < FEW:
        note = f"With {ctx.events_text}, most of these cannot be tested."
    caption = "What it assumes"
    return Table(ctx.anchor("table-assumptions"), caption, columns, rows, note, sortable=False)
