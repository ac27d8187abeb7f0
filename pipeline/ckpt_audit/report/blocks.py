"""What a page is made of: frozen values without markup, so that a page can be tested as data.

A section is a question, its answer in one sentence, and blocks. A block is one of the classes
below; ``kind`` names the macro that shows it. Text is plain and unescaped: the template escapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

Item = TypeVar("Item")

ROW_LIMIT = 500
PROOF_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Column:
    """Head of a column.

    Attributes:
        label: Head in plain words.
        numeric: Aligned right, with tabular figures, sorted by number.
        hint: What the head means, as a tooltip and in the glossary.
    """

    label: str
    numeric: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        text: What is shown.
        sort: Number that orders it; None orders by the text, and unknown last in a numeric column.
        swatch: Name of a colour of the palette, shown beside the text.
        badges: Short labels after the text.
        href: Anchor on this page, with its ``#``.
        muted: Shown quietly.
    """

    text: str
    sort: float | None = None
    swatch: str | None = None
    badges: tuple[str, ...] = ()
    href: str | None = None
    muted: bool = False


@dataclass(frozen=True, slots=True)
class Proof:
    """One line of evidence under a row."""

    moment: str
    place: str
    text: str
    strength: str


@dataclass(frozen=True, slots=True)
class Detail:
    """What a row opens: a summary line, facts in pairs and lines of evidence."""

    summary: str
    facts: tuple[tuple[str, str], ...] = ()
    proofs: tuple[Proof, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        anchor: Its id on the page.
        strong: A total, or the choice among others.
        hint: Meaning of the row, as a tooltip of its first cell.
    """

    cells: tuple[Cell, ...]
    anchor: str | None = None
    detail: Detail | None = None
    strong: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``note`` says what was cut or what a reader must know."""

    anchor: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    sortable: bool = True
    filterable: bool = False
    total: Row | None = None
    folded: bool = False
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: what is drawn, and the same as words and as a table.

    Attributes:
        drawing: Name of the drawing function.
        data: Its argument: numbers, texts, tuples and mappings only.
    """

    anchor: str
    drawing: str
    title: str
    description: str
    data: Mapping[str, Any]
    table: Table | None = None
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; tone is ``plain``, ``quiet`` or ``warn``."""

    text: str
    tone: str = "plain"
    kind: ClassVar[str] = "text"


@dataclass(frozen=True, slots=True)
class Facts:
    """Named values: term, value, remark."""

    items: tuple[tuple[str, str, str], ...]
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    text: str
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to change: what, why, what it is worth, how sure, what would flip it.

    ``short`` says it in one clause, for a headline.
    """

    what: str
    why: str
    saving: str
    sure: str
    flip: str
    short: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """At most five changes, or none."""

    items: tuple[Change, ...]
    nothing: str
    kind: ClassVar[str] = "changes"


@dataclass(frozen=True, slots=True)
class Card:
    """One of the large figures of a headline."""

    label: str
    value: str
    note: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """Words and their meanings."""

    items: tuple[tuple[str, str], ...]
    kind: ClassVar[str] = "terms"


Block = Table | Figure | Text | Facts | Heading | Changes | Terms


@dataclass(frozen=True, slots=True)
class Section:
    """A question and its answer.

    Attributes:
        anchor: Id on the page.
        title: The question.
        answer: The answer in one sentence; all that shows while the section is folded.
        is_open: Stands open at first.
    """

    anchor: str
    title: str
    answer: str
    blocks: tuple[Block, ...]
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class RunView:
    """One run: headline, cards and sections."""

    anchor: str
    name: str
    headline: str
    remarks: tuple[str, ...]
    cards: tuple[Card, ...]
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class ReportView:
    """The whole page as data.

    Attributes:
        title: Of the document.
        period: The window in words.
        eyebrow: What the page is, in one quiet line.
        headline: The one sentence.
        remarks: Short sentences under it: coverage, confidence, what is not known.
        cards: The four figures.
        overview: One row a run, where there are several.
        runs: In order.
        sections: Those that speak of the whole report.
        footer: Where the page comes from, in one line.
        payload: What the page embeds for programs.
        file_name: Name to save the embedded data under.
    """

    title: str
    period: str
    eyebrow: str
    headline: str
    remarks: tuple[str, ...]
    cards: tuple[Card, ...]
    overview: Table | None
    runs: tuple[RunView, ...]
    sections: tuple[Section, ...]
    footer: str
    file_name: str
    payload: Mapping[str, Any] = field(default_factory=dict)


def cut(items: tuple[Item, ...], what: str) -> tuple[tuple[Item, ...], str]:
    """Cuts what a table would show at the limit, and says so.

    >>> cut((), "incidents")
    ((), '')
    """
    if len(items) <= ROW_LIMIT:
        return items, ""
    text = f"The first {ROW_LIMIT} of {len(items):,} {what} are shown; the whole is in the exports."
    return items[:ROW_LIMIT], text
