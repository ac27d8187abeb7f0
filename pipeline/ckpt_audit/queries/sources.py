"""The input itself: files, rejected lines, findings."""

from __future__ import annotations

from ckpt_audit.facts import Finding, RejectedLine, Source
from ckpt_audit.queries.base import dicts
from ckpt_audit.units import seconds
from ckpt_audit.warehouse import Warehouse

_SOURCES = """
SELECT source.path, source.format, source.n_bytes, source.n_lines, source.n_rows,
    source.n_rejected, source.content_sha256, source_zone.tz, source_zone.origin,
    span.first_at, span.last_at, owner.run
FROM source
LEFT JOIN source_zone ON source.source_id = source_zone.source_id
LEFT JOIN (
    SELECT source_id, min(moment) AS first_at, max(moment) AS last_at
    FROM (
        SELECT source_id, "at" AS moment FROM line_time
        UNION ALL SELECT source_id, started_at FROM job_time
        UNION ALL SELECT source_id, ended_at FROM job_time
    ) AS moments
    GROUP BY source_id
) AS span ON source.source_id = span.source_id
LEFT JOIN log_file ON source.source_id = log_file.source_id
LEFT JOIN (SELECT source_id, min(run) AS run FROM attempt GROUP BY source_id) AS owner
    ON log_file.log_id = owner.source_id
ORDER BY source.path, source.content_sha256
"""


def sources(warehouse: Warehouse) -> list[Source]:
    """All input files, by path."""
    return [
        Source(
            path=row["path"],
            format=row["format"],
            n_bytes=row["n_bytes"],
            n_lines=row["n_lines"],
            n_rows=row["n_rows"],
            n_rejected=row["n_rejected"],
            sha256=row["content_sha256"],
            tz=row["tz"],
            tz_origin=row["origin"],
            first_at=row["first_at"],
            last_at=row["last_at"],
            run=row["run"],
        )
        for row in dicts(warehouse, _SOURCES)
    ]


def rejected(warehouse: Warehouse) -> list[RejectedLine]:
    """All lines that were not understood, by file and line."""
    rows = warehouse.rows(
        "SELECT source.path, line_no, reason, text FROM rejected_line "
        "INNER JOIN source ON rejected_line.source_id = source.source_id "
        "ORDER BY source.path, line_no, reason"
    )
    return [RejectedLine(path, line, reason, text) for path, line, reason, text in rows]


def context_jobs(warehouse: Warehouse) -> int:
    """Scheduler records that belong to no run."""
    count: int = warehouse.rows(
        "SELECT count(*) FROM job WHERE job_key NOT IN "
        "(SELECT job_key FROM attempt WHERE job_key IS NOT NULL)"
    )[0][0]
    return count


def as_of(warehouse: Warehouse) -> int | None:
    """Newest instant that any source speaks of."""
    newest: int | None = warehouse.rows(
        "SELECT max(moment) FROM ("
        'SELECT max("at") AS moment FROM line_time '
        "UNION ALL SELECT max(observed_until) FROM job) AS moments"
    )[0][0]
    return newest


def findings(warehouse: Warehouse) -> list[Finding]:
    """What a reader of the numbers must know about the data."""
    rows = warehouse.rows(
        "SELECT finding.kind, finding.subject, finding.text, finding.could_move_us, "
        "coalesce(log_file.path, source.path), "
        "finding.line_no - coalesce(log_file.line_offset, 0) FROM finding "
        "LEFT JOIN source ON finding.source_id = source.source_id "
        "ASOF LEFT JOIN log_file ON finding.source_id = log_file.log_id "
        "AND finding.line_no > log_file.line_offset "
        "ORDER BY finding.kind, finding.subject, source.path, finding.line_no, finding.text"
    )
    return [
        Finding(kind, subject, text, seconds(moved), path, line)
        for kind, subject, text, moved, path, line in rows
    ]
