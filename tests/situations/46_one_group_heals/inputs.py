"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Titan, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Titan(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 30)
    log.note("quorum 7: replica groups 3 of 4 participating")
    log.steps(31, 60)
    log.note("quorum 8: replica groups 4 of 4 participating")
    log.steps(61, 90)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
