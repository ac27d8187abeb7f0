"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.say(
        "srun: error: n1: task 0: Exited with exit code 1",
        "RuntimeError: CUDA error: warm-up check failed",
    )
    log.launch(None)
    log.steps(1, 40)
    log.say(
        f"slurmstepd: error: *** STEP 101.1 ON n1 CANCELLED AT {log.at:%Y-%m-%dT%H:%M:%S} ***",
        "srun: error: n1: task 0: Exited with exit code 1",
    )
    log.steps(41, 60)
    log.lines = [line.replace("/    1000 |", "/      60 |") for line in log.lines]
    log.say(f"[after training is done] datetime: {log.stamp} ")
    log.wait(10)
    log.say("RuntimeError: CUDA error: driver shutting down")
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "COMPLETED", "0:0", "01:50:00", "02:00:00", end)])
