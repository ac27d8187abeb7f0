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
    log.steps(21, 30)
    log.wait(10)
    for node in range(1, 6):
        log.say(f"srun: error: Node failure on n{node}")
    end = f"{log.at:%Y-%m-%dT%H:%M:%S}"
    log.say(
        f"slurmstepd: error: *** JOB 101 ON n1 CANCELLED AT {end} DUE TO NODE FAILURE, SEE SLURMCTLD "
        "LOG FOR DETAILS ***"
    )
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 09:00:00"))
    again.launch(20)
    again.steps(21, 50)
    again.write(folder / "slurm-102.out")
    head = "JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|NNodes|NodeList|AllocTRES|WorkDir"
    day = "2026-05-04T"
    (folder / "sacct.txt").write_text(
        f"{head}\n"
        f"101|101|run|ada|NODE_FAIL|0:0|{day}01:50:00|{day}02:00:00|{end}|8|n[1-8]|gres/gpu=64|/train\n"
        f"102|102|run|ada|RUNNING|0:0|{day}02:35:00|{day}09:00:00|Unknown|8|n[6-13]|gres/gpu=64|/train\n"
    )
    (folder / "topology.conf").write_text(
        "SwitchName=leaf1 Nodes=n[1-5]\nSwitchName=leaf2 Nodes=n[6-13]\n"
        "SwitchName=top Switches=leaf[1-2]\n"
    )
