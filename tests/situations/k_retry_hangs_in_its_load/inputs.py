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
    log.wait(10)
    log.say("Traceback (most recent call last):", "ValueError: loss is not finite")
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    stuck = Megatron(moment("2026-05-04 03:00:00"))
    stuck.say(
        "using world size: 16, data-parallel size: 2, tensor-model-parallel size: 8, "
        "pipeline-model-parallel size: 1"
    )
    stuck.wait(30)
    stuck.say(
        f"[after megatron is initialized] datetime: {stuck.stamp} ",
        f" loading checkpoint from {stuck.folder} at iteration 20",
    )
    stuck.write(folder / "slurm-102.out")
    again = Megatron(moment("2026-05-04 05:00:00"))
    again.launch(20)
    again.steps(21, 50)
    again.write(folder / "slurm-103.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "01:50:00", "02:00:00", end),
            (102, "CANCELLED by 1001", "0:0", "02:50:00", "03:00:00", "04:10:00"),
            (103, "RUNNING", "0:0", "04:30:00", "05:00:00", "Unknown"),
        ],
    )
