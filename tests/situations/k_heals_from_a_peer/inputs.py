"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Titan, moment, sacct

GROUP = "ft_1:9f5b5624-112d"


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Titan(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 30)
    log.wait(5)
    log.say(*DIED)
    log.wait(20)
    log.launch(None)  # nothing in its folder
    heal = f"[rank0]:[titan] {log.stamp},000 - torchft.manager - INFO - [{GROUP}/0 - step "
    log.say(
        f"{heal}0] healing required, fetching checkpoint metadata from "
        "recover_src_manager_address='http://n1:33997' max_step=34",
        f"{heal}34] Loaded state dict.",
    )
    log.steps(35, 60)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
