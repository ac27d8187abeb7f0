"""Nothing in the repository knows the machine it was made on, or a package registry."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Written in parts, so that this file does not find itself.
FOREIGN = re.compile(
    "|".join(
        [
            "pypi" + r"\.org",
            "python" + r"hosted\.org",
            "index" + "-url",
            "regis" + r"try\.npmjs",
            "art" + "ifactory",
            r"(?<![\w.])/" + r"work/",
        ]
    )
)
OF_A_PERSON = re.compile(r"(?<![\w.])/(root/|home/" + r"[a-z])")
SAMPLES = ("sample_data/", "tests/formats/", "tests/situations/")  # made-up logs of made-up people
BINARY = {".gz", ".png", ".bz2", ".xz", ".zst"}


def tracked() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        [git, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = []
    for path in tracked():
        if path.suffix in BINARY or not path.is_file():
            continue
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        patterns = [FOREIGN] if name.startswith(SAMPLES) else [FOREIGN, OF_A_PERSON]
        for number, line in enumerate(text.splitlines(), start=1):
            found += [f"{name}:{number}: {m.group()}" for p in patterns if (m := p.search(line))]
    assert found == []


def test_constraints_are_versions_and_nothing_else() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line
