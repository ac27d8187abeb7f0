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
        log.save(first + 9, 30)
    log.steps(51, 60)
    log.save(60, 30, done=False)
    log.wait(1200)
    log.say(
        f"[rank0]:[E504 {log.at:%H:%M:%S}.000000 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog "
        "caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=BROADCAST, "
        "Timeout(ms)=1200000) ran for 1200003 milliseconds before timing out."
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
            (102, "RUNNING", "0:0", "11:45:00", "12:00:00", "Unknown"),
        ],
    )
