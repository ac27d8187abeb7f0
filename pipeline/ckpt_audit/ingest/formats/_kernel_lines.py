"""How kernel logs write a line: stamp, host, facility, text."""

from __future__ import annotations

import re
from typing import NamedTuple

from ckpt_audit.ingest.formats._stamps import (
    CTIME,
    ISO,
    MONOTONIC,
    SYSLOG,
    UNDATED,
    Stamp,
    read_ctime,
    read_iso,
    read_monotonic,
    read_syslog,
)

_SHARE_OF_LINES = 0.6
_LINES_LOOKED_AT = 400

_LINE = re.compile(
    r"(?:<\d+>)?(?:(?P<facility>[a-z]+ *):(?P<level>[a-z]+ *): )?"
    rf"(?:\[(?P<ctime>{CTIME})\]\s|(?P<monotonic>{MONOTONIC})\s|\[(?P<boxed>{ISO})\]\s"
    rf"|(?P<iso>{ISO})\s(?:(?P<iso_host>[\w.-]+) (?P<iso_program>kernel|[\w./-]+\[\d+\]): )?"
    rf"|(?P<syslog>{SYSLOG})\s(?:(?P<host>[\w.-]+) (?P<program>[\w./-]+(?:\[\d+\])?): )?)"
    r"(?:\[ *\d+\.\d{6}\] ?)?"
    r"(?P<text>.*)"
)


class KernelLine(NamedTuple):
    """One line of a kernel log, taken apart."""

    stamp: Stamp
    node: str | None
    is_kernel: bool
    text: str

    @classmethod
    def without_stamp(cls, text: str) -> KernelLine:
        """A line that has no stamp."""
        return cls(UNDATED, None, is_kernel=True, text=text)


def split_line(text: str) -> KernelLine | None:
    """Takes a line apart; None when it does not begin with a stamp."""
    match = _LINE.match(text)
    if match is None:
        return None
    groups = match.groupdict()
    if groups["ctime"]:
        stamp = read_ctime(groups["ctime"])
    elif groups["monotonic"]:
        stamp = read_monotonic(groups["monotonic"])
    elif groups["iso"] or groups["boxed"]:
        stamp = read_iso(groups["iso"] or groups["boxed"])
    elif groups["syslog"]:
        stamp = read_syslog(groups["syslog"])
    else:
        stamp = UNDATED
    program = groups["program"] or groups["iso_program"]
    bare = groups["iso"] or groups["boxed"] or groups["syslog"]
    is_kernel = program == "kernel" or (
        program is None and (not bare or groups["facility"] is not None or _says_kernel(match))
    )
    return KernelLine(stamp, groups["host"] or groups["iso_host"], is_kernel, groups["text"])


def _says_kernel(match: re.Match[str]) -> bool:
    return match["text"].startswith(("NVRM: ", "mlx5_core ", "kernel: "))


def is_kernel_log(head: bytes) -> bool:
    """Whether most lines of a file's beginning are a kernel log's."""
    lines = head.decode("utf-8", "replace").splitlines()[:_LINES_LOOKED_AT]
    split = [split_line(line) for line in lines if line.strip()]
    stamped = [line for line in split if line is not None]
    if not stamped or len(stamped) < _SHARE_OF_LINES * len(split):
        return False
    n_kernel = sum(line.is_kernel for line in stamped)
    names_host = any(line.node for line in stamped)
    return n_kernel > 0 if names_host else n_kernel >= _SHARE_OF_LINES * len(stamped)
