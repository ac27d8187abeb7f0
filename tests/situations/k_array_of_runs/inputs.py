"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Titan, moment


def write(folder: Path) -> None:
    """Logs that do not tell their folder from that of another task."""
    head = "JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|NNodes|NodeList|AllocTRES|WorkDir"
    rows, start = [head], moment("2026-05-04 02:00:00")
    for task, loads, last, state in (
        (1, None, 40, "COMPLETED"),
        (2, None, 25, "NODE_FAIL"),
        (2, 20, 45, "RUNNING"),
    ):
        log = Titan(start)
        log.launch(loads)
        log.steps((loads or 0) + 1, last // 20 * 20)
        log.save(20)
        log.steps(last // 20 * 20 + 1, last)
        if state == "COMPLETED":
            log.note("Training completed")
        if state == "NODE_FAIL":
            log.say(*DIED)
        with (folder / f"slurm-700_{task}.out").open("a") as lines:
            lines.write("\n".join(log.lines) + "\n")
        begin = f"{start:%Y-%m-%dT%H:%M:%S}"
        end = "Unknown" if state == "RUNNING" else f"{log.at:%Y-%m-%dT%H:%M:%S}"
        rows.append(
            f"700_{task}|{700 + task}|run|ada|{state}|0:0|{begin}|{begin}|{end}|2|n[1-2]|"
            "gres/gpu=16|/train"
        )
        log.wait(300)
        start = log.at
    (folder / "sacct.txt").write_text("\n".join(rows) + "\n")
