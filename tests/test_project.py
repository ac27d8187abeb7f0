"""What the project's own files promise: layers, dependencies, and the run before a change."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pipeline" / "ckpt_audit"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
FORMATS_KNOW = {"units", "errors", "linear", "records", "ingest.base"}
INSTALLED_AS = {"jinja2": "jinja2", "hostlist": "python-hostlist"}
NOT_IMPORTED = {"tzdata"}  # data of zoneinfo


def members(folder: Path, prefix: str) -> set[str]:
    """Modules and packages of a package."""
    found = {p.stem for p in folder.glob("*.py")} - {"__init__"}
    found |= {p.parent.name for p in folder.glob("*/__init__.py")}
    return {prefix + name for name in found}


def contract(words: str) -> dict[str, Any]:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (found,) = (c for c in contracts if words in c["name"])
    return dict(found)


def test_a_format_may_know_nothing_else() -> None:
    inner = members(PACKAGE / "ingest", "ckpt_audit.ingest.")
    others = (members(PACKAGE, "ckpt_audit.") | inner) - {"ckpt_audit.ingest"}
    others -= {"ckpt_audit.ingest.formats"} | {f"ckpt_audit.{name}" for name in FORMATS_KNOW}
    assert set(contract("A format knows")["forbidden_modules"]) == others | {"duckdb"}


def test_every_module_but_the_warehouse_is_kept_from_the_database() -> None:
    others = members(PACKAGE, "ckpt_audit.") - {"ckpt_audit.warehouse"}
    assert set(contract("Only the warehouse")["source_modules"]) == others


def test_what_is_installed_is_imported() -> None:
    imported = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
    names = {INSTALLED_AS.get(name, name) for name in imported}
    needed = {word.split(">")[0] for word in PROJECT["project"]["dependencies"]}
    assert needed - NOT_IMPORTED <= names


def ci_run(tmp_path: Path, *tools: str) -> subprocess.CompletedProcess[str]:
    """A run with a ``make`` that does nothing, and just these tools."""
    script, tool_folder = tmp_path / ".ci" / "run", tmp_path / "bin"
    script.parent.mkdir()
    tool_folder.mkdir()
    shutil.copy(ROOT / ".ci" / "run", script)
    for name in ("make", *tools):
        (tool_folder / name).write_text("#!/bin/sh\nexit 0\n")
        (tool_folder / name).chmod(0o755)
    dirname = shutil.which("dirname")
    assert dirname
    (tool_folder / "dirname").symlink_to(dirname)
    return subprocess.run(
        [shutil.which("bash") or "bash", script],
        env={"PATH": os.fspath(tool_folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ci_fails_where_the_browser_tests_would_be_skipped(tmp_path: Path) -> None:
    done = ci_run(tmp_path)
    assert done.returncode == 1
    assert "no Chromium" in done.stderr
    assert "all well" not in done.stdout


def test_ci_is_well_with_a_browser(tmp_path: Path) -> None:
    done = ci_run(tmp_path, "chromium")
    assert (done.returncode, done.stderr) == (0, "")
    assert "all well" in done.stdout
