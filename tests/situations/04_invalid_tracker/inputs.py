"""A restart finds the tracker invalid and exits with status 0."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.steps(1, 10)
    log.save(10, 40)
    log.steps(11, 15)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Megatron(moment("2026-05-04 10:20:00"))
    log.say(
        "using world size: 16, data-parallel size: 2, tensor-model-parallel size: 8, "
        "pipeline-model-parallel size: 1"
    )
    log.wait(30)
    log.say(
        f"[after megatron is initialized] datetime: {log.stamp} ",
        "ERROR: Invalid metadata file /ckpt/run/latest_checkpointed_iteration.txt. Exiting",
    )
    log.write(folder / "slurm-102.out")
    log = Megatron(moment("2026-05-04 10:30:00"))
    log.launch(10)
    log.steps(11, 20)
    log.write(folder / "slurm-103.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:16:20"),
            (102, "COMPLETED", "0:0", "10:17:00", "10:20:00", "10:20:40"),
            (103, "RUNNING", "0:0", "10:28:00", "10:30:00", "Unknown"),
        ],
    )
