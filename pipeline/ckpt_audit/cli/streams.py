"""The two streams of a call: full, closed or a terminal that must not be told what to do."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

from ckpt_audit.errors import CkptAuditError
from ckpt_audit.printable import printable

_KEPT = "\n\t"


def write(text: str) -> None:
    """Prints data on stdout.

    Raises:
        CkptAuditError: It is closed, or cannot be written to.
        BrokenPipeError: The reader has gone.
    """
    _attempt(f"{printable(text, _KEPT)}\n")


def flush() -> None:
    """Hands over what was printed; raises what `write` raises, but takes a closed stdout."""
    if sys.stdout is not None:
        _attempt("")


def abandon(stream: TextIO | None = None) -> None:
    """Drops what a stream could not take, so that the end of the process does not try again.

    Args:
        stream: The stream; None is stdout.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def warn(message: str, kept: str = _KEPT) -> None:
    """Prints a message on stderr, as far as that takes it.

    Args:
        message: A line, or a few.
        kept: Control characters that stay.
    """
    if sys.stderr is not None:
        try:
            print(printable(message, kept), file=sys.stderr, flush=True)  # noqa: T201
        except OSError:
            with contextlib.suppress(OSError):
                abandon(sys.stderr)


def _attempt(text: str) -> None:
    if sys.stdout is None:
        raise CkptAuditError("cannot be written (it is closed)", "standard output")
    try:
        sys.stdout.write(text)
        if not text:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon()
        reason = f"cannot be written ({error.strerror})"
        raise CkptAuditError(reason, "standard output") from None
