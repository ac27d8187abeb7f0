"""Was the model right? Observed beside predicted, bucket by bucket."""

# ruff: noqa: RUF001 (formulas in their usual signs)

from __future__ import annotations

from typing import Any

from ckpt_audit.audit.data import LedgerLine
from ckpt_audit.report.blocks import Block, Cell, Column, Figure, Row, Section, Table, Text
from ckpt_audit.report.numbers import bare_hours, date_time, plural, signed_hours
from ckpt_audit.report.sections.context import Context
from ckpt_audit.report.words import bucket_label
from ckpt_audit.units import S_PER_H, US_PER_S

FORMULAS: dict[str, str] = {
    "productive": "up-time × share retained",
    "checkpoint": "saves × mean cost C",
    "lost_work": "{events} × mean rollback",
    "detection": "{events} × mean D",
    "replacement": "{events} × mean wait for nodes",
    "restart": "{events} × mean R",
}
INSIDE, OUTSIDE = "inside", "outside"
SMALL = "outside, too small to matter"
FLAGGED, NO_RANGE = "flagged", "no range"


def section(ctx: Context) -> Section:
    """Each predicted bucket with its interval."""
    anchor, title = ctx.anchor("model"), "Was the model right?"
    told = [x for x in ctx.lines if x.predicted_s is not None]
    if not told:
        text = "No prediction could be made: not enough of C, I, M, D and R is known."
        return Section(anchor, title, text, ())
    in_sample = any(x.in_sample for x in told)
    opening, text = _judged(told)
    answer = f"{'In sample' if in_sample else opening}: {text}."
    blocks: list[Block] = [*_why(ctx, told), _table(ctx, told)]
    if any(x.bucket != "productive" for x in told):
        blocks.insert(0, _figure(ctx, told))
    notes: list[Block] = []
    base_from_at = ctx.one.base_from_at
    if base_from_at is not None:
        since = f"{date_time(base_from_at)} UTC"
        notes.append(Text(f"Predicted from the time before the window, from {since} on.", "quiet"))
    if in_sample:
        text = "In sample: the prediction is made from the same days. Agreement is then no success;"
        notes.append(Text(f"{text} disagreement is still a finding.", "plain"))
    if any(x.bucket == "restart" and holds_more(x) for x in told):
        notes.append(Text("Restarting is compared together with waiting for nodes.", "quiet"))
    return Section(anchor, title, answer, (*notes[:1], *blocks, *notes[1:]))


def _why(ctx: Context, told: list[LedgerLine]) -> list[Block]:
    """What the parts that differ are made of; nothing where none differs."""
    reasons = list(dict.fromkeys(reason for line in told for reason in line.reasons))
    if not reasons:
        return []
    columns = (
        Column("What differs"),
        Column("Explains, h", numeric=True),
        Column("Evidence"),
    )
    rows = tuple(
        Row(
            (
                Cell(reason.cause.replace("_", " ")),
                Cell(signed_hours(reason.seconds), sort=reason.seconds),
                Cell(reason.evidence, muted=True),
            )
        )
        for reason in sorted(reasons, key=lambda one: -abs(one.seconds))
    )
    return [Table(ctx.anchor("table-why"), "Why it differs", columns, rows)]


def _judged(told: list[LedgerLine]) -> tuple[str, str]:
    """What the verdicts come to: a word or two, and what there is to say of the buckets."""
    wrong = [x for x in told if verdict(x) in (OUTSIDE, FLAGGED)]
    small = [x for x in told if verdict(x) == SMALL]
    inside = [x for x in told if verdict(x) == INSIDE]
    if wrong or small:
        found = wrong or small
        text = f"{plural(len(found), 'bucket')} {_are(found)} outside the range"
        text += f"{'' if wrong else ', by too little to matter'} ({_names(found)})"
        return "Not everywhere" if wrong else "Nearly", text
    if not inside:
        return "It cannot be said", "no bucket has a range"
    within = "within the range that the model expects"
    if len(inside) < len(told):
        blind = [x for x in told if x not in inside]
        text = f"{len(inside)} of {plural(len(told), 'bucket')} {_are(inside)} {within}"
        return "In part", f"{text}; nothing says it of the rest ({_names(blind)})"
    many = "the one bucket is" if len(told) == 1 else f"all {len(told)} buckets are"
    return "Yes", f"{many} {within}"


