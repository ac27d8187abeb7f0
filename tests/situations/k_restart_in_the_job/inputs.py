"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 30)
    log.wait(5)
    log.say(*DIED)
    log.say(
        f"[{log.stamp},000] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 3 (pid: 7) of binary: python"
    )
    log.say(
        f"[{log.stamp},000] torch.distributed.elastic.agent: [INFO] Worker group FAILED. 3/3 attempts left; will restart worker group"
    )
    log.wait(20)
    log.launch(20)
    log.steps(21, 50)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
