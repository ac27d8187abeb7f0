"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Log, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Log(moment("2026-05-04 02:00:00"), step_s=2.0)

    def line(text: str) -> None:
        log.say(
            f"[rank0]:[titan] {log.at:%Y-%m-%d %H:%M:%S},{log.at.microsecond // 1000:03d} - root - "
            f"INFO - {text}"
        )

    line("Starting job: agpt")
    line("Training starts at step 1.")
    for step in range(1, 301):
        log.wait(2.0)
        line(f"step: {step:2d}  loss:  7.1  grad_norm:  1.2  memory: 61.20GiB(77%)  tps: 1,637")
        if step % 50 == 0:
            line("Saving the checkpoint.")
            log.wait(0.30)
            line("Finished saving the checkpoint in 0.30 seconds.")
            log.wait(5.18)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
