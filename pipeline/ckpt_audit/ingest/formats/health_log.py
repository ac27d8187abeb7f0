"""A site's own health checks: a line per node and check, by a pattern that can be configured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._bounds import ImplausibleError
from ckpt_audit.ingest.formats._node_values import MAX_REASON, MAX_REJECTED_TEXT, clean
from ckpt_audit.ingest.formats._stamps import ISO, checked, read_iso
from ckpt_audit.linear import LinearPattern
from ckpt_audit.records import NodeRecord, Record, Rejected, StepBatch

_SURE = 60
_MAX_SEEN = 64 << 10  # of a line
_LINES_AT_ONCE = 4096
_NEEDED = 3
_LOOKED_AT = 200
DEFAULT_PATTERN = (
    rf"^\[?(?P<time>{ISO})\]? +(?:node=)?(?P<node>[A-Za-z][\w.-]{{0,253}}) +"
    r"(?:health[ _-]?check[: ]+)?(?:verdict=)?"
    r"(?P<verdict>PASS(?:ED)?|OK|HEALTHY|FAIL(?:ED)?|ERROR|UNHEALTHY|CRITICAL|BAD)\b[: ]*"
    r"(?P<reason>.*)$"
)
_DEFAULT = re.compile(DEFAULT_PATTERN, re.IGNORECASE)
_HEALTHY = ("PASS", "PASSED", "OK", "HEALTHY", "0", "SUCCESS")


def _record(line_no: int, text: str, groups: dict[str, str]) -> Record:
    try:
        stamp = checked(read_iso(groups["time"]))
    except ImplausibleError as error:
        return Rejected(line_no, str(error), text[:MAX_REJECTED_TEXT])
    if stamp.clock_us is None:
        reason = f"{groups['time']!r} is no time as 2026-05-04T03:12:44"
        return Rejected(line_no, reason, text[:MAX_REJECTED_TEXT])
    is_healthy = groups["verdict"].upper() in _HEALTHY
    return NodeRecord(
        line_no=line_no,
        node=groups["node"],
        state="healthy" if is_healthy else "unhealthy",
        start_us=stamp.clock_us,
        end_us=None,
        clock_kind=stamp.kind,
        reason=clean(groups.get("reason") or groups["verdict"], MAX_REASON),
        user="",
        text=clean(text),
    )


def _read(source: ByteSource, options: ReadOptions) -> Iterator[StepBatch | Record]:
    pattern = LinearPattern(options.health_pattern) if options.health_pattern else None
    lines = ((number, raw[:_MAX_SEEN].decode("utf-8", "replace")) for number, raw in source.lines())
    while some := list(islice(lines, _LINES_AT_ONCE)):
        texts = [text for _, text in some]
        for (line_no, text), groups in zip(some, _found(pattern, texts), strict=True):
            if groups is not None and groups["node"]:
                yield _record(line_no, text, groups)


def _found(pattern: LinearPattern | None, texts: list[str]) -> list[dict[str, str] | None]:
    if pattern is not None:
        return pattern.find(texts)
    matches = (_DEFAULT.search(text) for text in texts)
    return [None if match is None else match.groupdict() for match in matches]


def _sniff(head: bytes, _name: str) -> int:
    lines = [
        line[:_MAX_SEEN].decode("utf-8", "replace") for line in without_nuls(head).split(b"\n")
    ]
    filled = [line for line in lines[:200] if line.strip()]
    hits = sum(_DEFAULT.search(line) is not None for line in filled)
    return _SURE if hits >= min(_NEEDED, len(filled)) and hits * 2 >= len(filled) and hits else 0


HEALTH_LOG = Format(
    name="health_log",
    title="Health checks of nodes (time, node, verdict)",
    gives="When a check of a node passed or failed, and why; the pattern can be configured.",
    example="2026-05-04T03:12:44+00:00 gpu017 FAIL gpu: 7 of 8 GPUs found\n",
    incremental=False,
    sniff=_sniff,
    read=_read,
)
