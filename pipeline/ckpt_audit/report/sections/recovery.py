"""Detection and restart: how long until someone noticed, and until a step was done again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_audit.facts import Incident
from ckpt_audit.reliability.sample import Sample, summarise
from ckpt_audit.report.blocks import Cell, Column, Figure, Row, Section, Table, Text
from ckpt_audit.report.numbers import duration, plural, whole
from ckpt_audit.report.sections.context import Context

STAGES: tuple[tuple[str, str], ...] = (
    ("Waiting for nodes", "replacement_s"),
    ("Failed retries, where any", "retries_s"),
    ("Launch", "launch_s"),
    ("Load", "restore_s"),
    ("Warm-up", "warmup_s"),
)
MOST_DOTS = 60


def section(ctx: Context) -> Section:
    """D by who noticed, R by stage."""
    anchor, title = ctx.anchor("recovery"), "How long to notice and to restart?"
    if not ctx.incidents:
        return Section(anchor, title, "There was no incident to come back from.", (), False)
    d, r = ctx.one.estimate.d, ctx.one.estimate.r
    answer = f"Noticed after {_words(d)}; the first step again {_words(r)} later."
    blocks = []
    figure = _figure(ctx)
    if figure is not None:
        blocks.append(figure)
    notes = [Text(text, "plain") for text in (_timeout(ctx),) if text]
    return Section(anchor, title, answer, (*blocks, _table(ctx), *notes), False)


def _words(sample: Sample) -> str:
    if not sample.n:
        return "an unknown time"
    if sample.n == 1:
        return f"{duration(sample.median)} (once)"
    return f"{duration(sample.median)} (median of {sample.n:,})"


def _values(incidents: Sequence[Incident], name: str) -> list[float]:
    return [v for i in incidents if (v := getattr(i, name)) is not None]


def groups(ctx: Context) -> list[tuple[str, list[float]]]:
    """Name and values: D by who noticed, R as a whole, its stages, R by source of the state."""
    found: list[tuple[str, list[float]]] = []
    detectors = sorted({i.detector or "unknown" for i in ctx.incidents})
    for who in detectors:
        mine = [i for i in ctx.incidents if (i.detector or "unknown") == who]
        found.append((f"Noticed by {who}", _values(mine, "detection_s")))
    found.append(("Recovery, all", _values(ctx.incidents, "recovery_s")))
    for name, field in STAGES:
        values = _values(ctx.incidents, field)
        if field == "retries_s":
            values = [v for v in values if v > 0]
        found.append((f"· {name}", values))
    sources = sorted({i.recovery_source for i in ctx.incidents})
    if len(sources) > 1:
        for source in sources:
            mine = [i for i in ctx.incidents if i.recovery_source == source]
            found.append((f"Recovery from {source}", _values(mine, "recovery_s")))
    return [(name, values) for name, values in found if values]


def _figure(ctx: Context) -> Figure | None:
    rows = tuple((name, spread(values)) for name, values in groups(ctx))
    if not any(value > 0 for _, values in rows for value in values):
        return None
    data: dict[str, Any] = {"rows": rows}
    return Figure(
        ctx.anchor("figure-recovery"),
        "dots",
        "One dot an incident",
        "Rows of dots on a logarithmic axis of time: noticing by who noticed, recovery and its "
        f"stages, at most {MOST_DOTS} dots a row. A bar marks the median. The table below holds "
        "the figures.",
        data,
    )


def spread(values: Sequence[float]) -> tuple[float, ...]:
    """Sorted, and thinned to `MOST_DOTS` that are spread evenly over the ranks.

    >>> spread([3.0, 1.0]), len(spread(list(range(1000))))
    ((1.0, 3.0), 60)
    """
    ordered = sorted(values)
    if len(ordered) <= MOST_DOTS:
        return tuple(ordered)
    last = len(ordered) - 1
    return tuple(ordered[round(n * last / (MOST_DOTS - 1))] for n in range(MOST_DOTS))


def _table(ctx: Context) -> Table:
    columns = (
        Column("What"),
        Column("n", numeric=True),
        Column("Median", numeric=True),
        Column("Mean", numeric=True),
        Column("p90", numeric=True),
        Column("Max", numeric=True),
    )
    rows = tuple(_row(name, summarise(values)) for name, values in groups(ctx))
    caption = "Time to notice and time to recover"
    return Table(ctx.anchor("table-recovery"), caption, columns, rows, sortable=False)


def _row(name: str, sample: Sample) -> Row:
    values = (sample.median, sample.mean, sample.p90, sample.max)
    cells = tuple(Cell(duration(v), sort=v) for v in values)
    return Row((Cell(name), Cell(whole(sample.n), sort=float(sample.n)), *cells))


def _timeout(ctx: Context) -> str:
    """Says how many failures were noticed only when a configured wait was over."""
    waited = [i for i in ctx.failures if i.detection_timeout_s is not None]
    if not waited:
        return ""
    limits = sorted({i.detection_timeout_s or 0.0 for i in waited})
    told = ", ".join(duration(limit) for limit in limits)
    verb = "was" if len(waited) == 1 else "were"
    return (
        f"{len(waited):,} of {plural(len(ctx.failures), 'failure')} {verb} noticed when a "
        f"configured wait was over ({told}). A shorter wait notices them earlier."
    )
