"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    start, jobs = moment("2026-05-04 00:10:00"), []
    for number in range(5):
        log = Megatron(start)
        log.launch(10 if number else None)
        log.steps(11 if number else 1, 20)
        if not number:
            log.lines = log.lines[:-10]
            log.wait(-600)
            log.save(10, 20)
            log.steps(11, 20)
        log.save(20, 20)
        log.steps(21, 25)
        log.say(
            f"slurmstepd: error: *** JOB {101 + number} ON n1 CANCELLED AT "
            f"{log.at:%Y-%m-%dT%H:%M:%S} ***"
        )
        log.write(folder / f"slurm-{101 + number}.out")
        texts = [f"{at:%H:%M:%S}" for at in (start, log.at)]
        jobs.append((101 + number, "CANCELLED by 1001", "0:0", texts[0], texts[0], texts[1]))
        log.wait(600)
        start = log.at
    last = Megatron(start)
    last.launch(10)
    last.steps(11, 40)
    last.write(folder / "slurm-109.out")
    at = f"{start:%H:%M:%S}"
    sacct(folder / "sacct.txt", [*jobs, (109, "RUNNING", "0:0", at, at, "Unknown")])
