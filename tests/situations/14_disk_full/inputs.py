"""Two ranks find no space left while they save; half of the bytes are there."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.steps(1, 10)
    log.save(10, 40)
    log.steps(11, 20)
    log.save(20, 30, done=False)
    for rank in (3, 5):
        log.say(
            f"[rank{rank}]: Traceback (most recent call last):",
            f'[rank{rank}]:   File "/train/checkpointing.py", line 7, in save',
            f"[rank{rank}]: OSError: [Errno 28] No space left on device",
        )
    log.write(folder / "slurm-101.out")
    log = Megatron(moment("2026-05-04 10:40:00"))
    log.launch(10)
    log.steps(11, 25)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:21:50"),
            (102, "RUNNING", "0:0", "10:38:00", "10:40:00", "Unknown"),
        ],
    )
    shard = "iter_{:07d}/mp_rank_{:02d}/model_optim_rng.pt".format
    files = [(shard(10, rank), 2_000_000_000, "10:11:00") for rank in range(8)]
    files += [(shard(20, rank), 1_000_000_000, "10:21:30") for rank in range(8)]
    tracker = {"latest_checkpointed_iteration.txt": "10"}
    found(folder / "checkpoints.txt", "10:30:00", "/ckpt/run", files, **tracker)
