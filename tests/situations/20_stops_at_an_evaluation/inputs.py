"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""

    def train(start: str, job: int, loads: int | None, first: int) -> str:
        log = Megatron(moment(f"2026-05-04 {start}"))
        log.launch(loads)
        for step in range(first, 81, 20):
            log.steps(step, step + 19)
            if step + 19 < 80:
                log.wait(90)
                log.say(
                    f" validation loss at iteration {step + 19} | lm loss value: 2.5E+00 | lm loss "
                    "PPL: 1.2E+01 | "
                )
            if step + 19 == 60:
                log.save(60, 30)
        for _ in range(5):
            log.wait(3600)
            log.say(f"[{log.stamp}] the training job is running")
        log.say(
            f"slurmstepd: error: *** JOB {job} ON n1 CANCELLED AT {log.at:%Y-%m-%dT%H:%M:%S} ***"
        )
        log.write(folder / f"slurm-{job}.out")
        return f"{log.at:%H:%M:%S}"

    first_end = train("00:30:00", 101, None, 1)
    second_end = train("08:00:00", 102, 60, 61)
    last = Megatron(moment("2026-05-04 15:00:00"))
    last.launch(60)
    last.steps(61, 99)
    last.write(folder / "slurm-103.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "CANCELLED by 1001", "0:0", "00:20:00", "00:30:00", first_end),
            (102, "CANCELLED by 1001", "0:0", "07:45:00", "08:00:00", second_end),
            (103, "RUNNING", "0:0", "14:30:00", "15:00:00", "Unknown"),
        ],
    )
