"""Corners of the small formats: progress.txt, cycle_info and histories of trackers."""

from __future__ import annotations

import json
import time

import pytest

from ckpt_audit.ingest import recognise
from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats.cycle_info import CYCLE_INFO
from ckpt_audit.ingest.formats.progress_txt import PROGRESS_TXT
from ckpt_audit.ingest.formats.tracker_history import TRACKER_HISTORY
from ckpt_audit.records import EventKind, LogEvent, Rejected, StepBatch

START = 1_777_860_000
HEAD = "2026-05-04 10:00:00\tJob ID: 7\t# GPUs: 8\t"
CYCLE = {
    "job_id": "7",
    "attempt_index": 0,
    "cycle_number": 3,
    "cycle_start_time": "2026-05-04T10:00:00Z",
    "cycle_end_time": "",
    "active_nodes": "n[1-4]",
}


def read(fmt: object, text: str | bytes) -> list[object]:
    data = text.encode() if isinstance(text, str) else text
    return list(fmt.read(ByteSource.from_bytes(data), ReadOptions()))  # type: ignore[attr-defined]


def steps(text: str) -> list[tuple[int, int | None]]:
    found: list[tuple[int, int | None]] = []
    for row in read(TRACKER_HISTORY, text):
        if isinstance(row, StepBatch):
            found += zip(row.step, row.clock_us, strict=True)
    return found


@pytest.mark.parametrize(
    "bad",
    [
        HEAD + "Saved checkpoint",
        HEAD + "Saved checkpoint\tIteration: x",
        HEAD + "Saved checkpoint\tIteration: " + "9" * 5000,
        HEAD.replace("8", "9" * 400, 1) + "Starting job",
        HEAD.replace("10:00:00", "25:00:00") + "Starting job",
        HEAD.replace("2026", "1970") + "Starting job",
        "Saved checkpoint\tIteration: 5",
        HEAD.replace(": 7", ": " + "7" * 200) + "Starting job",
    ],
)
def test_damaged_progress(bad: str) -> None:
    good = HEAD + "Starting job"
    rows = read(PROGRESS_TXT, f"{good}\n{bad}\n{good}\n")
    assert [type(row) for row in rows] == [LogEvent, Rejected, LogEvent]


def test_what_progress_says_besides_is_passed_over() -> None:
    assert read(PROGRESS_TXT, HEAD + "Something new\tIteration: 5\n") == []


def test_a_cycle_on_one_line_has_two_lines() -> None:
    ended = json.dumps({**CYCLE, "cycle_end_time": "2026-05-04T11:00:00+00:00"})
    start, end = read(CYCLE_INFO, ended)
    assert isinstance(start, LogEvent)
    assert isinstance(end, LogEvent)
    assert (start.kind, start.line_no, start.job_ref) == (EventKind.LAUNCH, 1, "7")
    assert (end.kind, end.line_no) == (EventKind.CYCLE_END, 2)
    assert end.text == "cycle 3 of attempt 0 ended; 4 active nodes"
    assert isinstance(end.clock_us, int)
    assert isinstance(start.clock_us, int)
    assert end.clock_us - start.clock_us == 3_600_000_000


@pytest.mark.parametrize(
    "changed",
    [
        {"cycle_start_time": "yesterday"},
        {"cycle_start_time": 12},
        {"cycle_start_time": ["a"]},
        {"cycle_start_time": "1970-01-01T00:00:00Z"},
        {"cycle_start_time": "2026-13-01T00:00:00Z"},
        {"cycle_number": int("9" * 300)},
    ],
)
def test_a_damaged_cycle(changed: dict[str, object]) -> None:
    text = json.dumps({**CYCLE, **changed})
    assert recognise(text.encode(), "") is CYCLE_INFO
    assert any(isinstance(row, Rejected) for row in read(CYCLE_INFO, text))
    assert not any(isinstance(row, LogEvent) for row in read(CYCLE_INFO, text))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CYCLE)[:-9],
        '{"a":' * 100_000,
        '{"cycle_number": ' + "9" * 5000 + "}",
        "[" + json.dumps(CYCLE) + "]",
        json.dumps({**CYCLE, "cycle_log_file": "x" * 2_000_000}),
        "\xff" * 90,
    ],
)
def test_what_is_no_cycle_is_rejected(text: str) -> None:
    (row,) = read(CYCLE_INFO, text)
    assert isinstance(row, Rejected)


