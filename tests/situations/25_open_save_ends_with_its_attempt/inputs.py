"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.steps(1, 10)
    log.save(10, 40)
    log.steps(11, 20)
    log.save(20, 5, done=False)
    log.say(*DIED)
    log.wait(120)
    log.launch(10)
    log.steps(11, 30)
    log.save(30, 40)
    log.steps(31, 35)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "09:50:00", "10:00:00", "Unknown")])
