"""An asynchronous save's timer prints before the data are durable."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)

    def schedule(step: int) -> None:
        log.say(f"  scheduled an async checkpoint save at iteration {step:7d} to /ckpt/run")
        log.wait(2)
        log.say(
            "(min, max) time across ranks (ms):",
            "    save-checkpoint ................................: (1980.00, 2000.00)",
        )

    log.steps(1, 10)
    schedule(10)
    log.steps(11, 12)
    log.say("  successfully saved checkpoint from iteration      10 to /ckpt/run")
    log.steps(13, 20)
    schedule(20)
    log.steps(21, 21)
    log.wait(10)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Megatron(moment("2026-05-04 10:24:00"))
    log.launch(10)
    log.steps(11, 15)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:21:55"),
            (102, "RUNNING", "0:0", "10:22:00", "10:24:00", "Unknown"),
        ],
    )
