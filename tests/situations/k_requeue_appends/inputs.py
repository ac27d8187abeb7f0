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
    log.say(
        f"slurmstepd: error: *** JOB 101 ON n1 CANCELLED AT {log.at:%Y-%m-%dT%H:%M:%S} DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"
    )
    end = f"{log.at:%H:%M:%S}"
    log.wait(1200)
    begin = f"{log.at:%H:%M:%S}"
    log.launch(20)
    log.steps(21, 50)
    log.write(folder / "slurm-101.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "NODE_FAIL", "0:0", "01:50:00", "02:00:00", end),
            (101, "RUNNING", "0:0", end, begin, "Unknown"),
        ],
    )
