"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    for loads, first, last in ((None, 1, 15), (10, 11, 25), (20, 21, 40)):
        log.launch(loads)
        log.steps(first, 10 * (first // 10) + 10)
        log.save(10 * (first // 10) + 10, 20)
        log.steps(10 * (first // 10) + 11, last)
        if last < 40:
            log.say(
                f"slurmstepd: error: *** JOB 101 ON n1 CANCELLED AT {log.at:%Y-%m-%dT%H:%M:%S} DUE TO "
                "JOB REQUEUE ***"
            )
        log.wait(600)
    log.write(folder / "slurm-101.out")
    start = "02:52:00"
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "02:45:00", start, "Unknown")])
