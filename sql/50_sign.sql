-- table: sign
-- grain: one line that bears on the end of one attempt
-- reads: attempt, event, log_event, cause_rule, node_state
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
-- column low: UTC us, the line was written no earlier, null where nothing tells
-- column high: UTC us, and no later
-- column is_before: it stands before the last completed step: a precursor, no sign of the end
-- column rank: strength of the rule that matched
-- column cause: cause by that rule
-- column is_sign: a sign of the fault itself
-- column is_hardware: kind of line that a host's kernel log holds
-- column text: the line
WITH own AS (
    SELECT
        event.run,
        event.attempt,
        event.source_id,
        event.line_no,
        -- what cannot be read once steps are done is not what the program began from
        CASE
            WHEN
                event.kind = 'load_failed'
                AND event.is_own
                AND event.line_no > attempt.first_step_line
                THEN 'traceback'
            ELSE event.kind
        END AS kind,
        event.code,
        event.node,
        event.logged_at,
        event.low,
        event.high,
        event.strength,
        event.duration_us,
        coalesce(
            CASE
                WHEN event.is_own THEN event.line_no < attempt.last_step_line
                ELSE event.logged_at < attempt.last_step_at
            END,
            FALSE
        ) AS is_before,
        event.text
    FROM event
    INNER JOIN attempt ON event.run = attempt.run AND event.attempt = attempt.attempt
    -- what a program still prints once the scheduler has killed it is an echo of that, not a cause
    WHERE
        NOT coalesce(
            event.is_own
            AND event.source_id = attempt.source_id
            AND event.line_no > attempt.cancel_line
            AND (
                attempt.state IN (
                    'TIMEOUT', 'DEADLINE', 'PREEMPTED', 'CANCELLED', 'REQUEUED', 'REVOKED'
                )
                OR attempt.cancel_reason IN ('TIME LIMIT', 'PREEMPTION', 'JOB REQUEUE')
            )
            -- but what it says of a time before that stands
            AND NOT (
                event.strength = 'stated'
                AND event.logged_at - coalesce(event.duration_us, 0) < attempt.cancel_at - 1000000
            ),
            FALSE
        )
),

-- an allocation may hold several executions: each has the kernel lines of its own time
running AS (
    SELECT
        run,
        attempt,
        last_step_at,
        nodes,
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

host AS (
    SELECT
        run,
        attempt,
        last_step_at,
        from_at,
        to_at,
        unnest(nodes) AS node
    FROM running
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
        log_event.low,
        log_event.high,
        log_event.strength,
        log_event.duration_us,
        coalesce(log_event.logged_at < host.last_step_at, FALSE) AS is_before,
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
    SELECT * FROM kernel
),

-- what became of a node of the allocation: down or failing at its end, or drained soon after
node_line AS (
    SELECT
        host.run,
        host.attempt,
        node_state.source_id,
        node_state.line_no,
        'node_state' AS kind,
        node_state.state AS code,
        node_state.node,
        node_state.started_at AS logged_at,
        node_state.started_at AS onset_at,
        node_state.started_at AS low,
        node_state.started_at AS high,
        -- such records tell whole seconds: within the second of the last step it came after it
        coalesce(node_state.started_at + 999999 < host.last_step_at, FALSE) AS is_before,
        CASE
            -- down before the end it is a cause; later it may be what somebody made of it
            WHEN
                node_state.state IN ('down', 'fail')
                AND node_state.started_at <= host.to_at + 120000000
                THEN 27
            WHEN node_state.cause IS NOT NULL THEN 45
            ELSE 62
        END AS rank,
        coalesce(
            node_state.cause, CASE WHEN node_state.state IN ('down', 'fail') THEN 'node' END,
            'unknown'
        ) AS cause,
        node_state.state IN ('down', 'fail') AND node_state.started_at <= host.to_at + 120000000
            AS is_sign,
        TRUE AS is_hardware,
        node_state.text
    FROM node_state
    INNER JOIN host ON node_state.node = host.node
    WHERE
        coalesce(NOT node_state.is_planned, TRUE)
        AND node_state.started_at BETWEEN host.from_at AND host.to_at + 3600000000
        -- taken into use again before it was drained: that is of a later attempt
        AND NOT EXISTS (
            SELECT later.node
            FROM host AS later
            WHERE
                later.node = node_state.node
                AND later.from_at BETWEEN host.to_at AND node_state.started_at
        )
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
    every_line.low,
    every_line.high,
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
UNION ALL
SELECT
    run,
    attempt,
    source_id,
    line_no,
    kind,
    code,
    node,
    logged_at,
    onset_at,
    low,
    high,
    is_before,
    rank,
    cause,
    is_sign,
    is_hardware,
    text
FROM node_line
QUALIFY
    row_number() OVER (PARTITION BY run, attempt, source_id, line_no, node ORDER BY rank) = 1
