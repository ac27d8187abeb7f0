"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.wait(2400)
    for first in range(1, 61, 20):
        log.steps(first, first + 19)
        log.wait(1500)
        log.say(
            f" validation loss at iteration {first + 19} | lm loss value: 2.5E+00 | lm loss PPL: "
            "1.2E+01 | "
        )
    log.steps(61, 70)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "09:50:00", "10:00:00", "Unknown")])
