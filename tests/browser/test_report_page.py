"""The page in a real browser: it asks nobody for anything, and works by eye, hand and printer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckpt_audit.report import render_report
from tests.report import fixture_data as fixture

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: install the chromium package"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "month.html"
    path.write_text(render_report(fixture.month()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    with Opened(browser, address) as found:
        yield found


class Opened:
    """A page whose requests and console messages fail the test when it closes."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.browser, self.address, self.options = browser, address, options
        self.said: list[str] = []
        self.asked: list[str] = []

    def __enter__(self) -> Any:
        self.context = self.browser.new_context(**self.options)
        page = self.context.new_page()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(self.address)
        return page

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert self.said == []
            away = [url for url in self.asked if not url.startswith(("file:", "data:", "blob:"))]
            assert away == []
            assert len([url for url in self.asked if url.startswith("file:")]) == 1


def test_a_column_sorts_both_ways_with_rows_and_evidence_together(page: Any) -> None:
    table = page.locator("#table-incidents-llama-70b")
    head = table.locator("thead th", has_text="Cost, h")
    before = [x.get_attribute("id") for x in table.locator("tbody").all()]
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    costs = [
        float(x) for x in table.locator("tbody tr:first-child td:nth-child(7)").all_inner_texts()
    ]
    assert costs == sorted(costs, reverse=True)
    for entry in table.locator("tbody").all():
        anchor = (entry.get_attribute("id") or "").removeprefix("incident-")
        assert anchor in entry.locator("summary").inner_text()
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    table.locator("thead th", has_text="Fault").get_by_role("button").click()
    assert [x.get_attribute("id") for x in table.locator("tbody").all()] == before
    assert table.locator("th[aria-sort]").count() == 1


def test_totals_stay_below_when_a_table_is_sorted(page: Any) -> None:
    table = page.locator("#table-time-llama-70b")
    table.locator("thead th", has_text="Hours").first.get_by_role("button").click()
    assert table.locator("tbody tr").first.inner_text().startswith("New steps")
    assert table.locator("tr").last.inner_text().startswith("Allocated")


def test_the_filter_hides_and_counts(page: Any) -> None:
    first = page.locator("#table-incidents-llama-70b")
    section = page.locator("#incidents-llama-70b")
    section.get_by_label("Filter").fill("nccl")
    shown = first.locator("tbody:visible").count()
    assert 0 < shown < first.locator("tbody").count()
    assert section.locator("output").inner_text() == f"{shown} of {first.locator('tbody').count()}"


def test_a_row_opens_its_evidence(page: Any) -> None:
    entry = page.locator("#table-incidents-llama-70b tbody").first
    assert not entry.locator("pre").first.is_visible()
    entry.locator("summary").click()
    assert entry.locator("pre").first.is_visible()
    assert ".log:88412" in entry.locator(".place").first.inner_text()


def test_a_link_to_an_incident_opens_it(browser: Any, address: str) -> None:
    incident = fixture.month().runs[1].incidents[-1].id
    with Opened(browser, f"{address}#incident-{incident}") as page:
        entry = page.locator(f"[id='incident-{incident}']")
        assert entry.locator("pre").first.is_visible()
        assert entry.evaluate("e => e.getBoundingClientRect().top < innerHeight")


def test_a_folded_section_opens_by_key(page: Any) -> None:
    summary = page.locator("#glossary > details > summary")
    assert not page.locator("#glossary dl").is_visible()
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("#glossary dl").is_visible()


def test_the_first_tab_stop_skips_to_the_report(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").evaluate("e => e.getBoundingClientRect().top >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_saves_the_data_of_the_page(page: Any) -> None:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the data").click()
    assert waiting.value.suggested_filename == "ckpt-audit-2026-05.json"
    saved = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert saved["schema"] == "ckpt-audit/report/1"


@pytest.mark.parametrize("width", [360, 390, 768, 1280, 1920])
def test_no_sideways_scrolling(browser: Any, address: str, width: int) -> None:
    with Opened(browser, address, viewport={"width": width, "height": 800}) as page:
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_and_light_differ_and_the_figures_follow(browser: Any, address: str) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        with Opened(browser, address, color_scheme=scheme) as page:
            seen[scheme] = page.evaluate(
                "[getComputedStyle(document.body).backgroundColor,"
                " getComputedStyle(document.querySelector('figure svg text')).fill]"
            )
    assert seen["light"][0] == "rgb(255, 255, 255)"
    assert seen["dark"][0] != seen["light"][0]
    assert seen["dark"][1] != seen["light"][1]


def test_whole_without_scripts(browser: Any, address: str) -> None:
    with Opened(browser, address, java_script_enabled=False) as page:
        assert "went into new steps" in page.locator("h1").inner_text()
        assert page.locator("figure svg").count() == 16
        assert page.locator("#table-incidents-llama-70b tbody").count() == 12
        assert page.get_by_role("button").count() == 0
        page.locator("#table-incidents-llama-70b summary").first.click()
        assert page.locator("#table-incidents-llama-70b pre").first.is_visible()


@pytest.mark.parametrize("size", ["A4", "Letter"])
@pytest.mark.parametrize("scripts", [True, False])
def test_prints_whole(browser: Any, address: str, size: str, scripts: bool) -> None:
    with Opened(browser, address, java_script_enabled=scripts, color_scheme="dark") as page:
        assert page.pdf(format=size).startswith(b"%PDF")
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        assert not page.locator("nav").is_visible()
        assert page.locator("#glossary dl").evaluate("e => e.getBoundingClientRect().height") > 100


def test_hostile_names_do_nothing(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(render_report(fixture.hostile()), encoding="utf-8")
    with Opened(browser, path.as_uri(), viewport={"width": 390, "height": 800}) as page:
        page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert page.locator("img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
