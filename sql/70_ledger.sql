-- table: ledger
-- grain: one stretch of one allocation in one bucket
-- reads: attempt, chain, ending, incident, step, step_fate, checkpoint
-- params:
-- column run: run
-- column allocation: the allocation: job key, or the log where there is no record
-- column attempt: attempt that it belongs to
-- column bucket: where the time went
-- column incident: ordinal of the incident that it is charged to, null when none
-- column start_at: UTC us
-- column end_at: UTC us
-- column n_accelerators: accelerators allocated, null when unknown
-- column could_move_us: how much of it could belong elsewhere for lack of evidence
WITH sized AS (
    SELECT
        *,
        coalesce(job_key, 'log ' || source_id || '/' || attempt_no) AS allocation,
        row_number() OVER (
            PARTITION BY run, coalesce(job_key, 'log ' || source_id || '/' || attempt_no) ORDER BY attempt
        ) AS place,
        lead(attempt) OVER (
            PARTITION BY run, coalesce(job_key, 'log ' || source_id || '/' || attempt_no) ORDER BY attempt
        ) AS next_in_allocation,
        lead(coalesce(first_at, launch_high)) OVER (
            PARTITION BY run, coalesce(job_key, 'log ' || source_id || '/' || attempt_no) ORDER BY attempt
        ) AS next_seen_at,
        -- what the attempt comes after: the last attempt with steps before it
        max(CASE WHEN n_step_lines > 0 THEN attempt END) OVER (
            PARTITION BY run ORDER BY attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS after_attempt
    FROM attempt
),

bound AS (
    SELECT
        sized.run,
        sized.allocation,
        sized.attempt,
        sized.n_accelerators,
        sized.is_recorded,
        sized.source_id,
        coalesce(sized.n_step_lines, 0) > 0 AND ending.attempt IS NOT NULL AS has_steps,
        ending.ending,
        ending.kind,
        ending.detector,
        ending.phase,
        ending.fault_at,
        ending.fault_low,
        ending.fault_high,
        ending.detected_at,
        ending.overdue_at,
        ending.last_step_at,
        chain.incident,
        after_ending.ending AS after_what,
        coalesce(after_incident.kind, after_ending.kind) AS after_kind,
        after_chain.incident AS after_ordinal,
        sized.first_step_at,
        sized.alloc_start_at AS alloc_from,
        sized.alloc_end_at AS alloc_to,
        sized.place,
        CASE
            WHEN sized.next_in_allocation IS NULL THEN sized.alloc_end_at
            WHEN ending.detected_at IS NOT NULL THEN ending.detected_at
            ELSE coalesce(sized.next_seen_at, sized.last_at, sized.alloc_end_at)
        END AS raw_to
    FROM sized
    LEFT JOIN ending ON sized.run = ending.run AND sized.attempt = ending.attempt
    LEFT JOIN chain ON sized.run = chain.run AND sized.attempt = chain.attempt
    LEFT JOIN ending AS after_ending
        ON sized.run = after_ending.run AND sized.after_attempt = after_ending.attempt
    LEFT JOIN chain AS after_chain
        ON sized.run = after_chain.run AND sized.after_attempt = after_chain.attempt
    LEFT JOIN incident AS after_incident
        ON after_chain.run = after_incident.run AND after_chain.incident = after_incident.incident
),

span AS (
    SELECT
        * EXCLUDE (alloc_from, alloc_to, raw_to),
        CASE
            WHEN place = 1 THEN alloc_from
            ELSE least(
                alloc_to,
                greatest(
                    alloc_from,
                    max(raw_to) OVER (
                        PARTITION BY run, allocation ORDER BY attempt
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                    )
                )
            )
        END AS span_from,
        least(
            alloc_to,
            greatest(alloc_from, max(raw_to) OVER (PARTITION BY run, allocation ORDER BY attempt))
        ) AS span_to,
        CASE
            WHEN after_kind <> 'planned' THEN 'restart'
            ELSE 'startup'
        END AS begin_bucket
    FROM bound
),

first_done AS (
    SELECT
        run,
        attempt,
        min(started_at) AS first_done_at
    FROM step
    WHERE is_first
    GROUP BY run, attempt
),

tail_save AS (
    SELECT
        checkpoint.run,
        checkpoint.attempt,
        max(checkpoint.committed_at) AS done_at,
        bool_or(checkpoint.done_line IS NULL) AS is_open
    FROM checkpoint
    WHERE checkpoint.next_step_line IS NULL AND NOT checkpoint.is_async
    GROUP BY checkpoint.run, checkpoint.attempt
),

-- the parts of each step line, in the order in which they are taken to happen
piece AS (
    SELECT
        run,
        attempt,
        line_no,
        started_at,
        1 AS place,
        'checkpoint' AS bucket,
        NULL::BIGINT AS incident,
        checkpoint_us AS size_us
    FROM step
    WHERE checkpoint_us > 0
    UNION ALL
    SELECT
        run,
        attempt,
        line_no,
        started_at,
        2,
        'stall',
        NULL,
        stall_us
    FROM step
    WHERE stall_us > 0
    UNION ALL
    SELECT
        step.run,
        step.attempt,
        step.line_no,
        step.started_at,
        3,
        CASE WHEN step_fate.incident IS NULL THEN 'evaluation' ELSE 'lost_work' END,
        step_fate.incident,
        step_fate.evaluation_us
    FROM step
    INNER JOIN step_fate
        ON
            step.run = step_fate.run
            AND step.attempt = step_fate.attempt
            AND step.line_no = step_fate.line_no
    WHERE step_fate.evaluation_us > 0
    UNION ALL
    SELECT
        step.run,
        step.attempt,
        step.line_no,
        step.started_at,
        4,
        CASE WHEN step_fate.incident IS NULL THEN 'degraded' ELSE 'lost_work' END,
        step_fate.incident,
        step_fate.degraded_us
    FROM step
    INNER JOIN step_fate
        ON
            step.run = step_fate.run
            AND step.attempt = step_fate.attempt
            AND step.line_no = step_fate.line_no
    WHERE step_fate.degraded_us > 0
    UNION ALL
    SELECT
        step.run,
        step.attempt,
        step.line_no,
        step.started_at,
        5,
        CASE WHEN step_fate.incident IS NULL THEN 'productive' ELSE 'lost_work' END,
        step_fate.incident,
        step_fate.work_us
    FROM step
    INNER JOIN step_fate
        ON
            step.run = step_fate.run
            AND step.attempt = step_fate.attempt
            AND step.line_no = step_fate.line_no
    WHERE step_fate.work_us > 0
),

placed AS (
    SELECT
        run,
        attempt,
        bucket,
        incident,
        (
            started_at + sum(size_us) OVER (
                PARTITION BY run, attempt, line_no ORDER BY place, incident NULLS FIRST, bucket
            ) - size_us
        )::BIGINT AS logged_at,
        0::BIGINT AS could_move_us
    FROM piece
),

-- every point from which on another bucket holds; the next point ends it
point AS (
    SELECT
        run,
        attempt,
        CASE
            WHEN has_steps THEN begin_bucket
            WHEN after_what IS NULL THEN 'startup'
            WHEN after_what = 'running' THEN 'unknown'
            ELSE begin_bucket
        END AS bucket,
        CASE WHEN begin_bucket = 'restart' OR has_steps THEN after_ordinal END AS incident,
        span_from AS logged_at,
        0::BIGINT AS could_move_us,
        0 AS rank
    FROM span
    UNION ALL
    SELECT
        run,
        attempt,
        bucket,
        incident,
        logged_at,
        could_move_us,
        2
    FROM placed
    UNION ALL
    -- after the last step: a final save
    SELECT
        span.run,
        span.attempt,
        'checkpoint',
        NULL,
        span.last_step_at,
        0,
        3
    FROM span
    INNER JOIN tail_save ON span.run = tail_save.run AND span.attempt = tail_save.attempt
    WHERE span.has_steps
    UNION ALL
    -- then the step under way, or idling
    SELECT
        span.run,
        span.attempt,
        CASE
            WHEN span.ending = 'complete' THEN 'spare_idle'
            WHEN span.ending = 'running' THEN 'productive'
            WHEN span.detector = 'program' THEN 'planned'
            ELSE 'lost_work'
        END,
        CASE WHEN span.ending = 'interrupted' AND span.detector <> 'program' THEN span.incident END,
        coalesce(
            CASE WHEN tail_save.is_open THEN span.fault_at ELSE tail_save.done_at END,
            span.last_step_at
        ),
        CASE
            WHEN span.kind IN ('failure', 'unknown') THEN span.fault_at - span.fault_low
            ELSE 0
        END,
        4
    FROM span
    LEFT JOIN tail_save ON span.run = tail_save.run AND span.attempt = tail_save.attempt
    WHERE span.has_steps
    UNION ALL
    SELECT
        run,
        attempt,
        'unknown',
        NULL,
        overdue_at,
        0,
        5
    FROM span
    WHERE has_steps AND ending = 'running'
    UNION ALL
    SELECT
        run,
        attempt,
        'detection',
        incident,
        fault_at,
        fault_high - fault_low,
        6
    FROM span
    WHERE has_steps AND kind IN ('failure', 'unknown')
    UNION ALL
    SELECT
        run,
        attempt,
        CASE WHEN kind IN ('failure', 'unknown', 'preemption') THEN 'replacement' ELSE 'planned' END,
        CASE WHEN kind IN ('failure', 'unknown', 'preemption') THEN incident END,
        detected_at,
        0,
        7
    FROM span
    WHERE has_steps AND kind IS NOT NULL
    UNION ALL
    -- the moment when the first step is complete ends the start (its own pieces may be empty)
    SELECT
        first_done.run,
        first_done.attempt,
        'productive',
        NULL,
        first_done.first_done_at,
        0,
        1
    FROM first_done
),

clipped AS (
    SELECT
        span.run,
        span.allocation,
        span.attempt,
        span.n_accelerators,
        span.span_to,
        point.bucket,
        point.incident,
        point.could_move_us,
        point.rank,
        least(span.span_to, greatest(span.span_from, point.logged_at)) AS logged_at
    FROM point
    INNER JOIN span ON point.run = span.run AND point.attempt = span.attempt
),

swept AS (
    SELECT
        *,
        coalesce(
            lead(logged_at) OVER (PARTITION BY run, attempt ORDER BY logged_at, rank, bucket, incident),
            span_to
        ) AS until_at
    FROM clipped
),

kept AS (
    SELECT
        *,
        coalesce(
            bucket <> lag(bucket) OVER (PARTITION BY run, attempt ORDER BY logged_at, rank)
            OR incident IS DISTINCT FROM lag(incident) OVER (PARTITION BY run, attempt ORDER BY logged_at, rank),
            TRUE
        ) AS is_new
    FROM swept
    WHERE until_at > logged_at
),

island AS (
    SELECT
        *,
        sum(is_new::INTEGER) OVER (PARTITION BY run, attempt ORDER BY logged_at, rank) AS island
    FROM kept
)

SELECT
    run,
    allocation,
    attempt,
    any_value(bucket) AS bucket,
    any_value(incident) AS incident,
    min(logged_at) AS start_at,
    max(until_at) AS end_at,
    any_value(n_accelerators) AS n_accelerators,
    CASE
        WHEN any_value(bucket) = 'unknown' THEN max(until_at) - min(logged_at)
        ELSE least(max(could_move_us), max(until_at) - min(logged_at))
    END AS could_move_us
FROM island
GROUP BY run, allocation, attempt, island
