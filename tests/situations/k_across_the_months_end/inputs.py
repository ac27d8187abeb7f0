"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-31 23:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 50)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-06-01 00:30:00"))
    again.launch(20)
    again.steps(21, 60)
    again.write(folder / "slurm-102.out")
    head = "JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|NNodes|NodeList|AllocTRES|WorkDir"
    (folder / "sacct.txt").write_text(
        f"{head}\n"
        "101|101|run|ada|FAILED|1:0|2026-05-31T22:50:00|2026-05-31T23:00:00|2026-06-01T00:10:00|2|n[1-2]|gres/gpu=16|/train\n"
        "102|102|run|ada|RUNNING|0:0|2026-06-01T00:20:00|2026-06-01T00:30:00|Unknown|2|n[1-2]|gres/gpu=16|/train\n"
    )
