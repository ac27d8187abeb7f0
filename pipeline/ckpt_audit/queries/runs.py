"""Runs, their launches, progress, states and exposure."""

from __future__ import annotations

from typing import Any

from ckpt_audit.facts import Epoch, Lifetime, Progress, Run, State, UpTime, Window
from ckpt_audit.queries.base import bounds_of, dicts
from ckpt_audit.warehouse import Warehouse


def runs(warehouse: Warehouse) -> list[Run]:
    """All runs, by name."""
    has_topology = bool(warehouse.rows("SELECT 1 FROM raw_domain LIMIT 1"))
    has_kernel = bool(warehouse.rows("SELECT 1 FROM source WHERE format = 'kernel_log' LIMIT 1"))
    found = epochs(warehouse)
    return [
        Run(
            run=row["run"],
            user=row["user_name"],
            work_dir=row["work_dir"],
            joined_by=row["joined_by"],
            n_jobs=row["n_jobs"],
            n_attempts=row["n_attempts"],
            n_launches_without_step=row["n_without_step"],
            n_accelerators=row["n_accelerators"],
            accelerators_origin=row["accelerators_origin"],
            started_at=row["started_at"],
            ended_at=row["ended_at"],
            is_running=row["is_running"],
            first_step=row["first_step"],
            last_step=row["last_step"],
            target_step=row["target_step"],
            allocated_us=row["allocated_us"] or 0,  # all of it may be excluded
            missing=_missing(row, has_topology, has_kernel),
            n_unrecorded=row["n_unrecorded"],
            n_unlogged=row["n_unlogged"],
            epochs=tuple(epoch for epoch in found if epoch.run == row["run"]),
        )
        for row in dicts(warehouse, "SELECT * FROM run ORDER BY run")
    ]


def epochs(warehouse: Warehouse, window: Window | None = None) -> list[Epoch]:
    """Stretches of one configuration that reach into a window, cut to it, in their order."""
    sql = """
    SELECT run, epoch, greatest(started_at, $start_at) AS started_at,
        least(ended_at, $end_at) AS ended_at, n_accelerators, settings, why
    FROM epoch WHERE started_at < $end_at AND ended_at > $start_at ORDER BY run, epoch
    """
    rows = dicts(warehouse, sql, bounds_of(window))
    return [Epoch(**row | {"settings": tuple(row["settings"])}) for row in rows]


def _missing(row: dict[str, Any], has_topology: bool, has_kernel: bool) -> tuple[str, ...]:
    missing = []
    if row["n_jobs"] == 0:
        missing.append("scheduler records: the log's span stands for the allocation")
    if row["n_unrecorded"]:
        missing.append("records of requeued jobs: take them with sacct --duplicates")
    if row["n_unlogged"]:
        missing.append("logs of starts that may have done steps (a requeue begins a log anew)")
    if row["n_without_log"]:
        n = row["n_without_log"]
        missing.append(f"log of {n} job" + ("" if n == 1 else "s"))
    if row["n_accelerators"] is None:
        missing.append("number of accelerators: set accelerators_per_node")
    if not has_topology:
        missing.append("topology: incidents can only be joined by node")
    if not has_kernel:
        missing.append("kernel logs: hardware faults are seen only where the job log tells")
    return tuple(missing)


_UP_TIME = """
SELECT up_time.run, up_time.attempt,
    greatest(up_time.start_at, $start_at) AS start_at,
    least(up_time.end_at, $end_at) AS end_at,
    CASE WHEN up_time.end_at < $end_at THEN up_time.kind END AS kind,
    CASE WHEN up_time.end_at < $end_at THEN incident.incident_id END AS incident,
    up_time.n_accelerators
FROM up_time
LEFT JOIN incident ON up_time.run = incident.run AND up_time.incident = incident.incident
WHERE up_time.start_at < $end_at AND up_time.end_at >= $start_at
ORDER BY up_time.run, up_time.attempt
"""


def up_time(warehouse: Warehouse, window: Window | None = None) -> list[UpTime]:
    """Exposure of each attempt, cut to the window; an end outside the window is censored."""
    return [UpTime(**row) for row in dicts(warehouse, _UP_TIME, bounds_of(window))]


