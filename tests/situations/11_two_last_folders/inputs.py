"""Two folders that end in -last stop the restart until a person tidies up."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Nemo, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""

    def begin(log: Nemo, loads: int | None) -> None:
        log.note("Experiments will be logged at /ckpt/run", "exp_manager:393")
        log.wait(30)
        if loads is not None:
            name = (
                f"megatron_gpt--val_loss=2.10-step={loads - 1}-consumed_samples={loads * 64}.0-last"
            )
            log.note(f"Resuming from {log.folder}/{name}", "exp_manager:607")
            log.wait(60)
            log.note(f"Restored all states from the checkpoint at {log.folder}/{name}")

    log = Nemo(moment("2026-05-04 10:00:00"))
    begin(log, None)
    log.steps(1, 15)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Nemo(moment("2026-05-04 10:20:00"))
    log.note("Experiments will be logged at /ckpt/run", "exp_manager:393")
    log.wait(30)
    log.say(
        "Traceback (most recent call last):",
        '  File "/train/train.py", line 9, in <module>',
        "ValueError: Multiple checkpoints /ckpt/run/checkpoints/a-last, "
        "/ckpt/run/checkpoints/b-last that matches *last.ckpt.",
    )
    log.write(folder / "slurm-102.out")
    log = Nemo(moment("2026-05-04 11:25:00"))
    begin(log, 10)
    log.steps(11, 30)
    log.write(folder / "slurm-103.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:15:40"),
            (102, "FAILED", "1:0", "10:17:00", "10:20:00", "10:20:40"),
            (103, "RUNNING", "0:0", "11:22:00", "11:25:00", "Unknown"),
        ],
    )
    name = "megatron_gpt--val_loss=2.10-step={0}-consumed_samples={1}.0-last/weights/{2}".format
    files = [
        (name(step - 1, step * 64, shard), size, time)
        for step, time in ((5, "10:05:40"), (10, "10:10:40"))
        for shard, size in (("__0_0.distcp", 10**9), (".metadata", 300_000))
    ]
    found(folder / "checkpoints.txt", "10:19:00", "/ckpt/run/checkpoints", files)
