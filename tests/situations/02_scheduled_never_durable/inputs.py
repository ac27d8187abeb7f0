"""progress.txt has a save that was scheduled and never became durable."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.steps(1, 21)
    log.wait(10)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Megatron(moment("2026-05-04 10:24:00"))
    log.launch(10)
    log.steps(11, 25)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:21:50"),
            (102, "RUNNING", "0:0", "10:22:00", "10:24:00", "Unknown"),
        ],
    )
    line = "2026-05-04 {}\tJob ID: {}\t# GPUs: 16\t{}".format
    progress = [
        line("10:00:30", 101, "Starting job"),
        line("10:10:32", 101, "Saving async checkpoint\tIteration: 10\tTokens (in billions): 0.01"),
        line("10:12:05", 101, "Saved async checkpoint\tIteration: 10"),
        line("10:20:32", 101, "Saving async checkpoint\tIteration: 20\tTokens (in billions): 0.02"),
        line("10:24:30", 102, "Starting job"),
    ]
    (folder / "progress.txt").write_text("\n".join(progress) + "\n")
