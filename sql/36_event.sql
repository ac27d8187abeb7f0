-- table: event
-- grain: one event line of a log, with the attempt that it belongs to
-- reads: log_event, log_step, log_start, attempt, placement, job
-- params:
-- column run: run
-- column attempt: attempt
-- column is_own: it stands in the attempt's own log; else in a file beside it, joined by its time
-- column position: line of the own log that it stands at or after, for the order of lines
-- column source_id: the file
-- column line_no: the line
-- column format: format of the file
-- column kind: what the line says
-- column logged_at: UTC us, best estimate, null when undated
-- column low: UTC us, earliest possible
-- column high: UTC us, latest possible
-- column strength: stated, derived, bounded or absent
-- column step: step that the line names
-- column duration_us: duration that the line states
-- column code: short code
-- column node: host that the line names
-- column rank: rank that the line names
-- column path: path that the line names
-- column job_ref: scheduler job id that the line names
-- column text: the line
WITH own AS (
    SELECT
        attempt.run,
        attempt.attempt,
        TRUE AS is_own,
        log_event.line_no AS position,
        log_event.* EXCLUDE (start_no)
    FROM (
        SELECT
            log_event.*,
            log_start.attempt_no AS start_no
        FROM log_event
        ASOF INNER JOIN log_start
            ON log_event.source_id = log_start.source_id AND log_event.line_no >= log_start.line_no
        WHERE log_event.format = 'job_log'
    ) AS log_event
    INNER JOIN attempt
        ON log_event.source_id = attempt.source_id AND log_event.start_no = attempt.start_no
),

-- files that did no step themselves (standard error, another rank, a progress file) and their jobs
beside_file AS (
    SELECT DISTINCT
        placement.source_id,
        placement.job_key,
        NULL::VARCHAR AS job_ref
    FROM placement
    WHERE
        placement.source_id NOT IN (
            SELECT attempt.source_id
            FROM attempt
            WHERE attempt.source_id IS NOT NULL
        )
    UNION ALL
    SELECT DISTINCT
        log_event.source_id,
        job.job_key,
        log_event.job_ref
    FROM log_event
    INNER JOIN job ON log_event.job_ref = job.job_id OR log_event.job_ref = job.job_id_raw
    WHERE log_event.format IN ('progress_txt', 'cycle_info')
),

-- an allocation may hold several executions: each has the lines of its own time
running AS (
    SELECT
        run,
        attempt,
        job_key,
        source_id,
        lead(attempt) OVER job_order IS NULL AS is_last,
        CASE
            WHEN lag(attempt) OVER job_order IS NULL THEN alloc_start_at
            ELSE coalesce(first_at, launch_low, first_step_at, last_step_at, alloc_start_at)
        END AS from_at,
        coalesce(
            lead(coalesce(first_at, launch_low, first_step_at, last_step_at)) OVER job_order,
            alloc_end_at
        ) AS to_at
    FROM attempt
    WHERE job_key IS NOT NULL
    WINDOW job_order AS (PARTITION BY run, job_key ORDER BY attempt)
),

beside AS (
    SELECT DISTINCT
        running.run,
        running.attempt,
        running.source_id AS own_source_id,
        log_event.*
    FROM log_event
    INNER JOIN beside_file
        ON
            log_event.source_id = beside_file.source_id
            AND (beside_file.job_ref IS NULL OR log_event.job_ref = beside_file.job_ref)
    INNER JOIN running ON beside_file.job_key = running.job_key
    WHERE
        -- a line without a stamp can only bear on the last execution
        coalesce(log_event.logged_at BETWEEN running.from_at AND running.to_at, running.is_last)
),

-- lines of the own logs in the order of the file, with a clock that does not run backwards
clock AS (
    SELECT
        source_id,
        line_no,
        max(logged_at) OVER (
            PARTITION BY source_id ORDER BY line_no ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS logged_at
    FROM (
        SELECT
            log_event.source_id,
            log_event.line_no,
            log_event.logged_at
        FROM log_event
        WHERE
            log_event.logged_at IS NOT NULL
            AND log_event.source_id IN (SELECT beside.own_source_id FROM beside)
        UNION ALL
        SELECT
            log_step.source_id,
            log_step.line_no,
            log_step.logged_at
        FROM log_step
        WHERE
            log_step.logged_at IS NOT NULL
            AND log_step.source_id IN (SELECT beside.own_source_id FROM beside)
    ) AS line
),

last_line AS (
    SELECT
        source_id,
        logged_at,
        max(line_no) AS line_no
    FROM clock
    GROUP BY source_id, logged_at
),

-- some programs save the step that was done last and do not name it; where only every k-th is
-- printed, it lies between the lines around the save
unnamed AS (
    SELECT DISTINCT
        own.run,
        own.source_id,
        own.line_no,
        log_step.step AS low_step,
        later.step AS high_step
    FROM own
    ASOF LEFT JOIN log_step
        ON own.source_id = log_step.source_id AND own.line_no > log_step.line_no
    ASOF LEFT JOIN log_step AS later
        ON own.source_id = later.source_id AND own.line_no < later.line_no
    WHERE
        own.step IS NULL
        AND own.kind IN ('save_started', 'save_scheduled', 'save_done', 'staged')
),

load AS (
    SELECT
        run,
        step
    FROM own
    WHERE kind IN ('load_started', 'load_done') AND step IS NOT NULL
),

-- a load names the step of the save that it came from
loaded AS (
    SELECT
        unnamed.source_id,
        unnamed.line_no,
        max(load.step) AS step
    FROM unnamed
    INNER JOIN load
        ON
            unnamed.run = load.run
            AND load.step > unnamed.low_step
            AND load.step < unnamed.high_step
    GROUP BY unnamed.source_id, unnamed.line_no
),

-- the interval between saves, where the log says it once
every AS (
    SELECT
        source_id,
        max(try_cast(split_part(code, '=', 2) AS BIGINT)) AS n_steps
    FROM own
    WHERE kind = 'setting' AND starts_with(code, 'save_interval=')
    GROUP BY source_id
    HAVING count(DISTINCT code) = 1
),

saved AS (
    SELECT
        unnamed.source_id,
        unnamed.line_no,
        CASE
            WHEN loaded.step IS NOT NULL THEN loaded.step
            WHEN (unnamed.high_step - 1) // every.n_steps * every.n_steps > unnamed.low_step
                THEN (unnamed.high_step - 1) // every.n_steps * every.n_steps
            ELSE unnamed.low_step
        END AS step
    FROM unnamed
    LEFT JOIN loaded
        ON unnamed.source_id = loaded.source_id AND unnamed.line_no = loaded.line_no
    LEFT JOIN every ON unnamed.source_id = every.source_id
)

SELECT own.* REPLACE (coalesce(own.step, saved.step) AS step)
FROM own
LEFT JOIN saved
    ON
        own.source_id = saved.source_id
        AND own.line_no = saved.line_no
        AND own.kind IN ('save_started', 'save_scheduled', 'save_done', 'staged')
UNION ALL
SELECT
    beside.run,
    beside.attempt,
    FALSE AS is_own,
    coalesce(last_line.line_no, 0) AS position,
    beside.* EXCLUDE (run, attempt, own_source_id)
FROM beside
ASOF LEFT JOIN last_line
    ON beside.own_source_id = last_line.source_id AND beside.logged_at >= last_line.logged_at
