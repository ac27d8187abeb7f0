"""Writes the inputs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Megatron(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.steps(1, 20)
    log.save(20, 30)
    log.steps(21, 30)
    log.say(*DIED)
    end = log.at
    log.wait(40)
    begin = log.at
    log.launch(20)
    log.steps(21, 50)
    log.write(folder / "slurm-101.out")
    for number, (first, last) in enumerate(((moment("2026-05-04 02:00:00"), end), (begin, None))):
        record = {
            "cycle_number": number,
            "cycle_start_time": first.isoformat(),
            "cycle_end_time": last.isoformat() if last else None,
            "active_nodes": "n[1-2]",
            "job_id": "101",
            "attempt_index": 0,
            "cycle_log_file": "/logs/cycle.log",
        }
        (folder / f"cycle_info.101.0.{number}").write_text(json.dumps(record))
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
