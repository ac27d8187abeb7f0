"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 00:10:00"), step_s=100.0)
    log.launch(None)
    log.steps(1, 60)
    for step in range(61, 181):
        log.step_s = 108.0 + 3 * (step % 2)
        log.steps(step, step)
    log.step_s = 100.0
    log.steps(181, 200)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "00:05:00", "00:10:00", "Unknown")])
