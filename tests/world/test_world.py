"""The generator repeats itself, its truth adds up, and its files say what the truth says."""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .ledger import BUCKETS
from .write import files

Json = dict[str, Any]
SEEDS = (7, 11)
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
STEP = re.compile(
    r"^ \[(?P<at>[\d :.-]+)\] iteration +(?P<step>\d+)/ *\d+ \|.*"
    r"elapsed time per iteration \(ms\): (?P<ms>[\d.]+)"
)
SAVED = re.compile(r"successfully saved checkpoint from iteration +(\d+) to")
LOADED = re.compile(r"successfully loaded checkpoint from \S+ \[.*?\] at iteration (\d+)")
WATCHDOG = re.compile(r"\[E(\d)(\d\d) ([\d:.]{15})\d{3} .*Timeout\(ms\)=\d+\) ran for (\d+) milli")


@pytest.fixture(scope="module", params=SEEDS)
def world(request: pytest.FixtureRequest) -> dict[str, bytes]:
    """The files of one world."""
    return files(request.param)


@pytest.fixture(scope="module")
def truth(world: dict[str, bytes]) -> Json:
    """Its truth."""
    loaded: Json = json.loads(gzip.decompress(world["truth.json.gz"]))
    return loaded


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _log(world: dict[str, bytes], job_id: int) -> list[str]:
    packed = world.get(f"logs/slurm-{job_id}.out.gz")
    text = gzip.decompress(packed).decode("utf-8", "replace") if packed else ""
    return re.split(r"[\r\n]", text)


def _incidents(truth: Json) -> list[Json]:
    return [incident for run in truth["runs"] for incident in run["incidents"]]


def test_same_seed_gives_same_bytes(world: dict[str, bytes], truth: Json) -> None:
    """Two runs with one seed agree in every byte."""
    assert files(truth["seed"]) == world


def test_committed_sample_is_up_to_date() -> None:
    """The sample in the repository is what its seed gives."""
    known = json.loads(gzip.decompress((SAMPLE / "truth.json.gz").read_bytes()))
    fresh = files(known["seed"])
    for name, content in fresh.items():
        committed = (SAMPLE / name).read_bytes()
        if name.endswith(".gz"):
            assert gzip.decompress(committed) == gzip.decompress(content), name
        else:
            assert committed == content, name
    assert {f"logs/{path.name}" for path in SAMPLE.glob("logs/*")} == {
        name for name in fresh if name.startswith("logs/")
    }


@pytest.mark.parametrize("which", ["ledger", "ledger_whole"])
def test_ledger_adds_up(truth: Json, which: str) -> None:
    """The buckets of a window add up to what was allocated in it, to the microsecond."""
    for run in truth["runs"]:
        ledger = run[which]
        start, end = _at(ledger["start"]), _at(ledger["end"])
        allocated = timedelta()
        for allocation in run["allocations"]:
            until = _at(allocation["end"] or truth["dump_at"])
            allocated += max(timedelta(), min(until, end) - max(_at(allocation["start"]), start))
        buckets = ledger["buckets"]
        assert tuple(buckets) == BUCKETS
        total = sum(_micros(bucket["seconds"]) for bucket in buckets.values())
        assert total == _micros(ledger["allocated_s"]) == allocated // timedelta(microseconds=1)
        acc = sum(_micros(bucket["acc_s"]) for bucket in buckets.values())
        assert acc == total * run["accelerators"] == _micros(ledger["allocated_acc_s"])


def test_incidents_add_up_to_their_buckets(truth: Json) -> None:
    """Detection and lost work of the incidents are those of the ledger."""
    for run in truth["runs"]:
        buckets = run["ledger_whole"]["buckets"]
        for name, bucket in (("lost_work_s", "lost_work"), ("detection_s", "detection")):
            total = sum(_micros(i[name] or 0) for i in run["incidents"])
            assert total == _micros(buckets[bucket]["seconds"])


def test_moments_are_in_order(truth: Json) -> None:
    """Every moment of an incident follows the one before it."""
    names = (
        "last_step_at", "fault_at", "detected_at", "replaced_at", "launched_at",
        "load_started_at", "restored_at", "first_step_at",
    )  # fmt: skip
    for incident in _incidents(truth):
        moments = [_at(incident[name]) for name in names]
        assert moments == sorted(moments), incident["scenario"]
        assert incident["steps_lost"] == incident["last_step"] - incident["resume_step"]
        assert (incident["detection_s"] is None) == (incident["kind"] != "failure")
        age = incident["verified_checkpoint_age_s"]
        assert incident["lost_work_s"] <= age or incident["kind"] == "operator_rollback"


def test_the_month_has_every_kind(truth: Json) -> None:
    """What the sample is for is in it."""
    found = _incidents(truth)
    assert {i["kind"] for i in found} == {
        "failure", "preemption", "planned", "operator_rollback",
    }  # fmt: skip
    assert sum(i["secondary"] for i in found) == 1
    assert sum(bool(i["correlated_with"]) for i in found) == 2
    assert max(i["attempts"] for i in found) == 4
    assert sum(i["phase"] == "save" for i in found) == 2
    leaf = [_at(i["fault_at"]) for i in found if i["scenario"] == "leaf"]
    assert abs(leaf[0] - leaf[1]) <= timedelta(minutes=2)
    states = {a["state"].split()[0] for run in truth["runs"] for a in run["allocations"]}
    assert {"NODE_FAIL", "TIMEOUT", "PREEMPTED", "OUT_OF_MEMORY", "RUNNING"} <= states
    sevens = [i for i in found if "2026-05" in i["fault_at"] and i["kind"] == "failure"]
    assert [sum(i["run"] == r["name"] for i in sevens) for r in truth["runs"]] == [15, 8]


