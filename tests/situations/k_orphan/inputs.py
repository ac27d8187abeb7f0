"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 90)
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 03:00:00"))
    again.launch(20)
    again.steps(21, 110)
    again.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "CANCELLED by 1001", "0:0", "01:50:00", "02:00:00", f"{log.at:%H:%M:%S}"),
            (102, "RUNNING", "0:0", "02:50:00", "03:00:00", "Unknown"),
        ],
    )
