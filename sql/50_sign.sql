-- table: sign
-- grain: one line that bears on the end of one attempt that did steps
-- reads: attempt, log_event, log_start, cause_rule, placement
-- params:
-- column run: run
-- column attempt: attempt
-- column source_id: the file
-- column line_no: the line
-- column kind: what the line says
-- column code: its short code
-- column node: host
-- column logged_at: UTC us, where the line is stamped
-- column onset_at: UTC us, the same less the waiting time that the line states
-- column is_before: it stands before the last completed step: a precursor, no sign of the end
-- column rank: strength of the rule that matched
-- column cause: cause by that rule
-- column is_sign: a sign of the fault itself
-- column is_hardware: kind of line that a host's kernel log holds
-- column text: the line
WITH own AS (
    SELECT
        attempt.run,
        attempt.attempt,
        log_event.source_id,
        log_event.line_no,
        log_event.kind,
        log_event.code,
        log_event.node,
        log_event.logged_at,
        log_event.strength,
        log_event.duration_us,
        log_event.line_no < attempt.last_step_line AS is_before,
        log_event.text
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
    WHERE attempt.n_step_lines > 0
),

-- an allocation may hold several executions: each has the kernel lines of its own time
running AS (
    SELECT
        run,
        attempt,
        last_step_at,
        n_step_lines,
        nodes,
        job_key,
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
    WINDOW job_order AS (PARTITION BY run, job_key ORDER BY attempt)
),

beside AS (
    SELECT DISTINCT
        running.run,
        running.attempt,
        log_event.source_id,
        log_event.line_no,
        log_event.kind,
        log_event.code,
        log_event.node,
        log_event.logged_at,
        log_event.strength,
        log_event.duration_us,
        coalesce(log_event.logged_at < running.last_step_at, FALSE) AS is_before,
        log_event.text
    FROM log_event
    INNER JOIN placement ON log_event.source_id = placement.source_id
    INNER JOIN running ON placement.job_key = running.job_key
    WHERE
        running.n_step_lines > 0
        AND placement.source_id NOT IN (
            SELECT used.source_id FROM attempt AS used
            WHERE used.source_id IS NOT NULL
        )
        -- a line without a stamp can only bear on the end of the last execution
        AND coalesce(log_event.logged_at BETWEEN running.from_at AND running.to_at, running.is_last)
),

host AS (
    SELECT
        run,
        attempt,
        last_step_at,
        from_at,
        to_at,
        unnest(nodes) AS node
    FROM running
    WHERE n_step_lines > 0
),

kernel AS (
    SELECT
        host.run,
        host.attempt,
        log_event.source_id,
        log_event.line_no,
        log_event.kind,
        log_event.code,
        log_event.node,
        log_event.logged_at,
        log_event.strength,
        log_event.duration_us,
        log_event.logged_at < host.last_step_at AS is_before,
        log_event.text
    FROM log_event
    INNER JOIN host ON log_event.node = host.node
    WHERE
        log_event.format = 'kernel_log'
        AND log_event.strength = 'stated'
        AND log_event.logged_at BETWEEN host.from_at AND host.to_at
),

every_line AS (
    SELECT * FROM own
    UNION ALL
    SELECT * FROM beside
    UNION ALL
    SELECT * FROM kernel
)

SELECT
    every_line.run,
    every_line.attempt,
    every_line.source_id,
    every_line.line_no,
    every_line.kind,
    every_line.code,
    every_line.node,
    CASE WHEN every_line.strength = 'stated' THEN every_line.logged_at END AS logged_at,
    CASE
        WHEN
            every_line.strength = 'stated'
            THEN every_line.logged_at - coalesce(every_line.duration_us, 0)
    END AS onset_at,
    every_line.is_before,
    cause_rule.rank,
    cause_rule.cause,
    cause_rule.is_sign,
    cause_rule.is_hardware,
    every_line.text
FROM every_line
INNER JOIN cause_rule
    ON
        every_line.kind = cause_rule.kind
        AND (
            cause_rule.code_pattern IS NULL
            OR regexp_full_match(coalesce(every_line.code, ''), cause_rule.code_pattern)
        )
        AND (
            cause_rule.text_pattern IS NULL
            OR regexp_matches(coalesce(every_line.text, ''), cause_rule.text_pattern)
        )
QUALIFY
    row_number() OVER (
        PARTITION BY
            every_line.run,
            every_line.attempt,
            every_line.source_id,
            every_line.line_no,
            every_line.kind
        ORDER BY
            cause_rule.text_pattern IS NOT NULL DESC,
            cause_rule.code_pattern IS NOT NULL DESC,
            cause_rule.rank
    ) = 1
