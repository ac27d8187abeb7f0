"""Records of nvidia-resiliency-ext: ``cycle_info.<job>.<attempt>.<cycle>``, a JSON object each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ckpt_audit.ingest.base import MAX_LINE_BYTES, ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._bounds import ImplausibleError, whole
from ckpt_audit.ingest.formats._slurm_values import expand_nodes
from ckpt_audit.ingest.formats._stamps import Stamp, checked, read_iso
from ckpt_audit.records import EventKind, LogEvent, Record, Rejected, StepBatch

_SURE = 95
_MAX_TEXT = 400
_MAX_REJECTED_TEXT = 200
_KEYS = ("cycle_start_time", "cycle_end_time")


def _line_of(text: str, key: str) -> int:
    """The line on which a key stands, 1 where it is not found."""
    at = text.find(f'"{key}"')
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value.strip() if isinstance(value, str) else ""


def _number(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return ""
    return str(whole(str(value), key)) if re.fullmatch(r"\d+", str(value), re.ASCII) else ""


def _stamp(record: dict[str, Any], key: str) -> Stamp | None:
    """A time of the record; None where it is not there yet.

    Raises:
        ImplausibleError: It is no time.
    """
    text = _text(record, key)
    if not text and not record.get(key):
        return None
    stamp = checked(read_iso(text))
    if stamp.clock_us is None:
        raise ImplausibleError(f"{key} is no ISO time")
    return stamp


def _active(record: dict[str, Any]) -> str:
    try:
        n_nodes = len(expand_nodes(_text(record, "active_nodes")))
    except ValueError:
        n_nodes = 0
    return f"{n_nodes} active nodes" if n_nodes else "active nodes unknown"


def _records(text: str) -> Iterator[Record]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        reason = "no JSON object: the file is damaged or was being written"
        yield Rejected(1, reason, text.strip()[:_MAX_REJECTED_TEXT])
        return
    lines = [_line_of(text, key) for key in _KEYS]
    lines[1] = max(lines[1], lines[0] + 1)  # one line has one time
    for key, line_no in zip(_KEYS, lines, strict=True):
        try:
            stamp = _stamp(record, key)
            numbers = [_number(record, name) for name in ("cycle_number", "attempt_index")]
        except ImplausibleError as error:
            yield Rejected(line_no, str(error), str(record.get(key))[:_MAX_REJECTED_TEXT])
            continue
        if stamp is None:
            continue
        is_start = key == _KEYS[0]
        said = f"cycle {numbers[0] or '?'} of attempt {numbers[1] or '?'}"
        said += f" {'started' if is_start else 'ended'}; {_active(record)}"
        yield LogEvent(
            line_no, EventKind.LAUNCH if is_start else EventKind.CYCLE_END, stamp.clock_us,
            stamp.kind, stamp.resolution_us, None, None, None, None, None,
            _text(record, "cycle_log_file") or None, _text(record, "job_id") or None,
            said[:_MAX_TEXT],
        )  # fmt: skip


def _read(source: ByteSource, _options: ReadOptions) -> Iterator[StepBatch | Record]:
    parts: list[bytes] = []
    size = 0
    for _, block in source.blocks():
        parts.append(block)
        size += len(block)
        if size > MAX_LINE_BYTES:
            yield Rejected(1, "over 1 MiB: no record of a cycle is that long", "")
            return
    if size:
        yield from _records(b"".join(parts).decode("utf-8", "replace"))


def _sniff(head: bytes, _name: str) -> int:
    text = without_nuls(head).lstrip()
    is_one = text.startswith(b"{") and b'"cycle_number"' in text and b'"cycle_start_time"' in text
    return _SURE if is_one else 0


CYCLE_INFO = Format(
    name="cycle_info",
    title="nvidia-resiliency-ext cycle_info.<job>.<attempt>.<cycle>",
    gives="when the workers of a job were started and ended, for each restart inside the job",
    example=(
        '{"job_id": "81234", "attempt_index": 0, "cycle_number": 1, '
        '"cycle_start_time": "2026-05-04T10:00:00.123456Z", '
        '"cycle_end_time": "2026-05-04T11:30:00.654321Z", '
        '"cycle_log_file": "/logs/train_cycle1.log", "active_nodes": "gpu[001-032]"}'
    ),
    incremental=False,
    is_rewritten=True,
    sniff=_sniff,
    read=_read,
)
