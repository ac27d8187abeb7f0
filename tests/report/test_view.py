"""The page as data: every sentence right for 0, 1 and many, and for what is not known."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ckpt_audit.audit.data import LedgerLine, ReportData
from ckpt_audit.audit.estimate import is_event
from ckpt_audit.facts import Incident
from ckpt_audit.report.blocks import ROW_LIMIT, Changes, ReportView, Section, Table
from ckpt_audit.report.view import build_view, figures_of
from ckpt_audit.report.words import EVENTS, KINDS

from . import fixture_data as fixture

ALL = ("month", "single", "nothing_known", "hostile", "huge")


def section(view: ReportView, name: str, run: int = 0) -> Section:
    every = (*view.runs[run].sections, *view.sections)
    return next(s for s in every if s.anchor.split("-")[0] == name)


def tables(view: ReportView) -> list[Table]:
    sections = [s for r in view.runs for s in r.sections] + list(view.sections)
    return [b for s in sections for b in s.blocks if isinstance(b, Table)]


def hours_in(text: str) -> list[float]:
    return [float(x.replace(",", "")) for x in re.findall(r"([\d,]+\.\d) h\b", text)]


def of_kind(kind: str, **changes: object) -> Incident:
    known = fixture.month().runs[0].incidents[0]
    return replace(known, kind=kind, **changes)  # type: ignore[arg-type]


def test_the_headline_can_be_computed_again_from_the_page() -> None:
    view = build_view(fixture.single())
    ledger = next(t for t in tables(view) if t.anchor.startswith("table-time"))
    rows = {row.cells[0].text: float(row.cells[1].text.replace(",", "")) for row in ledger.rows}
    allocated, lost, biggest = hours_in(view.headline)[:3]
    assert allocated == pytest.approx(sum(rows.values()), abs=0.05 * len(rows))
    assert lost == pytest.approx(allocated - rows["New steps"], abs=0.11)
    assert biggest == max(v for k, v in rows.items() if k != "New steps")
    percent = float(view.headline.split("%")[0])
    assert percent == pytest.approx(100 * rows["New steps"] / allocated, abs=0.06)
    assert view.cards[0].value == f"{percent}%"
    assert view.cards[1].value == f"{lost:,.1f} h"


def test_a_fleet_speaks_of_all_runs_and_then_of_each() -> None:
    view = build_view(fixture.month())
    assert view.headline.startswith("2 runs: ")
    assert view.overview is not None
    assert [r.name for r in view.runs] == ["llama-70b", "moe-8x22"]
    assert all(r.headline and len(r.cards) == 4 for r in view.runs)
    lost = [hours_in(r.headline)[1] for r in view.runs]
    assert hours_in(view.headline)[1] == pytest.approx(sum(lost), abs=0.11)


def test_one_run_is_not_headed_twice() -> None:
    view = build_view(fixture.single())
    assert view.overview is None
    assert view.runs[0].headline == ""


def test_no_incident() -> None:
    view = build_view(fixture.with_incidents(()))
    assert section(view, "incidents").answer == "There was no incident in this window."
    assert section(view, "rate").answer.startswith("No failure in ")
    assert "or more (95% bound)" in section(view, "rate").answer
    assert "No failure was seen" in view.headline
    assert view.cards[2].value == "0"
    assert view.cards[2].note == "no interruption was seen"
    assert section(view, "change").answer.startswith("Nothing: ")
    assert section(view, "recovery").answer == "There was no incident to come back from."


def test_one_incident() -> None:
    known = fixture.month().runs[0].incidents[0]
    view = build_view(fixture.with_incidents((known,)))
    assert section(view, "incidents").answer.startswith("One: a failure that cost ")
    assert section(view, "rate").answer.startswith("1 failure in ")
    assert view.cards[2].label == "Failure"
    assert "1 failures" not in str(view)
    assert "1 incidents" not in str(view)


@pytest.mark.parametrize("n", [1, 4])
def test_few_failures_give_no_point_estimate(n: int) -> None:
    view = build_view(fixture.with_incidents(fixture.month().runs[0].incidents[:n]))
    answer = section(view, "rate").answer
    assert "too few for a rate" in answer
    assert not answer.startswith("Once in")
    table = next(t for t in tables(view) if t.anchor.startswith("table-rate"))
    assert table.rows[0].cells[3].text == "too few"
    assert any("too few" in remark for remark in view.remarks)


def test_planned_ends_only() -> None:
    planned = of_kind("planned", cause="time_limit", detection_s=None)
    view = build_view(fixture.with_incidents((planned, replace(planned, id="x-2"))))
    assert section(view, "incidents").answer.startswith("2 planned ends cost ")
    assert view.cards[2].value == "0"
    assert view.cards[2].note == "2 planned ends"
    assert section(view, "rate").answer.startswith("No failure in ")
    notes = str(section(view, "incidents").blocks)
    assert "none counts as a failure" in notes


def test_a_run_that_never_came_back() -> None:
    away = of_kind("failure", first_step_at=None, recovery_s=None, loss_s=None, caught_up_at=None)
    view = build_view(fixture.with_incidents((away,)))
    assert "had not come back" in view.remarks[0]
    assert "known only in part" in section(view, "incidents").answer
    row = next(t for t in tables(view) if t.anchor.startswith("table-incidents")).rows[0]
    assert "not back" in row.cells[1].badges
    assert row.cells[5].text == "unknown"


def test_no_price_and_no_accelerators() -> None:
    data = fixture.single(price_per_acc_h=None)
    assert "capacity" not in build_view(data).cards[1].note
    one = data.runs[0]
    ledger = tuple(replace(line, observed_acc_us=0) for line in one.ledger)
    view = build_view(replace(data, runs=(replace(one, ledger=ledger, price_per_acc_h=2.0),)))
    assert view.cards[1].note == "number of accelerators unknown"


def test_nothing_known_is_said_and_never_zero() -> None:
    view = build_view(fixture.nothing_known())
    assert view.headline == "No allocated time was seen in this window."
    assert view.cards[0].value == "unknown"
    assert view.cards[1].value == "unknown"
    assert view.cards[3].value == "none"
    assert view.period == "May 2026, so far"
    assert section(view, "interval").answer.startswith("It cannot be said: ")
    row = next(t for t in tables(view) if t.anchor.startswith("table-incidents")).rows[0]
    assert [c.text for c in row.cells[2:]] == [
        "unknown",
        "60.0 s to 66.7 min",
        "up to 10.0 min",
        "unknown",
        "unknown",
        "unknown",
    ]


def test_a_bound_of_a_known_value_is_not_shown_instead() -> None:
    known = of_kind("failure", bounds={"detection_s": (1.0, 2.0)})
    view = build_view(fixture.with_incidents((known,)))
    row = next(t for t in tables(view) if t.anchor.startswith("table-incidents")).rows[0]
    assert " to " not in row.cells[4].text


def test_nothing_to_change_is_an_answer() -> None:
    data = fixture.single()
    quick = tuple(replace(i, detection_s=60.0) for i in data.runs[0].incidents)
    view = build_view(fixture.single(incidents=quick))
    change = section(view, "change")
    assert change.answer.startswith("Nothing: ")
    assert change.blocks == ()
    assert "The save interval needs no change." in view.headline


def test_an_advised_change_stands_in_the_headline() -> None:
    one = fixture.month().runs[0]
    advice = replace(
        one.advice, change=True, recommended_s=3600.0, current_s=36000.0, saving_h=40.0
    )
    view = build_view(fixture.single(advice=advice))
    assert "Saving every 1,000 steps (60.0 min of training) instead of" in view.headline
    assert "would save about 40.0 h" in view.headline
    changes = section(view, "change").blocks[0]
    assert isinstance(changes, Changes)
    assert len(changes.items) <= 5
    assert changes.items[0].saving == "about 40.0 h"
    assert section(view, "interval").answer.startswith("No: ")


def test_restarts_from_an_older_checkpoint_are_counted() -> None:
    incidents = tuple(
        replace(i, verified_step=(i.resume_step or 0) + 2400, detection_s=1.0)
        for i in fixture.month().runs[0].incidents[:3]
    )
    view = build_view(fixture.with_incidents(incidents))
    changes = section(view, "change").blocks[0]
    assert isinstance(changes, Changes)
    first = changes.items[0]
    assert first.saving == f"up to {3 * 2400 * fixture.STEP_S / 3600:.1f} h"


def test_an_older_checkpoint_may_have_been_the_better_one() -> None:
    known = fixture.month().runs[0].incidents[0]
    older = replace(known, verified_step=(known.resume_step or 0) + 2400, detection_s=1.0)
    view = build_view(fixture.with_incidents((older,)))
    changes = section(view, "change").blocks[0]
    assert isinstance(changes, Changes)
    first = changes.items[0]
    assert "1 restart took an older one and did 2,400 steps again" in first.why
    assert "the newer one may have been bad: look at its files" in first.why
    assert "may have saved up to" in first.short
    assert first.short in view.headline
    text = section(view, "change").answer + str(first)
    assert "without need" not in text
    assert "would" not in text


def test_flags_and_in_sample_are_said() -> None:
    view = build_view(fixture.single())
    model = section(view, "model")
    assert model.answer == "In sample: 1 bucket is outside the range (noticing)."
    assert any("In sample" in getattr(b, "text", "") for b in model.blocks)


def test_what_differs_is_named_with_its_evidence() -> None:
    model = section(build_view(fixture.single()), "model")
    (why,) = (b for b in model.blocks if getattr(b, "caption", "") == "Why it differs")
    assert isinstance(why, Table)
    (row,) = why.rows
    assert [cell.text for cell in row.cells][:2] == ["configured timeout", "+2.0"]
    assert "waited for a limit" in row.cells[2].text


TOLD = tuple(x for x in fixture.month().runs[0].ledger if x.predicted_s is not None)
WELL = tuple(
    replace(x, in_sample=False, flag=False, predicted_low_s=0.0, predicted_high_s=1e9) for x in TOLD
)
SMALL = replace(WELL[1], predicted_low_s=1e8)
BLIND = replace(WELL[1], predicted_low_s=None)


@pytest.mark.parametrize(
    ("ledger", "answer", "in_sample"),
    [
        (WELL, "Yes: all 6 buckets are within the range", "all 6 buckets are within the range"),
        (WELL[:1], "Yes: the one bucket is within", "the one bucket is within"),
        (
            (*WELL[:1], replace(SMALL, flag=True)),
            "Not everywhere: 1 bucket is outside the range (",
            "1 bucket is outside the range (",
        ),
        (
            (*WELL[:1], SMALL),
            "Nearly: 1 bucket is outside the range, by too little to matter (",
            "1 bucket is outside the range, by too little to matter (",
        ),
        ((*WELL[:1], BLIND), "In part: 1 of 2 buckets is within", "1 of 2 buckets is within"),
        ((BLIND,), "It cannot be said: no bucket has a range.", "no bucket has a range."),
    ],
)
def test_the_model_is_judged_as_the_verdicts_are(
    ledger: tuple[LedgerLine, ...], answer: str, in_sample: str
) -> None:
    assert section(build_view(fixture.single(ledger=ledger)), "model").answer.startswith(answer)
    same_days = tuple(replace(x, in_sample=True) for x in ledger)
    said = section(build_view(fixture.single(ledger=same_days)), "model").answer
    assert said.startswith(f"In sample: {in_sample}")
    assert "Yes" not in said


@pytest.mark.parametrize(
    ("kinds", "label", "value", "seen"),
    [
        (("unknown",), "Unknown end", "1", "1 unknown end in "),
        (("unknown", "unknown"), "Unknown ends", "2", "2 unknown ends in "),
        (("failure", "unknown"), "Failures and unknown ends", "2", "2 failures and unknown ends"),
        (("failure", "planned"), "Failure", "1", "1 failure in "),
    ],
)
def test_unknown_ends_are_named_where_they_count(
    kinds: tuple[str, ...], label: str, value: str, seen: str
) -> None:
    known = fixture.month().runs[0].incidents
    incidents = tuple(replace(i, kind=k) for i, k in zip(known, kinds, strict=False))
    data = fixture.with_incidents(incidents)
    view = build_view(data)
    assert (view.cards[2].label, view.cards[2].value) == (label, value)
    assert "unknown" not in view.cards[2].note
    assert section(view, "rate").answer.startswith(seen)
    assert f"Only {seen.removesuffix(' in ')}: too few for a rate" in str(view.remarks)
    table = next(t for t in tables(view) if t.anchor.startswith("table-rate"))
    every = "All failures" if "unknown" not in kinds else f"All {label.lower()}"
    assert table.rows[0].cells[0].text.rstrip("s") == every.rstrip("s")
    fleet = build_view(replace(data, runs=(data.runs[0], fixture.month().runs[1])))
    assert fleet.overview is not None
    both = "Failures and unknown ends" if "unknown" in kinds else "Failures"
    assert fleet.cards[2].label == both
    assert fleet.overview.columns[4].label == both
    assert fleet.overview.rows[0].cells[4].text == value


def test_events_are_those_of_the_estimate() -> None:
    assert {kind for kind in KINDS if is_event(of_kind(kind))} == set(EVENTS)


def test_a_planned_end_has_nothing_to_notice() -> None:
    planned = of_kind("planned", detection_s=None, bounds={"detection_s": (None, 600.0)})
    unknown = of_kind("unknown", id="x-2", detection_s=None)
    view = build_view(fixture.with_incidents((planned, unknown)))
    rows = next(t for t in tables(view) if t.anchor.startswith("table-incidents")).rows
    assert {row.cells[1].text.split(":")[0]: row.cells[4].text for row in rows} == {
        "planned end": "\N{EN DASH}",
        "end of unknown kind": "unknown",
    }


def test_long_tables_are_cut_and_say_so() -> None:
    view = build_view(fixture.huge())
    table = next(t for t in tables(view) if t.anchor.startswith("table-incidents"))
    assert len(table.rows) == ROW_LIMIT
    assert table.note.startswith("The first 500 of 1,200 incidents are shown")
    assert view.cards[2].value == "1,200"
    assert view.payload["cut"] == "500 of 1200 incidents, without their evidence"


@pytest.mark.parametrize("name", ALL)
def test_anchors_are_unique_and_every_link_leads_somewhere(name: str) -> None:
    view = build_view(getattr(fixture, name)())
    sections = [s for r in view.runs for s in r.sections] + list(view.sections)
    anchors = [s.anchor for s in sections] + [r.anchor for r in view.runs]
    blocks = [b for s in sections for b in s.blocks]
    for block in blocks:
        anchors += [block.anchor] if hasattr(block, "anchor") else []
        inner = getattr(block, "table", None)
        anchors += [inner.anchor] if inner else []
        if isinstance(block, Table):
            anchors += [row.anchor for row in block.rows if row.anchor]
    anchors += ["overview"] if view.overview else []
    assert len(anchors) == len(set(anchors))
    links = [c.href for r in view.runs for c in r.cards] + [c.href for c in view.cards]
    links += [i.href for b in blocks if isinstance(b, Changes) for i in b.items]
    assert {link.removeprefix("#") for link in links if link} <= set(anchors)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", anchor) for anchor in anchors)


@pytest.mark.parametrize("name", ALL)
def test_rows_fit_their_heads(name: str) -> None:
    view = build_view(getattr(fixture, name)())
    inner = [f.table for f in figures_of(view) if f.table]
    for table in [*tables(view), *inner, *([view.overview] if view.overview else [])]:
        for row in (*table.rows, *([table.total] if table.total else [])):
            assert len(row.cells) == len(table.columns), table.anchor


@pytest.mark.parametrize("name", ["month", "single", "nothing_known"])
def test_numbers_are_neither_raw_nor_false(name: str) -> None:
    text = str(build_view(getattr(fixture, name)()).runs)
    assert " nan" not in text
    assert "inf h" not in text
    assert "None h" not in text
    assert "-0.0" not in text


def test_every_section_answers_its_question_in_a_sentence() -> None:
    for name in ALL:
        view = build_view(getattr(fixture, name)())
        for part in [s for r in view.runs for s in r.sections] + list(view.sections):
            assert part.answer.endswith("."), part.answer
            assert part.answer[0].isupper() or part.answer[0].isdigit() or name == "hostile"


def test_the_same_facts_give_the_same_view() -> None:
    first: ReportData = fixture.month()
    assert build_view(first) == build_view(fixture.month())


def test_figures_need_no_matplotlib_until_they_are_drawn() -> None:
    import subprocess
    import sys

    code = (
        "import sys; import ckpt_audit.report, ckpt_audit.report.view; "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
