"""Every situation through the command line: its inputs are read and its answers are compared.

A case is a folder with ``case.toml`` and either ``logs/`` or ``inputs.py``. ``case.toml`` has a
``title``, what the audit must say (``says``), the words after ``ingest`` and the expected answers.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ckpt_audit.cli import main

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/case.toml"))
ALL_TIME = ("--since", "2000-01-01", "--until", "2100-01-01")
WINDOWED = ("incidents", "estimate", "report", "interval")
KINDS = frozenset(
    ("equals", "near", "low", "high", "is_null", "contains", "not_contains", "prints", "not_prints")
)


@dataclass(frozen=True)
class Case:
    """A situation, and the folder in which its inputs lie."""

    toml: dict[str, Any]
    folder: Path


def _values(value: Any, steps: list[str]) -> Any:
    for at, step in enumerate(steps):
        if step == "#":
            return len(value)
        if step == "*":
            return [_values(item, steps[at + 1 :]) for item in value]
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def look_up(document: Any, path: str) -> Any:
    """The value at a dotted path.

    >>> look_up({"a": [{"b": 1}, {"b": 2}]}, "a.*.b")
    [1, 2]
    >>> look_up({"a": [7, 8]}, "a.#")
    2
    """
    return _values(document, path.split("."))


def _agrees(expected: dict[str, Any], value: Any) -> bool:
    text = value if isinstance(value, str) else json.dumps(value)
    held: dict[str, Callable[[Any], bool]] = {
        "equals": lambda want: bool(value == want),
        "near": lambda want: value is not None and abs(value - want) <= expected["within"],
        "low": lambda want: value is not None and value >= want,
        "high": lambda want: value is not None and value <= want,
        "is_null": lambda want: (value is None) == want,
        "contains": lambda want: want in text,
        "not_contains": lambda want: want not in text,
    }
    asked = [key for key in expected if key in held]
    assert asked, f"the expectation asks for nothing: {expected}"
    return all(held[key](expected[key]) for key in asked)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and nothing of the machine's environment."""
    for name in list(os.environ):
        if name.startswith(("CKPT_AUDIT_", "XDG_")) or name == "TZ":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _lay_out(case: Path, folder: Path) -> None:
    if (case / "inputs.py").exists():
        (folder / "logs").mkdir()
        runpy.run_path(str(case / "inputs.py"))["write"](folder / "logs")
    else:
        shutil.copytree(case / "logs", folder / "logs")
    for extra in case.glob("*.toml"):
        if extra.name != "case.toml":
            shutil.copy(extra, folder / extra.name)


def _asked(
    expected: dict[str, Any], run: Callable[..., str], answers: dict[str, Any]
) -> tuple[str, bool]:
    command = expected["command"]
    words = command.split()
    if "prints" in expected or "not_prints" in expected:
        if command not in answers:
            answers[command] = run(*words)
        printed = " ".join(answers[command].split())
        wanted = str(expected.get("prints", expected.get("not_prints")))
        return printed, (wanted in printed) == ("prints" in expected)
    if command not in answers:
        window = ALL_TIME if words[0] in WINDOWED and len(words) == 1 else ()
        answers[command] = json.loads(run(*words, *window, "--json"))
    value = look_up(answers[command], expected["path"])
    return json.dumps(value), _agrees(expected, value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_situation(case: Path, bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The audit says what it must say."""
    toml = tomllib.loads((case / "case.toml").read_text())
    assert toml["title"]
    assert toml["says"]
    assert toml["expect"]
    _lay_out(case, bare)

    def run(*words: str) -> str:
        code = main(words)
        captured = capsys.readouterr()
        assert code in (0, 4), captured.err
        return captured.out

    run("ingest", *toml.get("ingest", ["logs", "--tz", "UTC"]))
    answers: dict[str, Any] = {}
    wrong = []
    for expected in toml["expect"]:
        assert KINDS & set(expected), f"the expectation asks for nothing: {expected}"
        try:
            shown, is_right = _asked(expected, run, answers)
        except (KeyError, IndexError) as error:
            shown, is_right = f"nothing there ({error!r})", False
        if not is_right:
            wrong.append(f"{expected}\n   is {shown[:600]}")
    assert not wrong, "\n".join([f"{case.name}: {toml['says']}", *wrong])
