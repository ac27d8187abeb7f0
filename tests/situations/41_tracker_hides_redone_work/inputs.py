"""Only a tracker's history is there, which drops steps that go backwards."""

from __future__ import annotations

import json
from pathlib import Path


def write(folder: Path) -> None:
    """Writes the inputs."""
    steps = [(step, 1777888800 + 60 * step) for step in range(1, 31)]
    steps += [(step, 1777888800 + 60 * (step + 15)) for step in range(31, 60)]
    rows = [
        {"_step": step, "_runtime": at - 1777888800, "_timestamp": at + 0.25, "loss": 2.1}
        for step, at in steps
    ]
    (folder / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
