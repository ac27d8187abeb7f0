"""What may not change an answer, does not; what must, does so exactly."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.command import call
from tests.laws.site import START, Files, site

Json = dict[str, Any]
FEW = settings(max_examples=3, deadline=None)
FEWER = settings(max_examples=2, deadline=None)  # of what ingests seven times an example
LOG = "slurm-103.out"
NAMES = sorted(site())
ALL_TIME = ("--since", "2026-01-01", "--until", "2027-01-01")
MOMENTS = (
    "last_step_at fault_at detected_at replaced_at launched_at load_started_at restored_at "
    "first_step_at caught_up_at precursor_at"
).split()


class Place:
    """A folder with a warehouse."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _call(self, *words: str, allowed: tuple[int, ...] = (0,)) -> str:
        return call(*words, "--db", str(self.folder / "audit.duckdb"), allowed=allowed)

    def write(self, name: str, lines: Iterable[str]) -> Path:
        """Writes a file."""
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def ingest(self, *paths: Path, allowed: tuple[int, ...] = (0,)) -> None:
        """Reads files, in this order."""
        self._call("ingest", *(str(path) for path in paths), "--tz", "UTC", allowed=allowed)

    def read(self, files: Files) -> None:
        """Writes and reads a site."""
        self.ingest(*(self.write(name, lines) for name, lines in files.items()))

    def answer(self, *window: str) -> Json:
        """Incidents and ledgers, without the names of the files behind them."""
        window = window or ALL_TIME
        incidents = json.loads(self._call("incidents", *window, "--json"))["incidents"]
        report = json.loads(self._call("report", *window, "--json"))
        for item in incidents:
            del item["evidence"]
        return {
            "incidents": incidents,
            "ledger": report["ledger"],
            "estimate": report["estimate"]["runs"],
        }


@contextmanager
def place() -> Iterator[Place]:
    """An empty folder; examples of one test must not see each other."""
    with tempfile.TemporaryDirectory() as folder:
        yield Place(Path(folder))


@cache
def _whole() -> str:
    with place() as here:
        here.read(site())
        return json.dumps(here.answer())


@pytest.fixture
def whole() -> Json:
    """The answer to the site as it is."""
    answer: Json = json.loads(_whole())
    return answer


def test_the_site_has_what_the_laws_are_about(whole: Json) -> None:
    kinds = [(item["kind"], item["cause"], item["attempts"]) for item in whole["incidents"]]
    assert kinds == [("failure", "gpu", 2), ("failure", "unknown", 1), ("planned", "scheduler", 1)]
    assert [item["steps_lost"] for item in whole["incidents"]] == [3, 7, 11]
    buckets = {row["bucket"] for row in whole["ledger"] if row["observed_s"]}
    assert {"productive", "checkpoint", "lost_work", "detection", "restart"} <= buckets


@FEW
@given(cut=st.integers(1, len(site()[LOG]) - 1))
def test_splitting_a_log_at_any_line_changes_nothing(cut: int) -> None:
    files = site()
    lines = files.pop(LOG)
    with place() as here:
        rest = [here.write(name, content) for name, content in files.items()]
        parts = [here.write(f"{LOG}.1", lines[:cut]), here.write(LOG, lines[cut:])]
        here.ingest(*rest, *parts)
        assert here.answer() == json.loads(_whole())


@FEWER
@given(seed=st.integers(0, 10**6))
def test_order_of_ingestion_changes_nothing(seed: int) -> None:
    names = list(NAMES)
    random.Random(seed).shuffle(names)
    files = site()
    with place() as here:
        for name in names:
            here.ingest(here.write(name, files[name]))
        assert here.answer() == json.loads(_whole())


@FEW
@given(cuts=st.lists(st.floats(0.05, 0.95), min_size=1, max_size=3, unique=True))
def test_a_prefix_and_then_the_rest_is_the_whole(cuts: list[float]) -> None:
    """Files that grow between ingestions, cut anywhere, also inside a line."""
    files = {name: "".join(f"{line}\n" for line in lines) for name, lines in site().items()}
    with place() as here:
        for cut in [*sorted(cuts), 1.0]:
            for name, text in files.items():
                (here.folder / name).write_text(text[: max(1, round(len(text) * cut))])
            # a row that is cut short is rejected until the rest of it is there
            here.ingest(
                *(here.folder / name for name in files), allowed=(0, 4) if cut < 1 else (0,)
            )
        assert here.answer() == json.loads(_whole())


@FEW
@given(shift_s=st.integers(-86_400 * 80, 86_400 * 80))
def test_shifting_all_clocks_shifts_all_times(shift_s: int) -> None:
    before = json.loads(_whole())
    with place() as here:
        here.read(site(timedelta(seconds=shift_s)))
        after = here.answer()
    assert after["ledger"] == before["ledger"]
    assert after["estimate"][0]["m"] == before["estimate"][0]["m"]
    for old, new in zip(before["incidents"], after["incidents"], strict=True):
        assert {name: new[name] for name in new if name not in (*MOMENTS, "bounds")} == {
            name: old[name] for name in old if name not in (*MOMENTS, "bounds")
        }
        for name in MOMENTS:
            assert _moved(old[name], shift_s) == new[name]


def _moved(text: str | None, shift_s: int) -> str | None:
    if text is None:
        return None
    moved = type(START).fromisoformat(text) + timedelta(seconds=shift_s)
    return moved.isoformat()


@FEW
@given(hours=st.lists(st.floats(0.1, 4.5), min_size=1, max_size=3, unique=True))
def test_windows_add_up_to_the_whole(hours: list[float]) -> None:
    """Cut anywhere, also inside a step: each bucket adds up to the microsecond."""
    edges = [START + timedelta(hours=hour) for hour in sorted(hours)]
    names = ["2026-05-01", *(edge.isoformat() for edge in edges), "2026-07-01"]
    with place() as here:
        here.read(site())
        parts = [here.answer("--since", a, "--until", b) for a, b in itertools.pairwise(names)]
        whole = here.answer()
    spent: dict[str, int] = {}
    for part in parts:
        for row in part["ledger"]:
            spent[row["bucket"]] = spent.get(row["bucket"], 0) + round(row["observed_s"] * 1e6)
    expected = {row["bucket"]: round(row["observed_s"] * 1e6) for row in whole["ledger"]}
    assert spent == expected
    ids = [item["id"] for part in parts for item in part["incidents"]]
    assert sorted(ids) == sorted(item["id"] for item in whole["incidents"])
