"""Saves on the nodes go on, and nothing reaches the store any more."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.steps(1, 10)
    log.save(10, 40)
    for last in (20, 30):
        log.steps(last - 9, last)
        log.say(f"saving checkpoint at iteration {last:7d} to /local/run in torch_dist format")
        log.wait(5)
        log.say(f"  successfully saved local checkpoint from iteration {last:7d}")
    log.steps(31, 35)
    log.wait(20)
    log.say(
        "srun: error: Node failure on n2",
        f"slurmstepd: error: *** JOB 101 ON n1 CANCELLED AT {log.at:%Y-%m-%dT%H:%M:%S} "
        "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***",
    )
    log.write(folder / "slurm-101.out")
    log = Megatron(moment("2026-05-04 10:45:00"))
    log.launch(10)
    log.steps(11, 30)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "NODE_FAIL", "0:0", "09:50:00", "10:00:00", "10:36:40"),
            (102, "RUNNING", "0:0", "10:40:00", "10:45:00", "Unknown"),
        ],
    )
    shard = "iter_{:07d}/mp_rank_{:02d}/model_optim_rng.pt".format
    files = [(shard(10, rank), 2_000_000_000, "10:11:00") for rank in range(8)]
    for time in ("10:25:00", "10:34:00"):
        found(
            folder / f"store-{time[:2]}{time[3:5]}.txt",
            time,
            "/ckpt/run",
            files,
            **{"latest_checkpointed_iteration.txt": "10"},
        )
