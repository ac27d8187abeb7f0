"""A run whose numbers contradict each other is not shown; that is said, not «there is no run»."""

from __future__ import annotations

import contextlib
import io
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from ckpt_audit import stages
from ckpt_audit.cli import main
from ckpt_audit.warehouse import Warehouse
from tests.command import bare, call

SITE = Path(__file__).parents[1] / "situations" / "22_silent_hang" / "inputs.py"


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A warehouse of one run, which a check refuses; the run's name."""
    (tmp_path / "site").mkdir()
    runpy.run_path(str(SITE))["write"](tmp_path / "site")
    with bare(tmp_path / "site"):
        call("ingest", ".", allowed=(0, 4))
        (run,) = (line.split()[0] for line in call("runs").splitlines()[1:2])
        offending = stages._offending

        def one_fails(warehouse: Warehouse, check: stages.Check) -> tuple[list[str], str]:
            runs, words = offending(warehouse, check)
            return ([run] if check.name == "ledger__charged" else runs), words

        monkeypatch.setattr(stages, "_offending", one_fails)
        (tmp_path / "site" / "ckpt-audit.duckdb").unlink()
        call("ingest", ".", allowed=(0, 4))
        yield run


def said(*words: str) -> tuple[int, str]:
    """Exit code, and what goes to stderr."""
    err = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        code = main(words)
    return code, err.getvalue()


@pytest.mark.parametrize(
    "words", [["runs"], ["report", "--month"], ["interval"], ["estimate"], ["incidents"]]
)
def test_every_command_tells_why(refused: str, words: list[str]) -> None:
    code, text = said(*words)
    assert f"run {refused}: its numbers contradict each other" in text
    assert "ledger__charged" in text
    assert "ingest some logs first" not in text
    assert code == (0 if words == ["runs"] else 1)
