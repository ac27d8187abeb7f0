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
    log.steps(21, 30)
    log.wait(10)
    log.say("Traceback (most recent call last):", "ValueError: loss is not finite")
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 05:00:00"))
    again.launch(20)
    again.steps(21, 50)
    again.write(folder / "slurm-103.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "COMPLETED", "0:0", "01:50:00", "02:00:00", end),
            (103, "RUNNING", "0:0", "04:30:00", "05:00:00", "Unknown"),
        ],
    )
