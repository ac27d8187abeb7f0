"""``ckpt-audit estimate``: M, C, D and R."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, Month, RunNames, Since, Until, add_command
from ckpt_audit.cli.correlation_text import correlation_text
from ckpt_audit.cli.cost_text import cost_lines
from ckpt_audit.cli.estimate_table import TableOptions, estimate_table_command
from ckpt_audit.cli.process_text import (
    early_words,
    pooled_words,
    process_lines,
    projection_words,
    rate_words,
)
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import facts, period, span, table
from ckpt_audit.errors import UsageError
from ckpt_audit.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckpt_audit.audit.data import Population, ReportData, RunReport
    from ckpt_audit.audit.fleet import Fleet
    from ckpt_audit.reliability.sample import Sample


_DIGITS = 9  # no job has more accelerators than fit in


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        estimate,
        name="estimate",
        examples=[
            "ckpt-audit estimate --month",
            "ckpt-audit estimate --month 2026-05 --json",
            "ckpt-audit estimate --accelerators 4096,16384",
            "ckpt-audit estimate --table tracker.csv --columns start=opened,node=host --nodes 400",
        ],
    )


def estimate(
    session: Session,
    month: Month = None,
    since: Since = None,
    until: Until = None,
    run: RunNames = None,
    accelerators: Annotated[
        str | None,
        typer.Option(
            "--accelerators",
            metavar="N,...",
            help="Say too what M a job of so many accelerators would have.",
        ),
    ] = None,
    table_file: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="Instead of the warehouse, a table of incidents (CSV or JSON).",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="FIELD=NAME,...",
            help="Its columns for start, end, node and cause, where their names do not tell.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="NAME=VALUE", help="Only its rows like this; may be given again."
        ),
    ] = None,
    unit: Annotated[
        str, typer.Option("--unit", help="Of its moments that are plain numbers: s, m, h or d.")
    ] = "d",
    nodes: Annotated[
        int | None, typer.Option("--nodes", metavar="N", help="How many nodes it watches.")
    ] = None,
    chain: Annotated[
        str,
        typer.Option(
            "--chain", metavar="DURATION", help="Its incidents this close are called a group."
        ),
    ] = "15m",
    as_json: AsJson = False,
) -> None:
    """Estimates the mean up-time between incidents (M), and the costs C, D and R.

    M, C, D and R are those of the window (without one, the last complete month that has data).
    Whether failures come in bursts, become more or less frequent, or strike early, is asked of all
    of the run's past up to its end: a month holds too few.
    With --table the failures of a fleet, from a table of incidents and on calendar time.
    """
    from ckpt_audit.documents import dumps, estimate_document

    sizes = _sizes(accelerators)
    if table_file is not None:
        if month is not None or run or sizes:
            raise UsageError("--table goes with --since and --until, not with months, runs, sizes")
        estimate_table_command(
            session,
            table_file,
            TableOptions(columns, tuple(where or ()), unit, nodes, since, until, chain),
            as_json=as_json,
        )
        return
    if columns or where or nodes is not None:
        raise UsageError("--columns, --where and --nodes need --table")
    with session.settled_warehouse() as warehouse:
        window = workflow.choose_window(warehouse, session.config, session.now, month, since, until)
        data = workflow.load_report_data(warehouse, session.config, window, run)
    session.out(dumps(estimate_document(data, sizes)) if as_json else _text(data, sizes))


def _sizes(text: str | None) -> tuple[int, ...]:
    """Numbers of accelerators as they were given.

    Raises:
        UsageError: One is no whole number above 0.
    """
    sizes = []
    for word in text.split(",") if text is not None else ():
        number = word.strip()
        if not (number.isascii() and number.isdigit() and len(number) <= _DIGITS and int(number)):
            raise UsageError(f"--accelerators takes numbers like 4096,16384, not '{number}'")
        sizes.append(int(number))
    return tuple(sizes)


def _text(data: ReportData, sizes: Sequence[int]) -> str:
    parts = [period(data), *(_run(run, data.fleet) for run in data.runs)]
    if data.fleet is not None and (len(data.runs) > 1 or sizes):
        pairs = [("all runs", pooled_words(data.fleet.pooled))]
        pairs += [
            (f"{size:,} accelerators", projection_words(data.fleet.projection(size)))
            for size in sizes
        ]
        parts.append(facts(pairs))
    if data.correlation is not None:
        parts.append(correlation_text(data.correlation, data.suspects))
        told = early_words(data.early_by_node, "the first three days on a node")
        parts.append(facts([("new nodes", told)]))
    return "\n\n".join(parts)


def _run(run: RunReport, fleet: Fleet | None) -> str:
    estimate = run.estimate
    means = [_mean(item) for item in (*estimate.populations, *estimate.by_epoch)]
    costs = [
        _cost("C, exposed cost of a save", estimate.c),
        _cost("D, fault to detected", estimate.d),
        _cost("R, detected to first step", estimate.r),
    ]
    headers = ["mean up-time M", "incidents", "up-time", "M", "interval", "per 1,000 acc-h"]
    launches = f"{estimate.launches_reached_step} of {estimate.launches} launches reached a step"
    process = process_lines(estimate.process) if estimate.process else []
    rate = fleet.rates.get(run.run.run) if fleet else None
    if process and rate is not None:
        process.insert(1, ("per 1,000 acc-h", rate_words(rate)))
    return "\n".join(
        [
            f"{run.run.run} ({run.run.n_accelerators or 'unknown'} accelerators)",
            estimate.refusal or table(headers, means, " >>>>>"),
            table(["cost", "n", "median", "mean", "p90", "max"], costs, " >>>>>"),
            *([facts(told)] if (told := cost_lines(run.costs)) else []),
            launches,
            *([facts(process)] if process else []),
        ]
    )


def _mean(population: Population) -> list[object]:
    mean = population.mean_time
    rate = population.per_1000_acc_h
    return [
        population.population + ("" if population.epoch is None else f", epoch {population.epoch}"),
        mean.incidents,
        format_duration(mean.exposure_s),
        format_duration(mean.m_s),
        f"{span(mean.low_s, mean.high_s)} ({mean.confidence:.0%})",
        None if rate is None else f"{rate:.4f}",
    ]


def _cost(label: str, sample: Sample) -> list[object]:
    values = (sample.median, sample.mean, sample.p90, sample.max)
    return [label, sample.n, *(format_duration(value) for value in values)]
