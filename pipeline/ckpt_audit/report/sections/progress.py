"""Progress: steps over time, falls at rollbacks, checkpoints, and what the run was doing."""

from __future__ import annotations

import itertools
from typing import Any

from ckpt_audit.facts import Progress, State
from ckpt_audit.report.blocks import Cell, Column, Figure, Row, Section, Table, Text, cut
from ckpt_audit.report.numbers import date_time, plural, whole
from ckpt_audit.report.sections.context import Context
from ckpt_audit.report.words import bucket_colour, bucket_label

MOST_POINTS = 800
MOST_MARKS = 60
MOST_STATES = 1200


def section(ctx: Context) -> Section:
    """The line of steps."""
    points = ctx.one.progress
    anchor = ctx.anchor("progress")
    if not points:
        return Section(anchor, "Progress", "No step was seen in this window.", (), False)
    highest = max(p.step for p in points)
    falls = sum(1 for a, b in itertools.pairwise(points) if b.step < a.step)
    answer = f"From step {points[0].step:,} to step {highest:,}, with {plural(falls, 'rollback')}."
    target = ctx.one.run.target_step
    if target:
        answer = f"{answer[:-1]}; the target is step {target:,}."
    figure = Figure(
        ctx.anchor("figure-progress"),
        "progress",
        "Steps over time",
        f"Line of completed steps. {answer} A fall of the line is a rollback. The strip beneath "
        f"shows what the run was doing. At most {MOST_MARKS} saves of a kind are marked.",
        _drawing(ctx),
        _table(ctx),
    )
    note = Text("Work after the newest durable save is provisional until a later save.", "quiet")
    return Section(anchor, "Progress", answer, (figure, note), False)


def _drawing(ctx: Context) -> dict[str, Any]:
    saved = [(c.committed_at, c.step) for c in ctx.one.checkpoints if c.committed_at and c.grade]
    bad = [
        (c.started_at, c.step)
        for c in ctx.one.checkpoints
        if not c.grade and c.started_at is not None and c.state != "deleted"
    ]
    return {
        "start": ctx.data.window.start_at,
        "end": ctx.data.window.end_at,
        "line": thin(ctx.one.progress),
        "falls": tuple(
            (b.at, b.step) for a, b in itertools.pairwise(ctx.one.progress) if b.step < a.step
        ),
        "verified": _few(saved),
        "unverified": _few(bad),
        "states": tuple(_state(s) for s in _merged(ctx.one.states)),
        "names": tuple(
            (bucket_label(b), bucket_colour(b)) for b in dict.fromkeys(_in_order(ctx.one.states))
        ),
    }


def thin(points: tuple[Progress, ...]) -> tuple[tuple[int, int], ...]:
    """At most about `MOST_POINTS` points; both sides of every fall stay."""
    every = max(1, len(points) // MOST_POINTS)
    keep = {0, len(points) - 1} | set(range(0, len(points), every))
    for at in range(1, len(points)):
        if points[at].step < points[at - 1].step:
            keep |= {at - 1, at}
    return tuple((points[i].at, points[i].step) for i in sorted(keep) if i >= 0)


def _few(marks: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    every = -(-len(marks) // MOST_MARKS) or 1
    return tuple(marks[::every])


def _state(state: State) -> tuple[int, int, str]:
    return (state.start_at, state.end_at, bucket_colour(state.bucket))


def _in_order(states: tuple[State, ...]) -> list[str]:
    return [s.bucket for s in states]


def _merged(states: tuple[State, ...]) -> list[State]:
    """Neighbours of one bucket as one; where too many, the short ones are left out."""
    merged: list[State] = []
    for s in sorted(states, key=lambda s: (s.start_at, s.end_at)):
        last = merged[-1] if merged else None
        if last is not None and last.bucket == s.bucket and last.end_at >= s.start_at:
            merged[-1] = State(s.run, last.start_at, max(last.end_at, s.end_at), s.bucket)
        else:
            merged.append(s)
    if len(merged) <= MOST_STATES:
        return merged
    longest = sorted(merged, key=lambda s: s.start_at - s.end_at)[:MOST_STATES]
    return sorted(longest, key=lambda s: s.start_at)


def _table(ctx: Context) -> Table:
    """Where the line turns: first, last, and both sides of each fall."""
    points = ctx.one.progress
    turns = {0, len(points) - 1}
    for at in range(1, len(points)):
        if points[at].step < points[at - 1].step:
            turns |= {at - 1, at}
    rows = tuple(
        Row(
            (
                Cell(date_time(points[i].at), sort=float(points[i].at)),
                Cell(whole(points[i].step), sort=float(points[i].step)),
                Cell(_remark(points, i), muted=True),
            )
        )
        for i in sorted(turns)
    )
    rows, note = cut(rows, "turning points")
    columns = (Column("Time, UTC"), Column("Step", numeric=True), Column(""))
    return Table(
        ctx.anchor("table-progress"), "Turning points of the line", columns, rows, note, folded=True
    )


def _remark(points: tuple[Progress, ...], at: int) -> str:
    if at > 0 and points[at].step < points[at - 1].step:
        return "resumed"
    if at + 1 < len(points) and points[at + 1].step < points[at].step:
        return "last before a rollback"
    return "first" if at == 0 else "last"
