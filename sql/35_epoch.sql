-- table: epoch
-- grain: one stretch of one run with one configuration
-- reads: attempt
-- params:
-- column run: run
-- column epoch: counts them, from 1
-- column first_attempt: attempt with which it begins
-- column started_at: UTC us, begin of its first allocation, or of its first attempt in one that it shares
-- column ended_at: UTC us, end of its last allocation, or begin of the next epoch
-- column n_accelerators: accelerators that the program runs on, null when unknown
-- column settings: what the program says of its configuration, as name=value
-- column save_interval_steps: how often it saves by its own words, null when it does not say
-- column why: what changed where it begins, null for the first
-- an allocation may hold attempts of two epochs: the later one begins with its own first line
WITH placed AS (
    SELECT
        *,
        CASE
            WHEN
                lag(epoch) OVER (
                    PARTITION BY run, coalesce(job_key, 'log ' || source_id) ORDER BY attempt
                ) < epoch
                THEN coalesce(first_at, launch_low, first_step_at, alloc_start_at)
            ELSE alloc_start_at
        END AS begins_at
    FROM attempt
),

described AS (
    SELECT
        run,
        epoch,
        min(attempt) AS first_attempt,
        min(begins_at) AS started_at,
        max(alloc_end_at) AS last_end_at,
        arg_max(coalesce(world_size, n_accelerators), attempt) FILTER (WHERE n_step_lines > 0)
            AS n_accelerators,
        arg_max(settings, attempt) FILTER (WHERE len(settings) > 0) AS settings,
        max(epoch_why) AS why
    FROM placed
    GROUP BY run, epoch
)

SELECT
    run,
    epoch,
    first_attempt,
    started_at,
    coalesce(
        least(last_end_at, lead(started_at) OVER (PARTITION BY run ORDER BY epoch)), last_end_at
    ) AS ended_at,
    n_accelerators,
    coalesce(settings, []) AS settings,
    try_cast(
        regexp_extract(array_to_string(settings, ';'), '(?:^|;)save_interval=([0-9]{1,12})', 1)
        AS BIGINT
    ) AS save_interval_steps,
    why
FROM described
