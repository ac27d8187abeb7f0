"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Three jobs that end after a save; the second saves more often and to another folder."""
    jobs = []
    for job, begin, loads, every, place in (
        (101, "02:00:00", None, 20, "/ckpt/run"),
        (102, "03:00:00", 20, 10, "/new/run"),
        (103, "04:00:00", 40, 10, "/new/run"),
    ):
        log, first = Megatron(moment(f"2026-05-04 {begin}")), (loads or 0) + 1
        log.say(f"  save_interval ................................... {every}")
        log.launch(loads)
        log.folder = place
        for step in range(first, first + 20, every):
            log.steps(step, step + every - 1)
            log.save(step + every - 1, 20)
        is_last = job == 103
        if not is_last:
            log.say(
                f"slurmstepd: error: *** JOB {job} ON n1 CANCELLED AT "
                f"{log.at:%Y-%m-%dT%H:%M:%S} DUE TO TIME LIMIT ***"
            )
        log.write(folder / f"slurm-{job}.out")
        state, end = ("RUNNING", "Unknown") if is_last else ("TIMEOUT", f"{log.at:%H:%M:%S}")
        jobs.append((job, state, "0:0", begin, begin, end))
    sacct(folder / "sacct.txt", jobs)
