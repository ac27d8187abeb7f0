"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Titan, moment, sacct


def write(folder: Path) -> None:
    """The agents of two nodes each say that they restart their workers."""
    log = Titan(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(30)
    log.wait(7)
    log.say("[rank0]: RuntimeError: CUDA error: uncorrectable ECC error encountered")
    for _ in range(2):
        log.say(
            f"[{log.stamp},000] torch.distributed.elastic.agent.server.api: [INFO] [default] "
            "Worker group FAILED. 3/3 attempts left; will restart worker group"
        )
    log.wait(100)
    log.steps(21, 40)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
