"""Writes a world to a folder: what the site has, and the truth beside it."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

from .cluster import topology_conf
from .emit_kernel import kernel_text
from .emit_megatron import Writer
from .emit_slurm import sacct_text
from .simulate import World, simulate
from .truth import truth_of


def packed(text: str) -> bytes:
    """Compress so that the same text gives the same bytes: no name, no time."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    return buffer.getvalue()


def config_text(world: World) -> str:
    """The configuration that goes with the sample."""
    lines = [
        'timezone = "UTC"',
        "accelerators_per_node = 8",
        "price_per_accelerator_hour = 2.0",
    ]
    for spec in world.specs.values():
        lines += [
            "",
            f'[runs."{spec.name}"]',
            f"target_step = {spec.target}",
            f"configured_interval_steps = {spec.save_every}",
        ]
    return "\n".join(lines) + "\n"


def logs(world: World) -> dict[str, str]:
    """The text of every job log; a requeued job goes on in the same one."""
    texts: dict[str, str] = {}
    for name, attempts in world.attempts.items():
        for attempt in attempts:
            if not attempt.has_log:
                continue
            file = f"logs/slurm-{attempt.job_id}.out.gz"
            lines = Writer(world.specs[name], attempt, world.seed).lines()
            texts[file] = texts.get(file, "") + "".join(f"{line}\n" for line in lines)
    return texts


def files(seed: int) -> dict[str, bytes]:
    """Every file of the world of a seed, by relative path."""
    world = simulate(seed)
    found = {file: packed(text) for file, text in logs(world).items()}
    found["slurm/sacct-2026-05.txt"] = sacct_text(world).encode()
    found["slurm/topology.conf"] = topology_conf().encode()
    found["kernel/kern.log"] = kernel_text(world).encode()
    found["ckpt-audit.toml"] = config_text(world).encode()
    found["truth.json.gz"] = packed(truth_text(world))
    return found


def truth_text(world: World) -> str:
    """The truth as JSON, each allocation, incident and checkpoint on a line of its own."""
    truth = truth_of(world)
    marks: dict[str, str] = {}
    for run in truth["runs"]:
        for name in ("allocations", "incidents", "checkpoints"):
            for place, record in enumerate(run[name]):
                mark = f"@{run['name']}/{name}/{place}@"
                marks[json.dumps(mark)] = json.dumps(record, separators=(",", ":"))
                run[name][place] = mark
    lines = json.dumps(truth, indent=1).split("\n")
    for place, line in enumerate(lines):
        mark = line.strip().rstrip(",")
        if mark in marks:
            lines[place] = line.replace(mark, marks[mark])
    return "\n".join(lines) + "\n"


def write(seed: int, out: Path) -> dict[str, int]:
    """Write the world of a seed below ``out``; old job logs there are removed first.

    Args:
        seed: Chooses the world.
        out: Folder to write to; other files in it are left alone.

    Returns:
        Size of each file, by relative path.
    """
    found = files(seed)
    for old in sorted(out.glob("logs/slurm-*.out.gz")):
        old.unlink()
    for name, content in sorted(found.items()):
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return {name: len(content) for name, content in sorted(found.items())}
