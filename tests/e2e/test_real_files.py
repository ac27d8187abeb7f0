"""Real files from public projects, through the command line, with counts taken by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from .conftest import Site, real

Json = dict[str, Any]
ALL_TIME = ("--since", "2000-01-01", "--until", "2100-01-01")


def _at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _read(site: Site, *paths: Path) -> Json:
    site.run("ingest", *paths, "--tz", "UTC")
    return site.json("incidents", *ALL_TIME)


@pytest.fixture(scope="module")
def slurm(new_site: Callable[[], Site]) -> Site:
    """A site that has read the job logs and the accounting records of a real Slurm 22.05."""
    folder = real("slurm_22.05_made_here")
    site = new_site()
    site.run("ingest", folder / "jobs", folder / "sacct.txt", "--tz", "UTC")
    return site


@pytest.fixture(scope="module")
def incidents(slurm: Site) -> dict[str, list[Json]]:
    """Incidents by run."""
    found: dict[str, list[Json]] = {}
    for item in slurm.json("incidents", *ALL_TIME)["incidents"]:
        found.setdefault(item["run"], []).append(item)
    return found


def test_runs(slurm: Site) -> None:
    """Six runs; one job id of alpha holds three attempts; array tasks are runs of their own."""
    runs = {item["run"]: item for item in slurm.json("runs")["runs"]}
    assert set(runs) == {"alpha", "beta", "gamma", "delta_1", "delta_2", "delta_3"}
    assert runs["alpha"]["attempts"] == 3
    assert runs["beta"]["attempts"] == 3
    assert [runs[name]["last_step"] for name in ("alpha", "beta", "gamma", "delta_2")] == [
        500,
        400,
        120,
        20,
    ]


def test_alpha(incidents: dict[str, list[Json]]) -> None:
    """One failure of a node, one operator's requeue; each waits about two minutes."""
    first, second = incidents["alpha"]
    assert (first["kind"], first["cause"]) == ("failure", "node")
    assert first["nodes"] == ["n2"]
    assert first["resume_step"] == 180
    # its log ends at step 151 though step 180 was saved: what was lost cannot be told
    assert first["last_step"] == 151
    assert first["steps_lost"] is None
    assert (second["kind"], second["last_step"], second["resume_step"]) == ("planned", 300, 300)
    assert second["detection_s"] is None
    for item in (first, second):
        assert 115 <= item["replacement_s"] <= 130


def test_alpha_idles_after_its_target(slurm: Site) -> None:
    """Training is done and one rank never exits: allocated, no work, no failure."""
    report = slurm.json("report", "--month", "2026-11")
    rows = {row["bucket"]: row for row in report["ledger"] if row["run"] == "alpha"}
    assert 175 <= rows["spare_idle"]["observed_s"] <= 190


def test_beta(incidents: dict[str, list[Json]]) -> None:
    """A GPU's memory error at step 45; a time limit that rolls 16 steps back."""
    first, second = incidents["beta"]
    assert (first["kind"], first["cause"]) == ("failure", "gpu")
    assert (first["last_step"], first["resume_step"], first["steps_lost"]) == (45, 40, 5)
    assert (second["kind"], second["last_step"], second["resume_step"]) == ("planned", 256, 240)
    assert second["steps_lost"] == 16


def test_gamma(incidents: dict[str, list[Json]]) -> None:
    """A hang after step 33 that a person found: a failure, though it was cancelled."""
    (only,) = incidents["gamma"]
    assert (only["kind"], only["detector"]) == ("failure", "person")
    assert (only["last_step"], only["resume_step"]) == (33, 20)
    assert 84 <= only["detection_s"] <= 86
    assert only["detected_at"].startswith("2026-11-30T22:07:10")


def test_delta(incidents: dict[str, list[Json]]) -> None:
    """Three short jobs complete."""
    assert not any(name.startswith("delta") for name in incidents)


def test_without_duplicates_it_says_so(new_site: Callable[[], Site]) -> None:
    """The dump that hides requeues contradicts the log, and the report says what to run."""
    folder = real("slurm_22.05_made_here")
    site = new_site()
    site.run("ingest", folder / "jobs", folder / "sacct_without_duplicates.txt", "--tz", "UTC")
    findings = site.json("report", "--month", "2026-11")["findings"]
    assert any("--duplicates" in item["text"] for item in findings)


def test_neox_run_has_no_incident(new_site: Callable[[], Site]) -> None:
    """512 steps of GPT-NeoX on eight GPUs, none interrupted."""
    site = new_site()
    found = _read(site, real("gpt_neox", "scaling-0.1_70M_512step_59807359.out"))
    assert found["incidents"] == []
    (run,) = site.json("runs")["runs"]
    assert (run["first_step"], run["last_step"], run["accelerators"]) == (1, 512, 8)


@pytest.mark.parametrize(
    ("name", "last_step", "last_step_at", "killed_at"),
    [
        (
            "bigscience_meg_gpt2_perf_n16-1999618.out",
            4,
            "2021-05-27T21:51:29+00:00",
            "2021-05-27T21:52:36+00:00",
        ),
        (
            "bigscience_meg_gpt2_base_n64_dp1_tp4_pp64-1809655.out",
            60,
            "2021-05-24T09:49:33+00:00",
            "2021-05-24T09:50:34+00:00",
        ),
    ],
)
def test_logs_without_stamps_get_times(
    new_site: Callable[[], Site], name: str, last_step: int, last_step_at: str, killed_at: str
) -> None:
    """Times come from the anchor and the printed durations; the end is the time limit."""
    site = new_site()
    (only,) = _read(site, real("megatron", name))["incidents"]
    assert (only["kind"], only["cause"]) == ("planned", "scheduler")
    assert only["last_step"] == last_step
    assert abs(_at(only["last_step_at"]) - _at(last_step_at)) < 1.0
    assert only["fault_at"] == killed_at
    assert only["resume_step"] is None


def test_nothing_is_lost_over_all_real_logs(new_site: Callable[[], Site]) -> None:
    """All are read, or listed with what is wrong: one dump has no header (exit code 4)."""
    site = new_site()
    names = "megatron gpt_neox deepspeed slurm_stdout dmesg slurm_sacct torchtitan nemo mllog"
    folders = [real(name) for name in names.split()]
    document = site.json("ingest", *folders, "--tz", "UTC", expect=4)
    assert document["unreadable"] == []
    rejected = {item["format"]: item["rejected"] for item in document["formats"]}
    assert rejected == {"job_log": 0, "kernel_log": 0, "slurm_sacct": 1}
