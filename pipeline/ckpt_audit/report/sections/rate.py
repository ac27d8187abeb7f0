"""How often does it fail?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ckpt_audit.audit.data import Population
from ckpt_audit.report.blocks import Block, Cell, Column, Figure, Row, Section, Table, Text
from ckpt_audit.report.numbers import between, duration, hours, plural, rate, share, whole
from ckpt_audit.report.sections.context import FEW, Context
from ckpt_audit.report.words import EVENTS, POPULATIONS, cause_label
from ckpt_audit.units import US_PER_H, US_PER_S

PUBLISHED = "For scale: the Llama 3 report gives 0.0197 per 1,000 accelerator-hours."


def section(ctx: Context) -> Section:
    """M with its interval, the rate, the causes."""
    anchor, title = ctx.anchor("rate"), "How often does it fail?"
    population = ctx.population("all")
    if population is None:
        text = "No up-time was seen, so nothing can be said of how often it fails."
        return Section(anchor, title, text, _launches(ctx))
    blocks: list[Block] = []
    figure = _figure(ctx)
    if figure is not None:
        blocks.append(figure)
    blocks.append(_table(ctx))
    if ctx.unknown_ends:
        many = plural(ctx.unknown_ends, "unknown end")
        counted = "is counted as a failure" if ctx.unknown_ends == 1 else "are counted as failures"
        blocks.append(Text(f"{many} {counted} here: nothing says how progress ended."))
    if ctx.events:
        blocks.append(_causes(ctx))
    return Section(anchor, title, answer(ctx, population), (*blocks, *_launches(ctx)))


def answer(ctx: Context, population: Population) -> str:
    """One sentence; with fewer than `FEW` events a range and no point estimate."""
    mean = population.mean_time
    n, exposure = mean.incidents, hours(mean.exposure_s)
    level = f"{100 * mean.confidence:.0f}%"
    if n == 0:
        return (
            f"No failure in {exposure} of up-time: the mean time between failures is "
            f"{duration(mean.low_s)} or more ({level} bound)."
        )
    reach = f"{level} interval {between(mean.low_s, mean.high_s)}"
    if n < FEW:
        return (
            f"{ctx.events_text} in {exposure} of up-time: too few for a rate; the mean time "
            f"between failures is somewhere in {between(mean.low_s, mean.high_s)} ({level})."
        )
    seen = f"{ctx.events_text} in {exposure}"
    return f"Once in {duration(mean.m_s)} of up-time ({reach}, {seen})."


def _table(ctx: Context) -> Table:
    events = ctx.event_label(2)
    columns = (
        Column("Which"),
        Column("Events", numeric=True),
        Column("Up-time, h", numeric=True, hint="exposure: when one could strike"),
        Column("Mean time between, M", numeric=True),
        Column("Interval", numeric=True),
        Column("One per, calendar", numeric=True, hint=f"calendar time over {events}; not M"),
        Column("Per 1,000 acc-h", numeric=True, hint=f"{events} per 1,000 accelerator-hours"),
    )
    rows = tuple(_row(p, events) for p in ctx.one.estimate.populations)
    caption = "Mean time between failures"
    return Table(ctx.anchor("table-rate"), caption, columns, rows, PUBLISHED, sortable=False)


def _row(population: Population, events: str) -> Row:
    mean = population.mean_time
    point = duration(mean.m_s) if mean.incidents >= FEW else "too few"
    if mean.incidents == 0:
        point = "none"
    level = f"{100 * mean.confidence:.0f}%"
    calendar = "none"
    if mean.incidents and population.calendar_s is not None:
        calendar = duration(population.calendar_s / mean.incidents)
    name = POPULATIONS.get(population.population, population.population.replace("_", " "))
    return Row(
        (
            Cell(name.format(events=events)),
            Cell(whole(mean.incidents), sort=float(mean.incidents)),
            Cell(hours(mean.exposure_s).removesuffix(" h"), sort=mean.exposure_s),
            Cell(point, sort=mean.m_s, muted=mean.incidents < FEW),
            Cell(f"{between(mean.low_s, mean.high_s)} ({level})", sort=mean.low_s),
            Cell(calendar),
            Cell(rate(population.per_1000_acc_h), sort=population.per_1000_acc_h),
        )
    )


def _figure(ctx: Context) -> Figure | None:
    spans = sorted(ctx.one.uptime, key=lambda u: (u.start_at, u.attempt))
    total_us, events, alone = 0, [], []
    for span in spans:
        total_us += max(0, span.end_at - span.start_at)
        if span.kind in EVENTS:
            events.append(total_us / US_PER_H)
            found = ctx.one.correlations.get(span.incident or "")
            if found is None or found.label == "isolated":
                alone.append(total_us / US_PER_H)
    if not total_us or not events:
        return None
    data: dict[str, Any] = {
        "total_h": total_us / US_PER_H,
        "noun": ctx.event_label(2),
        "events": tuple(events),
        "isolated": tuple(alone) if len(alone) != len(events) else (),
    }
    return Figure(
        ctx.anchor("figure-rate"),
        "cumulative",
        f"{ctx.event_label(2).capitalize()} over up-time",
        f"Steps up at each of {plural(len(events), ctx.event_label(1), ctx.event_label(2))} over "
        f"{total_us / US_PER_H:,.1f} h of up-time, beside a straight line of constant rate. A bend "
        "is a change of the rate.",
        data,
        _events_table(ctx, events),
    )


def _events_table(ctx: Context, events: list[float]) -> Table:
    rows = tuple(
        Row((Cell(str(n), sort=float(n)), Cell(f"{at:,.1f}", sort=at)))
        for n, at in enumerate(events[:500], start=1)
    )
    columns = (Column("Number", numeric=True), Column("Up-time until then, h", numeric=True))
    caption = f"{ctx.event_label(2).capitalize()} over up-time"
    return Table(ctx.anchor("table-events"), caption, columns, rows, folded=True)


def _causes(ctx: Context) -> Table:
    counts = Counter(cause_label(i.cause) for i in ctx.events)
    cost: Counter[str] = Counter()
    for i in ctx.events:
        cost[cause_label(i.cause)] += round((i.loss_s or 0.0) * US_PER_S)
    columns = (
        Column("Cause"),
        Column("Events", numeric=True),
        Column("Share", numeric=True),
        Column("Cost, h", numeric=True),
    )
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = tuple(
        Row(
            (
                Cell(name),
                Cell(whole(n), sort=float(n)),
                Cell(share(n, len(ctx.events)), sort=float(n)),
                Cell(hours(cost[name] / US_PER_S).removesuffix(" h"), sort=float(cost[name])),
            )
        )
        for name, n in ordered
    )
    return Table(ctx.anchor("table-causes"), f"Causes of {ctx.event_label(2)}", columns, rows)


def _launches(ctx: Context) -> tuple[Block, ...]:
    estimate = ctx.one.estimate
    if not estimate.launches:
        return ()
    failed = estimate.launches - estimate.launches_reached_step
    text = f"{plural(estimate.launches, 'launch', 'launches')} of the program: "
    if failed <= 0:
        text += "each reached a step."
    else:
        text += f"{failed:,} never reached a step. They count as failed retries, not in M."
    return (Text(text[0].upper() + text[1:], "quiet"),)
