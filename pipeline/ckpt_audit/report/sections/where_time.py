"""Where did the time go?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ckpt_audit.audit.data import LedgerLine
from ckpt_audit.facts import LedgerRow
from ckpt_audit.report.blocks import Block, Cell, Column, Figure, Row, Section, Table, Text
from ckpt_audit.report.numbers import (
    bare_hours,
    hours,
    hours_us,
    money,
    share,
    signed_hours,
    whole,
    whole_hours,
)
from ckpt_audit.report.sections.context import Context
from ckpt_audit.report.sections.model_right import holds_more
from ckpt_audit.report.words import BUCKETS, ORDER, bucket_colour, bucket_label
from ckpt_audit.units import US_PER_H, US_PER_S

_COLUMNS = (
    Column("Bucket"),
    Column("Hours", numeric=True),
    Column("Accelerator-hours", numeric=True),
    Column("Share", numeric=True, hint="of allocated time"),
    Column("Could move, h", numeric=True, hint="hours that might belong elsewhere"),
    Column("Stretches", numeric=True, hint="number of separate stretches of time"),
    Column("Predicted, h", numeric=True, hint="by the model, from the measured values"),
    Column("Difference, h", numeric=True, hint="observed less predicted"),
)


def section(ctx: Context) -> Section:
    """The ledger in allocated and in calendar time."""
    anchor = ctx.anchor("time")
    if not ctx.allocated_us:
        text = "No allocated time was seen, so there is nothing to divide."
        return Section(anchor, "Where did the time go?", text, ())
    kept = ctx.bucket_us("productive")
    answer = (
        f"{hours_us(kept)} of {hours_us(ctx.allocated_us)} allocated went into new steps "
        f"({share(kept, ctx.allocated_us)}), and {hours_us(ctx.lost_us)} into everything else."
    )
    figure = Figure(
        ctx.anchor("figure-time"),
        "ledger",
        "Where the hours went",
        _description(ctx),
        _drawing(ctx),
    )
    blocks: list[Block] = [figure, _table(ctx)]
    if ctx.one.calendar:
        blocks.append(_calendar_table(ctx))
    notes: list[Block] = [
        Text("A time counts in one bucket only, and the buckets add up.", "quiet")
    ]
    if any(x.bucket == "restart" and holds_more(x) for x in ctx.lines):
        text = "The prediction for restarting holds the waiting for nodes too."
        notes.append(Text(text, "quiet"))
    return Section(anchor, "Where did the time go?", answer, (*blocks, *notes))


def _description(ctx: Context) -> str:
    parts = [f"{bucket_label(x.bucket)} {hours_us(x.observed_us)}" for x in ctx.lines]
    return "Bar of allocated time by bucket: " + ", ".join(parts) + "."


def _drawing(ctx: Context) -> dict[str, Any]:
    allocated = tuple(_piece(x.bucket, x.observed_us) for x in ctx.lines if x.observed_us > 0)
    lost = tuple(
        _piece(x.bucket, x.observed_us)
        for x in sorted(ctx.lines, key=lambda x: -x.observed_us)
        if x.observed_us > 0 and x.bucket != "productive"
    )
    outside = _calendar_rows(ctx)
    return {
        "calendar": tuple(_piece(row.bucket, row.observed_us) for row in outside),
        "allocated": allocated,
        "lost": lost,
    }


def _piece(bucket: str, us: int) -> tuple[str, str, float]:
    return (bucket_label(bucket), bucket_colour(bucket), us / US_PER_H)


def _calendar_rows(ctx: Context) -> list[LedgerRow]:
    place = {name: at for at, name in enumerate(ORDER)}
    rows = [row for row in ctx.one.calendar if row.observed_us > 0]
    return sorted(rows, key=lambda row: (place.get(row.bucket, 99), row.bucket))


def _table(ctx: Context) -> Table:
    told = [x for x in ctx.lines if x.predicted_s is not None]
    all_in = bool(told) and all(x.in_sample for x in told)
    columns = _COLUMNS if told else _COLUMNS[:-2]
    if all_in:
        columns = (
            *_COLUMNS[:-2],
            replace(_COLUMNS[-2], label="Predicted in sample, h"),
            _COLUMNS[-1],
        )
    rows = tuple(_row(ctx, line, bool(told), not all_in) for line in ctx.lines)
    acc = ctx.allocated_acc_us
    total = Row(
        (
            Cell("Allocated"),
            Cell(bare_hours(ctx.allocated_us / US_PER_S)),
            Cell(whole_hours(acc / US_PER_S) if acc else "unknown"),
            Cell("100.0%"),
            Cell(bare_hours(ctx.moved_us / US_PER_S)),
            Cell(whole(sum(x.n for x in ctx.lines))),
            *((Cell(""), Cell("")) if told else ()),
        ),
        strong=True,
    )
    caption = "Allocated time by bucket"
    return Table(ctx.anchor("table-time"), caption, columns, rows, _worth(ctx), total=total)


def _worth(ctx: Context) -> str:
    worth, lost = ctx.capacity(ctx.allocated_acc_us), ctx.capacity(ctx.lost_acc_us)
    if worth is None or ctx.one.price_per_acc_h is None:
        return ""
    return (
        f"At {ctx.one.price_per_acc_h:g} per accelerator-hour, the allocated time is worth "
        f"{money(worth)} of capacity (not cash), and the lost part {money(lost)}."
    )


def _row(ctx: Context, line: LedgerLine, predictions: bool, say_sample: bool) -> Row:
    meaning = BUCKETS[line.bucket].meaning if line.bucket in BUCKETS else ""
    predicted = Cell("", sort=None, muted=True)
    residual = Cell("", sort=None, muted=True)
    if line.predicted_s is not None:
        badges = ("in sample",) if line.in_sample and say_sample else ()
        predicted = Cell(bare_hours(line.predicted_s), sort=line.predicted_s, badges=badges)
        flags = ("flagged",) if line.flag else ()
        residual = Cell(signed_hours(line.residual_s), sort=line.residual_s, badges=flags)
    acc = line.observed_acc_us
    acc_text = whole_hours(acc / US_PER_S) if acc or not line.observed_us else "unknown"
    detail = f"{bucket_label(line.bucket)}: {meaning}." if meaning else ""
    return Row(
        (
            Cell(
                bucket_label(line.bucket),
                sort=float(ctx.lines.index(line)),
                swatch=bucket_colour(line.bucket),
                href=None,
            ),
            Cell(bare_hours(line.observed_us / US_PER_S), sort=float(line.observed_us)),
            Cell(acc_text, sort=float(acc)),
            Cell(share(line.observed_us, ctx.allocated_us), sort=float(line.observed_us)),
            Cell(
                bare_hours(line.could_move_us / US_PER_S),
                sort=float(line.could_move_us),
                muted=not line.could_move_us,
            ),
            Cell(whole(line.n), sort=float(line.n)),
            *((predicted, residual) if predictions else ()),
        ),
        hint=detail,
    )


def _calendar_table(ctx: Context) -> Table:
    columns = (Column("Bucket"), Column("Hours", numeric=True), Column("Share", numeric=True))
    rows = tuple(
        Row(
            (
                Cell(bucket_label(x.bucket), float(at), swatch=bucket_colour(x.bucket)),
                Cell(bare_hours(x.observed_us / US_PER_S), sort=float(x.observed_us)),
                Cell(share(x.observed_us, ctx.calendar_us), sort=float(x.observed_us)),
            )
        )
        for at, x in enumerate(_calendar_rows(ctx))
    )
    total = Row(
        (Cell("Calendar"), Cell(bare_hours(ctx.calendar_us / US_PER_S)), Cell("100.0%")),
        strong=True,
    )
    caption = f"Calendar time by bucket ({hours(ctx.calendar_us / US_PER_S)})"
    return Table(ctx.anchor("table-calendar"), caption, columns, rows, total=total, folded=True)
