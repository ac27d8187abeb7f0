"""A step folder has its shards but not the file that is written last."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Titan, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Titan(moment("2026-05-04 10:00:00"))
    log.folder = "/ckpt/run"
    log.launch(None)
    log.steps(1, 10)
    log.save(40)
    log.steps(11, 20)
    log.save(35, done=False)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Titan(moment("2026-05-04 10:30:00"))
    log.folder = "/ckpt/run"
    log.launch(10)
    log.steps(11, 20)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:22:00"),
            (102, "RUNNING", "0:0", "10:23:00", "10:30:00", "Unknown"),
        ],
    )
    files = [
        (f"step-{step}/__{rank}_0.distcp", 10**9, time)
        for step, time in ((10, "10:11:00"), (20, "10:21:40"))
        for rank in range(8)
    ]
    files.append(("step-10/.metadata", 300_000, "10:11:10"))
    found(folder / "checkpoints.txt", "10:25:00", "/ckpt/run", files)
