"""What a person overrules holds, is shown with its reason, and survives reading everything anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ckpt_audit.config_load import FILE_NAME, load_config
from ckpt_audit.errors import ConfigError
from tests.laws.site import site

from .conftest import Site

Json = dict[str, Any]
ALL = ("--since", "2026-01-01", "--until", "2027-01-01")
CRASH, HANG, LIMIT = "llama-s39-1", "llama-s79-1", "llama-s119-1"


def _write(here: Site, corrections: str = "") -> None:
    for name, lines in site().items():
        (here.folder / name).write_text("".join(f"{line}\n" for line in lines))
    (here.folder / "ckpt-audit.toml").write_text(f'timezone = "UTC"\n{corrections}')


def _read(here: Site) -> None:
    here.run("ingest", *sorted(here.folder.glob("s*.*")), here.folder / "kernel.log")


def _incidents(here: Site) -> dict[str, Json]:
    return {item["id"]: item for item in here.json("incidents", *ALL)["incidents"]}


@pytest.fixture(scope="module")
def plain(quick_site: Callable[[], Site]) -> dict[str, Json]:
    """The incidents as they are found."""
    here = quick_site()
    _write(here)
    _read(here)
    return _incidents(here)


@pytest.fixture
def corrected(quick_site: Callable[[], Site]) -> Callable[[str], Site]:
    """A site with corrections, read."""

    def make(corrections: str) -> Site:
        here = quick_site()
        _write(here, corrections)
        _read(here)
        return here

    return make


def _one(**keys: str) -> str:
    return "[[correction]]\n" + "".join(
        f"{key} = {value if key in ('at', 'start', 'end') else repr(value)}\n".replace("'", '"')
        for key, value in keys.items()
    )


def test_reclassify(corrected: Callable[[str], Site], plain: dict[str, Json]) -> None:
    here = corrected(
        _one(action="reclassify", incident=HANG, kind="planned", cause="operator", reason="drill")
    )
    found = _incidents(here)
    assert (found[HANG]["kind"], found[HANG]["cause"]) == ("planned", "operator")
    assert found[HANG]["detection_s"] is None
    assert found[HANG]["overruled"] == ["reclassify: drill"]
    assert plain[HANG]["kind"] == "failure"
    assert found[CRASH] == plain[CRASH] | {"evidence": found[CRASH]["evidence"]}
    report = here.json("report", *ALL)
    assert any(one["kind"] == "overruled" and "drill" in one["text"] for one in report["findings"])
    assert "drill" in here.run("explain", HANG)
    here.run("report", *ALL, "-o", here.folder / "page.html")
    assert "drill" in (here.folder / "page.html").read_text()


def test_set_a_moment(corrected: Callable[[str], Site], plain: dict[str, Json]) -> None:
    was = plain[HANG]
    here = corrected(
        _one(action="set", incident=HANG, moment="detected_at", at="2026-05-30T21:20:00Z",
             reason="pager")
    )  # fmt: skip
    found = _incidents(here)[HANG]
    assert found["detected_at"] == "2026-05-30T21:20:00+00:00" < was["detected_at"]
    assert found["loss_s"] == pytest.approx(was["loss_s"])
    assert found["detector"] == "person"


def test_a_moment_out_of_order_does_not_hold(
    corrected: Callable[[str], Site], plain: dict[str, Json]
) -> None:
    here = corrected(
        _one(action="set", incident=HANG, moment="fault_at", at="2026-06-09T00:00:00Z", reason="x")
    )
    assert _incidents(here)[HANG]["fault_at"] == plain[HANG]["fault_at"]
    kinds = {one["kind"]: one["text"] for one in here.json("report", *ALL)["findings"]}
    assert "before or after its neighbours" in kinds["correction_unused"]


def _unused(here: Site) -> list[str]:
    findings = here.json("report", *ALL)["findings"]
    return [one["text"] for one in findings if one["kind"] == "correction_unused"]


def _set(moment: str, at: str, incident: str = HANG) -> str:
    return _one(action="set", incident=incident, moment=moment, at=at, reason=f"my {moment}")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # each of the two would stand between what was found
        (("fault_at", "2026-05-30T21:20:00Z"), ("detected_at", "2026-05-30T21:10:00Z")),
        (("load_started_at", "2026-05-30T21:43:00Z"), ("restored_at", "2026-05-30T21:42:30Z")),
        (("launched_at", "2026-05-30T21:43:30Z"), ("load_started_at", "2026-05-30T21:42:30Z")),
    ],
)
def test_two_moments_out_of_order_are_one_line(
    corrected: Callable[[str], Site],
    plain: dict[str, Json],
    first: tuple[str, str],
    second: tuple[str, str],
) -> None:
    """Neither holds, the other corrections and the run do."""
    other = _one(action="reclassify", incident=CRASH, cause="network", reason="switch log")
    here = corrected(_set(*first) + _set(*second) + other)
    found = _incidents(here)
    assert found[HANG] == plain[HANG] | {"evidence": found[HANG]["evidence"]}
    assert found[CRASH]["cause"] == "network"
    (text,) = _unused(here)
    assert text.startswith("ckpt-audit.toml:2: ")
    assert f"{first[0]} at line 2" in text
    assert f"{second[0]} at line 8" in text


def test_two_moments_that_only_together_are_in_order(
    corrected: Callable[[str], Site], plain: dict[str, Json]
) -> None:
    """The detection lies before the fault that was found, not before the one that is set."""
    before = plain[HANG]["fault_at"]
    assert before > "2026-05-30T20:56:03" > plain[HANG]["last_step_at"]
    here = corrected(
        _set("detected_at", "2026-05-30T20:56:03Z") + _set("fault_at", "2026-05-30T20:56:02Z")
    )
    found = _incidents(here)[HANG]
    assert not _unused(here)
    assert found["detection_s"] == 1.0
    assert found["overruled"] == ["set: my detected_at", "set: my fault_at"]


def test_a_moment_of_the_return(corrected: Callable[[str], Site], plain: dict[str, Json]) -> None:
    was = plain[HANG]
    here = corrected(_set("restored_at", "2026-05-30T21:43:00Z"))
    found = _incidents(here)[HANG]
    assert found["restored_at"] == "2026-05-30T21:43:00+00:00" != was["restored_at"]
    assert found["recovery_s"] == was["recovery_s"]
    assert found["launch_s"] + found["restore_s"] + found["warmup_s"] == pytest.approx(
        was["launch_s"] + was["restore_s"] + was["warmup_s"]
    )
    assert found["overruled"] == ["set: my restored_at"]
    (evidence,) = [one for one in found["evidence"] if one["moment"] == "restored_at"]
    assert (evidence["file"], evidence["text"]) == (None, "a person set it")


def test_a_superseded_correction_is_called_so(corrected: Callable[[str], Site]) -> None:
    here = corrected(
        _one(action="reclassify", incident=HANG, kind="planned", reason="first thought")
        + _one(action="merge", incident=HANG, into=CRASH, reason="one thing")
        + _one(action="reclassify", incident=HANG, kind="failure", cause="data", reason="second")
        + _one(action="split", incident=HANG, reason="two things")
    )
    found = _incidents(here)
    assert (found[HANG]["kind"], found[HANG]["cause"]) == ("failure", "data")
    assert found[HANG]["overruled"] == ["reclassify: second"]
    told = sorted(text.split(";")[0] for text in _unused(here))
    assert told == [
        (
            "ckpt-audit.toml:18: this correction (split) holds nowhere: it is an incident of its "
            "own already"
        ),
        "ckpt-audit.toml:2: this correction (reclassify) is superseded by line 12",
        "ckpt-audit.toml:7: this correction (merge) is superseded by line 18",
    ]


@pytest.mark.parametrize(
    ("incident", "into", "words"),
    [
        (HANG, "llama-s40-1", "there is no incident llama-s40-1; the nearest is llama-s"),
        ("llama-s790-1", CRASH, "no incident of that name; the nearest is llama-s79-1"),
        (LIMIT, CRASH, "does not follow"),
        (CRASH, HANG, "does not follow"),
        (HANG, "x" * 100_000, "there is no incident xxx"),
    ],
)
def test_a_merge_that_cannot_hold_is_told_with_its_line(
    corrected: Callable[[str], Site],
    plain: dict[str, Json],
    incident: str,
    into: str,
    words: str,
) -> None:
    here = corrected(_one(action="merge", incident=incident, into=into, reason="x"))
    assert set(_incidents(here)) == set(plain)
    (text,) = _unused(here)
    assert text.startswith("ckpt-audit.toml:2: ")
    assert words in text
    assert len(text) < 500


def test_a_merge_after_its_target_is_gone(corrected: Callable[[str], Site]) -> None:
    """Reading on makes the target vanish: the merge must not find another one."""
    here = corrected(_one(action="merge", incident=HANG, into=CRASH, reason="same switch"))
    assert HANG not in _incidents(here)
    here.run("forget", here.folder / "slurm-101.out")
    assert HANG in _incidents(here)
    assert any("there is no incident llama-s39-1" in text for text in _unused(here))


def test_a_chain_of_merges_and_what_breaks_it(corrected: Callable[[str], Site]) -> None:
    whole = _one(action="merge", incident=LIMIT, into=CRASH, reason="b")
    link = _one(action="merge", incident=HANG, into=CRASH, reason="a")
    assert set(_incidents(corrected(whole + link))) == {CRASH}
    # into any end of the chain is into the chain
    assert set(_incidents(corrected(whole.replace(CRASH, HANG) + link))) == {CRASH}
    assert set(_incidents(corrected(whole))) == {CRASH, HANG, LIMIT}


def test_merge_and_what_does_not_follow(corrected: Callable[[str], Site]) -> None:
    here = corrected(_one(action="merge", incident=HANG, into=CRASH, reason="same switch"))
    found = _incidents(here)
    assert set(found) == {CRASH, LIMIT}
    assert found[CRASH]["attempts"] == 3
    assert found[CRASH]["ends"] == [CRASH, HANG]
    wrong = corrected(_one(action="merge", incident=LIMIT, into=CRASH, reason="no"))
    assert set(_incidents(wrong)) == {CRASH, HANG, LIMIT}
    texts = [
        one["text"]
        for one in wrong.json("report", *ALL)["findings"]
        if one["kind"] == "correction_unused"
    ]
    assert len(texts) == 1
    assert "does not follow" in texts[0]


def _ledger(here: Site) -> dict[str, float]:
    return {row["bucket"]: row["observed_s"] for row in here.json("report", *ALL)["ledger"]}


def test_work_kept_between_merged_ends_stays_productive(
    corrected: Callable[[str], Site], plain: dict[str, Json]
) -> None:
    """The return is that of the last end, and the loss is what both had lost: no more, no less."""
    before = _ledger(corrected(""))
    here = corrected(_one(action="merge", incident=HANG, into=CRASH, reason="same switch"))
    merged, parts = _incidents(here)[CRASH], (plain[CRASH], plain[HANG])
    for key in ("replaced_at", "launched_at", "restored_at", "first_step_at", "resume_step"):
        assert merged[key] == plain[HANG][key], key
    for key in ("loss_s", "lost_work_s", "steps_lost", "replacement_s", "repeated_s"):
        assert merged[key] == pytest.approx(sum(part[key] for part in parts)), key
    assert merged["detection_s"] == plain[CRASH]["detection_s"]
    assert merged["unsaved_work_s"] == plain[CRASH]["unsaved_work_s"]
    # what the later hang waited is time of a retry that did not last
    kept = {"detection", "restart"}
    after = _ledger(here)
    assert {k: v for k, v in after.items() if k not in kept} == {
        k: v for k, v in before.items() if k not in kept
    }
    assert after["restart"] - before["restart"] == pytest.approx(plain[HANG]["detection_s"])


def test_split_takes_a_merge_back(corrected: Callable[[str], Site], plain: dict[str, Json]) -> None:
    here = corrected(
        _one(action="merge", incident=HANG, into=CRASH, reason="same switch")
        + _one(action="split", incident="llama-s1-1", reason="nothing of that name")
    )
    texts = [one["text"] for one in here.json("report", *ALL)["findings"]]
    assert any("no incident of that name" in text for text in texts)


def test_exclude_cuts_time_and_events(
    corrected: Callable[[str], Site], plain: dict[str, Json]
) -> None:
    here = corrected(
        _one(action="exclude", start="2026-05-30T20:50:00Z", end="2026-05-30T21:40:00Z",
             reason="acceptance test")
    )  # fmt: skip
    found = _incidents(here)
    assert [item["excluded"] for item in found.values()] == [
        "2026-05-30T20:50" <= item["fault_at"] < "2026-05-30T21:40" for item in plain.values()
    ]
    assert any(item["excluded"] for item in found.values())
    report = here.json("report", *ALL)
    events = sum(not item["excluded"] and item["kind"] == "failure" for item in found.values())
    m = {row["population"]: row for row in report["estimate"]["runs"][0]["m"]}
    assert m["all"]["incidents"] == events
    assert any("in no figure" in one["text"] for one in report["findings"])


def test_corrections_survive_reading_anew(
    corrected: Callable[[str], Site], quick_site: Callable[[], Site]
) -> None:
    text = _one(action="reclassify", incident=HANG, cause="network", reason="switch log")
    here = corrected(text)
    first = here.json("incidents", *ALL)
    here.run("forget", here.folder)
    _read(here)
    assert here.json("incidents", *ALL) == first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[correction]]\naction = 'erase'\nreason = 'x'\n", "must be one of merge"),
        ("[[correction]]\naction = 'split'\nincident = 'a'\n", "needs 'reason'"),
        ("[[correction]]\naction = 'merge'\nincident = 'a'\nreason = 'x'\n", "needs 'into'"),
        (_one(action="split", incident="a", kind="planned", reason="x"), "has no meaning"),
        (_one(action="reclassify", incident="a", reason="x"), "say 'kind' or 'cause'"),
        ("[[correction]]\nacton = 'split'\n", "needs 'action'"),
        (_one(action="exclude", start="2026-05-02", end="2026-05-01", reason="x"), "ends before"),
    ],
)
def test_a_wrong_correction_is_one_line(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)) as told:
        load_config({}, {}, Path(), lambda path: text if path.name == FILE_NAME else None)
    assert re.fullmatch(r"\S*ckpt-audit\.toml:\d+", told.value.where or "")


def test_a_source_read_in_the_wrong_zone_is_forgotten(
    quick_site: Callable[[], Site], plain: dict[str, Json]
) -> None:
    """Forgetting a mistake and reading again equals never having made it."""
    here = quick_site()
    for name, lines in site().items():
        (here.folder / name).write_text("".join(f"{line}\n" for line in lines))
    here.run("ingest", *sorted(here.folder.glob("s*.*")), here.folder / "kernel.log",
             "--tz", "Asia/Tokyo")  # fmt: skip
    wrong = _incidents(here)
    assert wrong[HANG]["fault_at"] != plain[HANG]["fault_at"]
    here.run("forget", here.folder)
    (here.folder / "ckpt-audit.toml").write_text('timezone = "UTC"\n')
    _read(here)
    right = _incidents(here)
    for item in (*right.values(), *plain.values()):
        item.pop("evidence", None)
    assert right == plain


@pytest.mark.parametrize("moved", [False, True])
def test_the_borders_of_what_is_excluded(
    corrected: Callable[[str], Site], plain: dict[str, Json], moved: bool
) -> None:
    """It begins with its first instant and ends before its last: saves, launches, incidents."""
    fault = plain[HANG]["fault_at"]
    other = "2026-05-30T20:40:00Z"
    start, end = (other, fault) if moved else (fault, "2026-05-30T21:00:00Z")
    here = corrected(_one(action="exclude", start=start, end=end, reason="acceptance test"))
    found = _incidents(here)[HANG]
    assert found["excluded"] is not moved
    assert found["overruled"] == ([] if moved else ["exclude: acceptance test"])
    estimate = here.json("report", *ALL)["estimate"]["runs"][0]
    m = {row["population"]: row for row in estimate["m"]}
    assert m["all"]["incidents"] == (2 if moved else 1)


def test_saves_and_launches_in_what_is_excluded(corrected: Callable[[str], Site]) -> None:
    """Twice the same stretch in two pieces that overlap is once the whole."""
    whole = corrected("").json("report", *ALL)["estimate"]["runs"][0]
    text = _one(
        action="exclude", start="2026-05-30T20:00:00Z", end="2026-05-30T20:33:00Z", reason="a"
    )
    pieces = _one(
        action="exclude", start="2026-05-30T20:00:00Z", end="2026-05-30T20:25:00Z", reason="a"
    ) + _one(action="exclude", start="2026-05-30T20:10:00Z", end="2026-05-30T20:33:00Z", reason="b")
    here = corrected(text)
    once = here.json("report", *ALL)
    cut = once["estimate"]["runs"][0]
    # three of the saves and of the launches lie in it
    assert (whole["c"]["n"], whole["launches"]["n"]) == (13, 5)
    assert (cut["c"]["n"], cut["launches"]["n"]) == (10, 2)
    twice = corrected(pieces).json("report", *ALL)
    assert twice["estimate"] == once["estimate"]
    assert twice["ledger"] == once["ledger"]


HOSTILE = r"<script>alert(1)</script> \u001b[31mred\nnext \u202e=1+1"


def test_a_hostile_reason(corrected: Callable[[str], Site]) -> None:
    here = corrected(
        f'[[correction]]\naction = "reclassify"\nincident = "{HANG}"\ncause = "data"\n'
        f'reason = "{HOSTILE}"\n'
    )
    for words in (("incidents", *ALL), ("explain", HANG), ("incidents", *ALL, "--csv")):
        text = here.run(*words)
        assert "red" in text, words
        assert "\x1b" not in text, words
        assert "\u202e" not in text, words
    here.run("report", *ALL, "-o", here.folder / "page.html")
    page = (here.folder / "page.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert "\x1b" not in page
