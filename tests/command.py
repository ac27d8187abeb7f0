"""The command line inside this process, where another process for each command would take long."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path

from ckpt_audit.cli import main


@contextlib.contextmanager
def bare(folder: Path) -> Iterator[None]:
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


def call(*words: str, allowed: tuple[int, ...] = (0,)) -> str:
    """What a command prints.

    Args:
        words: Command and options.
        allowed: Exit codes that it may have.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    if code not in allowed:
        raise AssertionError(f"{' '.join(words)}: exit {code}\n{out.getvalue()}{err.getvalue()}")
    return out.getvalue()
