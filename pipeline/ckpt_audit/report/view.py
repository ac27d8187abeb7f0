"""The whole page as data: pure, without markup, figures or clock."""

from __future__ import annotations

from typing import Any

from ckpt_audit.audit.data import ReportData
from ckpt_audit.documents import dumps, report_document
from ckpt_audit.report.blocks import (
    ROW_LIMIT,
    Block,
    Figure,
    ReportView,
    RunView,
    Section,
)
from ckpt_audit.report.numbers import date_time, slug
from ckpt_audit.report.sections import (
    change,
    headline,
    health,
    incidents,
    interval,
    method,
    model_right,
    progress,
    quality,
    rate,
    recovery,
    where_time,
)
from ckpt_audit.report.sections.context import Context

PAYLOAD_LIMIT = 500_000

RUN_SECTIONS = (
    where_time.section,
    change.section,
    progress.section,
    incidents.section,
    model_right.section,
    interval.section,
    rate.section,
    health.section,
    recovery.section,
)


def build_view(data: ReportData) -> ReportView:
    """Turns the facts of a window into every number and sentence of its page.

    Args:
        data: The report's facts.

    Returns:
        Plain text and numbers; equal for equal facts.
    """
    contexts = [Context(data, one) for one in data.runs]
    period = headline.period(data.window.label, data.complete)
    single = contexts[0] if len(contexts) == 1 else None
    remarks: tuple[str, ...] = ()
    if not data.complete:
        remarks = (f"Data ends {date_time(data.as_of)} UTC, before the window does.",)
    names = ", ".join(c.one.run.run for c in contexts[:3])
    return ReportView(
        title=f"{period}: {names or 'no run'}" + (" and more" if len(contexts) > 3 else ""),
        period=period,
        eyebrow=f"Checkpoint audit · {names or 'no run'}"
        + (" and more" if len(contexts) > 3 else ""),
        headline=headline.run_headline(single) if single else headline.fleet_headline(contexts),
        remarks=remarks + (headline.run_remarks(single) if single else ()),
        cards=headline.run_cards(single) if single else headline.fleet_cards(contexts),
        overview=headline.overview(contexts) if len(contexts) > 1 else None,
        runs=tuple(_run(c, single is not None) for c in contexts),
        sections=(quality.section(data), method.section(data), method.glossary()),
        footer=f"ckpt-audit {data.version}, newest evidence {date_time(data.as_of)} UTC",
        file_name=f"ckpt-audit-{slug(data.window.label)}.json",
        payload=_payload(data),
    )


def _run(ctx: Context, single: bool) -> RunView:
    return RunView(
        anchor=ctx.anchor("run"),
        name=ctx.one.run.run,
        headline="" if single else headline.run_headline(ctx),
        remarks=() if single else headline.run_remarks(ctx),
        cards=() if single else headline.run_cards(ctx),
        sections=tuple(make(ctx) for make in RUN_SECTIONS),
    )


def _payload(data: ReportData) -> dict[str, Any]:
    """The report's document, cut so that the page stays small: the whole is `report --json`."""
    document = report_document(data)
    for name in ("sources", "findings"):
        document[name] = document[name][:ROW_LIMIT]
    found = document["incidents"]
    if len(dumps(document)) > PAYLOAD_LIMIT:
        document["incidents"] = [{**row, "evidence": []} for row in found[:ROW_LIMIT]]
        shown = f"{min(len(found), ROW_LIMIT)} of {len(found)} incidents"
        document["cut"] = f"{shown}, without their evidence"
    return document


def figures_of(view: ReportView) -> tuple[Figure, ...]:
    """All figures of a view, in the order of the page."""
    sections: list[Section] = [s for run in view.runs for s in run.sections]
    blocks: list[Block] = [b for s in (*sections, *view.sections) for b in s.blocks]
    return tuple(b for b in blocks if isinstance(b, Figure))
