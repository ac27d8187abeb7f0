"""Exit codes, streams, help, and what is not imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ckpt_audit import __version__, workflow
from ckpt_audit.cli import called_command
from ckpt_audit.cli.session import Session
from tests.cli.conftest import Call

COMMANDS = (
    "ingest runs incidents explain estimate interval model report check forget formats demo".split()
)


def test_version(call: Call) -> None:
    assert call("--version").out == f"ckpt-audit {__version__}\n"


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["config", "show"]])
def test_help_starts_with_examples_and_has_no_boxes(call: Call, command: list[str]) -> None:
    called = call(*command, "--help")
    assert called.code == 0
    assert called.out.split("\n")[2].strip() == "Examples:"
    assert f"ckpt-audit {' '.join(command)}".strip() in called.out.split("Examples:")[1]
    assert called.out.isascii()


def test_common_options_stand_on_either_side(call: Call, own_place: Path) -> None:
    (own_place / "here.toml").write_text("wait = 1")
    for words in (
        ["--db", "x.duckdb", "--config", "here.toml", "config", "show"],
        ["config", "show", "--db", "x.duckdb", "--config", "here.toml"],
        ["--db", "no.duckdb", "--config", "here.toml", "config", "show", "--db", "x.duckdb"],
    ):
        out = call(*words).out
        assert "here.toml" in out
        assert ["db", "x.duckdb", "--db"] in [line.split() for line in out.splitlines()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["modle"], "error: no such command 'modle'"),
        (["runs", "--foo"], "error: no such option: --foo"),
        (["model", "--c", "4m"], "error: missing option '--m'"),
        (["model", "--c", "4m", "--m", "x"], "error: --m: 'x' is no duration"),
        (["model", "--c", "0", "--m", "6h"], "error: c is zero"),
        (["model", "--c", "1", "--m", "6h", "--price", "2"], "error: --price needs --accelerators"),
        (["model", "--c", "1", "--m", "1h", "--recovery-failures", "x"], "none, restore, all"),
        (["incidents", "--json", "--csv"], "error: give either --json or --csv"),
        (["interval", "--history", "--month"], "error: --history shows every window"),
        (["runs", "--config", "no.toml"], "error: no.toml: there is no such configuration file"),
        (["ingest", "x", "--tz", "Mars"], "error: --tz is no time zone ('Mars')"),
    ],
)
def test_wrong_use_is_2_and_one_plain_line(call: Call, words: list[str], said: str) -> None:
    called = call(*words)
    assert called.code == 2
    assert called.out == ""
    assert said in called.err.splitlines()[0]
    assert "Traceback" not in called.err
    assert len(called.err.splitlines()) <= 2


def test_without_a_command_the_help_is_shown_and_it_is_wrong_use(call: Call) -> None:
    called = call()
    assert called.code == 2
    assert "Examples:" in called.err


def test_no_warehouse_is_1(call: Call) -> None:
    called = call("runs")
    assert called.code == 1
    assert called.err.startswith("error: ckpt-audit.duckdb: there is no warehouse")


@pytest.mark.parametrize(
    "words",
    [
        ["check"],
        ["check", "--foo"],
        ["check", "--config", "no.toml"],
        ["--config", "no.toml", "check", "-q"],
        ["--wait", "x", "check"],
    ],
)
def test_check_is_3_where_it_cannot_check(call: Call, words: list[str]) -> None:
    called = call(*words)
    assert called.code == 3
    assert called.out.startswith("CKPT-AUDIT UNKNOWN - ")
    assert len(called.out.splitlines()) == 1


def test_check_is_3_on_an_unexpected_error(
    call: Call,
    loaded: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(workflow, "load_check_data", fail)
    with pytest.raises(SystemExit) as caught:
        call("check")
    assert caught.value.code == 3
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert capsys.readouterr().out == "CKPT-AUDIT UNKNOWN - unexpected ZeroDivisionError: oops\n"


def test_an_unexpected_error_keeps_its_traceback(
    call: Call, loaded: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(workflow, "load_runs", fail)
    with pytest.raises(ZeroDivisionError):
        call("runs")


def test_interrupted_is_130(call: Call, loaded: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workflow, "load_report_data", interrupt)
    monkeypatch.setattr(workflow, "load_check_data", interrupt)
    assert call("estimate").code == 130
    assert call("check").code == 130


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["check"], "check"),
        (["--db", "check", "runs"], "runs"),
        (["--db=x", "check"], "check"),
        (["-q", "--wait", "1s", "check", "--json"], "check"),
        (["--help"], None),
        ([], None),
    ],
)
def test_the_command_is_found_among_the_words(words: list[str], command: str | None) -> None:
    assert called_command(words) == command


HEAVY = ("matplotlib", "scipy.stats")


@pytest.mark.parametrize("words", [["--help"], ["check"], ["model", "--c", "4m", "--m", "6h"]])
def test_nothing_heavy_is_imported(words: list[str], own_place: Path) -> None:
    program = (
        "import sys; from ckpt_audit.cli import main; code = main(sys.argv[1:]);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_needs_no_data_frames() -> None:
    program = (
        "import sys; from ckpt_audit.cli import main; main(['--help']);"
        "print([n for n in ('pandas', 'numpy', 'duckdb', 'scipy') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_stops_reading_is_no_error() -> None:
    command = f"{sys.executable} -m ckpt_audit formats; echo $? >&2"
    done = subprocess.run(
        ["sh", "-c", f"({command}) | true"], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() in ("0", "")


def test_the_machines_zone_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert Session().machine_zone == "Asia/Tokyo"
