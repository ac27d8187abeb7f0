"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 30)
    log.say(*DIED)
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 03:00:00"))
    again.launch(None)
    again.steps(1, 50)
    again.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "01:50:00", "02:00:00", end),
            (102, "RUNNING", "0:0", "02:50:00", "03:00:00", "Unknown"),
        ],
    )
