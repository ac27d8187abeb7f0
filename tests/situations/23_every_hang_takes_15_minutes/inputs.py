"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    start, jobs = moment("2026-05-04 00:10:00"), []
    for number in range(4):
        log = Megatron(start)
        log.launch(20 * number or None)
        log.steps(20 * number + 1, 20 * number + 20)
        log.save(20 * number + 20, 30)
        log.steps(20 * number + 21, 20 * number + 25)
        log.wait(60 + 900)
        log.write(folder / f"slurm-{101 + number}.out")
        times = (start, log.at)
        texts = [f"{at:%H:%M:%S}" for at in times]
        jobs.append((101 + number, "FAILED", "1:0", texts[0], texts[0], texts[1]))
        log.wait(300)
        start = log.at
    last = Megatron(start)
    last.launch(80)
    last.steps(81, 99)
    last.write(folder / "slurm-109.out")
    at = f"{start:%H:%M:%S}"
    sacct(folder / "sacct.txt", [*jobs, (109, "RUNNING", "0:0", at, at, "Unknown")])
