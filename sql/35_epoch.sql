-- table: epoch
-- grain: one stretch of one run with one configuration
-- reads: attempt
-- params:
-- column run: run
-- column epoch: counts them, from 1
-- column first_attempt: attempt with which it begins
-- column started_at: UTC us, begin of its first allocation
-- column ended_at: UTC us, end of its last allocation
-- column n_accelerators: accelerators that the program runs on, null when unknown
-- column settings: what the program says of its configuration, as name=value
-- column save_interval_steps: how often it saves by its own words, null when it does not say
-- column why: what changed where it begins, null for the first
WITH described AS (
    SELECT
        run,
        epoch,
        min(attempt) AS first_attempt,
        min(alloc_start_at) AS started_at,
        max(alloc_end_at) AS ended_at,
        arg_max(coalesce(world_size, n_accelerators), attempt) FILTER (WHERE n_step_lines > 0)
            AS n_accelerators,
        arg_max(settings, attempt) FILTER (WHERE len(settings) > 0) AS settings,
        max(epoch_why) AS why
    FROM attempt
    GROUP BY run, epoch
)

SELECT
    run,
    epoch,
    first_attempt,
    started_at,
    ended_at,
    n_accelerators,
    coalesce(settings, []) AS settings,
    try_cast(
        regexp_extract(array_to_string(settings, ';'), '(?:^|;)save_interval=([0-9]{1,12})', 1)
        AS BIGINT
    ) AS save_interval_steps,
    why
FROM described
