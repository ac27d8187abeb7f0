"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import Megatron, moment


def write(folder: Path) -> None:
    """Writes the inputs."""
    head = "JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|NNodes|NodeList|AllocTRES|WorkDir"
    rows, start, step = [head], moment("2026-05-04 02:00:00"), 0
    for task in range(1, 4):
        log = Megatron(start)
        log.launch(step or None)
        log.steps(step + 1, step + 20)
        log.save(step + 20, 30)
        log.write(folder / f"slurm-700_{task}.out")
        state = "RUNNING" if task == 3 else "TIMEOUT"
        end = "Unknown" if task == 3 else f"{log.at:%Y-%m-%dT%H:%M:%S}"
        rows.append(
            f"700_{task}|{700 + task}|run|ada|{state}|0:0|2026-05-04T01:50:00|{start:%Y-%m-%dT%H:%M:%S}|{end}|2|n[1-2]|gres/gpu=16|/train"
        )
        log.wait(300)
        start, step = log.at, step + 20
    (folder / "sacct.txt").write_text("\n".join(rows) + "\n")
