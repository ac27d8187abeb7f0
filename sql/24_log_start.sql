-- table: log_start
-- grain: one start of the training program inside a job log
-- reads: log_event, log_step
-- params:
-- column source_id: the log
-- column attempt_no: counts the starts in this log, from 1
-- column line_no: line from which on it counts (0 for the first)
WITH line AS (
    SELECT
        source_id,
        line_no,
        kind,
        NULL::BIGINT AS step,
        NULL::BIGINT AS logged_at
    FROM log_event
    -- a replica group that heals from another joins a program that goes on
    WHERE format = 'job_log' AND kind <> 'anchor' AND code IS DISTINCT FROM 'peer'
    UNION ALL
    SELECT
        source_id,
        line_no,
        'step' AS kind,
        step,
        logged_at
    FROM log_step
),

labelled AS (
    SELECT
        *,
        kind IN (
            'launch', 'load_started', 'load_done', 'load_none', 'training_start', 'tracker_invalid'
        ) AS is_startup,
        kind NOT IN (
            'launch', 'load_started', 'load_done', 'load_none', 'training_start', 'tracker_invalid',
            'step', 'job_cancelled', 'task_exit', 'launcher_failure', 'node_failure',
            'program_exit', 'training_done', 'save_started', 'save_done', 'save_scheduled'
        ) AS is_aside,
        sum((kind = 'restart')::INTEGER) OVER (PARTITION BY source_id ORDER BY line_no, kind)
            AS n_restart
    FROM line
),

-- lines of one kind in a row
block AS (
    SELECT
        source_id,
        kind,
        block_no,
        min(line_no) AS line_no
    FROM (
        SELECT
            source_id,
            line_no,
            kind,
            sum(is_new::INTEGER) OVER (PARTITION BY source_id ORDER BY line_no, kind) AS block_no
        FROM (
            SELECT
                *,
                coalesce(
                    kind <> lag(kind) OVER (PARTITION BY source_id ORDER BY line_no, kind), TRUE
                ) AS is_new
            FROM labelled
        ) AS marked
    ) AS numbered
    GROUP BY source_id, kind, block_no
),

-- what a program prints of its configuration right before a start belongs to it
preface AS (
    SELECT
        source_id,
        line_no,
        CASE WHEN kind_before IS NULL THEN 0 ELSE previous_line END AS from_line
    FROM (
        SELECT
            *,
            lag(kind) OVER block_order AS previous_kind,
            lag(line_no) OVER block_order AS previous_line,
            lag(kind, 2) OVER block_order AS kind_before
        FROM block
        WINDOW block_order AS (PARTITION BY source_id ORDER BY block_no)
    ) AS sequence
    WHERE previous_kind = 'setting' AND coalesce(kind_before <> 'launch', TRUE)
),

relaunch AS (
    SELECT
        source_id,
        line_no
    FROM (
        SELECT
            *,
            lag(kind) OVER (PARTITION BY source_id ORDER BY line_no, kind) AS previous_kind
        FROM labelled
    ) AS sequence
    WHERE kind = 'launch' AND previous_kind <> 'launch'
),

reload AS (
    SELECT
        source_id,
        line_no
    FROM (
        SELECT
            *,
            lag(is_startup) OVER line_order AS after_startup,
            lag(CASE WHEN kind = 'step' THEN step END IGNORE NULLS) OVER line_order
                AS previous_step,
            lag(CASE WHEN kind = 'step' THEN logged_at END IGNORE NULLS) OVER line_order
                AS previous_at,
            lag(CASE WHEN kind = 'step' THEN n_startup END IGNORE NULLS) OVER line_order
                AS n_startup_then,
            lag(CASE WHEN kind = 'step' THEN n_restart END IGNORE NULLS) OVER line_order
                AS n_restart_then
        FROM (
            SELECT
                *,
                sum(is_startup::INTEGER) OVER (PARTITION BY source_id ORDER BY line_no, kind)
                    AS n_startup
            FROM labelled
            WHERE NOT is_aside
        ) AS numbered
        WINDOW line_order AS (PARTITION BY source_id ORDER BY line_no, kind)
    ) AS sequence
    WHERE
        (is_startup AND after_startup IS FALSE)
        -- smaller than the step before it and later, with no sign of a start in between; the same
        -- step again from another rank is not later
        OR (
            kind = 'step'
            AND step < previous_step
            AND n_startup = n_startup_then
            AND coalesce(logged_at > previous_at, TRUE)
        )
        -- a launcher says that it starts the program anew, and the program says nothing of it
        OR (kind = 'step' AND n_startup = n_startup_then AND n_restart > n_restart_then)
),

started AS (
    SELECT
        source_id,
        line_no
    FROM relaunch
    UNION
    SELECT
        source_id,
        line_no
    FROM reload
),

boundary AS (
    SELECT
        source_id,
        0::BIGINT AS line_no
    FROM labelled
    UNION
    SELECT
        started.source_id,
        coalesce(preface.from_line, started.line_no) AS line_no
    FROM started
    LEFT JOIN preface
        ON started.source_id = preface.source_id AND started.line_no = preface.line_no
)

SELECT
    source_id,
    row_number() OVER (PARTITION BY source_id ORDER BY line_no) AS attempt_no,
    line_no
FROM boundary
