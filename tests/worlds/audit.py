"""Runs the command line on a played world, in this process and in a folder of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command import bare, call

Json = dict[str, Any]
ALL_TIME = ("--since", "2000-01-01", "--until", "2100-01-01")


@dataclass(frozen=True)
class Answers:
    """What the commands say."""

    incidents: list[Json]
    runs: list[Json]
    ledger: list[Json]
    findings: list[Json]


def write(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a world."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def audit(folder: Path, files: dict[str, str]) -> Answers:
    """Ingest the files of a world and ask all questions.

    Args:
        folder: An empty folder; the files are left there.
        files: Text by relative path, with ``ckpt-audit.toml``.
    """
    write(folder, files)
    with bare(folder):
        parts = sorted({name.split("/")[0] for name in files if name != "ckpt-audit.toml"})
        call("ingest", *parts, allowed=(0, 4))
        report = json.loads(call("report", *ALL_TIME, "--json"))
        incidents = json.loads(call("incidents", *ALL_TIME, "--json"))
        runs = json.loads(call("runs", "--json"))
    return Answers(
        incidents["incidents"], runs["runs"], report["ledger"], report.get("findings", [])
    )
