"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 10)
    log.save(10, 30)
    log.steps(11, 20)
    log.save(20, 30)
    log.steps(21, 25)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Megatron(moment("2026-05-04 02:40:00"))
    log.say(
        "using world size: 16, data-parallel size: 2, tensor-model-parallel size: 8, "
        "pipeline-model-parallel size: 1"
    )
    log.wait(30)
    log.say(
        f"[after megatron is initialized] datetime: {log.stamp} ",
        f" loading checkpoint from {log.folder} at iteration 20",
        *DIED[:2],
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central "
        "directory",
    )
    log.write(folder / "slurm-102.out")
    log = Megatron(moment("2026-05-04 02:50:00"))
    log.launch(10)
    log.steps(11, 40)
    log.write(folder / "slurm-103.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "01:50:00", "02:00:00", "02:27:00"),
            (102, "FAILED", "1:0", "02:28:00", "02:40:00", "02:41:30"),
            (103, "RUNNING", "0:0", "02:42:00", "02:50:00", "Unknown"),
        ],
    )