@pytest.mark.parametrize("nodes", ["n[1-999999999]", "n[", 7, None, {"a": 1}])
def test_nodes_that_cannot_be_counted(nodes: object) -> None:
    (row,) = read(CYCLE_INFO, json.dumps({**CYCLE, "active_nodes": nodes}))
    assert isinstance(row, LogEvent)
    assert row.text == "cycle 3 of attempt 0 started; active nodes unknown"


def test_the_true_step_wins_over_the_count_of_log_calls() -> None:
    rows: list[dict[str, float]] = [
        {"_step": n, "_timestamp": START + n, "trainer/global_step": 50 * n} for n in range(1, 4)
    ]
    rows.insert(1, {"_step": 9, "_timestamp": START + 1.5})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    assert [step for step, _ in steps(text)] == [50, 100, 150]


def test_seconds_and_milliseconds() -> None:
    assert steps(f"step,timestamp\n1,{START}\n2,{START}.25\n3,{START}123\n") == [
        (1, START * 1_000_000),
        (2, START * 1_000_000 + 250_000),
        (3, START * 1_000_000 + 123_000),
    ]
    assert steps(f"Wall time,Step,Value\n{START / 1e9:.9f}e9,100.0,1\n") == [
        (100, START * 1_000_000)
    ]


def test_a_step_of_many_rows_comes_once() -> None:
    assert [step for step, _ in steps(f"step,timestamp\n1,{START}\n1,{START}\n2,{START}\n")] == [
        1,
        2,
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "-5,{0},1",
        "1.5,{0},1",
        "x,{0},1",
        "9" * 400 + ",{0},1",
        "5,soon,1",
        "5," + "9" * 400 + ",1",
        "5,5,1",
        "5,{0}",
        '5,{0},"1',
        "5,{0}," + "x" * 200_000,
    ],
)
def test_damaged_rows_of_a_tracker(bad: str) -> None:
    text = f"step,timestamp,loss\n1,{START},2\n{bad.format(START)}\n7,{START},2\n"
    rows = read(TRACKER_HISTORY, text)
    assert [row.line_no for row in rows if isinstance(row, Rejected)] == [3]
    assert [step for step, _ in steps(text)] == [1, 7]


@pytest.mark.parametrize(
    "bad",
    [
        '{"a":' * 50_000,
        '{"_step": 5, "_timestamp": 1e999}',
        "[1]",
        "{",
        '{"_step": {}, "_timestamp": 5}',
    ],
)
def test_damaged_lines_of_json(bad: str) -> None:
    good = json.dumps({"_step": 1, "_timestamp": START})
    rows = read(TRACKER_HISTORY, f"{good}\n{bad}\n")
    assert [row.line_no for row in rows if isinstance(row, Rejected)] == [2]


@pytest.mark.parametrize(
    "text",
    [
        "step,loss\n1,2\n",
        "step,timestamp\nx,y\n",
        '{"step": 1, "loss": 2}\n',
        '{"step": 1, "timestamp": "2026-05-01T00:00:00"}\n',
        "{}\n",
        "step,timestamp\n",
        "",
        "\n\n",
    ],
)
def test_tables_without_both_columns_are_strangers(text: str) -> None:
    assert recognise(text.encode(), "history.csv") is None


def test_long_histories_are_read_in_seconds() -> None:
    text = "step,timestamp\n" + "".join(f"{n},{START + n}\n" for n in range(200_000))
    start = time.process_time()
    assert len(steps(text)) == 200_000
    assert time.process_time() - start < 20
