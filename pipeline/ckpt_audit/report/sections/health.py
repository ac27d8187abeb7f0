"""Checkpoint health: how old the newest verified one was, what saves cost, which are bad."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ckpt_audit.facts import Checkpoint
from ckpt_audit.reliability.sample import Sample
from ckpt_audit.report.blocks import (
    Block,
    Cell,
    Column,
    Facts,
    Figure,
    Row,
    Section,
    Table,
    cut,
)
from ckpt_audit.report.numbers import date_time, duration, plural, share, whole
from ckpt_audit.report.sections.context import Context
from ckpt_audit.units import S_PER_H, US_PER_H, US_PER_S

MOST_POINTS = 240
STRETCHES = 150


def section(ctx: Context) -> Section:
    """Age, cost and state of the saves."""
    anchor, title = ctx.anchor("checkpoints"), "Are the checkpoints sound?"
    saves = [c for c in ctx.one.checkpoints if not c.excluded]
    if not saves:
        return Section(anchor, title, "No save was seen in this window.", (), False)
    bad = [c for c in saves if c.grade is None]
    torn = sum(1 for c in saves if c.state == "torn")
    n = plural(len(saves), "save")
    if not bad:
        answer = f"Yes: {n}, each verified."
    else:
        answer = f"{len(bad):,} of {n} {'is' if len(bad) == 1 else 'are'} not verified"
        answer += f", {torn:,} of them torn." if torn else "."
    blocks: list[Block] = []
    figure = _figure(ctx)
    if figure is not None:
        blocks.append(figure)
    blocks += [_facts(ctx, saves), _grades(ctx, saves)]
    if bad:
        blocks.append(_bad_table(ctx, bad))
    return Section(anchor, title, answer, tuple(blocks), bool(bad))


def ages(ctx: Context) -> list[tuple[int, float, float]]:
    """At each verified save: its moment, and the age of the newest before and after it, in hours.

    The age is that of the captured state, so that it does not fall to zero at a save.
    """
    good = sorted(
        (c.committed_at, c.started_at if c.started_at is not None else c.committed_at)
        for c in ctx.one.checkpoints
        if c.grade is not None and c.committed_at is not None
    )
    found: list[tuple[int, float, float]] = []
    newest: int | None = None
    for committed, captured in good:
        if newest is not None and captured < newest:
            continue
        before = 0.0 if newest is None else (committed - newest) / US_PER_H
        newest = captured
        found.append((committed, before, (committed - captured) / US_PER_H))
    if newest is not None and ctx.end_us > found[-1][0]:
        age = (ctx.end_us - newest) / US_PER_H
        found.append((ctx.end_us, age, age))
    return found


def _figure(ctx: Context) -> Figure | None:
    found = ages(ctx)
    if len(found) < 2:
        return None
    line: list[tuple[int, float]] = [(found[0][0], found[0][2])]
    for at, before, after in found[1:]:
        line += [(at, before), (at, after)]
    worst = max(found[1:], key=lambda item: item[1])
    dense = len(line) > MOST_POINTS
    shape = (
        "The oldest that it became in each stretch."
        if dense
        else ("A saw-tooth that falls at each verified save.")
    )
    data: dict[str, Any] = {
        "start": ctx.data.window.start_at,
        "end": ctx.data.window.end_at,
        "line": tuple(_peaks(line, ctx.data.window.start_at, ctx.end_us)),
        "worst": (worst[0], worst[1]),
        "dense": dense,
    }
    return Figure(
        ctx.anchor("figure-age"),
        "checkpoint_age",
        "Age of the newest verified checkpoint",
        f"{shape} The oldest it became is "
        f"{duration(worst[1] * S_PER_H)}, on {date_time(worst[0])} UTC.",
        data,
        _age_table(ctx, found),
    )


def _peaks(line: list[tuple[int, float]], start: int, end: int) -> list[tuple[int, float]]:
    """The line; where it is too dense to be read, the oldest in each of `STRETCHES`."""
    if len(line) <= MOST_POINTS or end <= start:
        return line
    size = (end - start) / STRETCHES
    worst: dict[int, tuple[int, float]] = {}
    for at, age in line:
        place = int((at - start) / size)
        if place not in worst or worst[place][1] < age:
            worst[place] = (at, age)
    return [worst[place] for place in sorted(worst)]


def _age_table(ctx: Context, found: list[tuple[int, float, float]]) -> Table:
    oldest = sorted(found[1:], key=lambda item: (-item[1], item[0]))[:20]
    rows = tuple(
        Row((Cell(date_time(at), sort=float(at)), Cell(f"{age:,.2f}", sort=age)))
        for at, age, _ in oldest
    )
    columns = (Column("Until, UTC"), Column("Age, h", numeric=True))
    caption = "The oldest that it became"
    return Table(ctx.anchor("table-age"), caption, columns, rows, folded=True)


def sample_words(sample: Sample) -> str:
    """Median, mean, p90 and largest of a sample, with n.

    >>> sample_words(Sample(0, None, None, None, None, None, None))
    'unknown (n = 0)'
    """
    if not sample.n:
        return "unknown (n = 0)"
    if sample.n == 1:
        return f"{duration(sample.median)} (n = 1)"
    return (
        f"median {duration(sample.median)}, mean {duration(sample.mean)}, "
        f"p90 {duration(sample.p90)}, max {duration(sample.max)} (n = {sample.n:,})"
    )


def _facts(ctx: Context, saves: list[Checkpoint]) -> Facts:
    commits = [
        (c.committed_at - c.started_at) / US_PER_S
        for c in saves
        if c.committed_at is not None and c.started_at is not None
    ]
    longest = f"longest {duration(max(commits))}" if commits else ""
    commit = duration(sorted(commits)[len(commits) // 2]) if commits else "unknown"
    n_async = sum(1 for c in saves if c.is_async)
    kind = "none" if not n_async else "all" if n_async == len(saves) else f"{n_async:,}"
    origins = Counter(c.cost_origin for c in saves if c.cost_origin)
    origin = ", ".join(f"{n:,} from the {name}" for name, n in sorted(origins.items()))
    words = sample_words(ctx.one.estimate.c) + ("; " if origin else "")
    return Facts(
        (
            ("Cost of a save, C (mean)", duration(ctx.one.estimate.c.mean), f"{words}{origin}"),
            ("Start to durable", commit, longest),
            ("Written in the background", kind, f"of {plural(len(saves), 'save')}"),
        )
    )


def _grades(ctx: Context, saves: list[Checkpoint]) -> Table:
    counts = Counter(c.grade or f"not verified: {c.state.replace('_', ' ')}" for c in saves)
    columns = (
        Column("Grade of evidence"),
        Column("Saves", numeric=True),
        Column("Share", numeric=True),
    )
    rows = tuple(
        Row(
            (
                Cell(name),
                Cell(whole(n), sort=float(n)),
                Cell(share(n, len(saves)), sort=float(n)),
            )
        )
        for name, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    return Table(ctx.anchor("table-grades"), "Saves by grade", columns, rows)


def _bad_table(ctx: Context, bad: list[Checkpoint]) -> Table:
    ordered = sorted(bad, key=lambda c: (c.started_at or 0, c.step))
    rows, note = cut(tuple(_bad_row(c) for c in ordered), "saves")
    columns = (
        Column("Step", numeric=True),
        Column("Started, UTC"),
        Column("State"),
        Column("Why it is not verified"),
        Column("Where"),
    )
    caption = "Saves that are not verified"
    return Table(ctx.anchor("table-bad"), caption, columns, rows, note, filterable=len(rows) > 10)


def _bad_row(save: Checkpoint) -> Row:
    return Row(
        (
            Cell(f"{save.step:,}", sort=float(save.step)),
            Cell(
                date_time(save.started_at),
                sort=None if save.started_at is None else float(save.started_at),
            ),
            Cell(save.state.replace("_", " ")),
            Cell(save.why or "unknown"),
            Cell(f"{save.file}:{save.line}", muted=True),
        )
    )
