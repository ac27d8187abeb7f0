"""Method and provenance, and the glossary."""

# ruff: noqa: RUF001 (formulas in their usual signs)

from __future__ import annotations

from ckpt_audit.audit.data import ReportData
from ckpt_audit.report.blocks import Cell, Column, Heading, Row, Section, Table, Terms, Text, cut
from ckpt_audit.report.numbers import bytes_size, date_time, plural, whole
from ckpt_audit.report.sections.quality import bytes_total
from ckpt_audit.report.words import BUCKETS, TERMS

FORMULAS: tuple[tuple[str, str], ...] = (
    (
        "Mean time between failures",
        "M = up-time ÷ n, n failures and unknown ends; for advice, up-time ÷ (n + ½)",
    ),
    ("Interval of M", "exact, from the chi-square distribution (Epstein and Sobel 1953)"),
    ("Expected time per interval", "E = (M + D + R) · (exp((I + C) ÷ M) − 1)"),
    ("Waste", "1 − I ÷ E"),
    ("First-order optimum", "I = √(2 · C · M) (Young 1974)"),
    ("Higher-order optimum", "Daly 2006, equation 37"),
    ("Exact optimum", "I = M · (1 + W(−exp(−1 − C ÷ M))), W: Lambert's function"),
    ("Flat region", "intervals whose part of the waste is at most 5% above the least"),
    ("Effective interval", "mean of X² ÷ mean of X, X: training time between verified saves"),
    ("Cost of an incident", "work lost + D + R"),
    ("Lost hours", "allocated hours − productive hours"),
)


def section(data: ReportData) -> Section:
    """Definitions, formulas, settings, versions, inputs with their hashes, and the command."""
    anchor, title = "method", "Method and provenance"
    answer = (
        f"Made by ckpt-audit {data.version} from {plural(len(data.sources), 'input')} "
        f"({bytes_total(data.sources)}); everything here can be computed again."
    )
    blocks = (
        Text(f"Newest evidence: {date_time(data.as_of)} UTC. All times on this page are UTC."),
        Text(f"To reproduce: {command(data)}"),
        Heading("Formulas"),
        Terms(FORMULAS),
        Heading("Buckets"),
        Terms(
            tuple((b.label, f"{b.meaning[0].upper()}{b.meaning[1:]}.") for b in BUCKETS.values())
        ),
        _settings(data),
        _inputs(data),
    )
    return Section(anchor, title, answer, blocks, False)


def command(data: ReportData) -> str:
    """The command that gives this page again, from the same inputs."""
    return f"ckpt-audit report --month {data.window.label}"


def _settings(data: ReportData) -> Table:
    columns = (Column("Setting"), Column("Value"), Column("From"))
    rows = tuple(
        Row((Cell(name), Cell(value), Cell(origin, muted=True)))
        for name, (value, origin) in sorted(data.settings.items())
    )
    note = "" if rows else "No setting was recorded."
    return Table("table-settings", "Settings in effect", columns, rows, note, sortable=False)


def _inputs(data: ReportData) -> Table:
    columns = (
        Column("Input"),
        Column("Size", numeric=True),
        Column("Lines", numeric=True),
        Column("SHA-256"),
    )
    rows, note = cut(
        tuple(
            Row(
                (
                    Cell(s.path),
                    Cell(bytes_size(s.n_bytes), sort=float(s.n_bytes)),
                    Cell(whole(s.n_lines), sort=float(s.n_lines)),
                    Cell(s.sha256, muted=True),
                )
            )
            for s in data.sources
        ),
        "inputs",
    )
    return Table("table-inputs", "Inputs", columns, rows, note)


def glossary() -> Section:
    """Every word that the page uses in a sense of its own."""
    answer = f"{plural(len(TERMS), 'term')}, as they are used on this page."
    return Section("glossary", "Glossary", answer, (Terms(TERMS),), False)
