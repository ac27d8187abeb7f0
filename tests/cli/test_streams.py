"""A full or closed stdout, and Ctrl-C at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ckpt_audit import interrupts, workflow
from tests.cli.conftest import Call

MODEL = "model --c 4m --m 6h"
SACCT = (
    "JobID|JobName|State|Submit|Start|End|NodeList\n"
    "7|llama|FAILED|2026-05-01T09:00:00|2026-05-01T10:00:00|2026-05-01T11:00:00|n[1-2]\n"
)


def shell(words: str, redirection: str) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m ckpt_audit {words} {redirection}"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        ["sh", "-c", command], env=environ, capture_output=True, text=True, check=False
    )


@pytest.fixture(autouse=True)
def heeds_ctrl_c() -> Iterator[None]:
    """A shell that starts the tests in the background may have told them to ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def warehouse(call: Call, own_place: Path) -> None:
    (own_place / "sacct.txt").write_text(SACCT)
    assert call("ingest", "sacct.txt", "--tz", "UTC").code == 0


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize(
    ("words", "code"),
    [(MODEL, 1), (f"{MODEL} --json", 1), ("formats", 1), ("config show", 1), ("check", 3)],
)
def test_a_stdout_that_takes_nothing(words: str, code: int, redirection: str) -> None:
    done = shell(words, redirection)
    start = "CKPT-AUDIT UNKNOWN - " if code == 3 else "error: "
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(start)
    assert "standard output: cannot be written" in done.stderr or code == 3
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", ["--help", "--version", "runs --help"])
def test_help_for_a_full_stdout(words: str) -> None:
    done = shell(words, ">/dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_stderr_that_takes_nothing(redirection: str) -> None:
    assert shell("runs --db none.duckdb", redirection).returncode == 1


@pytest.mark.parametrize("words", ["estimate", "check"])
@pytest.mark.parametrize("error", [RuntimeError("Query interrupted"), ImportError, None])
def test_an_error_after_ctrl_c_is_130(
    call: Call,
    loaded: object,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    error: BaseException | None,
) -> None:
    def interrupt(*_: object) -> object:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            if error is None:
                raise
        assert error is not None
        raise error

    monkeypatch.setattr(workflow, "load_report_data", interrupt)
    monkeypatch.setattr(workflow, "load_check_data", interrupt)
    called = call(words)
    assert (called.code, called.out, called.err) == (130, "", "interrupted\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not interrupts.came()


PAUSED = """
import os, signal, sys
def strike(event, args, left=[int(sys.argv.pop(1))]):
    if event in ("import", "open"):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)
from ckpt_audit.__main__ import main
sys.addaudithook(strike)
sys.exit(main())
"""


@pytest.mark.parametrize("nth", [1, 30, 100, 200, 300, 450, 600, 900])
def test_ctrl_c_during_imports_and_work(warehouse: None, nth: int) -> None:
    """The signal comes at the nth import or opened file, whichever library is at it."""
    words = ["-c", PAUSED, str(nth), "ingest", "sacct.txt", "--tz", "UTC"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
