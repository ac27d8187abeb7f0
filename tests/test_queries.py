"""Windows are cut exactly: what two adjacent windows hold is what the window over both holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit import queries, stages
from ckpt_audit.config import Config
from ckpt_audit.facts import LedgerRow, Window
from ckpt_audit.warehouse import Warehouse
from tests.sql.harness import Row, fill

S = 1_000_000
DATA_END = 4_000 * S
CUTS = st.lists(
    st.one_of(
        st.integers(-100, DATA_END),
        st.integers(0, 400).map(lambda n: n * 10 * S),  # borders of stretches are likely there
    ),
    max_size=5,
)


class World:
    """A few jobs and logs, made line by line."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = {
            name: []
            for name in ("source", "raw_job", "job_time", "raw_step", "raw_event", "line_time")
        }
        self._next_line: dict[int, int] = {}

    def source(self, number: int, form: str, name: str) -> None:
        """Adds a file."""
        self.tables["source"].append(
            {
                "source_id": number,
                "path": f"logs/{name}",
                "name": name,
                "format": form,
                "content_sha256": f"{number:064d}",
                "n_bytes": 1,
                "n_lines": 1,
                "n_rows": 1,
                "n_rejected": 0,
                "name_refs": [name.split(".", maxsplit=1)[0]] if form == "job_log" else [],
            }
        )

    def _line(self, source: int, at_s: float | None) -> int:
        line = self._next_line.get(source, 0) + 1
        self._next_line[source] = line
        if at_s is not None:
            at = round(at_s * S)
            self.tables["line_time"].append(
                {
                    "source_id": source,
                    "line_no": line,
                    "at": at,
                    "low": at,
                    "high": at,
                    "strength": "stated",
                }
            )
        return line

    def job(
        self, number: int, name: str, state: str, *, submit: int, start: int, end: int | None
    ) -> None:
        """Adds a scheduler record to the dump, source 1, and the job's log."""
        line = self._line(1, None)
        self.tables["raw_job"].append(
            {
                "source_id": 1,
                "line_no": line,
                "cluster": "",
                "job_id": str(number),
                "job_id_raw": str(number),
                "step_id": "",
                "name": name,
                "user": "ann",
                "work_dir": "/w",
                "state": state,
                "exit_code": 0,
                "elapsed_us": ((DATA_END // S if end is None else end) - start) * S,
                "n_accelerators": 8,
                "nodes": ["n1"],
            }
        )
        self.tables["job_time"].append(
            {
                "source_id": 1,
                "line_no": line,
                "submitted_at": submit * S,
                "started_at": start * S,
                "ended_at": None if end is None else end * S,
            }
        )
        self.source(number, "job_log", f"{number}.out")

    def event(self, source: int, kind: str, at_s: float | None, **columns: object) -> None:
        """Adds an event line."""
        self.tables["raw_event"].append(
            {"source_id": source, "line_no": self._line(source, at_s), "kind": kind, "text": kind}
            | columns
        )

    def steps(self, source: int, numbers: Iterable[int], start: float, each: float) -> float:
        """Adds step lines, so many seconds apart; gives the time of the last."""
        at_s = start
        for n, number in enumerate(numbers):
            at_s = start + n * each
            self.tables["raw_step"].append(
                {
                    "source_id": source,
                    "line_no": self._line(source, at_s),
                    "step": number,
                    "target_step": 1000,
                    "resolution_us": 1000,
                    "emitter": "megatron",
                }
            )
        return at_s

    def save(self, source: int, step: int, start: float | None, end: float | None) -> None:
        """Adds a save, complete when it has an end."""
        self.event(source, "save_started", start, step=step, path="/ckpt")
        if end is not None:
            self.event(source, "save_done", end, step=step, path="/ckpt")

    def build(self, warehouse: Warehouse, config: Config | None = None) -> None:
        """Fills a warehouse and makes its derived tables."""
        for table, rows in self.tables.items():
            fill(warehouse, table, rows)
        assert stages.run(warehouse, config or Config()) == []


def _two_runs() -> World:
    """Two runs: a failure with a failed retry and a planned stop; a hang; both end running."""
    world = World()
    world.source(1, "slurm_sacct", "sacct.txt")
    world.job(11, "llama", "FAILED", submit=0, start=60, end=700)
    world.event(11, "launch", 70, code="8")
    world.event(11, "load_none", 80)
    last = world.steps(11, range(1, 21), 100, 10)
    world.save(11, 20, last + 0.5, last + 30)
    last = world.steps(11, range(21, 31), last + 40, 10)
    world.event(11, "traceback", None, code="ValueError")
    world.job(12, "llama", "FAILED", submit=720, start=800, end=830)
    world.event(12, "launch", 810, code="8")
    world.job(13, "llama", "TIMEOUT", submit=840, start=900, end=1500)
    world.event(13, "launch", 910, code="8")
    world.event(13, "load_done", 950, step=20)
    world.steps(13, range(21, 71), 1003, 10)
    world.job(14, "llama", "RUNNING", submit=1600, start=1700, end=None)
    world.event(14, "launch", 1710, code="8")
    world.event(14, "load_done", 1750, step=20)
    world.steps(14, range(21, 221), 1800, 11)
    world.job(21, "gemma", "CANCELLED", submit=0, start=10, end=2000)
    world.event(21, "launch", 20, code="7")  # one of eight stands by
    world.steps(21, range(1, 31), 40, 7)
    world.job(22, "gemma", "RUNNING", submit=2010, start=2011, end=None)
    world.event(22, "load_none", 2020)
    world.steps(22, range(1, 101), 2100, 7)
    return world


@pytest.fixture(scope="module")
def built() -> Iterator[Warehouse]:
    """Two runs, built."""
    with Warehouse.open(":memory:") as warehouse:
        _two_runs().build(warehouse)
        yield warehouse


def _windows(cuts: list[int]) -> list[Window]:
    edges = sorted({-(2**62), *cuts, 2**62})
    return [Window(start, end, "") for start, end in pairwise(edges)]


def _times(rows: Iterable[LedgerRow]) -> Counter[tuple[str, str]]:
    return Counter({(row.run, row.bucket): row.observed_us for row in rows})


def _charged_times(rows: Iterable[LedgerRow]) -> Counter[tuple[str, str]]:
    return Counter({(row.run, row.bucket): row.observed_acc_us for row in rows})


@settings(max_examples=25)
@given(cuts=CUTS)
def test_ledger_adds_up_over_windows(built: Warehouse, cuts: list[int]) -> None:
    parts = [queries.ledger(built, window) for window in _windows(cuts)]
    whole = queries.ledger(built)
    assert sum((_times(part) for part in parts), Counter()) == _times(whole)
    assert sum((_charged_times(part) for part in parts), Counter()) == _charged_times(whole)
    assert all(row.observed_us >= 0 for part in parts for row in part)
    assert all(row.could_move_us >= 0 for part in parts for row in part)


def test_ledger_shares_time_by_accelerators(built: Warehouse) -> None:
    """Of eight accelerators one stands by: an eighth of the allocated time."""
    rows = {row.bucket: row for row in queries.ledger(built) if row.run == "gemma"}
    assert rows["spare_idle"].observed_acc_us == 1990 * S
    assert rows["spare_idle"].observed_us == pytest.approx(1990 * S / 8, abs=1)
    assert sum(row.observed_us for row in rows.values()) == 1990 * S + DATA_END - 2011 * S
    assert sum(row.observed_acc_us for row in rows.values()) == 8 * (1990 * S + DATA_END - 2011 * S)


@settings(max_examples=25)
@given(cuts=CUTS)
def test_calendar_adds_up_over_windows(built: Warehouse, cuts: list[int]) -> None:
    parts = [queries.calendar(built, window) for window in _windows(cuts)]
    assert sum((_times(part) for part in parts), Counter()) == _times(queries.calendar(built))


@settings(max_examples=25)
@given(cuts=CUTS)
def test_up_time_adds_up_over_windows(built: Warehouse, cuts: list[int]) -> None:
    parts = [part for window in _windows(cuts) for part in queries.up_time(built, window)]
    whole = queries.up_time(built)
    exposure = Counter[tuple[str, int]]()
    for part in parts:
        exposure[part.run, part.attempt] += part.end_at - part.start_at
    assert exposure == {(each.run, each.attempt): each.end_at - each.start_at for each in whole}
    events = [part.incident for part in parts if part.incident]
    assert sorted(events) == sorted(each.incident for each in whole if each.incident)


@settings(max_examples=25)
@given(cuts=CUTS)
def test_each_thing_is_in_one_window(built: Warehouse, cuts: list[int]) -> None:
    windows = _windows(cuts)
    incidents = [item for window in windows for item in queries.incidents(built, window)]
    assert incidents == queries.incidents(built)
    saves = [save for window in windows for save in queries.checkpoints(built, window)]
    assert sorted(saves, key=lambda save: (save.run, save.attempt, save.line)) == (
        queries.checkpoints(built)
    )
    launches = Counter[str]()
    for window in windows:
        launches.update({run: n for run, (n, _) in queries.launches(built, window).items()})
    assert launches == {run: n for run, (n, _) in queries.launches(built).items()}


@settings(max_examples=25)
@given(cuts=CUTS)
def test_states_follow_one_another(built: Warehouse, cuts: list[int]) -> None:
    for window in _windows(cuts):
        for before, after in pairwise(queries.states(built, window)):
            assert before.run != after.run or before.end_at == after.start_at
            assert before.run != after.run or before.bucket != after.bucket


def test_buckets_add_up_to_the_allocations(built: Warehouse) -> None:
    allocated = {run.run: run.allocated_us for run in queries.runs(built)}
    assert allocated == {
        "llama": (640 + 30 + 600 + 2300) * S,
        "gemma": (1990 + 1989) * S,
    }
    spent = Counter[str]()
    for row in queries.ledger(built):
        spent[row.run] += row.observed_us
    assert spent == allocated


def test_calendar_goes_from_first_submission_to_the_end(built: Warehouse) -> None:
    spent = Counter[str]()
    for row in queries.calendar(built):
        spent[row.run] += row.observed_us
    assert spent == {"llama": DATA_END, "gemma": DATA_END}


def test_incidents_of_two_runs(built: Warehouse) -> None:
    found = {item.id: item for item in queries.incidents(built)}
    assert {name: (item.kind, item.cause) for name, item in found.items()} == {
        "llama-s30-1": ("failure", "software"),
        "llama-s70-1": ("planned", "scheduler"),
        "gemma-s30-1": ("failure", "unknown"),
    }
    failure = found["llama-s30-1"]
    assert (failure.attempts, failure.resume_step, failure.steps_lost) == (2, 20, 10)
    assert found["gemma-s30-1"].resume_step == 0


def _spent(warehouse: Warehouse, bucket: str) -> float:
    return sum(s for (_, name), s in queries.charged(warehouse).items() if name == bucket)


def test_incidents_add_up_to_their_buckets(built: Warehouse) -> None:
    """In accelerator-time: seven of gemma's eight work, all of llama's."""
    used = {"gemma": 7, "llama": 8}
    rows = Counter[str]()
    for row in queries.ledger(built):
        rows[row.bucket] += row.observed_acc_us
    for bucket in ("detection", "lost_work"):
        told = sum(
            used[item.run] * (getattr(item, f"{bucket}_s") or 0)
            for item in queries.incidents(built)
        )
        assert told == rows[bucket] / S
    assert 8 * _spent(built, "restart") == rows["restart"] / S


def test_newest_verified_before_an_instant(built: Warehouse) -> None:
    assert queries.newest_verified(built, 300 * S) == {}
    newest = queries.newest_verified(built, DATA_END)
    assert {run: (save.step, save.grade) for run, save in newest.items()} == {
        "llama": (20, "loaded")
    }


def test_newest_verified_beside_an_undated_save() -> None:
    world = World()
    world.source(1, "slurm_sacct", "sacct.txt")
    world.job(11, "llama", "RUNNING", submit=0, start=60, end=None)
    world.event(11, "launch", 70)
    world.save(11, 1, None, None)  # a log that begins without dates
    world.steps(11, range(2, 5), 100, 10)
    world.save(11, 4, 120.5, 150)
    world.steps(11, range(5, 9), 160, 10)
    world.save(11, 8, 190.5, 220)
    world.steps(11, range(9, 12), 230, 10)
    with Warehouse.open(":memory:") as warehouse:
        world.build(warehouse)
        assert [save.step for save in queries.newest_verified(warehouse, DATA_END).values()] == [8]


def test_progress_keeps_both_ends_of_every_attempt(built: Warehouse) -> None:
    points = queries.progress(built)
    for at in (100 * S, 420 * S, 1003 * S, 1493 * S):
        assert any(point.run == "llama" and point.at == at for point in points), at


def test_everything_is_read(built: Warehouse) -> None:
    assert queries.as_of(built) == DATA_END
    assert queries.context_jobs(built) == 0
    assert len(queries.sources(built)) == 7
    assert queries.rejected(built) == []
    assert {finding.kind for finding in queries.findings(built)} <= {"missing_log", "conflict"}
    assert queries.cadences(built).keys() == {"llama", "gemma"}


def test_times_of_no_length_are_unknown() -> None:
    """Many steps in one tick of the stamps: how long one takes is not known, and never zero."""
    with Warehouse.open(":memory:") as warehouse:
        _two_runs().build(warehouse)
        warehouse.execute("UPDATE baseline SET step_us = 0")
        found = queries.cadences(warehouse)
    assert {(one.step_s, one.configured_s) for one in found.values()} == {(None, None)}


@pytest.mark.parametrize(("grade", "step"), [("marker", 8), ("loaded", 4)])
def test_the_lowest_grade_that_counts_is_configurable(grade: str, step: int) -> None:
    """Both saves say that they are complete, but only the first was ever loaded."""
    world = World()
    world.source(1, "slurm_sacct", "sacct.txt")
    world.job(11, "llama", "TIMEOUT", submit=0, start=60, end=140)
    world.event(11, "launch", 70)
    world.steps(11, range(1, 5), 100, 10)
    world.save(11, 4, 130.5, 135)
    world.job(12, "llama", "RUNNING", submit=150, start=160, end=None)
    world.event(12, "launch", 170)
    world.event(12, "load_done", 180, step=4)
    world.steps(12, range(5, 9), 200, 10)
    world.save(12, 8, 230.5, 235)
    world.steps(12, range(9, 12), 250, 10)
    with Warehouse.open(":memory:") as warehouse:
        world.build(warehouse, Config(verified_grade=grade))
        newest = queries.newest_verified(warehouse, DATA_END)
        assert [save.step for save in newest.values()] == [step]
        states = [save.state for save in queries.checkpoints(warehouse)]
        assert states == ["verified", "verified" if grade == "marker" else "committed"]


def test_failure_domains_and_what_ran_on_them() -> None:
    """Nodes of every stretch of up-time, cut to a moment, and the domains that hold them."""
    with Warehouse.open(":memory:") as warehouse:
        _two_runs().build(warehouse)
        warehouse.execute(
            "INSERT INTO raw_domain (source_id, line_no, node, kind, name) VALUES "
            "(1, 1, 'n1', 'leaf', 'leaf1'), (1, 1, 'n2', 'leaf', 'leaf1'), "
            "(1, 2, 'n1', 'leaf', 'leaf1')"
        )
        warehouse.execute(
            "UPDATE attempt SET nodes = ['n1', 'n2'], save_root = '/fs/ckpt/llama', "
            "settings = ['global_batch_size=8', 'release=7'] WHERE run = 'llama'"
        )
        spans = queries.node_spans(warehouse, DATA_END)
        assert {(span.run, span.nodes, span.storage, span.versions) for span in spans} >= {
            ("llama", ("n1", "n2"), "/fs", ("release=7",))
        }
        lives = queries.lifetimes(warehouse, DATA_END)
        assert [(s.run, s.attempt, s.start_at, s.end_at) for s in spans] == [
            (life.run, life.attempt, life.start_at, life.end_at) for life in lives
        ]
        cut = queries.node_spans(warehouse, spans[0].start_at + 1)
        assert all(span.end_at <= spans[0].start_at + 1 for span in cut)
        assert queries.memberships(warehouse) == [("leaf", "leaf1", "n1"), ("leaf", "leaf1", "n2")]
        ids = {item.id for item in queries.incidents(warehouse)}
        assert queries.line_steps(warehouse).keys() <= ids


def test_first_signs_are_those_of_the_nodes_at_fault() -> None:
    with Warehouse.open(":memory:") as warehouse:
        _two_runs().build(warehouse)
        (item, *_) = queries.incidents(warehouse)
        (attempt,) = warehouse.rows(
            "SELECT attempt FROM incident WHERE incident_id = $id", {"id": item.id}
        )[0]
        warehouse.execute("UPDATE incident SET nodes = ['n1', 'n2']")
        warehouse.execute("DELETE FROM sign")
        for node, at, is_before, is_sign in (
            ("n1", 30, False, True),
            ("n1", 20, False, True),
            ("n1", 10, True, True),  # before the last step: a precursor
            ("n2", 25, False, False),  # no sign of the fault itself
            ("n3", 15, False, True),  # a node that is not at fault
        ):
            warehouse.execute(
                "INSERT INTO sign BY NAME SELECT $run AS run, $attempt AS attempt, $node AS node, "
                "$at AS logged_at, $is_before AS is_before, $is_sign AS is_sign",
                {
                    "run": item.run,
                    "attempt": attempt,
                    "node": node,
                    "at": at,
                    "is_before": is_before,
                    "is_sign": is_sign,
                },
            )
        assert queries.first_signs(warehouse) == {item.id: {"n1": 20}}
