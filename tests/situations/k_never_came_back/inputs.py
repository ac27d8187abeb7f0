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
    log.say(*DIED)
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "FAILED", "1:0", "01:50:00", "02:00:00", end)])
