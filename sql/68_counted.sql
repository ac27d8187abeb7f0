-- table: counted
-- grain: one stretch of time of one run that counts: what lies between the stretches that a person excluded
-- reads: attempt, correction
-- params:
-- column run: run
-- column start_at: UTC us
-- column end_at: UTC us
WITH excluded AS (
    SELECT DISTINCT
        attempt.run,
        correction.start_at,
        correction.end_at
    FROM attempt
    INNER JOIN correction
        ON
            correction.action = 'exclude'
            AND coalesce(correction.run = attempt.run, TRUE)
),

reached AS (
    SELECT
        run,
        start_at,
        end_at,
        max(end_at) OVER (
            PARTITION BY run
            ORDER BY start_at, end_at
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_at
    FROM excluded
),

island AS (
    SELECT
        run,
        start_at,
        end_at,
        sum(coalesce(start_at > before_at, TRUE)::INTEGER) OVER (
            PARTITION BY run ORDER BY start_at, end_at
        ) AS island
    FROM reached
),

merged AS (
    SELECT
        run,
        min(start_at) AS start_at,
        max(end_at) AS end_at
    FROM island
    GROUP BY run, island
),

-- what ends each stretch that counts, and where the next begins; the last one never ends
border AS (
    SELECT
        run,
        start_at AS to_at,
        end_at AS next_at
    FROM merged
    UNION ALL
    SELECT DISTINCT
        run,
        4611686018427387904 AS to_at,
        NULL AS next_at
    FROM attempt
)

SELECT
    run,
    coalesce(lag(next_at) OVER (PARTITION BY run ORDER BY to_at), -4611686018427387904) AS start_at,
    to_at AS end_at
FROM border