def test_secondary_follows_a_restart_closely(truth: Json) -> None:
    """The cascade strikes before any newer checkpoint, within a quarter of an hour."""
    for run in truth["runs"]:
        for before, incident in pairwise(run["incidents"]):
            if incident["secondary"]:
                gap = _at(incident["fault_at"]) - _at(before["first_step_at"])
                assert timedelta(minutes=6) < gap < timedelta(minutes=15)
                assert incident["verified_step"] == before["resume_step"]


def test_scheduler_dump_has_the_allocations(world: dict[str, bytes], truth: Json) -> None:
    """Every allocation is a row of the dump, and one row of another job is broken in two."""
    lines = world["slurm/sacct-2026-05.txt"].decode().splitlines()
    header = lines[0].split("|")
    rows = [dict(zip(header, line.split("|"), strict=False)) for line in lines[1:]]
    short = [line for line in lines if line.count("|") != len(header) - 1]
    assert len(short) == 2
    for run in truth["runs"]:
        found = [row for row in rows if row.get("JobName") == run["name"]]
        assert len(found) == len(run["allocations"])
        for row, allocation in zip(found, run["allocations"], strict=True):
            assert row["JobID"] == str(allocation["job_id"])
            assert row["Start"] == allocation["start"][:19]
            assert row["End"] == (allocation["end"] or "Unknown")[:19]
            assert row["State"] == allocation["state"]
            assert f"gres/gpu={run['accelerators']}," in row["AllocTRES"]


def test_logs_have_the_steps_and_saves(world: dict[str, bytes], truth: Json) -> None:
    """The logs hold each save, each load and the last step of every incident."""
    for run in truth["runs"]:
        saved: list[int] = []
        loaded: list[int] = []
        for job_id in dict.fromkeys(a["job_id"] for a in run["allocations"]):
            for line in _log(world, job_id):
                saved += [int(m[1]) for m in SAVED.finditer(line)]
                loaded += [int(m[1]) for m in LOADED.finditer(line)]
        assert saved == [c["step"] for c in run["checkpoints"] if c["verified"]]
        assert loaded == [i["resume_step"] for i in run["incidents"]]


def test_step_lines_agree_with_the_truth(world: dict[str, bytes], truth: Json) -> None:
    """The last step before each incident has its line, dated as precisely as the log can."""
    for incident in _incidents(truth):
        steps = [m for m in map(STEP.match, _log(world, incident["job_id"])) if m]
        lines = [m for m in steps if int(m["step"]) == incident["last_step"]]
        stamps = [_at(line["at"].strip()).replace(tzinfo=UTC) for line in lines]
        last = _at(incident["last_step_at"])
        assert any(timedelta() <= last - stamp < timedelta(seconds=1) for stamp in stamps)


def test_gaps_between_steps_are_steps_and_pauses(world: dict[str, bytes], truth: Json) -> None:
    """Where stamps are fine enough, a gap less the step's own time is the save before it."""
    run = next(run for run in truth["runs"] if run["name"] == "moe-24b")
    costs = {(c["job_id"], c["step"]): c["cost_s"] for c in run["checkpoints"] if c["verified"]}
    seen = 0
    for job_id in dict.fromkeys(a["job_id"] for a in run["allocations"]):
        steps = [m for m in map(STEP.match, _log(world, job_id)) if m]
        for before, after in pairwise(steps):
            gap = (_at(after["at"].strip()) - _at(before["at"].strip())).total_seconds()
            pause = gap - float(after["ms"]) / 1000
            number = int(before["step"])
            if number % 500 == 0:
                assert pause > 45
                continue
            cost = costs.get((job_id, number), 0.0)
            assert abs(pause - cost) < 0.0001
            seen += cost > 0
    assert seen > 900


def test_fault_lines_date_the_faults(world: dict[str, bytes], truth: Json) -> None:
    """A kernel line or the watchdog gives the moment of the fault exactly."""
    kernel = world["kernel/kern.log"].decode().splitlines()
    for incident in _incidents(truth):
        if incident["fault_evidence"] == "kernel":
            stamp = incident["fault_at"].replace(".", ",")
            lines = [line for line in kernel if line.startswith(stamp)]
            assert any(line.split()[1] in incident["nodes"] for line in lines)
        if incident["fault_evidence"] == "watchdog":
            found = [m for m in map(WATCHDOG.search, _log(world, incident["job_id"])) if m]
            first = found[0]
            when = _at(f"2026-{int(first[1]):02d}-{first[2]}T{first[3]}+00:00")
            assert when == _at(incident["detected_at"])
            assert when - timedelta(milliseconds=int(first[4])) == _at(incident["fault_at"])
            assert len(found) == 4


def test_job_ids_follow_submission(truth: Json) -> None:
    """No id is used twice but by the requeued job."""
    ids = [a["job_id"] for run in truth["runs"] for a in run["allocations"]]
    ids += truth["other_jobs"]
    assert len(ids) - len(set(ids)) == 1
