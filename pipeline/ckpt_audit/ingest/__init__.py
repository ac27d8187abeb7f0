"""Finds, recognises and reads input files.

``FORMATS`` is the one list of what can be read.
"""

from __future__ import annotations

from ckpt_audit.ingest.base import SURE, Format
from ckpt_audit.ingest.formats.checkpoint_listing import CHECKPOINT_LISTING
from ckpt_audit.ingest.formats.cycle_info import CYCLE_INFO
from ckpt_audit.ingest.formats.health_log import HEALTH_LOG
from ckpt_audit.ingest.formats.job_log import JOB_LOG
from ckpt_audit.ingest.formats.kernel_log import KERNEL_LOG
from ckpt_audit.ingest.formats.progress_txt import PROGRESS_TXT
from ckpt_audit.ingest.formats.slurm_events import SLURM_EVENTS
from ckpt_audit.ingest.formats.slurm_sacct import SLURM_SACCT
from ckpt_audit.ingest.formats.slurm_topology import SLURM_TOPOLOGY
from ckpt_audit.ingest.formats.slurmctld_log import SLURMCTLD_LOG
from ckpt_audit.ingest.formats.tracker_history import TRACKER_HISTORY

FORMATS: tuple[Format, ...] = (
    JOB_LOG,
    KERNEL_LOG,
    SLURM_SACCT,
    SLURM_TOPOLOGY,
    SLURM_EVENTS,
    SLURMCTLD_LOG,
    HEALTH_LOG,
    CHECKPOINT_LISTING,
    PROGRESS_TXT,
    CYCLE_INFO,
    TRACKER_HISTORY,
)


def recognise(head: bytes, name: str) -> Format | None:
    """Finds the format of a file by its first bytes.

    Args:
        head: The first decompressed bytes.
        name: The base name, which only breaks ties.

    Returns:
        The format that is surest, or None when none is sure enough.
    """
    best, surest = None, SURE - 1
    for candidate in FORMATS:
        confidence = candidate.sniff(head, name)
        if confidence > surest:
            best, surest = candidate, confidence
    return best
