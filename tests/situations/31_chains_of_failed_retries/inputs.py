"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    start, jobs, step, job = moment("2026-05-04 00:10:00"), [], 0, 101

    def record(log: Megatron, begin: str, state: str) -> None:
        end = f"{log.at:%H:%M:%S}"
        jobs.append((job, state, "1:0" if state == "FAILED" else "0:0", begin, begin, end))

    for _ in range(3):
        log = Megatron(start)
        log.launch(step or None)
        log.steps(step + 1, step + 10)
        log.save(step + 10, 20)
        log.steps(step + 11, step + 15)
        log.say(*DIED)
        log.write(folder / f"slurm-{job}.out")
        record(log, f"{start:%H:%M:%S}", "FAILED")
        job, step = job + 1, step + 10
        for _ in range(4):
            log.wait(120)
            tried = Megatron(log.at)
            tried.say("using world size: 16, data-parallel size: 2, tensor-model-parallel size: 8")
            tried.wait(60)
            tried.say("RuntimeError: CUDA error: device-side assert triggered")
            tried.write(folder / f"slurm-{job}.out")
            record(tried, f"{log.at:%H:%M:%S}", "FAILED")
            job, log.at = job + 1, tried.at
        log.wait(120)
        start = log.at
    last = Megatron(start)
    last.launch(step)
    last.steps(step + 1, step + 9)
    last.write(folder / f"slurm-{job}.out")
    at = f"{start:%H:%M:%S}"
    sacct(folder / "sacct.txt", [*jobs, (job, "RUNNING", "0:0", at, at, "Unknown")])
