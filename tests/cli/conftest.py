"""A command line in a folder of its own, with nothing of the machine's environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ckpt_audit import workflow
from ckpt_audit.audit.data import ReportData
from ckpt_audit.cli import main
from ckpt_audit.cli.session import Session
from tests.report.fixture_data import month


@dataclass(frozen=True)
class Called:
    """What a call gave."""

    code: int
    out: str
    err: str


Call = Callable[..., Called]


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory and home."""
    for name in list(os.environ):
        if name.startswith(("CKPT_AUDIT_", "XDG_")) or name == "TZ":
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls the command line with words."""

    def run(*words: str) -> Called:
        code = main(words)
        captured = capsys.readouterr()
        return Called(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def facts() -> ReportData:
    """A month of two runs."""
    return month()


@pytest.fixture
def loaded(facts: ReportData, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Commands find these facts in the warehouse; gives what they asked for."""
    asked: list[tuple[object, ...]] = []

    @contextmanager
    def opened(self: Session, read_only: bool = True) -> Iterator[None]:
        self.config  # noqa: B018 - a wrong configuration must be noticed
        yield None

    def choose(_warehouse: object, _config: object, _now: int, *window: object) -> object:
        asked.append(window)
        return facts.window

    monkeypatch.setattr(Session, "warehouse", opened)
    monkeypatch.setattr(Session, "settled_warehouse", opened)
    monkeypatch.setattr(workflow, "is_settled", lambda *_: True)
    monkeypatch.setattr(workflow, "choose_window", choose)
    monkeypatch.setattr(workflow, "whole_window", lambda *_: facts.window)
    monkeypatch.setattr(workflow, "recent_window", lambda *_: facts.window)
    monkeypatch.setattr(workflow, "load_report_data", lambda *_: facts)
    monkeypatch.setattr(workflow, "load_check_data", lambda *_: facts)
    monkeypatch.setattr(workflow, "unread_sources", lambda *_: [])
    monkeypatch.setattr(workflow, "load_runs", lambda *_: [run.run for run in facts.runs])
    monkeypatch.setattr(workflow, "refused_runs", lambda *_: [])
    return asked
