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
    log.wait(5)
    log.say("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.62 GiB.")
    for rank in range(7):
        log.say(
            f"E0504 {log.at:%H:%M:%S}.000000 77 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -15) local_rank: {rank} (pid: {rank + 10}) of binary: python"
        )
    log.say(
        f"E0504 {log.at:%H:%M:%S}.000000 77 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 7 (pid: 17) of binary: python"
    )
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 03:00:00"))
    again.launch(20)
    again.steps(21, 50)
    again.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "01:50:00", "02:00:00", end),
            (102, "RUNNING", "0:0", "02:50:00", "03:00:00", "Unknown"),
        ],
    )
