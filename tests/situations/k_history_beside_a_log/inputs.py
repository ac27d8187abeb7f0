"""The history of an experiment tracker is read beside the log of the same job."""

from __future__ import annotations

import json
from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 10:00:00"))
    log.launch(None)
    log.steps(1, 21)
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Megatron(moment("2026-05-04 10:24:00"))
    log.launch(10)
    log.steps(11, 40)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:21:50"),
            (102, "RUNNING", "0:0", "10:22:00", "10:24:00", "Unknown"),
        ],
    )
    first, second = moment("2026-05-04 10:00:31"), moment("2026-05-04 10:15:31")
    steps = [(step, first.timestamp() + 60 * step) for step in range(1, 22)]
    steps += [(step, second.timestamp() + 60 * step) for step in range(22, 41)]
    rows = [{"_step": step, "_timestamp": at, "loss": 2.1} for step, at in steps]
    (folder / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
