"""Zero-byte, temporary and short shards beside whole ones."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Fairseq, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Fairseq(moment("2026-05-04 10:00:00"))
    log.note("metaseq.cli.train", "No existing checkpoint found /ckpt/run/checkpoint_last.pt")
    log.steps(1, 10)
    log.save(10, 40)
    log.steps(11, 20)
    log.save(20, 40)
    log.steps(21, 25)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Fairseq(moment("2026-05-04 10:35:00"))
    log.wait(60)
    log.note(
        "metaseq.trainer", "Loaded checkpoint /ckpt/run/checkpoint_1_10.pt (epoch 1 @ 10 updates)"
    )
    log.steps(11, 30)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:26:40"),
            (102, "RUNNING", "0:0", "10:28:00", "10:35:00", "Unknown"),
        ],
    )
    shard = "checkpoint_1_{}-model_part-{}-shard{}.pt".format
    files = [
        (shard(step, part, at), 10**9, time)
        for step, time in ((10, "10:10:20"), (20, "10:21:00"))
        for part in range(2)
        for at in range(4)
    ]
    changed = {
        shard(20, 0, 1): ("", 0),
        shard(20, 1, 0): ("", 10**8),
        shard(20, 1, 3): (".tmp", 10**8),
    }
    files = [
        (name + changed.get(name, ("", 0))[0], changed.get(name, ("", size))[1], time)
        for name, size, time in files
    ]
    found(folder / "checkpoints.txt", "10:30:00", "/ckpt/run", files)
