"""Job logs: what a training program, its launcher and the scheduler print into one file.

Megatron-LM and its forks, GPT-NeoX and DeepSpeed report their steps and checkpoints; torchrun,
NCCL, CUDA and Slurm report what went wrong. Only lines that hold a literal of a rule are looked
at (see ``_scan``), and step lines are read in columns (see ``_job_log_layouts``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions
from ckpt_audit.ingest.formats import _job_log_sniff
from ckpt_audit.ingest.formats._ahead import ahead
from ckpt_audit.ingest.formats._job_log_reader import JobLogReader
from ckpt_audit.ingest.formats._scan import LineIndex
from ckpt_audit.records import Record, StepBatch

_BLOCK_BYTES = 3 << 18  # a block and what is made of it stay in the processor's cache
_BLOCKS_ALONE = 64  # a thread is for logs of more than 50 MB


def _sniff(head: bytes, _name: str) -> int:
    return _job_log_sniff.confidence(head)


def _read(source: ByteSource, _options: ReadOptions) -> Iterator[StepBatch | Record]:
    reader = JobLogReader()
    indexed = (LineIndex(block, number) for number, block in source.blocks(_BLOCK_BYTES))
    for index in ahead(indexed, after=_BLOCKS_ALONE):
        yield from reader.block(index)
    yield from reader.finish()


JOB_LOG = Format(
    name="job_log",
    title="Job log (Megatron-LM, GPT-NeoX, DeepSpeed; torchrun, NCCL, Slurm)",
    gives="Completed steps, saves and loads of checkpoints, starts, exits, cancellations, faults.",
    example=(
        " [2026-05-01 10:00:06.123456] iteration      120/   50000 | consumed samples:        "
        "61440 | elapsed time per iteration (ms): 6021.4 | learning rate: 1.000000E-04 |\n"
    ),
    incremental=True,
    sniff=_sniff,
    read=_read,
)
