"""Megatron's ``progress.txt`` (``--log-progress``): starts of jobs and saves, one a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._bounds import STEP_LIMIT, ImplausibleError, whole
from ckpt_audit.ingest.formats._stamps import checked, read_iso
from ckpt_audit.records import EventKind, LogEvent, Record, Rejected, StepBatch

_SURE = 95
_LOOKED_AT = 20
_MAX_TEXT = 400
_MAX_REJECTED_TEXT = 200
_LINE = re.compile(
    r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\tJob ID: ([^\t]{0,100})\t# GPUs: (\d+)\t([^\t]+)(?:\t(.*))?",
    re.ASCII,
)
_ITERATION = re.compile(r"(?:\A|\t)Iteration: (\d+)(?=\t|\Z)", re.ASCII)
_KINDS = {
    "Starting job": EventKind.LAUNCH,
    "Saved checkpoint": EventKind.SAVE_DONE,
    "Saving async checkpoint": EventKind.SAVE_SCHEDULED,
    "Saved async checkpoint": EventKind.SAVE_DONE,
}
_REASON = "expected time, Job ID, # GPUs and what happened, with tabs between them"


def _event(line_no: int, text: str) -> Record | None:
    """What a line says; None where it says nothing that is needed."""
    match = _LINE.fullmatch(text)
    if match is None:
        return Rejected(line_no, _REASON, text[:_MAX_REJECTED_TEXT])
    stamp_text, job, accelerators, what, rest = match.groups()
    kind = _KINDS.get(what.strip())
    if kind is None:
        return None
    try:
        stamp = checked(read_iso(stamp_text))
        n_accelerators = whole(accelerators, "number of GPUs")
        step = None
        if kind is not EventKind.LAUNCH:
            found = _ITERATION.search(rest or "")
            if found is None:
                return Rejected(line_no, "a save without its Iteration", text[:_MAX_REJECTED_TEXT])
            step = whole(found[1], "step", STEP_LIMIT)
    except ImplausibleError as error:
        return Rejected(line_no, str(error), text[:_MAX_REJECTED_TEXT])
    if stamp.clock_us is None:
        return Rejected(line_no, "there is no such time", text[:_MAX_REJECTED_TEXT])
    code = str(n_accelerators) if kind is EventKind.LAUNCH else None
    return LogEvent(
        line_no, kind, stamp.clock_us, stamp.kind, stamp.resolution_us, step, None, code, None,
        None, None, job.strip() or None, text.strip()[:_MAX_TEXT],
    )  # fmt: skip


def _read(source: ByteSource, _options: ReadOptions) -> Iterator[StepBatch | Record]:
    for line_no, raw in source.lines():
        text = raw.decode("utf-8", "replace")
        record = _event(line_no, text) if text.strip() else None
        if record is not None:
            yield record


def _sniff(head: bytes, _name: str) -> int:
    lines = without_nuls(head).split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    texts = [line.decode("utf-8", "replace").removesuffix("\r") for line in lines]
    return _SURE if any(_LINE.fullmatch(text) for text in texts) else 0


PROGRESS_TXT = Format(
    name="progress_txt",
    title="Megatron-LM progress.txt (--log-progress)",
    gives=(
        "starts of jobs with their number of accelerators, saves that were scheduled and saves "
        "that are complete; the file lies in the folder of the checkpoints"
    ),
    example=(
        "2026-05-04 10:00:00\tJob ID: 81234\t# GPUs: 256\tStarting job\n"
        "2026-05-04 10:42:10\tJob ID: 81234\t# GPUs: 256\tSaved async checkpoint\tIteration: 500\n"
    ),
    incremental=True,
    sniff=_sniff,
    read=_read,
)
