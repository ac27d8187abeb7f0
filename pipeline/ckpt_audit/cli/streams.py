"""The two streams of a call: full, closed or a terminal that must not be told what to do."""

from __future__ import annotations

import contextlib
import os
import sys

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


def abandon() -> None:
    """Drops what stdout could not take, so that the end of the process does not try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(message: str, kept: str = _KEPT) -> None:
    """Prints a message on stderr, as far as that takes it.

    Args:
        message: A line, or a few.
        kept: Control characters that stay.
    """
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(printable(message, kept), file=sys.stderr)  # noqa: T201


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
