-- table: capacity
-- grain: one stretch of an attempt's part of its allocation with one number of accelerators at work
-- reads: span, attempt, log_attempt, event
-- params:
-- column run: run
-- column attempt: attempt
-- column start_at: UTC us
-- column end_at: UTC us
-- column n_allocated: accelerators of the allocation, null when unknown
-- column n_used: of these, the ones that the program runs on, null when unknown
WITH sized AS (
    SELECT
        span.run,
        span.attempt,
        span.from_at,
        span.to_at,
        attempt.n_accelerators AS n_allocated,
        -- a program that says how large it is leaves the rest of its allocation to stand by
        CASE
            WHEN log_attempt.world_size BETWEEN 1 AND attempt.n_accelerators
                THEN log_attempt.world_size
            ELSE attempt.n_accelerators
        END AS n_whole
    FROM span
    INNER JOIN attempt ON span.run = attempt.run AND span.attempt = attempt.attempt
    LEFT JOIN log_attempt
        ON
            attempt.source_id = log_attempt.source_id
            AND attempt.attempt_no = log_attempt.attempt_no
),

-- replica groups that leave and come back while the others go on
change AS (
    SELECT
        sized.run,
        sized.attempt,
        event.logged_at,
        arg_max(event.code, event.line_no) AS code
    FROM event
    INNER JOIN sized ON event.run = sized.run AND event.attempt = sized.attempt
    WHERE
        event.kind IN ('group_lost', 'group_back')
        AND regexp_full_match(event.code, '[0-9]{1,6}/[1-9][0-9]{0,5}')
        AND event.logged_at > sized.from_at
        AND event.logged_at < sized.to_at
    GROUP BY sized.run, sized.attempt, event.logged_at
),

point AS (
    SELECT
        run,
        attempt,
        from_at AS logged_at,
        0::BIGINT AS n_left,
        1::BIGINT AS n_groups
    FROM sized
    UNION ALL
    SELECT
        run,
        attempt,
        logged_at,
        split_part(code, '/', 1)::BIGINT AS n_left,
        split_part(code, '/', 2)::BIGINT AS n_groups
    FROM change
)

SELECT
    sized.run,
    sized.attempt,
    point.logged_at AS start_at,
    coalesce(
        lead(point.logged_at) OVER (
            PARTITION BY sized.run, sized.attempt ORDER BY point.logged_at
        ),
        sized.to_at
    ) AS end_at,
    sized.n_allocated,
    CASE
        WHEN point.n_left >= point.n_groups THEN 0
        ELSE sized.n_whole * (point.n_groups - point.n_left) // point.n_groups
    END AS n_used
FROM sized
INNER JOIN point ON sized.run = point.run AND sized.attempt = point.attempt
