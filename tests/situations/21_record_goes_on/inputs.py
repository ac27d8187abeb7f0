"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 30)
    log.wait(20)
    log.say(f"[{log.stamp}] rank 5 is lost", *DIED)
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 09:10:00"))
    again.launch(20)
    again.steps(21, 50)
    again.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "CANCELLED by 1001", "0:0", "01:50:00", "02:00:00", "09:00:00"),
            (102, "RUNNING", "0:0", "09:05:00", "09:10:00", "Unknown"),
        ],
    )
