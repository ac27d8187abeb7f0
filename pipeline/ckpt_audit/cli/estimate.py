"""``ckpt-audit estimate``: M, C, D and R."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, Month, RunNames, Since, Until, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import period, span, table
from ckpt_audit.units import format_duration

if TYPE_CHECKING:
    import typer

    from ckpt_audit.audit.data import Population, ReportData, RunReport
    from ckpt_audit.reliability.sample import Sample


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        estimate,
        name="estimate",
        examples=["ckpt-audit estimate --month", "ckpt-audit estimate --month 2026-05 --json"],
    )


def estimate(
    session: Session,
    month: Month = None,
    since: Since = None,
    until: Until = None,
    run: RunNames = None,
    as_json: AsJson = False,
) -> None:
    """Estimates the mean up-time between incidents (M), and the costs C, D and R.

    Without a window, the last complete month that has data.
    """
    from ckpt_audit.documents import dumps, estimate_document

    with session.settled_warehouse() as warehouse:
        window = workflow.choose_window(warehouse, session.config, session.now, month, since, until)
        data = workflow.load_report_data(warehouse, session.config, window, run)
    session.out(dumps(estimate_document(data)) if as_json else _text(data))


def _text(data: ReportData) -> str:
    return "\n\n".join([period(data), *(_run(run) for run in data.runs)])


def _run(run: RunReport) -> str:
    estimate = run.estimate
    means = [_mean(population) for population in estimate.populations]
    costs = [
        _cost("C, exposed cost of a save", estimate.c),
        _cost("D, fault to detected", estimate.d),
        _cost("R, detected to first step", estimate.r),
    ]
    headers = ["mean up-time M", "incidents", "up-time", "M", "interval", "per 1,000 acc-h"]
    launches = f"{estimate.launches_reached_step} of {estimate.launches} launches reached a step"
    return "\n".join(
        [
            f"{run.run.run} ({run.run.n_accelerators or 'unknown'} accelerators)",
            estimate.refusal or table(headers, means, " >>>>>"),
            table(["cost", "n", "median", "mean", "p90", "max"], costs, " >>>>>"),
            launches,
        ]
    )


def _mean(population: Population) -> list[object]:
    mean = population.mean_time
    rate = population.per_1000_acc_h
    return [
        population.population,
        mean.incidents,
        format_duration(mean.exposure_s),
        format_duration(mean.m_s),
        f"{span(mean.low_s, mean.high_s)} ({mean.confidence:.0%})",
        None if rate is None else f"{rate:.4f}",
    ]


def _cost(label: str, sample: Sample) -> list[object]:
    values = (sample.median, sample.mean, sample.p90, sample.max)
    return [label, sample.n, *(format_duration(value) for value in values)]