_LIFETIMES = """
SELECT up_time.run, up_time.attempt, up_time.start_at,
    least(up_time.end_at, $end_at) AS end_at, up_time.n_accelerators,
    CASE WHEN up_time.end_at < $end_at THEN up_time.kind END AS kind,
    CASE WHEN up_time.end_at < $end_at THEN incident.cause END AS cause,
    up_time.end_at < $end_at AND coalesce(incident.is_secondary, FALSE) AS is_secondary
FROM up_time
LEFT JOIN incident ON up_time.run = incident.run AND up_time.incident = incident.incident
WHERE up_time.start_at < $end_at
ORDER BY up_time.run, up_time.start_at, up_time.attempt
"""


def lifetimes(warehouse: Warehouse, until_at: int) -> list[Lifetime]:
    """Up-time of every attempt from the beginning of the data to a moment, by run and start."""
    rows = dicts(warehouse, _LIFETIMES, {"end_at": until_at})
    return [Lifetime(**row) for row in rows]


_PROGRESS_POINTS = 600
_PROGRESS = """
SELECT run, ended_at, step
FROM (
    SELECT run, attempt, ended_at, step,
        row_number() OVER (PARTITION BY run ORDER BY ended_at, step) AS place,
        count(*) OVER (PARTITION BY run) AS n,
        lag(attempt) OVER (PARTITION BY run ORDER BY attempt, ended_at) IS DISTINCT FROM attempt
            AS is_begin,
        lead(attempt) OVER (PARTITION BY run ORDER BY attempt, ended_at) IS DISTINCT FROM attempt
            AS is_end
    FROM step
    WHERE ended_at >= $start_at AND ended_at < $end_at
) AS numbered
WHERE is_begin OR is_end OR place % greatest(n // $points, 1) = 0
ORDER BY run, ended_at, step
"""


def progress(warehouse: Warehouse, window: Window | None = None) -> list[Progress]:
    """Points of the progress line, thinned, with every begin and end of an attempt kept."""
    params = {**bounds_of(window), "points": _PROGRESS_POINTS}
    return [Progress(run, at, step) for run, at, step in warehouse.rows(_PROGRESS, params)]


_STATES = """
WITH cut AS (
    SELECT run,
        CASE
            WHEN bucket IN ('productive', 'checkpoint', 'evaluation', 'lost_work', 'degraded')
                THEN 'training'
            ELSE bucket
        END AS bucket,
        greatest(start_at, $start_at) AS start_at,
        least(end_at, $end_at) AS end_at
    FROM calendar
    WHERE start_at < $end_at AND end_at > $start_at
),

marked AS (
    SELECT *,
        lag(bucket) OVER (PARTITION BY run ORDER BY start_at, end_at) IS DISTINCT FROM bucket
            AS is_new
    FROM cut
),

island AS (
    SELECT *, sum(is_new::INTEGER) OVER (PARTITION BY run ORDER BY start_at, end_at) AS island
    FROM marked
)

SELECT run, min(start_at), max(end_at), any_value(bucket)
FROM island
GROUP BY run, island
ORDER BY run, min(start_at)
"""


def states(warehouse: Warehouse, window: Window | None = None) -> list[State]:
    """What each run was doing over the window, training folded into one state."""
    rows = warehouse.rows(_STATES, bounds_of(window))
    return [State(run, start_at, end_at, bucket) for run, start_at, end_at, bucket in rows]


_LAUNCHES = """
SELECT attempt.run, count(*) AS n,
    count(*) FILTER (WHERE coalesce(attempt.n_step_lines, 0) > 0) AS reached
FROM attempt
-- without what a person excluded
INNER JOIN counted ON attempt.run = counted.run
    AND attempt.alloc_start_at >= counted.start_at AND attempt.alloc_start_at < counted.end_at
WHERE attempt.alloc_start_at >= $start_at AND attempt.alloc_start_at < $end_at
GROUP BY attempt.run
"""


def launches(warehouse: Warehouse, window: Window | None = None) -> dict[str, tuple[int, int]]:
    """Per run: launches whose allocation began in the window, and how many did a step."""
    rows = warehouse.rows(_LAUNCHES, bounds_of(window))
    return {run: (n, reached) for run, n, reached in rows}
