"""A copied checkpoint has no commit marker."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, MaxText, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = MaxText(moment("2026-05-04 10:00:00"))
    log.note("max_utils.py:200", "System Information: Jax Version: 0.6.0")
    log.wait(30)
    log.steps(0, 25)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:26:40")])
    files = [
        (f"{step}/items/{name}", size, time)
        for step, time in ((10, "10:11:40"), (20, "10:21:40"))
        for name, size in (("_METADATA", 900), ("manifest.ocdbt", 120), ("d/0123abcd", 10**9))
    ]
    files.append(("10/_CHECKPOINT_METADATA", 150, "10:11:50"))
    found(folder / "checkpoints.txt", "10:40:00", "/ckpt/run/checkpoints", files)
