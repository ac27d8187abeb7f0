"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-10-25 01:30:00"), step_s=60.0)
    log.launch(None)
    for step in range(1, 121):
        if (log.at.hour, log.at.minute, step) == (2, 59, step) and log.folder == "/ckpt/run":
            log.wait(-3600)
            log.folder = "/ckpt/run/"
        log.steps(step, step)
    log.write(folder / "slurm-101.out")
