"""Raw rows as the dating step reads them; unknown readings are ``NO_TIME``, other numbers -1."""

from __future__ import annotations

import pandas as pd

from ckpt_audit.warehouse import Warehouse
from ckpt_audit.zones import NO_TIME

LINES = """
SELECT *
FROM (
    SELECT
        source_id,
        line_no,
        'step' AS kind,
        clock_kind,
        coalesce(clock_us, $none) AS clock_us,
        resolution_us,
        step,
        coalesce(elapsed_us, -1) AS elapsed_us,
        -1::BIGINT AS named_step,
        -1::BIGINT AS duration_us
    FROM raw_step
    WHERE source_id IN (SELECT unnest($ids))
    UNION ALL
    SELECT
        source_id,
        line_no,
        kind,
        clock_kind,
        coalesce(clock_us, $none) AS clock_us,
        resolution_us,
        -1::BIGINT AS step,
        -1::BIGINT AS elapsed_us,
        coalesce(step, -1) AS named_step,
        coalesce(duration_us, -1) AS duration_us
    FROM raw_event
    WHERE source_id IN (SELECT unnest($ids))
) AS line
ORDER BY source_id, line_no, clock_us = $none, clock_us, kind
"""

JOBS = """
SELECT
    source_id,
    line_no,
    clock_kind = 'utc' AS is_utc,
    coalesce(submit_us, $none) AS submit_us,
    coalesce(eligible_us, $none) AS eligible_us,
    coalesce(start_us, $none) AS start_us,
    coalesce(end_us, $none) AS end_us,
    coalesce(elapsed_us, $none) AS elapsed_us,
    CASE WHEN step_id = '' THEN user || '/' || name END AS owner,
    coalesce(try_cast(job_id_raw AS BIGINT), 0) AS turn,
    nodes
FROM raw_job
WHERE source_id IN (SELECT unnest($ids))
ORDER BY source_id, line_no, job_id, step_id
"""

# States of nodes as records that tell only begin and end; several nodes may share a line.
NODES = """
SELECT DISTINCT
    source_id,
    line_no,
    clock_kind = 'utc' AS is_utc,
    $none AS submit_us,
    $none AS eligible_us,
    coalesce(start_us, $none) AS start_us,
    coalesce(end_us, $none) AS end_us,
    $none AS elapsed_us,
    NULL::VARCHAR AS owner,
    0::BIGINT AS turn,
    []::VARCHAR[] AS nodes
FROM raw_node
WHERE source_id IN (SELECT unnest($ids))
ORDER BY source_id, line_no
"""


def fetch_rows(warehouse: Warehouse, sql: str, ids: list[int]) -> pd.DataFrame:
    """The rows of some sources.

    Args:
        warehouse: Where they are.
        sql: One of the queries of this module.
        ids: Of the sources.
    """
    return warehouse.fetch_df(sql, {"ids": ids, "none": NO_TIME})
