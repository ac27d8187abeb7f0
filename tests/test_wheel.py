"""The wheel holds every file that the program reads, and works away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOT_COPIED = (".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", "tests")
DATA = (
    ("sql", "**/*.sql", "sql"),
    ("reports/templates", "**/*", "templates"),
    ("sample_data", "**/*", "sample_data"),
    ("pipeline/ckpt_audit/schemas", "*.json", "schemas"),
)

pytestmark = [pytest.mark.wheel, pytest.mark.slow]


def run(*words: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the tree as it is, built from a copy."""
    copy = tmp_path_factory.mktemp("tree") / "copy"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "out")
    run(*build, copy)
    (found,) = (copy / "out").glob("*.whl")
    return found


def test_every_data_file_is_in_the_wheel(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder, pattern, name in DATA:
        files = [path for path in (ROOT / folder).glob(pattern) if path.is_file()]
        assert files, folder
        for path in files:
            assert f"ckpt_audit/{name}/{path.relative_to(ROOT / folder).as_posix()}" in inside
    modules = {
        path.relative_to(ROOT / "pipeline").as_posix()
        for path in (ROOT / "pipeline" / "ckpt_audit").rglob("*.py")
    }
    assert modules <= inside
    assert "ckpt_audit/py.typed" in inside
    assert not [name for name in inside if name.startswith(("tests", "reports"))]


def test_the_demo_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    python = venv / "bin" / "python"
    inner = {"base": str(venv), "platbase": str(venv)}
    site = Path(sysconfig.get_path("purelib", vars=inner))
    # Dependencies are those of the tests; only the program itself is installed anew.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        wheel,
    )
    elsewhere, home = tmp_path / "elsewhere", tmp_path / "home"
    elsewhere.mkdir()
    home.mkdir()
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "CKPT_AUDIT_", "XDG_", "COV", "MPL"))
    } | {"HOME": str(home)}
    where = "import ckpt_audit; print(ckpt_audit.__file__)"
    assert run(python, "-c", where, cwd=elsewhere, env=environ).stdout.startswith(str(venv))
    done = run(venv / "bin" / "ckpt-audit", "demo", cwd=elsewhere, env=environ)
    (report,) = (elsewhere / "reports").glob("*.html")
    assert f"report: reports/{report.name}" in done.stdout
    assert report.stat().st_size > 10_000
