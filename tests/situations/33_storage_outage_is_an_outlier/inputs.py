"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    start, jobs, step = moment("2026-05-04 00:10:00"), [], 0
    for number, wait in enumerate((300, 300, 36000, 300)):
        log = Megatron(start)
        log.launch(step or None)
        log.steps(step + 1, step + 10)
        log.save(step + 10, 20)
        log.steps(step + 11, step + 15)
        log.say("Traceback (most recent call last):", "OSError: [Errno 116] Stale file handle")
        log.write(folder / f"slurm-{101 + number}.out")
        texts = [f"{at:%H:%M:%S}" for at in (start, log.at)]
        jobs.append((101 + number, "FAILED", "1:0", texts[0], texts[0], texts[1]))
        log.wait(wait)
        start, step = log.at, step + 10
    last = Megatron(start)
    last.launch(step)
    last.steps(step + 1, step + 9)
    last.write(folder / "slurm-109.out")
    at = f"{start:%H:%M:%S}"
    sacct(folder / "sacct.txt", [*jobs, (109, "RUNNING", "0:0", at, at, "Unknown")])
