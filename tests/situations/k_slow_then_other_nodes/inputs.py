"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 60)
    log.save(60, 30)
    log.step_s = 80.0
    log.steps(61, 90)
    end = f"{log.at:%Y-%m-%dT%H:%M:%S}"
    log.say(f"slurmstepd: error: *** JOB 101 ON n1 CANCELLED AT {end} ***")
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 05:00:00"))
    again.launch(60)
    again.steps(61, 99)
    again.write(folder / "slurm-102.out")
    head = (
        "JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|NNodes|NodeList|AllocTRES|"
        "WorkDir"
    )
    day = "2026-05-04T"
    (folder / "sacct.txt").write_text(
        f"{head}\n"
        f"101|101|run|ada|CANCELLED by 1001|0:0|{day}01:50:00|{day}02:00:00|{end}|2|n[1-2]|"
        "gres/gpu=16|/train\n"
        f"102|102|run|ada|RUNNING|0:0|{day}04:35:00|{day}05:00:00|Unknown|2|n[2-3]|"
        "gres/gpu=16|/train\n"
    )
