"""When jobs ran by their scheduler records, and which job a log names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ckpt_audit.warehouse import Warehouse

_JOB_REFS = """
SELECT source_id, split_part(job_ref, '.', 1) AS ref, count(*) AS n
FROM raw_event
WHERE job_ref IS NOT NULL AND job_ref <> ''
GROUP BY ALL
ORDER BY source_id, n DESC, ref
"""

_UTC_JOBS = """
SELECT cluster, job_id, job_id_raw, source_id, min(start_us), max(end_us), bool_or(end_us IS NULL)
FROM raw_job
WHERE clock_kind = 'utc' AND step_id = '' AND start_us IS NOT NULL
GROUP BY ALL
ORDER BY ALL
"""

_DATED_JOBS = """
SELECT
    raw_job.cluster,
    raw_job.job_id,
    raw_job.job_id_raw,
    raw_job.source_id,
    min(coalesce(job_time.started_at, job_time.submitted_at)),
    max(job_time.ended_at),
    bool_or(job_time.ended_at IS NULL)
FROM raw_job
INNER JOIN job_time
    ON raw_job.source_id = job_time.source_id AND raw_job.line_no = job_time.line_no
WHERE raw_job.step_id = '' AND coalesce(job_time.started_at, job_time.submitted_at) IS NOT NULL
GROUP BY ALL
ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class JobSpan:
    """The time of one job by its records: start of the first, end of the last (None: open)."""

    job_id: str
    source_id: int
    start_us: int
    end_us: int | None


class JobSpans:
    """Spans of jobs, found by the ids that a log names.

    Args:
        rows: Cluster, id, raw id, source, start, end and whether an end is missing.
    """

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._spans: dict[str, list[tuple[str, JobSpan]]] = {}
        for cluster, job_id, raw_id, source_id, start, end, is_open in rows:
            span = JobSpan(job_id, source_id, start, None if is_open else end)
            for ref in dict.fromkeys((job_id, raw_id)):
                self._spans.setdefault(ref, []).append((cluster, span))

    def find(self, refs: Iterable[str]) -> tuple[JobSpan, ...]:
        """The spans of the first id that is a job's; none when clusters share it."""
        for ref in refs:
            found = self._spans.get(ref) if ref else None
            if found:
                clusters = {cluster for cluster, _ in found if cluster}
                return tuple(span for _, span in found) if len(clusters) <= 1 else ()
        return ()


def refs_of(warehouse: Warehouse) -> dict[int, tuple[str, ...]]:
    """Job ids of every job log, best first: those in its text, then those in its name."""
    in_text: dict[int, list[str]] = {}
    for source_id, ref, _ in warehouse.rows(_JOB_REFS):
        in_text.setdefault(source_id, []).append(ref)
    rows = warehouse.rows("SELECT source_id, name_refs FROM source WHERE format = 'job_log'")
    return {source_id: (*in_text.get(source_id, ()), *(names or ())) for source_id, names in rows}


def utc_jobs(warehouse: Warehouse) -> JobSpans:
    """Spans of the jobs whose records are in UTC, whether dated or not."""
    return JobSpans(warehouse.rows(_UTC_JOBS))


def dated_jobs(warehouse: Warehouse) -> JobSpans:
    """Spans of all jobs whose records are dated."""
    return JobSpans(warehouse.rows(_DATED_JOBS))
