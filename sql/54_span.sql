-- table: span
-- grain: the part of its allocation that one attempt takes up
-- reads: attempt, ending
-- params:
-- column run: run
-- column allocation: the allocation: job key, or the log where there is no record
-- column attempt: attempt
-- column place: counts the attempts in the allocation
-- column from_at: UTC us, begin of the part
-- column to_at: UTC us, end of the part
-- column takeover_at: UTC us, another allocation has taken the run over, null when none did
WITH sized AS (
    SELECT
        *,
        coalesce(job_key, 'log ' || source_id) AS allocation
    FROM attempt
),

placed AS (
    SELECT
        sized.run,
        sized.allocation,
        sized.attempt,
        sized.alloc_start_at,
        sized.alloc_end_at,
        row_number() OVER alloc_order AS place,
        CASE
            WHEN lead(sized.attempt) OVER alloc_order IS NULL THEN sized.alloc_end_at
            WHEN ending.detected_at IS NOT NULL THEN ending.detected_at
            ELSE
                coalesce(
                    lead(coalesce(sized.first_at, sized.launch_high)) OVER alloc_order,
                    sized.last_at,
                    sized.alloc_end_at
                )
        END AS raw_to_at
    FROM sized
    LEFT JOIN ending ON sized.run = ending.run AND sized.attempt = ending.attempt
    WINDOW alloc_order AS (PARTITION BY sized.run, sized.allocation ORDER BY sized.attempt)
),

cut AS (
    SELECT
        *,
        max(raw_to_at) OVER (
            PARTITION BY run, allocation
            ORDER BY attempt
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_at,
        max(raw_to_at) OVER (PARTITION BY run, allocation ORDER BY attempt) AS so_far_at
    FROM placed
),

successor AS (
    SELECT
        sized.run,
        sized.attempt,
        min(
            CASE
                WHEN sized.last_step_at > later.first_step_at
                    THEN coalesce(ending.overtaken_at, later.first_step_at)
                ELSE
                    greatest(
                        later.alloc_start_at, coalesce(ending.detected_at, sized.last_step_at)
                    )
            END
        ) AS takeover_at
    FROM sized
    INNER JOIN ending ON sized.run = ending.run AND sized.attempt = ending.attempt
    INNER JOIN sized AS later
        ON
            sized.run = later.run
            AND sized.attempt < later.attempt
            AND sized.allocation <> later.allocation
    WHERE later.n_step_lines > 0 AND later.alloc_start_at < sized.alloc_end_at
    GROUP BY sized.run, sized.attempt
)

SELECT
    cut.run,
    cut.allocation,
    cut.attempt,
    cut.place,
    CASE
        WHEN cut.place = 1 THEN cut.alloc_start_at
        ELSE least(cut.alloc_end_at, greatest(cut.alloc_start_at, cut.before_at))
    END AS from_at,
    least(cut.alloc_end_at, greatest(cut.alloc_start_at, cut.so_far_at)) AS to_at,
    successor.takeover_at
FROM cut
LEFT JOIN successor ON cut.run = successor.run AND cut.attempt = successor.attempt
