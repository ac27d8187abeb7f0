"""Writes the inputs."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Megatron, moment

HEAD = (
    "JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|NNodes|NodeList|AllocTRES|WorkDir"
)


def write(folder: Path) -> None:
    """Three jobs of a chain, and one that takes a checkpoint of it to begin its own."""
    rows, start, step = [HEAD], moment("2026-05-04 02:00:00"), 0
    for number in range(1, 5):
        log, is_last = Megatron(start), number >= 3
        log.launch(step or None)
        if number == 4:
            log.folder = "/ckpt/tuned"
        log.steps(step + 1, step + 20)
        log.save(step + 20, 30)
        if not is_last:
            log.steps(step + 21, step + 25)
            log.say(*DIED)
        log.write(folder / f"slurm-{100 + number}.out")
        name = "tuned" if number == 4 else f"llama-{number}"
        state, end = (
            ("RUNNING", "Unknown") if is_last else ("FAILED", f"{log.at:%Y-%m-%dT%H:%M:%S}")
        )
        rows.append(
            f"{100 + number}|{100 + number}|{name}|ada|{state}|{0 if is_last else 1}:0|"
            f"{start:%Y-%m-%dT%H:%M:%S}|{start:%Y-%m-%dT%H:%M:%S}|{end}|2|n[1-2]|gres/gpu=16|/train"
        )
        log.wait(300)
        start, step = log.at, step + 20
    (folder / "sacct.txt").write_text("\n".join(rows) + "\n")
