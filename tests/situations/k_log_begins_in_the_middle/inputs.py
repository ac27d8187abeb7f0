"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.steps(500, 540)
    log.save(540, 30)
    log.steps(541, 560)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
