"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    start, jobs, step = moment("2026-05-04 00:10:00"), [], 0
    for number in range(6):
        log = Megatron(start)
        log.launch(step or None)
        log.steps(step + 1, step + 10)
        log.save(step + 10, 20)
        log.steps(step + 11, step + 15)
        log.say(f"[{log.stamp}] Received signal SIGTERM")
        log.wait(10)
        log.say(
            f"slurmstepd: error: *** JOB {101 + number} ON n1 CANCELLED AT "
            f"{log.at:%Y-%m-%dT%H:%M:%S} DUE TO PREEMPTION ***"
        )
        log.write(folder / f"slurm-{101 + number}.out")
        texts = [f"{at:%H:%M:%S}" for at in (start, log.at)]
        jobs.append((101 + number, "PREEMPTED", "0:0", texts[0], texts[0], texts[1]))
        log.wait(600)
        start, step = log.at, step + 10
    last = Megatron(start)
    last.launch(step)
    last.steps(step + 1, step + 9)
    last.write(folder / "slurm-109.out")
    at = f"{start:%H:%M:%S}"
    sacct(folder / "sacct.txt", [*jobs, (109, "RUNNING", "0:0", at, at, "Unknown")])
