"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Jobs 101, 103 (no step), 104 are the one run, 102 and 105 the other."""
    jobs = []

    def one(job: int, begin: str, place: str, loads: int | None, last: int, *, dies: bool) -> None:
        log = Megatron(moment(f"2026-05-04 {begin}"))
        log.folder = place
        log.launch(loads)
        first = (loads or 0) + 1
        log.steps(first, first + 19)
        log.save(first + 19, 30)
        if dies and place == "/ckpt/two":
            log.steps(first + 20, first + 39)
            log.save(first + 39, 30)
            first += 20
        log.steps(first + 20, last)
        if dies:
            log.say(*DIED)
        log.write(folder / f"slurm-{job}.out")
        state, code = ("FAILED", "1:0") if dies else ("RUNNING", "0:0")
        end = f"{log.at:%H:%M:%S}" if dies else "Unknown"
        jobs.append((job, state, code, begin, begin, end))

    one(101, "02:00:00", "/ckpt/one", None, 25, dies=True)
    one(102, "02:01:00", "/ckpt/two", None, 50, dies=True)
    jobs.append((103, "FAILED", "1:0", "02:40:00", "02:40:00", "02:41:00"))
    (folder / "slurm-103.out").write_text(
        "RuntimeError: CUDA error: device-side assert triggered\n"
    )
    one(104, "02:50:00", "/ckpt/one", 20, 50, dies=False)
    one(105, "03:30:00", "/ckpt/two", 40, 70, dies=False)
    sacct(folder / "sacct.txt", jobs)
