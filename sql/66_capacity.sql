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
        arg_max(try_cast(event.code AS BIGINT), event.line_no) AS n_ranks
    FROM event
    INNER JOIN sized ON event.run = sized.run AND event.attempt = sized.attempt
    WHERE
        event.kind = 'replica_groups'
        AND regexp_full_match(event.code, '[1-9][0-9]{0,5}')
        AND event.logged_at > sized.from_at
        AND event.logged_at < sized.to_at
    GROUP BY sized.run, sized.attempt, event.logged_at
),

point AS (
    SELECT
        run,
        attempt,
        from_at AS logged_at,
        NULL::BIGINT AS n_ranks
    FROM sized
    UNION ALL
    SELECT
        run,
        attempt,
        logged_at,
        n_ranks
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
        -- more than there are here: groups have allocations of their own
        WHEN
            max(point.n_ranks) OVER (PARTITION BY sized.run, sized.attempt) <= sized.n_whole
            THEN coalesce(point.n_ranks, sized.n_whole)
        ELSE sized.n_whole
    END AS n_used
FROM sized
INNER JOIN point ON sized.run = point.run AND sized.attempt = point.attempt
