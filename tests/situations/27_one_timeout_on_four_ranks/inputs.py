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
    log.steps(21, 30)
    log.wait(605)
    for rank in range(4):
        log.say(
            f"[rank{rank}]:[E504 {log.at:%H:%M:%S}.{rank}00000 ProcessGroupNCCL.cpp:607] "
            f"[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=812, OpType=ALLREDUCE, "
            f"NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 60000{rank} milliseconds before "
            "timing out."
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
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", end),
            (102, "RUNNING", "0:0", "11:50:00", "12:00:00", "Unknown"),
        ],
    )
