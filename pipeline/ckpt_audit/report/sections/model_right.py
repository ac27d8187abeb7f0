"""Was the model right? Observed beside predicted, bucket by bucket."""

# ruff: noqa: RUF001 (formulas in their usual signs)

from __future__ import annotations

from typing import Any

from ckpt_audit.audit.data import LedgerLine
from ckpt_audit.report.blocks import Block, Cell, Column, Figure, Row, Section, Table, Text
from ckpt_audit.report.numbers import bare_hours, plural, signed_hours
from ckpt_audit.report.sections.context import Context
from ckpt_audit.report.words import bucket_label
from ckpt_audit.units import S_PER_H, US_PER_S

FORMULAS: dict[str, str] = {
    "productive": "up-time × share retained",
    "checkpoint": "saves × mean cost C",
    "lost_work": "failures × mean rollback",
    "detection": "failures × mean D",
    "replacement": "failures × mean wait for nodes",
    "restart": "failures × mean R",
}


def section(ctx: Context) -> Section:
    """Each predicted bucket with its interval."""
    anchor, title = ctx.anchor("model"), "Was the model right?"
    told = [x for x in ctx.lines if x.predicted_s is not None]
    if not told:
        text = "No prediction could be made: not enough of C, I, M, D and R is known."
        return Section(anchor, title, text, ())
    flags = [x for x in told if x.flag]
    in_sample = any(x.in_sample for x in told)
    if flags:
        names = ", ".join(bucket_label(x.bucket).lower() for x in flags)
        answer = f"Not everywhere: {plural(len(flags), 'bucket')} outside the range ({names})."
    else:
        many = "the one bucket is" if len(told) == 1 else f"all {len(told)} buckets are"
        answer = f"Yes: {many} within the range that the model expects"
        answer += ", in sample." if in_sample else "."
    blocks: list[Block] = [_table(ctx, told)]
    if any(x.bucket != "productive" for x in told):
        blocks.insert(0, _figure(ctx, told))
    notes: list[Block] = []
    if in_sample:
        text = "In sample: the prediction is made from the same days. Agreement is then no success;"
        notes.append(Text(f"{text} disagreement is still a finding.", "plain"))
    if any(x.bucket == "restart" and holds_more(x) for x in told):
        notes.append(Text("Restarting is compared together with waiting for nodes.", "quiet"))
    return Section(anchor, title, answer, (*notes[:1], *blocks, *notes[1:]))


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
        Column("95% range, h", numeric=True),
        Column("Difference, h", numeric=True),
        Column("Verdict"),
    )
    return Table(
        ctx.anchor("table-model"),
        "Observed and predicted",
        columns,
        tuple(_row(x, say_sample) for x in told),
    )


def _row(line: LedgerLine, say_sample: bool) -> Row:
    low, high = line.predicted_low_s, line.predicted_high_s
    reach = "unknown"
    if low is not None and high is not None:
        reach = f"{bare_hours(low)} to {bare_hours(high)}"
    observed = compared_s(line)
    verdict = "outside" if line.flag else "inside"
    if not line.flag and low is not None and high is not None and not low <= observed <= high:
        verdict = "outside, too small to matter"
    if low is None or high is None:
        verdict = "flagged" if line.flag else "no range"
    return Row(
        (
            Cell(bucket_label(line.bucket)),
            Cell(FORMULAS.get(line.bucket, ""), muted=True),
            Cell(bare_hours(observed), sort=observed),
            Cell(bare_hours(line.predicted_s), sort=line.predicted_s),
            Cell(reach, sort=low),
            Cell(signed_hours(line.residual_s), sort=line.residual_s),
            Cell(verdict, badges=("in sample",) if line.in_sample and say_sample else ()),
        )
    )
