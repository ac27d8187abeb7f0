"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Log, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    at, _jobs, first = moment("2026-05-04 02:00:00"), [], 751
    kills = ((871, 800, 10.40), (1357, 1300, 10.66), (1857, 1800, 10.79), (2359, 2300, 11.10))
    log = Log(at, step_s=2.0)
    log.note = None

    def line(text: str) -> None:
        log.say(
            f"[rank0]:[titan] {log.at:%Y-%m-%d %H:%M:%S},{log.at.microsecond // 1000:03d} - root - INFO - {text}"
        )

    line("Starting job: agpt")
    line("Loading the checkpoint from outputs/checkpoint/step-750.")
    line("Training starts at step 751.")
    for killed, saved, back in kills:
        for step in range(first, killed + 1):
            log.wait(2.0)
            line(f"step: {step:2d}  loss:  7.1  grad_norm:  1.2  memory: 61.20GiB(77%)  tps: 1,637")
            if step == saved:
                line("Saving the checkpoint.")
                log.wait(1.0)
                line("Finished saving the checkpoint in 1.00 seconds.")
        log.say(
            f"[{log.at:%Y-%m-%d %H:%M:%S},{log.at.microsecond // 1000:03d}] [ERROR] failed (exitcode: -9) local_rank: 0 (pid: 7) of binary: python"
        )
        log.wait(back - 2.0)
        line("Starting job: agpt")
        line(f"Loading the checkpoint from outputs/checkpoint/step-{saved}.")
        line(f"Training starts at step {saved + 1}.")
        first = saved + 1
    for step in range(first, first + 20):
        log.wait(2.0)
        line(f"step: {step:2d}  loss:  7.1  grad_norm:  1.2  memory: 61.20GiB(77%)  tps: 1,637")
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
