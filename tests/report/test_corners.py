"""The page is made whatever is missing: each fact in turn is taken away, and figures still draw."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, get_type_hints

import pytest

from ckpt_audit.audit.data import RunReport
from ckpt_audit.facts import Checkpoint, Incident, LedgerRow, SaveCadence
from ckpt_audit.report import render_report
from ckpt_audit.report.blocks import Table
from ckpt_audit.report.view import build_view

from . import fixture_data as fixture

DATA = fixture.single()
ONE = DATA.runs[0]


def optional(shape: type) -> list[str]:
    return [name for name, hint in get_type_hints(shape).items() if type(None) in _args(hint)]


def _args(hint: Any) -> tuple[Any, ...]:
    return getattr(hint, "__args__", ())


def page(**changes: Any) -> str:
    return render_report(replace(DATA, runs=(replace(ONE, **changes),)))


@pytest.mark.parametrize("name", optional(Incident))
def test_an_incident_without(name: str) -> None:
    incidents = tuple(replace(i, **{name: None}) for i in ONE.incidents)  # type: ignore[arg-type]
    view = build_view(replace(DATA, runs=(replace(ONE, incidents=incidents),)))
    tables = [b for s in view.runs[0].sections for b in s.blocks if isinstance(b, Table)]
    texts = [s.answer for s in view.runs[0].sections]
    texts += [c.text for t in tables for r in t.rows for c in r.cells]
    texts += [f"{v}" for t in tables for r in t.rows if r.detail for _, v in r.detail.facts]
    assert not any("None" in text or "nan" in text.split() for text in texts)


@pytest.mark.parametrize("name", optional(Checkpoint))
def test_a_save_without(name: str) -> None:
    saves = tuple(replace(c, **{name: None}) for c in ONE.checkpoints[:20])  # type: ignore[arg-type]
    assert page(checkpoints=saves, newest_verified=saves[-1])


@pytest.mark.parametrize("name", optional(SaveCadence))
def test_a_cadence_without(name: str) -> None:
    assert page(cadence=replace(ONE.cadence, **{name: None}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", [f.name for f in fields(RunReport) if isinstance(getattr(ONE, f.name), tuple)]
)
def test_a_run_without_any(name: str) -> None:
    assert page(**{name: ()})


def test_all_time_productive() -> None:
    ledger = tuple(x for x in ONE.ledger if x.bucket == "productive")
    text = page(ledger=ledger, incidents=(), calendar=())
    assert "100.0% of " in text
    assert "Nothing was lost." in text


def test_nothing_productive() -> None:
    ledger = tuple(x for x in ONE.ledger if x.bucket != "productive")
    assert "0.0% of " in page(ledger=ledger)


def test_a_speck_is_neither_all_nor_nothing() -> None:
    kept = next(x for x in ONE.ledger if x.bucket == "productive")
    speck = replace(kept, bucket="stall", observed_us=1_000_000, observed_acc_us=0)
    view = build_view(replace(DATA, runs=(replace(ONE, ledger=(kept, speck)),)))
    assert view.headline.startswith(">99.9% of ")
    assert "<0.1 h were lost" in view.headline


def test_every_bucket_and_one_that_is_new() -> None:
    from ckpt_audit.report.words import BUCKETS

    kept = ONE.ledger[0]
    names = [*BUCKETS, "brand_new"]
    ledger = tuple(
        replace(kept, bucket=b, observed_us=10**9 * (n + 1)) for n, b in enumerate(names)
    )
    calendar = tuple(LedgerRow(kept.run, b, 10**9, 0, 0, 1) for b in names)
    assert "brand new" in page(ledger=ledger, calendar=calendar)


def test_a_window_of_an_hour() -> None:
    window = replace(fixture.WINDOW, end_at=fixture.MAY + fixture.H, label="1 h")
    assert render_report(replace(DATA, window=window, as_of=window.end_at))


def test_no_run_at_all() -> None:
    text = render_report(replace(DATA, runs=()))
    assert "No run was seen in this window." in text


def test_names_with_markup_in_figures() -> None:
    bad = tuple(replace(i, cause=fixture.HOSTILE, detector="$x^2$ <b>") for i in ONE.incidents)
    text = page(incidents=bad)
    assert "<b>" not in text.split("<figure")[1]
    assert "$x^2$" in text
