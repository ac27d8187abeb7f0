"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 30)
    log.wait(20)
    struck = log.at
    log.wait(10)
    log.say("Traceback (most recent call last):", "ValueError: loss is not finite")
    end = f"{log.at:%H:%M:%S}"
    log.write(folder / "slurm-101.out")
    again = Megatron(moment("2026-05-04 03:00:00"))
    again.launch(20)
    again.steps(21, 50)
    again.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "01:50:00", "02:00:00", end),
            (102, "RUNNING", "0:0", "02:50:00", "03:00:00", "Unknown"),
        ],
    )
    (folder / "n1-kernel.log").write_text(
        f"{struck:%Y-%m-%dT%H:%M:%S},000000+00:00 n1 kernel: "
        "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)\n"
    )
