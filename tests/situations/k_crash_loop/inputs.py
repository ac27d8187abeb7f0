"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    start, jobs = moment("2026-05-04 02:00:00"), []
    for number in range(3):
        log = Megatron(start)
        log.launch(20 if number else None)
        log.steps(21 if number else 1, 20 if not number else 31)
        if not number:
            log.save(20, 30)
            log.steps(21, 31)
        log.say("Traceback (most recent call last):", "ValueError: loss is not finite")
        log.write(folder / f"slurm-{101 + number}.out")
        texts = [f"{at:%H:%M:%S}" for at in (start, log.at)]
        jobs.append((101 + number, "FAILED", "1:0", texts[0], texts[0], texts[1]))
        log.wait(600)
        start = log.at
    last = Megatron(start)
    last.launch(20)
    last.steps(21, 60)
    last.write(folder / "slurm-109.out")
    at = f"{start:%H:%M:%S}"
    sacct(folder / "sacct.txt", [*jobs, (109, "RUNNING", "0:0", at, at, "Unknown")])
