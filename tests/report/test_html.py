"""The page as text: well formed, closed to the network, escaped, small, and the same every time."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from jinja2 import TemplateNotFound

from ckpt_audit.report import render_report
from ckpt_audit.report.figures import draw, draw_all
from ckpt_audit.report.html import embedded, packaged
from ckpt_audit.report.view import build_view, figures_of

from . import fixture_data as fixture

ALL = ("month", "single", "nothing_known", "hostile", "huge")
VOID = {"meta", "link", "br", "img", "input", "hr"}
TARGET, CAP = 1_000_000, 2_000_000


@cache
def page(name: str) -> str:
    return render_report(getattr(fixture, name)())


class Reader(HTMLParser):
    """Checks that what opens closes, and keeps what tests ask for."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if dict(attrs).get("id"):
            self.ids.append(str(dict(attrs)["id"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"


def read(name: str) -> Reader:
    reader = Reader()
    reader.feed(page(name))
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("name", ALL)
def test_well_formed_with_ids_that_are_unique(name: str) -> None:
    reader = read(name)
    assert len(reader.ids) == len(set(reader.ids))
    links = [a.get("href") or "" for tag, a in reader.tags if tag == "a"]
    assert {link[1:] for link in links if link.startswith("#")} <= set(reader.ids)
    labels = [a["aria-labelledby"] for _, a in reader.tags if a.get("aria-labelledby")]
    assert {part for label in labels for part in str(label).split()} <= set(reader.ids)
    uses = [str(a["xlink:href"])[1:] for tag, a in reader.tags if tag == "use"]
    assert set(uses) <= set(reader.ids)


@pytest.mark.parametrize("name", ALL)
def test_one_h1_landmarks_and_language(name: str) -> None:
    tags = read(name).tags
    names = [tag for tag, _ in tags]
    assert [names.count(tag) for tag in ("h1", "main", "nav", "footer")] == [1, 1, 1, 1]
    assert ("html", {"lang": "en"}) in tags
    levels = [int(tag[1]) for tag in names if re.fullmatch(r"h[1-6]", tag)]
    assert all(b - a <= 1 for a, b in pairwise(levels))


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_asked_of_the_network(name: str) -> None:
    text = page(name)
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    assert policy + "img-src data:" in text
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", text)
    for tag, attributes in read(name).tags:
        assert "src" not in attributes, tag
        assert str(attributes.get("href") or "#").startswith(("#", "data:,")), tag


@pytest.mark.parametrize("name", ["month", "single"])
def test_small(name: str) -> None:
    assert len(page(name).encode()) < TARGET


def test_never_over_the_cap() -> None:
    assert len(page("huge").encode()) < CAP
    assert len(packaged("page.js").encode()) <= 15_000


def test_what_a_log_says_is_text() -> None:
    tags = read("hostile").tags
    assert not any(tag == "img" for tag, _ in tags)
    assert [tag for tag, _ in tags].count("script") == 2
    assert not any(name.startswith("on") for _, a in tags for name in a)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page("hostile")
    assert "\x00" not in page("hostile")


def test_embedded_data_is_whole_and_cannot_end_its_element() -> None:
    text = page("hostile")
    inside = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert "<" not in inside
    document = json.loads(inside)
    assert document["schema"] == "ckpt-audit/report/1"
    assert document["incidents"][0]["cause"] == fixture.HOSTILE
    assert "\\u2028" in embedded({"text": "\u2028"})


def test_embedded_data_agrees_with_the_page() -> None:
    inside = page("single").split('id="data">')[1].split("</script>")[0]
    document = json.loads(inside)
    kept = sum(x["observed_s"] for x in document["ledger"] if x["bucket"] == "productive")
    total = sum(x["observed_s"] for x in document["ledger"])
    assert f"{100 * kept / total:.1f}% of {total / 3600:,.1f} h went into new steps" in page(
        "single"
    ).replace("\N{NO-BREAK SPACE}", " ")


def test_same_facts_same_bytes() -> None:
    assert render_report(fixture.month()) == page("month")


def test_figures_are_text_with_the_colours_of_the_page() -> None:
    figures = figures_of(build_view(fixture.month()))
    drawn = draw_all(figures)
    for figure in figures:
        svg = drawn[figure.anchor]
        assert svg == draw(figure)
        assert svg.startswith('<svg role="img" aria-labelledby=')
        assert "<title" in svg
        assert "<desc" in svg
        assert "<text" in svg
        assert not re.search(r"#[0-9a-f]{6}\b", svg), figure.anchor
        assert "var(--c-" in svg
        assert len(svg) < 80_000, (figure.anchor, len(svg))


def test_every_colour_of_the_figures_is_in_both_palettes() -> None:
    from ckpt_audit.report.figures.svg import NAMES

    css = packaged("page.css")
    for name in NAMES:
        assert css.count(f"--c-{name}: #") == 3, name


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    a, b = sorted((light(one), light(other)))
    return (b + 0.05) / (a + 0.05)


@pytest.mark.parametrize("scheme", [0, 1, 2])
def test_contrast_of_text_is_aa(scheme: int) -> None:
    css = packaged("page.css")
    colours = {
        name: re.findall(rf"--c-{name}: (#[0-9a-f]{{6}})", css)[scheme]
        for name in ("paper", "panel", "text", "quiet", "accent", "warn", "line")
    }
    for name in ("text", "quiet", "accent", "warn"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
    for name in ("text", "quiet"):
        assert contrast(colours[name], colours["panel"]) >= 4.5, name


def test_a_missing_template_is_named() -> None:
    with pytest.raises(TemplateNotFound, match=r"nowhere\.html"):
        packaged("nowhere.html")
