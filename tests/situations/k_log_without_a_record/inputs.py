"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 30)
    log.say("Traceback (most recent call last):", "ValueError: loss is not finite")
    log.write(folder / "train-1.log")
    again = Megatron(moment("2026-05-04 05:00:00"))
    again.launch(20)
    again.steps(21, 50)
    again.write(folder / "train-2.log")
