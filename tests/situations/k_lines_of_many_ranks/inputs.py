"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    before = len(log.lines)
    log.save(20, 30)
    begun, done = log.lines[before:]
    log.lines[before:] = [begun] * 8 + [done] * 8
    log.steps(21, 30)
    for rank in range(8):
        log.say(f"[rank{rank}]: RuntimeError: CUDA error: uncorrectable ECC error encountered")
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
