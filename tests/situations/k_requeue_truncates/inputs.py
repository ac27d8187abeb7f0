"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 04:00:00"))
    log.launch(20)
    log.steps(21, 50)
    log.write(folder / "slurm-101.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "NODE_FAIL", "0:0", "01:50:00", "02:00:00", "03:30:00"),
            (101, "RUNNING", "0:0", "03:30:00", "04:00:00", "Unknown"),
        ],
    )
