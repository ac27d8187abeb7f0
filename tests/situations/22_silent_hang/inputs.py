"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    for first in range(1, 61, 20):
        log.steps(first, first + 19)
        log.save(first + 19, 30)
    log.steps(61, 75)
    log.wait(7200)
    log.say(f"slurmstepd: error: *** JOB 101 ON n1 CANCELLED AT {log.at:%Y-%m-%dT%H:%M:%S} ***")
    log.write(folder / "slurm-101.out")
    end = f"{log.at:%H:%M:%S}"
    again = Megatron(moment("2026-05-04 06:00:00"))
    again.launch(60)
    again.steps(61, 90)
    again.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "CANCELLED by 1001", "0:0", "01:50:00", "02:00:00", end),
            (102, "RUNNING", "0:0", "05:50:00", "06:00:00", "Unknown"),
        ],
    )
