"""Input as it lies around on real sites: rotated, copied, cut short, nonsense beside good files."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from .conftest import SAMPLE, Site, real

Json = dict[str, Any]
ALL_TIME = ("--since", "2000-01-01", "--until", "2100-01-01")
CONFIG = ("--config", SAMPLE / "ckpt-audit.toml")
ROTATED = "slurm-481340.out"


def _incidents(site: Site) -> list[Json]:
    """Incidents without their evidence, whose files differ."""
    found: list[Json] = site.json("incidents", *ALL_TIME, *CONFIG)["incidents"]
    return [{key: value for key, value in item.items() if key != "evidence"} for item in found]


@pytest.fixture(scope="module")
def whole(new_site: Callable[[], Site]) -> list[Json]:
    """Incidents of the sample as it is."""
    site = new_site()
    site.run("ingest", SAMPLE, *CONFIG)
    return _incidents(site)


@pytest.mark.parametrize("keeps_whole", [False, True], ids=["halves", "halves and the whole"])
def test_a_rotated_log(
    new_site: Callable[[], Site], whole: list[Json], tmp_path: Path, keeps_whole: bool
) -> None:
    """A log in two files is one execution, and a copy of a log is none."""
    lines = gzip.decompress((SAMPLE / "logs" / f"{ROTATED}.gz").read_bytes()).splitlines(True)
    (tmp_path / f"{ROTATED}.1").write_bytes(b"".join(lines[:2000]))
    (tmp_path / ROTATED).write_bytes(b"".join(lines[2000:]))
    logs = [
        path
        for path in sorted((SAMPLE / "logs").iterdir())
        if keeps_whole or path.name != f"{ROTATED}.gz"
    ]
    site = new_site()
    site.run("ingest", SAMPLE / "slurm", SAMPLE / "kernel", *logs, tmp_path, *CONFIG)
    assert _incidents(site) == whole


def test_a_wild_log_harms_no_other(
    new_site: Callable[[], Site], whole: list[Json], tmp_path: Path
) -> None:
    """Steps that jump and clocks that run backwards cost at most their own run."""
    draw = random.Random(2)
    lines = []
    for _ in range(12):
        at = datetime(2026, 5, 3, tzinfo=UTC) + timedelta(seconds=draw.randint(0, 100_000))
        step = draw.randint(1, 1000)
        lines.append(
            f" [{at:%Y-%m-%d %H:%M:%S}] iteration {step:8d}/ {1000:8d} | consumed samples: {step} |"
            " elapsed time per iteration (ms): 60000.0 | learning rate: 1.0E-04 |\n"
        )
    (tmp_path / "wild.out").write_text("".join(lines))
    site = new_site()
    site.run("ingest", SAMPLE, tmp_path, *CONFIG)
    found = [item for item in _incidents(site) if not item["run"].startswith("wild")]
    assert found == whole


def test_dumps_of_one_job_with_other_columns_are_one_job(new_site: Callable[[], Site]) -> None:
    """Four dumps of one site, some without submit time, folder or cluster: each job counts once."""
    folder = real("slurm_22.05_made_here")
    site = new_site()
    site.run("ingest", folder / "jobs", *sorted(folder.glob("sacct[._]*.txt")), "--tz", "UTC")
    runs = {item["run"]: item["jobs"] for item in site.json("runs")["runs"]}
    assert runs == {"alpha": 3, "beta": 3, "gamma": 2, "delta_1": 1, "delta_2": 1, "delta_3": 1}


def test_a_dump_without_submit_times(new_site: Callable[[], Site], tmp_path: Path) -> None:
    """A requeued job keeps its records: they are told apart by their starts."""
    folder = real("slurm_22.05_made_here")
    rows = [line.split("|") for line in (folder / "sacct.txt").read_text().splitlines()]
    kept = [rows[0].index(name) for name in "JobID JobName State Start End ElapsedRaw".split()]
    text = "".join("|".join(row[place] for place in kept) + "\n" for row in rows)
    (tmp_path / "sacct.txt").write_text(text)
    site = new_site()
    site.run("ingest", folder / "jobs", tmp_path / "sacct.txt", "--tz", "UTC")
    runs = {item["run"]: item for item in site.json("runs")["runs"]}
    assert (runs["alpha"]["jobs"], runs["alpha"]["allocated_s"]) == (3, 449.0)
