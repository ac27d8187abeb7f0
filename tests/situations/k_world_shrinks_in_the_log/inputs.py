"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment


def write(folder: Path) -> None:
    """One log, no scheduler record."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 25)
    log.say(*DIED)
    log.wait(60)
    n_before = len(log.lines)
    log.step_s = 90.0
    log.launch(20)
    log.steps(21, 60)
    log.lines[n_before:] = [
        line.replace(
            "world size: 16, data-parallel size: 2", "world size: 8, data-parallel size: 1"
        )
        for line in log.lines[n_before:]
    ]
    log.write(folder / "train.out")
