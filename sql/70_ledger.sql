-- table: ledger
-- grain: one stretch of accelerators of one allocation in one bucket
-- reads: attempt, span, capacity, counted, chain, ending, incident, step, step_fate, discard, step_gap, baseline, checkpoint
-- params:
-- column run: run
-- column allocation: the allocation: job key, or the log where there is no record
-- column attempt: attempt that it belongs to
-- column bucket: where the time went
-- column incident: ordinal of the incident that it is charged to, null when none
-- column start_at: UTC us
-- column end_at: UTC us
-- column n_accelerators: accelerators that it is about, null when unknown
-- column n_allocated: accelerators of the allocation, null when unknown
-- column is_spare: it is about the accelerators that the program left idle, beside its own stretches
-- column could_move_us: at most so much of it could belong elsewhere, or more to it
WITH sized AS (
    SELECT
        *,
        -- what the attempt comes after: the last attempt with steps before it
        max(CASE WHEN n_step_lines > 0 THEN attempt END) OVER (
            PARTITION BY run ORDER BY attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS after_attempt
    FROM attempt
),

bound AS (
    SELECT
        sized.run,
        span.allocation,
        sized.attempt,
        sized.n_accelerators,
        sized.source_id,
        coalesce(sized.n_step_lines, 0) > 0 AND ending.attempt IS NOT NULL AS has_steps,
        ending.ending,
        ending.kind,
        ending.detector,
        ending.fault_at,
        ending.fault_low,
        ending.fault_high,
        ending.detected_at,
        ending.overdue_at,
        ending.phase,
        ending.evaluated_at,
        discard.incident AS lost_in,
        coalesce(ending.evaluated_at, ending.last_step_at) AS last_step_at,
        ending.last_step_at AS stepped_at,
        chain.incident,
        coalesce(chain.is_repeat, FALSE) AS is_repeat,
        after_ending.ending AS after_what,
        after_chain.incident AS after_ordinal,
        span.from_at AS span_from,
        span.to_at AS span_to,
        span.takeover_at,
        CASE
            WHEN coalesce(after_incident.kind, after_ending.kind) <> 'planned' THEN 'restart'
            ELSE 'startup'
        END AS begin_bucket,
        coalesce(after_incident.resume_step > after_incident.reached_step, FALSE)
        OR sized.is_unlogged AS is_hidden
    FROM sized
    INNER JOIN span ON sized.run = span.run AND sized.attempt = span.attempt
    LEFT JOIN ending ON sized.run = ending.run AND sized.attempt = ending.attempt
    LEFT JOIN chain ON sized.run = chain.run AND sized.attempt = chain.attempt
    LEFT JOIN discard
        ON
            sized.run = discard.run
            AND sized.attempt = discard.attempt
            AND ending.last_step = discard.to_step
    LEFT JOIN ending AS after_ending
        ON sized.run = after_ending.run AND sized.after_attempt = after_ending.attempt
    LEFT JOIN chain AS after_chain
        ON sized.run = after_chain.run AND sized.after_attempt = after_chain.attempt
    LEFT JOIN incident AS after_incident
        ON after_chain.run = after_incident.run AND after_chain.incident = after_incident.incident
),

first_done AS (
    SELECT
        run,
        attempt,
        min(started_at) AS first_done_at,
        min(line_no) AS line_no
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

fate AS (
    SELECT
        step_fate.*,
        step.started_at
    FROM step
    INNER JOIN step_fate
        ON
            step.run = step_fate.run
            AND step.attempt = step_fate.attempt
            AND step.line_no = step_fate.line_no
),

-- how far the parts of a step line may be off
blur AS (
    SELECT
        step_gap.run,
        step_gap.attempt,
        step_gap.line_no,
        coalesce(step_gap.resolution_us, 0) + coalesce(baseline.spread_us, 0) AS error_us,
        -- the first line of a log that prints every k-th step: when its first step was complete
        CASE
            WHEN step_gap.is_first
                THEN coalesce(step_gap.resolution_us, 0) + step_gap.gap_us
            ELSE 0
        END AS first_us
    FROM step_gap
    LEFT JOIN baseline
        ON
            step_gap.run = baseline.run
            AND (step_gap.epoch IS NOT DISTINCT FROM baseline.epoch)
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
        run,
        attempt,
        line_no,
        started_at,
        3,
        CASE WHEN incident IS NULL THEN 'evaluation' ELSE 'lost_work' END,
        incident,
        evaluation_us
    FROM fate
    WHERE evaluation_us > 0
    UNION ALL
    SELECT
        run,
        attempt,
        line_no,
        started_at,
        4,
        CASE WHEN incident IS NULL THEN 'degraded' ELSE 'lost_work' END,
        incident,
        degraded_us
    FROM fate
    WHERE degraded_us > 0
    UNION ALL
    SELECT
        run,
        attempt,
        line_no,
        started_at,
        5,
        CASE WHEN incident IS NULL THEN 'productive' ELSE 'lost_work' END,
        incident,
        work_us
    FROM fate
    WHERE work_us > 0
),

placed AS (
    SELECT
        piece.run,
        piece.attempt,
        piece.bucket,
        piece.incident,
        (
            piece.started_at + sum(piece.size_us) OVER line_order - piece.size_us
        )::BIGINT AS logged_at,
        -- a line has one border with the line before it, which is stamped, and others inside it
        CASE
            WHEN row_number() OVER line_order > 1 THEN coalesce(blur.error_us, 0)
            ELSE 0
        END AS slack_us
    FROM piece
    LEFT JOIN blur
        ON
            piece.run = blur.run
            AND piece.attempt = blur.attempt
            AND piece.line_no = blur.line_no
    WINDOW line_order AS (
        PARTITION BY piece.run, piece.attempt, piece.line_no
        ORDER BY piece.place, piece.incident NULLS FIRST, piece.bucket
    )
),

-- every point from which on another bucket holds; the next point ends it
point AS (
    SELECT
        run,
        attempt,
        CASE
            WHEN has_steps THEN begin_bucket
            -- its log is gone, or it resumed beyond what was logged: it may have done more than nothing
            WHEN source_id IS NULL AND is_hidden THEN 'unknown'
            WHEN after_what IS NULL THEN 'startup'
            WHEN after_what = 'running' THEN 'unknown'
            ELSE begin_bucket
        END AS bucket,
        CASE
            WHEN source_id IS NULL AND is_hidden THEN NULL
            WHEN begin_bucket = 'restart' OR has_steps THEN after_ordinal
        END AS incident,
        span_from AS logged_at,
        0::BIGINT AS slack_us,
        0 AS rank
    FROM bound
    UNION ALL
    SELECT
        run,
        attempt,
        bucket,
        incident,
        logged_at,
        slack_us,
        2
    FROM placed
    UNION ALL
    -- after the last step: a final save
    SELECT
        bound.run,
        bound.attempt,
        'checkpoint',
        NULL,
        bound.last_step_at,
        0,
        3
    FROM bound
    INNER JOIN tail_save ON bound.run = tail_save.run AND bound.attempt = tail_save.attempt
    WHERE bound.has_steps
    UNION ALL
    -- an evaluation, whole or cut short
    SELECT
        run,
        attempt,
        CASE
            WHEN evaluated_at IS NULL OR lost_in IS NULL THEN 'evaluation'
            ELSE 'lost_work'
        END,
        CASE WHEN evaluated_at IS NOT NULL THEN lost_in END,
        stepped_at,
        0,
        3
    FROM bound
    WHERE has_steps AND (evaluated_at IS NOT NULL OR phase = 'evaluation')
    UNION ALL
    -- then the step under way, or idling
    SELECT
        bound.run,
        bound.attempt,
        CASE
            WHEN bound.ending = 'complete' THEN 'spare_idle'
            WHEN bound.ending IN ('running', 'continued') THEN 'productive'
            WHEN bound.detector = 'program' THEN 'planned'
            ELSE 'lost_work'
        END,
        CASE
            WHEN bound.ending = 'interrupted' AND bound.detector <> 'program' THEN bound.incident
        END,
        coalesce(
            CASE
                WHEN tail_save.is_open OR bound.phase = 'evaluation' THEN bound.fault_at
                -- an evaluation after the last step ends no earlier than it, the save after it neither
                WHEN tail_save.done_at IS NOT NULL
                    THEN greatest(tail_save.done_at, bound.last_step_at)
            END,
            bound.last_step_at
        ),
        0,
        4
    FROM bound
    LEFT JOIN tail_save ON bound.run = tail_save.run AND bound.attempt = tail_save.attempt
    WHERE bound.has_steps
    UNION ALL
    SELECT
        run,
        attempt,
        'unknown',
        NULL,
        overdue_at,
        0,
        5
    FROM bound
    WHERE has_steps AND ending = 'running'
    UNION ALL
    SELECT
        run,
        attempt,
        CASE WHEN is_repeat THEN 'restart' ELSE 'detection' END,
        incident,
        fault_at,
        fault_high - fault_low,
        6
    FROM bound
    WHERE has_steps AND kind IN ('failure', 'unknown')
    UNION ALL
    SELECT
        run,
        attempt,
        CASE
            WHEN is_repeat THEN 'restart'
            WHEN kind IN ('failure', 'unknown', 'preemption', 'mitigation') THEN 'replacement'
            ELSE 'planned'
        END,
        CASE
            WHEN is_repeat OR kind IN ('failure', 'unknown', 'preemption', 'mitigation')
                THEN incident
        END,
        detected_at,
        0,
        7
    FROM bound
    WHERE has_steps AND kind IS NOT NULL
    UNION ALL
    -- another allocation has the run: what goes on here is an orphan
    SELECT
        run,
        attempt,
        'orphan',
        NULL,
        takeover_at,
        0,
        8
    FROM bound
    WHERE takeover_at IS NOT NULL
    UNION ALL
    -- the moment when the first step is complete ends the start (its own pieces may be empty)
    SELECT
        first_done.run,
        first_done.attempt,
        'productive',
        NULL,
        first_done.first_done_at,
        coalesce(blur.first_us, 0),
        1
    FROM first_done
    LEFT JOIN blur
        ON
            first_done.run = blur.run
            AND first_done.attempt = blur.attempt
            AND first_done.line_no = blur.line_no
),

clipped AS (
    SELECT
        bound.run,
        bound.allocation,
        bound.attempt,
        bound.n_accelerators,
        bound.span_to,
        point.bucket,
        point.incident,
        point.slack_us,
        point.rank,
        least(bound.span_to, greatest(bound.span_from, point.logged_at)) AS logged_at
    FROM point
    INNER JOIN bound ON point.run = bound.run AND point.attempt = bound.attempt
    WHERE
        bound.takeover_at IS NULL
        OR point.bucket = 'orphan'
        OR point.logged_at < bound.takeover_at
),

swept AS (
    SELECT
        *,
        coalesce(
            lead(logged_at)
                OVER (PARTITION BY run, attempt ORDER BY logged_at, rank, bucket, incident),
            span_to
        ) AS until_at
    FROM clipped
),

kept AS (
    SELECT
        *,
        coalesce(
            bucket <> lag(bucket) OVER (PARTITION BY run, attempt ORDER BY logged_at, rank)
            OR incident IS DISTINCT FROM lag(incident)
                OVER (PARTITION BY run, attempt ORDER BY logged_at, rank),
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
),

stretch AS (
    SELECT
        run,
        allocation,
        attempt,
        island,
        any_value(bucket) AS bucket,
        any_value(incident) AS incident,
        min(logged_at) AS start_at,
        max(until_at) AS end_at,
        arg_min(slack_us, (logged_at, rank)) AS slack_us
    FROM island
    GROUP BY run, allocation, attempt, island
),

-- a border that is not sure makes both its sides unsure
bordered AS (
    SELECT
        *,
        CASE
            WHEN bucket = 'unknown' THEN end_at - start_at
            ELSE
                slack_us + coalesce(
                    lead(slack_us) OVER (PARTITION BY run, attempt ORDER BY island), 0
                )
        END AS could_move_us
    FROM stretch
),

whole AS (
    SELECT
        bordered.run,
        bordered.allocation,
        bordered.attempt,
        bordered.bucket,
        bordered.incident,
        greatest(bordered.start_at, capacity.start_at) AS start_at,
        least(bordered.end_at, capacity.end_at) AS end_at,
        capacity.n_used AS n_accelerators,
        capacity.n_allocated,
        FALSE AS is_spare,
        bordered.could_move_us
    FROM bordered
    INNER JOIN capacity
        ON
            bordered.run = capacity.run
            AND bordered.attempt = capacity.attempt
            AND bordered.start_at < capacity.end_at
            AND bordered.end_at > capacity.start_at
    UNION ALL
    SELECT
        capacity.run,
        span.allocation,
        capacity.attempt,
        'spare_idle' AS bucket,
        NULL AS incident,
        capacity.start_at,
        capacity.end_at,
        capacity.n_allocated - capacity.n_used AS n_accelerators,
        capacity.n_allocated,
        TRUE AS is_spare,
        0 AS could_move_us
    FROM capacity
    INNER JOIN span ON capacity.run = span.run AND capacity.attempt = span.attempt
    WHERE capacity.n_used < capacity.n_allocated AND capacity.start_at < capacity.end_at
)

-- without what a person excluded
SELECT
    whole.* REPLACE (
        greatest(whole.start_at, counted.start_at) AS start_at,
        least(whole.end_at, counted.end_at) AS end_at
    )
FROM whole
INNER JOIN counted
    ON
        whole.run = counted.run
        AND whole.start_at < counted.end_at
        AND whole.end_at > counted.start_at
