-- table: run
-- grain: one logical training run
-- reads: attempt, epoch, ending, ledger, run_setting
-- params:
-- column run: name
-- column user_name: who
-- column work_dir: where
-- column joined_by: how its jobs were joined
-- column n_jobs: scheduler records
-- column n_attempts: executions of the program (jobs without a log count as one)
-- column n_without_step: those that did no step
-- column n_without_log: jobs of the run that left no log
-- column n_accelerators: accelerators of the latest attempt
-- column epoch: epoch of the latest attempt
-- column accelerators_origin: setting, record, world size or unknown
-- column started_at: UTC us, first allocation
-- column ended_at: UTC us, end of the last allocation
-- column is_running: the last allocation had not ended and the target is not reached
-- column first_step: smallest first step
-- column last_step: high-water step
-- column target_step: where it is complete
-- column allocated_us: sum of the allocations
-- column n_unrecorded: executions of which the records say nothing, though they tell of others in the same log
-- column n_unlogged: executions that may have done steps, and whose log is gone
-- column configured_steps: configured interval in steps; as the program says where it is not set
-- column configured_us: configured interval in time, null when not set
-- column is_interval_found: the configured interval stands in the log, not in the configuration
WITH total AS (
    SELECT
        run,
        sum(end_at - start_at)::BIGINT AS allocated_us
    FROM ledger
    WHERE NOT coalesce(is_spare, FALSE)
    GROUP BY run
)

SELECT
    attempt.run,
    arg_min(attempt.user_name, attempt.attempt) AS user_name,
    arg_min(attempt.work_dir, attempt.attempt) AS work_dir,
    arg_min(attempt.joined_by, attempt.attempt) AS joined_by,
    count(DISTINCT attempt.job_key) AS n_jobs,
    count(*) AS n_attempts,
    count(*) FILTER (WHERE coalesce(attempt.n_step_lines, 0) = 0) AS n_without_step,
    count(*) FILTER (WHERE attempt.source_id IS NULL) AS n_without_log,
    arg_max(attempt.n_accelerators, attempt.attempt) AS n_accelerators,
    arg_max(attempt.epoch, attempt.attempt) AS epoch,
    arg_max(attempt.accelerators_origin, attempt.attempt) AS accelerators_origin,
    min(attempt.alloc_start_at) AS started_at,
    max(attempt.alloc_end_at) AS ended_at,
    coalesce(bool_or(ending.ending = 'running'), FALSE) AS is_running,
    min(attempt.first_step) AS first_step,
    max(coalesce(ending.last_step, attempt.last_step)) AS last_step,
    max(attempt.target_step) AS target_step,
    any_value(total.allocated_us) AS allocated_us,
    count(*) FILTER (
        WHERE
        attempt.job_key IS NULL
        AND attempt.n_step_lines > 0
        AND attempt.source_id IN (
            SELECT other.source_id
            FROM attempt AS other
            WHERE other.job_key IS NOT NULL AND other.source_id IS NOT NULL
        )
    ) AS n_unrecorded,
    count(*) FILTER (WHERE attempt.is_unlogged) AS n_unlogged,
    coalesce(
        any_value(run_setting.configured_interval_steps),
        CASE
            WHEN any_value(run_setting.configured_interval_us) IS NULL
                THEN arg_max(epoch.save_interval_steps, epoch.epoch)
        END
    ) AS configured_steps,
    any_value(run_setting.configured_interval_us) AS configured_us,
    any_value(run_setting.configured_interval_steps) IS NULL
    AND any_value(run_setting.configured_interval_us) IS NULL
    AND arg_max(epoch.save_interval_steps, epoch.epoch) IS NOT NULL AS is_interval_found
FROM attempt
LEFT JOIN ending ON attempt.run = ending.run AND attempt.attempt = ending.attempt
LEFT JOIN total ON attempt.run = total.run
LEFT JOIN run_setting ON attempt.run = run_setting.run
LEFT JOIN epoch ON attempt.run = epoch.run AND attempt.epoch = epoch.epoch
GROUP BY attempt.run
