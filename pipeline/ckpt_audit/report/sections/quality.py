"""Data quality: what was read, in which zone, what was not understood, what to know."""

from __future__ import annotations

from ckpt_audit.audit.data import ReportData
from ckpt_audit.facts import Finding, RejectedLine, Source
from ckpt_audit.report.blocks import Block, Cell, Column, Row, Section, Table, Text, cut
from ckpt_audit.report.numbers import bare_hours, bytes_size, date_time, plural, whole

ORIGINS: dict[str, str] = {
    "flag": "given",
    "config": "configured",
    "proved": "proved by two clocks",
    "machine": "assumed: this machine's",
    "utc": "stamps say UTC",
}


def section(data: ReportData) -> Section:
    """Sources, zones, rejected lines and findings."""
    title = "How good is the data?"
    if not data.sources:
        return Section("quality", title, "No source was read.", ())
    rejected = sum(s.n_rejected for s in data.sources)
    assumed = [s for s in data.sources if s.tz_origin == "machine"]
    answer = f"{plural(len(data.sources), 'source')}, "
    answer += f"{plural(rejected, 'line')} not understood, {plural(len(data.findings), 'remark')}."
    blocks: list[Block] = []
    if not data.complete:
        text = f"The data ends at {date_time(data.as_of)} UTC, before the window does."
        blocks.append(Text(text, "warn"))
    if assumed:
        text = (
            f"The time zone of {plural(len(assumed), 'source')} is an assumption: this machine's."
        )
        blocks.append(Text(f"{text} A wrong one moves every moment of that source.", "warn"))
    if data.findings:
        blocks.append(_findings(data.findings))
    blocks.append(_sources(data.sources))
    if data.rejected:
        blocks.append(_rejected(data.rejected, rejected))
    if data.context_jobs:
        text = f"{plural(data.context_jobs, 'job')} of the scheduler records belong to no run here."
        blocks.append(Text(text[0].upper() + text[1:], "quiet"))
    return Section("quality", title, answer[0].upper() + answer[1:], tuple(blocks))


def _sources(sources: tuple[Source, ...]) -> Table:
    columns = (
        Column("Source"),
        Column("Format"),
        Column("Run"),
        Column("From, UTC"),
        Column("Until, UTC"),
        Column("Time zone"),
        Column("Lines", numeric=True),
        Column("Rows", numeric=True),
        Column("Rejected", numeric=True),
    )
    rows, note = cut(tuple(_source(s) for s in sources), "sources")
    return Table("table-sources", "Sources", columns, rows, note, filterable=len(rows) > 10)


def _source(source: Source) -> Row:
    zone = ORIGINS.get(source.tz_origin or "", "")
    text = source.tz or "unknown"
    first, last = source.first_at, source.last_at
    return Row(
        (
            Cell(source.path),
            Cell(source.format),
            Cell(source.run or "", muted=True),
            Cell(date_time(first), sort=None if first is None else float(first)),
            Cell(date_time(last), sort=None if last is None else float(last)),
            Cell(text, badges=(zone,) if zone else ()),
            Cell(whole(source.n_lines), sort=float(source.n_lines)),
            Cell(whole(source.n_rows), sort=float(source.n_rows)),
            Cell(whole(source.n_rejected), sort=float(source.n_rejected)),
        )
    )


def _findings(findings: tuple[Finding, ...]) -> Table:
    columns = (
        Column("Remark"),
        Column("About"),
        Column("What"),
        Column("Could move, h", numeric=True),
        Column("Where"),
    )
    rows, note = cut(tuple(_finding(f) for f in findings), "remarks")
    return Table("table-findings", "What a reader must know", columns, rows, note)


def _finding(finding: Finding) -> Row:
    moved = finding.could_move_s
    return Row(
        (
            Cell(finding.kind.replace("_", " ")),
            Cell(finding.subject),
            Cell(finding.text),
            Cell("" if moved is None else bare_hours(moved), sort=moved),
            Cell(_place(finding.file, finding.line), muted=True),
        )
    )


def _place(file: str | None, line: int | None) -> str:
    if file is None:
        return ""
    return file if line is None else f"{file}:{line}"


def _rejected(lines: tuple[RejectedLine, ...], total: int) -> Table:
    columns = (Column("Where"), Column("Why"), Column("The line"))
    rows, note = cut(
        tuple(
            Row((Cell(f"{x.file}:{x.line}"), Cell(x.reason), Cell(x.text[:300], muted=True)))
            for x in lines
        ),
        "lines",
    )
    if not note and total > len(lines):
        note = f"{len(lines):,} of {total:,} are kept here."
    caption = "Lines that were not understood"
    return Table("table-rejected", caption, columns, rows, note, folded=True)


def bytes_total(sources: tuple[Source, ...]) -> str:
    """Size of all that was read.

    >>> bytes_total(())
    '0 B'
    """
    return bytes_size(sum(s.n_bytes for s in sources))
