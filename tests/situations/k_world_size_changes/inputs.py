"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.say(f"slurmstepd: error: *** JOB 101 ON n1 CANCELLED AT {log.at:%Y-%m-%dT%H:%M:%S} ***")
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 03:00:00"), step_s=120.0)
    again.launch(20)
    again.steps(21, 60)
    again.lines = [line.replace("world size: 16", "world size: 8") for line in again.lines]
    again.write(folder / "slurm-102.out")
    head = "JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|NNodes|NodeList|AllocTRES|WorkDir"
    day = "2026-05-04T"
    (folder / "sacct.txt").write_text(
        f"{head}\n"
        f"101|101|run|ada|CANCELLED by 1001|0:0|{day}01:50:00|{day}02:00:00|{day}{end}|2|n[1-2]|gres/gpu=16|/train\n"
        f"102|102|run|ada|RUNNING|0:0|{day}02:50:00|{day}03:00:00|Unknown|1|n1|gres/gpu=8|/train\n"
    )
