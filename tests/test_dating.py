"""Dating of raw rows, from a warehouse with raw rows to one with instants."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.dating import DatingReport, date_sources
from ckpt_audit.errors import ConfigError
from ckpt_audit.line_times import ROLES, Lines, Role, Times, time_lines
from ckpt_audit.units import US_PER_S, iso, to_us
from ckpt_audit.warehouse import Warehouse
from ckpt_audit.zones import NO_TIME


def us(text: str) -> int:
    return to_us(datetime.fromisoformat(text).replace(tzinfo=UTC))


@dataclass
class Log:
    """Raw rows of one source, built line by line."""

    warehouse: Warehouse
    source_id: int
    path: str = "slurm-1.out"
    format: str = "job_log"
    tz: str | None = None
    machine_tz: str | None = None
    refs: tuple[str, ...] = ()
    content: str = "a"
    rows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    line: int = 0

    def _add(self, table: str, at: str | None, kind: str | None, values: dict[str, Any]) -> Log:
        self.line += 1
        stamp: dict[str, Any] = {
            "source_id": self.source_id,
            "line_no": self.line,
            "clock_us": None if at is None else us(at),
            "clock_kind": kind or ("undated" if at is None else "naive"),
            "resolution_us": 0 if at is None else US_PER_S,
        }
        self.rows.append((table, stamp | values))
        return self

    def step(
        self, n: int, at: str | None = None, s: float | None = None, emitter: str = "megatron"
    ) -> Log:
        elapsed = None if s is None else round(s * US_PER_S)
        return self._add(
            "raw_step", at, None, {"step": n, "elapsed_us": elapsed, "emitter": emitter}
        )

    def event(
        self,
        event: str,
        at: str | None = None,
        step: int | None = None,
        s: float | None = None,
        kind: str | None = None,
        job: str | None = None,
    ) -> Log:
        duration = None if s is None else round(s * US_PER_S)
        values = {"kind": event, "step": step, "duration_us": duration, "job_ref": job, "text": ""}
        return self._add("raw_event", at, kind, values)

    def job(self, job_id: str, *, kind: str = "naive", **values: Any) -> Log:
        self.line += 1
        texts = dict.fromkeys(
            ("cluster", "job_id_raw", "step_id", "name", "user", "account", "partition",
             "work_dir", "reason", "comment", "state"), "")  # fmt: skip
        row = texts | {
            "source_id": self.source_id,
            "line_no": self.line,
            "job_id": job_id,
            "clock_kind": kind,
            "nodes": [],
        }
        times = {key: us(value) if isinstance(value, str) and key.endswith("_us") else value
                 for key, value in values.items()}  # fmt: skip
        self.rows.append(("raw_job", row | times))
        return self

    def write(self) -> Log:
        for table in ("source", "raw_step", "raw_event", "raw_job"):
            self.warehouse.execute(f"DELETE FROM {table} WHERE source_id = ?", [self.source_id])
        numbers = dict.fromkeys(
            ("n_bytes", "n_lines", "n_rows", "n_rejected", "safe_offset", "safe_line",
             "redo_line"), 0)  # fmt: skip
        source = numbers | {
            "source_id": self.source_id,
            "path": self.path,
            "name": self.path,
            "format": self.format,
            "content_sha256": f"{self.content}{len(self.rows)}",
            "head_sha256": "",
            "tz_given": self.tz,
            "tz_given_origin": None if self.tz is None else "flag",
            "machine_tz": self.machine_tz,
            "name_refs": list(self.refs),
        }
        self._insert("source", [source])
        for table in ("raw_step", "raw_event", "raw_job"):
            rows = [row for name, row in self.rows if name == table]
            if rows:
                self._insert(table, rows)
        return self

    def _insert(self, table: str, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            names = ", ".join(row)
            marks = ", ".join("?" for _ in row)
            self.warehouse.execute(
                f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values())
            )

    def times(self) -> list[tuple[Any, ...]]:
        return self.warehouse.rows(
            'SELECT "at", low, high, strength FROM line_time WHERE source_id = ? ORDER BY line_no',
            [self.source_id],
        )

    def at(self) -> list[str | None]:
        return [None if row[0] is None else str(iso(row[0]))[:19] for row in self.times()]


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    with Warehouse.open(":memory:") as opened:
        yield opened


def date(warehouse: Warehouse, machine: str = "UTC", zone: str | None = None) -> DatingReport:
    return date_sources(
        warehouse,
        machine_zone=machine,
        zone_for=lambda path, _: (zone, "config") if zone and path.endswith("out") else None,
    )


def test_undated_megatron_is_summed_up_from_the_start_of_training(warehouse: Warehouse) -> None:
    """The figures of a public 16-node log that its time limit ended."""
    log = Log(warehouse, 1)
    log.event("launch").event("training_start", "2021-05-27T21:42:48")
    for step, seconds in enumerate((150.8917, 123.8963, 124.3622, 122.2240), 1):
        log.step(step, s=seconds)
    log.event("job_cancelled", "2021-05-27T21:52:36", job="1999618").write()
    date(warehouse)
    times = log.times()
    assert times[5][0] == us("2021-05-27T21:42:48") + 521_374_200
    assert iso(times[5][0]) == "2021-05-27T21:51:29.374200+00:00"
    assert times[5][1:] == (us("2021-05-27T21:42:48"), us("2021-05-27T21:52:36"), "derived")
    assert times[0] == (None, None, us("2021-05-27T21:42:48"), "bounded")
    assert times[6][3] == "stated"


def test_a_resumed_log_counts_from_the_loaded_step(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1)
    log.event("load_started", step=100).event("load_done", step=100)
    log.event("training_start", "2026-01-01T00:00:00")
    log.step(110, s=2.0).step(120, s=3.0).write()
    date(warehouse)
    assert log.at()[3:] == ["2026-01-01T00:00:20", "2026-01-01T00:00:50"]
    assert log.times()[1] == (us("2026-01-01"), None, us("2026-01-01"), "bounded")


def test_a_sum_that_passes_the_next_stamp_is_scaled_back(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).event("training_start", "2026-01-01T00:00:00")
    log.step(1, s=60.0).step(2, s=60.0).event("anchor", "2026-01-01T00:01:30")
    log.step(3, s=60.0).write()
    date(warehouse)
    assert log.at()[1:3] == ["2026-01-01T00:00:45", "2026-01-01T00:01:30"]
    assert log.at()[4] == "2026-01-01T00:02:30"


def test_a_dated_end_of_a_pause_anchors_again(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).event("training_start", "2026-01-01T00:00:00").step(1, s=10.0)
    log.event("save_done", "2026-01-01T00:05:00", step=1).step(2, s=10.0)
    log.event("anchor", "2026-01-01T00:06:00").step(3, s=10.0).write()
    date(warehouse)
    assert log.at()[3] == "2026-01-01T00:05:10"
    assert log.at()[5] == "2026-01-01T00:06:00"  # not before the line above it


def test_neox_neighbours_date_their_step(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1)
    log.step(0, "2023-10-19T23:07:41", emitter="deepspeed_rank")
    for step in (1, 2):
        log.step(step, f"2023-10-19T23:07:4{4 + step}", emitter="deepspeed_rank")
        log.step(step, s=2.4771, emitter="neox")
    log.write()
    date(warehouse)
    assert log.at()[1:] == ["2023-10-19T23:07:45"] * 2 + ["2023-10-19T23:07:46"] * 2
    assert [row[3] for row in log.times()] == ["stated", "stated", "derived", "stated", "derived"]


def test_a_neighbour_after_the_line_counts_too(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).step(7, s=2.0, emitter="neox")
    log.step(7, "2023-10-19T23:07:45", emitter="deepspeed_rank").write()
    date(warehouse)
    assert log.at() == ["2023-10-19T23:07:45"] * 2


def test_steps_before_the_first_stamp_are_counted_backward(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).step(1, s=5.0).step(2, s=5.0)
    log.step(3, "2026-01-01T00:01:00", s=4.0).write()
    date(warehouse)
    assert log.at() == ["2026-01-01T00:00:51", "2026-01-01T00:00:56", "2026-01-01T00:01:00"]


def test_nothing_dates_a_log_without_any_stamp(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).event("launch").step(1, s=5.0).event("save_done", step=1).write()
    report = date(warehouse)
    assert log.times() == [(None, None, None, "absent")] * 3
    assert report.n_absent == 3
    assert report.zones[0].origin == "utc"


def test_a_second_attempt_does_not_go_on_from_the_first(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).event("launch", "2026-01-01T00:00:00")
    log.event("training_start", "2026-01-01T00:01:00").step(1, s=60.0)
    log.event("save_started", step=1).event("save_done", step=1).step(2, s=60.0)
    log.event("traceback")
    log.event("launch").event("load_started", step=1).event("load_done", step=1)
    log.event("training_start", "2026-01-01T01:00:00").step(2, s=60.0).write()
    date(warehouse)
    assert log.at() == [
        "2026-01-01T00:00:00", "2026-01-01T00:01:00", "2026-01-01T00:02:00",
        "2026-01-01T00:02:00", "2026-01-01T00:02:00", "2026-01-01T00:03:00",
        "2026-01-01T00:03:00", None, None,
        "2026-01-01T01:00:00", "2026-01-01T01:00:00", "2026-01-01T01:01:00",
    ]  # fmt: skip
    bounds = (us("2026-01-01T00:03:00"), us("2026-01-01T01:00:00"))
    assert log.times()[7] == (None, *bounds, "bounded")
    assert log.times()[9] == (bounds[1], *bounds, "bounded")


def test_saves_between_dated_steps(warehouse: Warehouse) -> None:
    """The printed time leaves the save out: it ends when the next step begins."""
    log = Log(warehouse, 1).step(100, "2026-01-01T00:00:00", s=10.0)
    log.event("save_started", step=100).event("save_done", step=100)
    log.step(101, "2026-01-01T00:00:40", s=10.0).write()
    date(warehouse)
    low, high = us("2026-01-01T00:00:00"), us("2026-01-01T00:00:30")
    assert log.times()[1:3] == [(low, low, high, "bounded"), (high, low, high, "bounded")]


def test_a_timer_dates_the_save_where_the_step_includes_it(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).step(100, "2026-01-01T00:00:00", s=10.0)
    log.event("save_started", step=100).event("save_done", step=100).event("save_timer", s=25.0)
    log.step(101, "2026-01-01T00:00:40", s=40.0).write()
    date(warehouse)
    assert log.at()[1:4] == ["2026-01-01T00:00:00", "2026-01-01T00:00:25", "2026-01-01T00:00:25"]
    assert log.times()[2][2] == us("2026-01-01T00:00:40")


def test_a_fault_line_can_lie_anywhere_up_to_the_next_line(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).step(1, "2026-01-01T00:00:00", s=10.0).event("network_error")
    log.step(2, "2026-01-01T00:00:40", s=10.0).event("traceback").write()
    date(warehouse)
    low, high = us("2026-01-01T00:00:00"), us("2026-01-01T00:00:40")
    assert log.times()[1] == (low, low, high, "bounded")
    assert log.times()[3] == (high, high, None, "bounded")


def test_a_save_between_logged_steps(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).step(10, "2026-01-01T00:00:00", s=1.0)
    log.event("save_started", step=15).event("save_done", step=15)
    log.step(20, "2026-01-01T00:01:00", s=1.0).write()
    date(warehouse)
    assert log.at()[1:3] == ["2026-01-01T00:00:05", "2026-01-01T00:00:55"]


def test_glog_stamps_across_new_year(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).step(1, "2025-12-31T23:59:00", s=1.0)
    log.event("watchdog", "2000-12-31T23:59:30", kind="no_year")
    log.event("launcher_failure", "2000-01-01T00:00:10", kind="no_year").write()
    date(warehouse, "Europe/Berlin")
    assert log.at()[1:] == ["2025-12-31T22:59:30", "2025-12-31T23:00:10"]


def test_years_from_the_job_or_the_other_sources(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1, refs=("7",))
    log.event("watchdog", "2000-01-01T00:00:10", kind="no_year").write()
    kernel = Log(warehouse, 2, path="dmesg", format="kernel_log")
    kernel.event("xid", "2000-12-31T23:00:00", kind="no_year")
    kernel.event("xid", "2000-01-02T00:00:00", kind="no_year").write()
    boot = Log(warehouse, 3, path="boot", format="kernel_log")
    boot.event("xid", "1970-01-01T00:10:00", kind="monotonic").write()
    jobs = Log(warehouse, 4, path="sacct.txt", format="slurm_sacct")
    jobs.job("7", start_us="2025-12-31T22:00:00", end_us="2026-01-01T02:00:00").write()
    date(warehouse)
    assert log.at() == ["2026-01-01T00:00:10"]
    assert kernel.at()[0] == "2025-12-31T23:00:00"
    assert boot.times() == [(None, None, None, "absent")]


def test_the_order_of_zones(warehouse: Warehouse) -> None:
    for number, (path, tz) in enumerate(
        [("flag.out", "Europe/Berlin"), ("config.out", None), ("machine.log", None)], 1
    ):
        Log(warehouse, number, path=path, tz=tz).step(1, "2026-07-01T12:00:00").write()
    proved = Log(warehouse, 4, path="proved.log").event("anchor", "2025-04-21T19:07:42", kind="utc")
    proved.event("job_cancelled", "2025-04-21T14:07:43").write()
    report = date(warehouse, "Asia/Tokyo", "America/New_York")
    assert [(z.tz, z.origin, z.is_assumed) for z in report.zones] == [
        ("Europe/Berlin", "flag", False),
        ("America/New_York", "config", False),
        ("Asia/Tokyo", "machine", True),
        ("-05:00", "proved", False),
    ]
    assert [z.path for z in report.assumed] == ["machine.log"]
    assert proved.at() == ["2025-04-21T19:07:42", "2025-04-21T19:07:43"]
    stored = warehouse.rows("SELECT tz, origin, is_assumed FROM source_zone ORDER BY source_id")
    assert stored[3] == ("-05:00", "proved", False)


def test_a_given_zone_that_the_log_refutes_is_reported_and_kept(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1, tz="UTC").event("anchor", "2025-04-21T19:07:42", kind="utc")
    log.event("job_cancelled", "2025-04-21T14:07:43").write()
    report = date(warehouse)
    assert [c.shift_us for c in report.conflicts] == [5 * 3600 * US_PER_S]
    assert log.at()[1] == "2025-04-21T14:07:43"


def test_a_record_in_utc_proves_the_zone_of_its_log(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1, refs=("42",)).step(1, "2026-07-01T12:01:00")
    log.step(2, "2026-07-01T13:58:00").write()
    jobs = Log(warehouse, 2, path="sacct.json", format="slurm_sacct_json")
    jobs.job("42", kind="utc", start_us="2026-07-01T10:00:00", end_us="2026-07-01T12:00:00")
    jobs.write()
    report = date(warehouse, "Europe/Berlin")
    assert [(z.tz, z.origin) for z in report.zones] == [("Europe/Berlin", "proved"), ("UTC", "utc")]
    assert log.at()[0] == "2026-07-01T10:01:00"
    assert not report.conflicts


def test_clocks_that_differ_by_whole_hours_are_reported(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1, refs=("42_1", "1")).step(1, "2026-07-01T12:01:00")
    log.step(2, "2026-07-01T13:58:00").write()
    jobs = Log(warehouse, 2, path="sacct.txt", format="slurm_sacct")
    jobs.job("42_1", start_us="2026-07-01T14:00:00", end_us="2026-07-01T16:00:00").write()
    report = date(warehouse)
    assert [(c.path, c.shift_us) for c in report.conflicts] == [
        ("slurm-1.out", 2 * 3600 * US_PER_S)
    ]
    assert "+2 h" in report.conflicts[0].text
    assert log.at()[0] == "2026-07-01T12:01:00"
    jobs.rows.clear()
    jobs.job("42_1", start_us="2026-07-01T12:00:00", end_us="2026-07-01T14:00:00").write()
    assert not date(warehouse).conflicts


def test_ids_shared_by_clusters_say_nothing(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1, refs=("42",)).step(1, "2026-07-01T12:01:00").write()
    jobs = Log(warehouse, 2, path="sacct.txt", format="slurm_sacct")
    span = {"start_us": "2026-07-01T14:00:00", "end_us": "2026-07-01T16:00:00"}
    jobs.job("42", **span).job("42", **span | {"cluster": "one"}).write()
    assert len(date(warehouse).conflicts) == 1  # a dump that names no cluster may be of any
    jobs.job("42", **span | {"cluster": "other"}).write()
    assert not date(warehouse).conflicts
    jobs.rows.clear()
    jobs.job("42", start_us="2026-07-01T12:08:00", end_us="2026-07-01T12:15:00").write()
    assert not date(warehouse).conflicts  # a requeued job, of which only the last record is there
    assert log.at() == ["2026-07-01T12:01:00"]


def test_jobs_through_the_autumn_night(warehouse: Warehouse) -> None:
    jobs = Log(warehouse, 1, path="sacct.txt", format="slurm_sacct", tz="Europe/Berlin")
    jobs.job("1", submit_us="2026-10-25T01:00:00", start_us="2026-10-25T02:40:00",
             end_us="2026-10-25T02:20:00", elapsed_us=2400 * US_PER_S)  # fmt: skip
    jobs.job("2", start_us="2026-10-25T02:10:00", end_us="2026-10-25T02:50:00",
             elapsed_us=6000 * US_PER_S)  # fmt: skip
    jobs.job("3", start_us=None, end_us=None).write()
    date(warehouse)
    rows = warehouse.rows("SELECT started_at, ended_at FROM job_time ORDER BY line_no")
    assert [end - start for start, end in rows[:2]] == [2400 * US_PER_S, 6000 * US_PER_S]
    assert rows[2] == (None, None)


def _night_job(jobs: Log, number: str, start: str, end: str, elapsed_s: int, node: str) -> None:
    jobs.job(number, job_id_raw=number, start_us=f"2026-10-25T{start}", end_us=f"2026-10-25T{end}",
             elapsed_us=elapsed_s * US_PER_S, nodes=[node], user="ada", name="train")  # fmt: skip


@pytest.mark.parametrize(("node", "hour"), [("a", 1), ("b", 0)])
def test_a_job_whose_nodes_are_taken_ran_in_the_second_pass(
    warehouse: Warehouse, node: str, hour: int
) -> None:
    """Job 2 fits into either pass; on node a job 1 still runs in the first."""
    jobs = Log(warehouse, 1, path="sacct.txt", format="slurm_sacct", tz="Europe/Berlin")
    _night_job(jobs, "2", "02:30:00", "02:45:00", 900, node)
    _night_job(jobs, "1", "02:05:00", "02:25:00", 4800, "a")
    jobs.write()
    log = Log(warehouse, 2, path="slurm-2.out", tz="Europe/Berlin", refs=("2",))
    log.event("training_start", "2026-10-25T02:31:00").step(1, "2026-10-25T02:40:00").write()
    date(warehouse)
    assert warehouse.rows("SELECT started_at FROM job_time WHERE source_id = 1 ORDER BY line_no")[
        0
    ] == (us(f"2026-10-25T0{hour}:30:00"),)
    assert log.at() == [f"2026-10-25T0{hour}:31:00", f"2026-10-25T0{hour}:40:00"]


def test_steps_without_a_stamp_tell_that_the_hour_was_passed(warehouse: Warehouse) -> None:
    """02:05 to 02:25 is twenty minutes, or eighty; four steps of 19 minutes are eighty."""
    log = Log(warehouse, 1, tz="Europe/Berlin").event("training_start", "2026-10-25T02:05:00")
    for step in range(1, 5):
        log.step(step, s=1140.0)
    log.event("launcher_failure", "2026-10-25T02:25:00").write()
    date(warehouse)
    assert (log.at()[0], log.at()[-1]) == ("2026-10-25T00:05:00", "2026-10-25T01:25:00")


@pytest.mark.parametrize("held", [True, False])
def test_timers_are_added_where_the_printed_times_leave_them_out(
    warehouse: Warehouse, held: bool
) -> None:
    """A save of 30 s and an evaluation of 50 s between two steps of 10 s."""
    log = Log(warehouse, 1).event("training_start", "2026-01-01T00:00:00").step(1, s=10.0)
    log.step(2, s=10.0).event("evaluation_timer", s=50.0).event("evaluation", step=2)
    log.event("save_started", step=2).event("save_done", step=2).event("save_timer", s=30.0)
    log.step(3, s=90.0 if held else 10.0).step(4, s=10.0).write()
    date(warehouse)
    times = [str(at)[14:] for at in log.at()]
    assert [times[place] for place in (1, 2, 8, 9)] == ["00:10", "00:20", "01:50", "02:00"]
    if not held:
        assert [times[place] for place in (4, 6)] == ["01:10", "01:40"]


def test_the_spring_gap_is_derived(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1, tz="Europe/Berlin").step(1, "2026-03-29T02:30:00").write()
    date(warehouse)
    moment = us("2026-03-29T01:30:00")
    assert log.times() == [(moment, moment, moment, "derived")]


def test_joined_lines_have_one_time(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).step(1, s=1.0)
    log.line = 0
    log.event("job_cancelled", "2026-01-01T00:00:05").write()
    date(warehouse)
    assert log.times() == [(us("2026-01-01T00:00:05"),) * 3 + ("stated",)]


def test_only_what_changed_is_dated_again(warehouse: Warehouse) -> None:
    log = Log(warehouse, 1).step(1, "2026-07-01T12:00:00").write()
    Log(warehouse, 2, path="b.log").step(1, "2026-07-01T12:00:00").write()
    assert date(warehouse).n_dated == 2
    assert date(warehouse).n_dated == 0
    assert date(warehouse, zone="Europe/Berlin").n_dated == 1
    assert log.at() == ["2026-07-01T10:00:00"]
    log.step(2, "2026-07-01T12:01:00").write()
    assert date(warehouse, zone="Europe/Berlin").n_dated == 1
    warehouse.execute("DELETE FROM source WHERE source_id = 1")
    date(warehouse)
    assert warehouse.rows("SELECT DISTINCT source_id FROM line_time") == [(2,)]


@pytest.mark.parametrize("read_under", ["Europe/Berlin", "UTC"])
def test_the_zone_of_the_machine_that_read_it_stays(warehouse: Warehouse, read_under: str) -> None:
    log = Log(warehouse, 1, path="a.log", machine_tz=read_under)
    log.step(1, "2026-07-01T12:00:00").write()
    (choice,) = date(warehouse, machine="Asia/Tokyo").zones
    assert (choice.tz, choice.origin, choice.is_assumed) == (read_under, "machine", True)
    assert date(warehouse, machine="America/New_York").n_dated == 0
    other = Log(warehouse, 2, path="b.out", machine_tz=read_under)
    other.step(1, "2026-07-01T12:00:00").write()
    assert date(warehouse, zone="Asia/Tokyo").zones[1].tz == "Asia/Tokyo"


def test_the_order_of_ingestion_does_not_matter(warehouse: Warehouse) -> None:
    def build(number: int, target: Warehouse) -> None:
        if number == 2:
            jobs = Log(target, 2, path="sacct.txt", format="slurm_sacct")
            jobs.job("7", start_us="2025-12-31T22:00:00", end_us="2026-01-01T02:00:00").write()
            return
        log = Log(target, number, path=f"{number}.out", refs=("7",))
        log.event("watchdog", "2000-01-01T00:00:10", kind="no_year").step(1, s=3.0).write()

    def table(target: Warehouse) -> list[tuple[Any, ...]]:
        return target.rows("SELECT * FROM line_time ORDER BY source_id, line_no")

    for number in (1, 2, 3):
        build(number, warehouse)
    date(warehouse)
    with Warehouse.open(":memory:") as other:
        for number in (3, 1, 2):
            build(number, other)
            date(other)
        assert table(other) == table(warehouse)


def test_a_wrong_zone_is_refused(warehouse: Warehouse) -> None:
    Log(warehouse, 1, tz="Europe/Berlni").step(1, "2026-07-01T12:00:00").write()
    with pytest.raises(ConfigError, match="Europe/Berlin"):
        date(warehouse)


def test_an_empty_warehouse(warehouse: Warehouse) -> None:
    assert date(warehouse) == DatingReport(0, 0, 0, 0, (), ())


@pytest.mark.slow
@pytest.mark.parametrize("dated", [True, False])
def test_a_million_steps(warehouse: Warehouse, dated: bool) -> None:
    log = Log(warehouse, 1, tz="Europe/Berlin")
    log.event("training_start", "2026-01-01T00:00:00").write()
    n = 1_000_000
    clock = us("2026-01-01") + np.arange(1, n + 1, dtype=np.int64) * 10 * US_PER_S
    frame = pd.DataFrame(
        {
            "source_id": 1,
            "line_no": np.arange(2, n + 2),
            "step": np.arange(1, n + 1),
            "clock_us": pd.array(clock if dated else [None] * n, dtype="Int64"),
            "clock_kind": "naive" if dated else "undated",
            "resolution_us": 0,
            "elapsed_us": 10 * US_PER_S,
            "emitter": "megatron",
        }
    )
    warehouse.insert_table("raw_step", frame)
    begin = time.perf_counter()
    date(warehouse)
    assert time.perf_counter() - begin < 10
    last = warehouse.rows('SELECT max("at"), count(*) FROM line_time')[0]
    summer = 3600 * US_PER_S if dated else 0
    assert last[1] == n + 1
    assert int(clock[-1]) - last[0] - 3600 * US_PER_S in {0, summer}


ROWS = st.lists(
    st.tuples(
        st.sampled_from(
            ["step", "step", "step", "same", "save_started", "save_done", "save_timer", "launch",
             "load_done", "training_start", "evaluation", "traceback", "anchor", "network_error"]
        ),
        st.integers(0, 100),  # time that passes before it
        st.booleans(),  # has a stamp
        st.one_of(st.none(), st.integers(0, 60)),  # printed time per step, or duration
    ),
    min_size=1,
    max_size=40,
)  # fmt: skip


def lines(rows: list[tuple[str, int, bool, int | None]], shift_s: int = 0) -> Lines:
    step, clock = 0, 0
    columns: dict[str, list[int]] = {
        name: [] for name in ("at", "role", "step", "elapsed", "named", "duration")
    }
    for kind, passed, stamped, seconds in rows:
        clock += passed
        is_step = kind in {"step", "same"}
        step += kind == "step" or (kind == "same" and step == 0)
        if kind == "load_done":
            step = max(step - 3, 0)
        size = -1 if seconds is None else seconds * US_PER_S
        columns["at"].append((clock + shift_s) * US_PER_S if stamped else NO_TIME)
        columns["role"].append(int(Role.STEP if is_step else ROLES.get(kind, Role.NONE)))
        columns["step"].append(step if is_step else -1)
        columns["elapsed"].append(size if is_step else -1)
        columns["named"].append(step if kind in {"load_done", "save_done"} else -1)
        columns["duration"].append(size if kind == "save_timer" else -1)
    data = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
    n = len(rows)
    return Lines(data["at"], np.ones(n, dtype=np.bool_), np.zeros(n, dtype=np.int64), data["role"],
                 data["step"], data["elapsed"], data["named"], data["duration"])  # fmt: skip


def known(times: Times) -> list[int]:
    return [int(at) for at in times.at if at != NO_TIME]


@settings(max_examples=300)
@given(rows=ROWS)
def test_times_never_decrease_and_lie_in_their_bounds(
    rows: list[tuple[str, int, bool, int | None]],
) -> None:
    times = time_lines(lines(rows))
    assert known(times) == sorted(known(times))
    for at, low, high in zip(times.at, times.low, times.high, strict=True):
        if at != NO_TIME:
            assert low == NO_TIME or low <= at
            assert high == NO_TIME or at <= high
        if low != NO_TIME and high != NO_TIME:
            assert low <= high


@settings(max_examples=200, deadline=None)
@given(rows=ROWS, shift_s=st.integers(-10_000_000, 10_000_000))
def test_a_shift_of_all_clocks_shifts_all_times(
    rows: list[tuple[str, int, bool, int | None]], shift_s: int
) -> None:
    one, other = time_lines(lines(rows)), time_lines(lines(rows, shift_s))
    for name in ("at", "low", "high"):
        before, after = getattr(one, name), getattr(other, name)
        assert ((before == NO_TIME) == (after == NO_TIME)).all()
        moved = before != NO_TIME
        assert (after[moved] - before[moved] == shift_s * US_PER_S).all()
    assert (one.strength == other.strength).all()
