"""Checkpoints, and how often a run saves."""

from __future__ import annotations

from typing import Any

from ckpt_audit.facts import Checkpoint, SaveCadence, Window
from ckpt_audit.queries.base import bounds_of, dicts
from ckpt_audit.units import seconds
from ckpt_audit.warehouse import Warehouse

_CHECKPOINTS = """
SELECT checkpoint.* REPLACE (checkpoint.line_no - log_file.line_offset AS line_no),
    log_file.path AS file,
    NOT EXISTS (
        SELECT 1 FROM counted
        WHERE counted.run = checkpoint.run
            AND coalesce(checkpoint.captured_at, checkpoint.committed_at) >= counted.start_at
            AND coalesce(checkpoint.captured_at, checkpoint.committed_at) < counted.end_at
    ) AS is_excluded
FROM checkpoint
ASOF INNER JOIN log_file ON checkpoint.source_id = log_file.log_id
    AND checkpoint.line_no > log_file.line_offset
WHERE coalesce(checkpoint.captured_at, checkpoint.committed_at) >= $start_at
    AND coalesce(checkpoint.captured_at, checkpoint.committed_at) < $end_at
ORDER BY checkpoint.run, checkpoint.ordinal
"""


def _checkpoint(row: dict[str, Any]) -> Checkpoint:
    return Checkpoint(
        run=row["run"],
        attempt=row["attempt"],
        step=row["step"],
        started_at=row["captured_at"],
        blocking_done_at=row["blocking_done_at"],
        committed_at=row["committed_at"],
        state=row["state"],
        grade=row["grade"],
        is_async=row["is_async"],
        is_final=row["is_final"],
        cost_s=seconds(row["cost_us"]),
        cost_origin=row["cost_origin"],
        timer_s=seconds(row["timer_us"]),
        path=row["path"],
        file=row["file"],
        line=row["line_no"],
        why=row["why"],
        block_s=seconds(row["block_us"]),
        commit_s=seconds(row["commit_us"]),
        deleted_at=row["deleted_at"],
        excluded=row.get("is_excluded", False),
        tier=row["tier"],
    )


def checkpoints(warehouse: Warehouse, window: Window | None = None) -> list[Checkpoint]:
    """Saves whose state was captured in the window, by run and time."""
    return [_checkpoint(row) for row in dicts(warehouse, _CHECKPOINTS, bounds_of(window))]


_CADENCE = """
WITH good AS (
    SELECT checkpoint.run, checkpoint.attempt, checkpoint.step, checkpoint.captured_at,
        coalesce(
            lag(checkpoint.step) OVER (
                PARTITION BY checkpoint.run, checkpoint.attempt ORDER BY checkpoint.ordinal
            ),
            attempt.loaded_step
        ) AS before_step,
        -- from when on it trained for this save: the save before it, or its first step
        coalesce(
            lag(checkpoint.captured_at) OVER (
                PARTITION BY checkpoint.run, checkpoint.attempt ORDER BY checkpoint.ordinal
            ),
            attempt.first_step_at
        ) AS before_at
    FROM checkpoint
    INNER JOIN attempt
        ON checkpoint.run = attempt.run AND checkpoint.attempt = attempt.attempt
    WHERE checkpoint.is_good AND checkpoint.tier = 'remote'
        AND NOT checkpoint.is_final
),

trained AS (
    SELECT run, attempt, step, ended_at,
        sum(work_us + degraded_us) OVER (PARTITION BY run, attempt ORDER BY step) AS so_far_us
    FROM step
),

pair AS (
    SELECT good.run, good.step - good.before_step AS steps,
        -- an attempt begins with the state that it loaded: nothing trained since
        (later.so_far_us - coalesce(earlier.so_far_us, 0))::BIGINT AS trained_us
    FROM good
    LEFT JOIN trained AS later
        ON good.run = later.run AND good.attempt = later.attempt AND good.step = later.step
    LEFT JOIN trained AS earlier
        ON good.run = earlier.run AND good.attempt = earlier.attempt
        AND good.before_step = earlier.step
    -- a stretch that a person excluded, whole or in part, tells nothing
    INNER JOIN counted
        ON good.run = counted.run
        AND coalesce(good.before_at, good.captured_at) >= counted.start_at
        AND good.captured_at < counted.end_at
    WHERE good.before_step IS NOT NULL AND good.step > good.before_step
        AND good.captured_at >= $start_at AND good.captured_at < $end_at
),

summary AS (
    SELECT run, mode(steps) AS observed_steps, avg(trained_us) AS mean_us,
        sum(trained_us::DOUBLE * trained_us ORDER BY trained_us)
        / nullif(sum(trained_us), 0) AS effective_us
    FROM pair
    WHERE trained_us > 0
    GROUP BY run
)

SELECT run.run, run.configured_steps, run.configured_us, run.is_interval_found,
    summary.observed_steps,
    baseline.step_us, summary.mean_us, summary.effective_us
FROM run
LEFT JOIN summary ON run.run = summary.run
LEFT JOIN baseline ON run.run = baseline.run AND baseline.epoch IS NOT DISTINCT FROM run.epoch
ORDER BY run.run
"""


def cadences(warehouse: Warehouse, window: Window | None = None) -> dict[str, SaveCadence]:
    """How often each run saves, from consecutive verified saves of one attempt in the window."""
    found = {}
    for row in dicts(warehouse, _CADENCE, bounds_of(window)):
        # many steps in one tick of the stamps: how long one takes is not known, and never zero
        step_us, configured_us = row["step_us"] or None, row["configured_us"] or None
        configured = row["configured_steps"]
        if configured_us is None and configured is not None and step_us is not None:
            configured_us = configured * step_us
        found[row["run"]] = SaveCadence(
            run=row["run"],
            configured_steps=configured,
            configured_s=seconds(configured_us),
            observed_steps=row["observed_steps"],
            step_s=seconds(step_us),
            mean_s=row["mean_us"] / 1e6 if row["mean_us"] else None,
            effective_s=row["effective_us"] / 1e6 if row["effective_us"] else None,
            is_found=row["is_interval_found"],
        )
    return found


_NEWEST = """
SELECT checkpoint.* REPLACE (checkpoint.line_no - log_file.line_offset AS line_no),
    log_file.path AS file
FROM checkpoint
ASOF INNER JOIN log_file ON checkpoint.source_id = log_file.log_id
    AND checkpoint.line_no > log_file.line_offset
WHERE checkpoint.is_good AND checkpoint.tier = 'remote'
    AND (checkpoint.deleted_at IS NULL OR checkpoint.deleted_at >= $end_at)
    AND checkpoint.verified_at < $end_at
QUALIFY row_number() OVER (
    PARTITION BY checkpoint.run ORDER BY checkpoint.verified_at DESC, checkpoint.ordinal DESC
) = 1
"""


def newest_verified(warehouse: Warehouse, end_at: int) -> dict[str, Checkpoint]:
    """The newest verified save of each run before an instant."""
    rows = dicts(warehouse, _NEWEST, {"end_at": end_at})
    return {row["run"]: _checkpoint(row) for row in rows}
