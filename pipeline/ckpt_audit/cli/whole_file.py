"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from ckpt_audit.errors import CkptAuditError


def write_whole(target: Path, content: str | bytes) -> None:
    """Writes a file so that nobody ever sees half of it.

    A symbolic link stays, and what it leads to is written. What is there and is no regular file (a
    pipe, a device) is written into, since replacing would destroy it.

    Args:
        target: The file; its folder is made.
        content: What it will hold; text is written as UTF-8.

    Raises:
        CkptAuditError: It cannot be written.
    """
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(_bytes(content))
        else:
            _replace(target.resolve(), _bytes(content))
    except OSError as error:
        raise CkptAuditError(f"cannot be written ({error.strerror})", str(target)) from None
    except RuntimeError:  # from resolve, before Python 3.13
        text = "cannot be written (its links lead in a circle)"
        raise CkptAuditError(text, str(target)) from None


def _replace(target: Path, content: bytes) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        beside.write_bytes(content)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
