"""An incomplete checkpoint is found at a restart, and no save comes after it."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, MaxText, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""

    def train(
        start: str, job: int, loads: int | None, load_s: float, last: int, saves: bool
    ) -> None:
        log = MaxText(moment(f"2026-05-04 {start}"))
        log.note("max_utils.py:200", "System Information: Jax Version: 0.6.0")
        log.wait(30)
        if loads is not None:
            log.note("checkpointing.py:250", f"restoring from this run's directory step {loads}")
            if load_s > 100:
                log.note(
                    "checkpointer.py:410",
                    "Found incomplete checkpoint "
                    f"{log.folder}/{loads + 10}.orbax-checkpoint-tmp-1777890000",
                    "W",
                )
            log.wait(load_s)
            log.note(
                "checkpointer.py:420",
                f"Finished restoring checkpoint in {load_s:.2f} seconds from {log.folder}/{loads}.",
            )
        first = 0 if loads is None else loads + 1
        for start_step in range(first, last, 10):
            log.steps(start_step, min(start_step + 9, last))
            if saves and start_step + 9 <= last:
                log.save(start_step + 9, 5)
        if job < 103:
            log.say(*DIED)
        log.write(folder / f"slurm-{job}.out")

    train("10:00:00", 101, None, 0, 15, saves=True)
    train("10:20:00", 102, 9, 28, 34, saves=True)
    train("10:50:00", 103, 29, 960, 89, saves=False)
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:17:00"),
            (102, "FAILED", "1:0", "10:18:00", "10:20:00", "10:46:30"),
            (103, "RUNNING", "0:0", "10:48:00", "10:50:00", "Unknown"),
        ],
    )
