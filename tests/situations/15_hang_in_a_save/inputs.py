"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    for first in range(1, 51, 10):
        log.steps(first, first + 9)
        log.save(first + 9, 40)
    log.steps(51, 60)
    log.save(60, 40, done=False)
    for _ in range(30):
        log.wait(60)
        log.say(f"[{log.stamp}] heartbeat: 16 of 16 workers are alive")
    log.say(
        f"[rank3]:[E504 {log.at:%H:%M:%S}.123456789 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog "
        "caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, "
        "Timeout(ms)=1800000) ran for 1800017 milliseconds before timing out."
    )
    log.write(folder / "slurm-101.out")
    end = f"{log.at:%H:%M:%S}"
    again = Megatron(moment("2026-05-04 12:00:00"))
    again.launch(50)
    again.steps(51, 70)
    again.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", end),
            (102, "RUNNING", "0:0", "11:40:00", "12:00:00", "Unknown"),
        ],
    )
