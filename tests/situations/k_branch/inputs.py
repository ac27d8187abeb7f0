"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Job 102 begins a branch at step 20; job 103 goes on from step 45 of job 101."""
    jobs = []

    def one(job: int, begin: str, loads: int | None, saves: list[int], last: int) -> None:
        log, done = Megatron(moment(f"2026-05-04 {begin}")), loads or 0
        log.launch(loads)
        for step in saves:
            log.steps(done + 1, step)
            log.save(step, 30)
            done = step
        log.steps(done + 1, last)
        is_last = job == 103
        if not is_last:
            log.say(
                f"slurmstepd: error: *** JOB {job} ON n1 CANCELLED AT "
                f"{log.at:%Y-%m-%dT%H:%M:%S} ***"
            )
        log.write(folder / f"slurm-{job}.out")
        state, end = ("RUNNING", "Unknown") if is_last else ("CANCELLED by 7", f"{log.at:%H:%M:%S}")
        jobs.append((job, state, "0:0", begin, begin, end))

    one(101, "02:00:00", None, [20, 45], 50)
    one(102, "03:00:00", 20, [30], 38)
    one(103, "04:00:00", 45, [60], 70)
    sacct(folder / "sacct.txt", jobs)
