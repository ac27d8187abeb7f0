"""Tells job logs from everything else by what they say."""

from __future__ import annotations

import re

from ckpt_audit.ingest.base import without_nuls
from ckpt_audit.ingest.formats._job_log_reader import JobLogReader
from ckpt_audit.ingest.formats._kernel_lines import is_kernel_log
from ckpt_audit.ingest.formats._scan import LineIndex
from ckpt_audit.records import EventKind, LogEvent, StepBatch

SAYS_PROGRESS = 90
SAYS_FAULT = 60
SAYS_START = 55
_LINES_LOOKED_AT = 400

# Lines of programs whose steps are not read here: without a fault such a log says nothing.
_OTHER_PROGRAMS = re.compile(
    rb"\[NeMo [IWE] |\[titan\] |^DLLL? |:::MLLOG |\[INFO\|\w+\.py:\d+\]| - root - INFO - "
    rb"|completed step: \d+, seconds",
    re.MULTILINE,
)
_STARTING = re.compile(
    rb"using world size: |initializing torch distributed|NCCL INFO |slurmstepd[-\w]*: |srun: "
    rb"|\[INFO\] \[launch\.py:|DeepSpeed info: |torch\.distributed"
)
_NOT_A_LOG = re.compile(
    rb"\A\s*[\[{]\s*[\"{\]}]|^```|^JobID(?:Raw)?[|,]|^SwitchName=|\bsched: Allocate JobId="
    rb"|^\[[\dT:.-]+\] (?:slurmctld|_slurm_rpc|_job_complete|sched/backfill)",
    re.MULTILINE,
)
_PROGRESS = {
    EventKind.TRAINING_START,
    EventKind.TRAINING_DONE,
    EventKind.SAVE_STARTED,
    EventKind.SAVE_SCHEDULED,
    EventKind.SAVE_DONE,
    EventKind.LOAD_STARTED,
    EventKind.LOAD_DONE,
    EventKind.LOAD_NONE,
    EventKind.EVALUATION,
    EventKind.PROGRAM_EXIT,
}
_NULS = re.compile(rb"\x00+")
_MOST_HOLES = 16
_WEAK = {EventKind.LAUNCH, EventKind.ANCHOR, EventKind.XID, EventKind.STORAGE_ERROR}


def _is_binary(head: bytes) -> bool:
    """Whether NULs are strewn about; a log that was truncated or lost has a few holes of them."""
    return len(_NULS.findall(head.lstrip(b"\0")[:4096])) > _MOST_HOLES


def confidence(head: bytes) -> int:
    """How sure it is that a file is a job log, 0 to 100, from its beginning."""
    if _is_binary(head):
        return 0
    head = without_nuls(head)
    if _NOT_A_LOG.search(head) or is_kernel_log(head):
        return 0
    reader = JobLogReader()
    records = [*reader.block(LineIndex(head, 1)), *reader.finish()]
    kinds = {record.kind for record in records if isinstance(record, LogEvent)}
    is_other = _OTHER_PROGRAMS.search(head) is not None
    if any(isinstance(record, StepBatch) for record in records):
        return SAYS_PROGRESS
    if not is_other and (kinds & _PROGRESS or EventKind.ANCHOR in kinds):
        return SAYS_PROGRESS
    if EventKind.JOB_CANCELLED in kinds:
        return SAYS_PROGRESS if not is_other else SAYS_FAULT
    if kinds - _PROGRESS - _WEAK:
        return SAYS_FAULT
    return SAYS_START if not is_other and _STARTING.search(head) else 0
