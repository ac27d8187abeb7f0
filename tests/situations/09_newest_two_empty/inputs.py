"""No tracker, empty files in the newest two folders, and a third that is whole."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Neox, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Neox(moment("2026-05-04 10:00:00"))
    log.launch(None)
    for last in (10, 20, 30):
        log.steps(last - 9, last)
        log.save(last, 40)
    log.steps(31, 35)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Neox(moment("2026-05-04 11:00:00"))
    log.launch(10)
    log.steps(11, 30)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:37:40"),
            (102, "RUNNING", "0:0", "10:58:00", "11:00:00", "Unknown"),
        ],
    )
    files = [
        (f"global_step{step}/{name}", 10**9 if step == 10 else 0, time)
        for step, time in ((10, "10:11:00"), (20, "10:21:40"), (30, "10:32:20"))
        for name in ("mp_rank_00_model_states.pt", "zero_pp_rank_0_mp_rank_00_optim_states.pt")
    ]
    found(folder / "checkpoints.txt", "10:50:00", "/ckpt/run", files)
