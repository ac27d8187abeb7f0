"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 45)
    log.say(f"[{log.stamp}] Received signal SIGTERM")
    log.wait(5)
    log.say(
        f"slurmstepd: error: *** JOB 101 ON n1 CANCELLED AT {log.at:%Y-%m-%dT%H:%M:%S} DUE TO TIME "
        "LIMIT ***"
    )
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 12:00:00"))
    again.launch(20)
    again.steps(21, 50)
    again.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "TIMEOUT", "0:0", "09:50:00", "10:00:00", end),
            (102, "RUNNING", "0:0", "11:50:00", "12:00:00", "Unknown"),
        ],
    )
