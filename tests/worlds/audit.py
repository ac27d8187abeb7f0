"""Runs the command line on a played world, in this process and in a folder of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckpt_audit.cli import main

Json = dict[str, Any]
ALL_TIME = ("--since", "2000-01-01", "--until", "2100-01-01")


@dataclass(frozen=True)
class Answers:
    """What the commands say."""

    incidents: list[Json]
    runs: list[Json]
    ledger: list[Json]
    findings: list[Json]


@contextlib.contextmanager
def _bare(folder: Path) -> Iterator[None]:
    """The folder as working directory and home, and no settings of the machine."""
    kept = dict(os.environ)
    here = Path.cwd()
    for name in kept:
        if name.startswith(("CKPT_AUDIT_", "XDG_")) or name == "TZ":
            del os.environ[name]
    os.environ["HOME"] = str(folder)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(kept)


def _call(*words: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    if code not in (0, 4):
        raise AssertionError(f"{' '.join(words)}: exit {code}\n{out.getvalue()}{err.getvalue()}")
    return out.getvalue()


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
    with _bare(folder):
        parts = sorted({name.split("/")[0] for name in files if name != "ckpt-audit.toml"})
        _call("ingest", *parts)
        report = json.loads(_call("report", *ALL_TIME, "--json"))
        incidents = json.loads(_call("incidents", *ALL_TIME, "--json"))
        runs = json.loads(_call("runs", "--json"))
    return Answers(
        incidents["incidents"], runs["runs"], report["ledger"], report.get("findings", [])
    )
