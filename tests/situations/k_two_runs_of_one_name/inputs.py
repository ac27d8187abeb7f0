"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    for job in (101, 102):
        log = Megatron(moment(f"2026-05-04 02:0{job - 101}:00"))
        log.launch(None)
        log.steps(1, 40)
        log.write(folder / f"slurm-{job}.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown"),
            (102, "RUNNING", "0:0", "01:50:00", "02:01:00", "Unknown"),
        ],
    )
