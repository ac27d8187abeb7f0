"""A save begins and never ends; the tracker still names the one before."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.steps(1, 10)
    log.save(10, 40)
    log.steps(11, 20)
    log.save(20, 15, done=False)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Megatron(moment("2026-05-04 10:24:00"))
    log.launch(10)
    log.steps(11, 20)
    log.save(20, 40)
    log.steps(21, 25)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:21:30"),
            (102, "RUNNING", "0:0", "10:22:00", "10:24:00", "Unknown"),
        ],
    )
    shard = "iter_{:07d}/mp_rank_{:02d}/model_optim_rng.pt".format
    files = [(shard(10, rank), 2_000_000_000, "10:11:00") for rank in range(8)]
    files += [(shard(20, rank), 2_000_000_000, "10:21:20") for rank in range(5)]
    files += [(shard(20, 5), 700_000_000, "10:21:24")]
    tracker = {"latest_checkpointed_iteration.txt": "10"}
    found(folder / "checkpoints.txt", "10:23:00", "/ckpt/run", files, **tracker)
