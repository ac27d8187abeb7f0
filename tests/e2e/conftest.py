"""Runs the command line as a user does: another process, another folder, a bare environment."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.command import bare, call

REPO = Path(__file__).parents[2]
SAMPLE = REPO / "sample_data"
REAL = REPO.parent / "shared" / "real"

Json = dict[str, Any]


@dataclass(frozen=True)
class Site:
    """A folder with a warehouse, and the command line in it."""

    folder: Path

    def run(self, *words: str | Path, expect: int = 0) -> str:
        """Run one command and give what it prints.

        Args:
            words: Command and options.
            expect: The exit code it must have.
        """
        done = subprocess.run(
            [sys.executable, "-m", "ckpt_audit", *map(str, words)],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "TZ": "UTC"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == expect, (words, done.stdout, done.stderr)
        return done.stdout

    def json(self, *words: str | Path, expect: int = 0) -> Json:
        """Run one command with ``--json`` and give the document."""
        loaded: Json = json.loads(self.run(*words, "--json", expect=expect))
        return loaded


class QuickSite(Site):
    """The same inside this process: for questions that are not about how the program starts."""

    def run(self, *words: str | Path, expect: int = 0) -> str:
        """Run one command and give what it prints.

        Args:
            words: Command and options.
            expect: The exit code it must have.
        """
        with bare(self.folder):
            return call(*map(str, words), allowed=(expect,))


@pytest.fixture(scope="module")
def quick_site(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Site]:
    """Makes fresh sites whose commands run inside this process."""
    return lambda: QuickSite(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def new_site(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Site]:
    """Makes fresh sites."""
    return lambda: Site(tmp_path_factory.mktemp("site"))


def real(*parts: str) -> Path:
    """A real file to try; skips where the files are not there."""
    path = REAL.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no real files at {REAL.name}")
    return path
