"""Ctrl-C: noted when it comes, so that whatever error it surfaces as ends the program quietly."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

from ckpt_audit.errors import EXIT_INTERRUPTED

_came = threading.Event()


def came() -> bool:
    """Whether SIGINT came during the running `run`."""
    return _came.is_set()


def run(call: Callable[[], int]) -> int:
    """Calls, and gives 130 with one line on stderr where Ctrl-C was pressed meanwhile.

    Libraries turn the KeyboardInterrupt into errors of their own, or swallow it; the signal
    decides, and not what became of it. A call inside another leaves that to the outer one.

    Args:
        call: Gives an exit code.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is _note:
        return call()
    watches = (
        before is signal.default_int_handler
        and threading.current_thread() is threading.main_thread()
    )
    unraisable = sys.unraisablehook
    _came.clear()
    if watches:
        signal.signal(signal.SIGINT, _note)
    try:
        code = _called(call)
        if _came.is_set() or code == EXIT_INTERRUPTED:
            if watches:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # one line is enough
            _say("interrupted")
            return EXIT_INTERRUPTED
        return code
    finally:
        _came.clear()
        if watches:
            signal.signal(signal.SIGINT, before)
            sys.unraisablehook = unraisable


def _called(call: Callable[[], int]) -> int:
    try:
        return call()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BaseException:
        if _came.is_set():
            return EXIT_INTERRUPTED
        raise


def _note(_number: int, _frame: FrameType | None) -> None:
    """Handles SIGINT."""
    _came.set()
    sys.unraisablehook = lambda _: None  # it may strike where nothing can be raised
    raise KeyboardInterrupt


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