def _are(lines: list[LedgerLine]) -> str:
    return "is" if len(lines) == 1 else "are"


def _names(lines: list[LedgerLine]) -> str:
    return ", ".join(bucket_label(x.bucket).lower() for x in lines)


def verdict(line: LedgerLine) -> str:
    """How one bucket compares, in the words of the table."""
    low, high = line.predicted_low_s, line.predicted_high_s
    if low is None or high is None:
        return FLAGGED if line.flag else NO_RANGE
    if line.flag:
        return OUTSIDE
    return INSIDE if low <= compared_s(line) <= high else SMALL


def compared_s(line: LedgerLine) -> float:
    """What was observed on the side of the comparison (it can hold a second bucket)."""
    if line.predicted_s is not None and line.residual_s is not None:
        return line.predicted_s + line.residual_s
    return line.observed_us / US_PER_S


def holds_more(line: LedgerLine) -> bool:
    """Whether the prediction is for more than this bucket alone."""
    return line.predicted_s is not None and abs(compared_s(line) - line.observed_us / US_PER_S) > 1


def _figure(ctx: Context, told: list[LedgerLine]) -> Figure:
    rows = tuple(
        (
            bucket_label(x.bucket),
            compared_s(x) / S_PER_H,
            (x.predicted_s or 0.0) / S_PER_H,
            None if x.predicted_low_s is None else x.predicted_low_s / S_PER_H,
            None if x.predicted_high_s is None else x.predicted_high_s / S_PER_H,
            x.flag,
        )
        for x in told
        if x.bucket != "productive"
    )
    data: dict[str, Any] = {"rows": rows}
    return Figure(
        ctx.anchor("figure-model"),
        "model",
        "Observed on the range that the model expects",
        "For each bucket but new steps: a bar for the predictive interval, a line for the "
        "prediction, a dot for what was observed, in hours. The table below holds the numbers.",
        data,
    )


def _table(ctx: Context, told: list[LedgerLine]) -> Table:
    say_sample = not all(x.in_sample for x in told)
    columns = (
        Column("Bucket"),
        Column("Formula"),
        Column("Observed, h", numeric=True),
        Column("Predicted, h" if say_sample else "Predicted in sample, h", numeric=True),
        Column("First order, h", numeric=True),
        Column("95% range, h", numeric=True),
        Column("Difference, h", numeric=True),
        Column("Verdict"),
    )
    return Table(
        ctx.anchor("table-model"),
        "Observed and predicted",
        columns,
        tuple(_row(x, say_sample, ctx.event_label(2)) for x in told),
    )


def _row(line: LedgerLine, say_sample: bool, events: str) -> Row:
    low, high = line.predicted_low_s, line.predicted_high_s
    reach = "unknown"
    if low is not None and high is not None:
        reach = f"{bare_hours(low)} to {bare_hours(high)}"
    observed = compared_s(line)
    return Row(
        (
            Cell(bucket_label(line.bucket)),
            Cell(FORMULAS.get(line.bucket, "").format(events=events), muted=True),
            Cell(bare_hours(observed), sort=observed),
            Cell(bare_hours(line.predicted_s), sort=line.predicted_s),
            Cell(bare_hours(line.first_order_s), sort=line.first_order_s, muted=True),
            Cell(reach, sort=low),
            Cell(signed_hours(line.residual_s), sort=line.residual_s),
            Cell(verdict(line), badges=("in sample",) if line.in_sample and say_sample else ()),
        )
    )
