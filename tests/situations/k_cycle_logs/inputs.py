"""Writes the inputs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.situations.writing import DIED, Titan, moment, sacct


def write(folder: Path) -> None:
    """The names of the logs tell nothing of the job; the records of the cycles do."""
    begin, step = moment("2026-05-04 02:00:00"), 0
    for number in range(3):
        log, is_last = Titan(begin), number == 2
        log.launch(step or None)
        log.steps(step + 1, step + 20)
        log.save(30)
        if not is_last:
            log.steps(step + 21, step + 25)
            log.say(*DIED)
        log.write(folder / f"train_cycle{number}.log")
        record = {
            "cycle_number": number,
            "cycle_start_time": begin.isoformat(),
            "cycle_end_time": None if is_last else log.at.isoformat(),
            "active_nodes": "n[1-2]",
            "job_id": "101",
            "attempt_index": 0,
            "cycle_log_file": f"/logs/train_cycle{number}.log",
        }
        (folder / f"cycle_info.101.0.{number}").write_text(json.dumps(record))
        log.wait(50)
        begin, step = log.at, step + 20
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
