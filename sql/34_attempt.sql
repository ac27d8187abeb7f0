-- table: attempt
-- grain: one execution of the training program of a run, with the epoch that it belongs to
-- reads: attempt_seen, epoch_setting
-- params:
-- column run: name of the run
-- column attempt: counts the run's attempts in time, from 1
-- column group_key: what joined the attempts before they were cut into runs
-- column joined_by: how, in words
-- column job_key: scheduler record, null where there is none
-- column job_id: id of the job as people write it, null where there is none
-- column source_id: the log, null for a job without one
-- column attempt_no: execution within the log
-- column start_no: the same in log_start
-- column alloc_start_at: UTC us, begin of the allocation (of the log, where there is no record)
-- column alloc_end_at: UTC us, end of the allocation or of what is known of it
-- column is_alloc_open: the allocation had not ended when the records were taken
-- column is_recorded: a scheduler record tells of the allocation
-- column submitted_at: UTC us
-- column state: the scheduler's last word, null without record
-- column cancelled_by: who cancelled
-- column exit_code: exit code of the job
-- column exit_signal: signal of the job
-- column n_accelerators: accelerators of the allocation, null when nothing tells
-- column accelerators_origin: setting, record, world size or unknown
-- column nodes: host names of the allocation
-- column user_name: who
-- column work_dir: where
-- column first_line: first line in the log
-- column last_line: last line in the log
-- column first_at: UTC us of the earliest dated line
-- column last_at: UTC us of the latest dated line
-- column first_step: first step done
-- column last_step: largest step done
-- column first_step_at: UTC us
-- column last_step_at: UTC us
-- column first_step_line: line
-- column last_step_line: line
-- column n_step_lines: number of step lines
-- column target_step: step at which the run is complete
-- column world_size: ranks that the program runs on, where it says so
-- column launch_line: line
-- column launch_low: UTC us
-- column launch_high: UTC us
-- column load_line: line
-- column load_low: UTC us
-- column load_high: UTC us
-- column load_at: UTC us
-- column restored_line: line
-- column restored_low: UTC us
-- column restored_high: UTC us
-- column restored_at: UTC us
-- column loaded_step: step of the loaded state, 0 from scratch
-- column is_scratch: nothing was loaded, as the log says
-- column tracker_line: line that calls the checkpoint pointer unusable
-- column done_line: line that says that training is done
-- column done_at: UTC us
-- column exit_line: line of a clean exit by plan
-- column exit_at: UTC us
-- column cancel_line: line where the scheduler cancels
-- column cancel_at: UTC us
-- column cancel_reason: the scheduler's reason there
-- column restart_line: line where a launcher says that it starts the program anew after it
-- column restart_at: UTC us of it
-- column log_path: checkpoint folder
-- column save_root: folder of all the checkpoints that it saves to
-- column load_root: folder of all the checkpoints that it loads from
-- column settings: what it says of its configuration, as name=value
-- column is_unlogged: its log is gone, and it ran for long enough to have done steps: a later start of its job began the log anew, or the next one resumed from beyond what was seen
-- column epoch: counts the stretches of the run with one configuration, from 1
-- column epoch_why: what changed where an epoch begins, in words, else null
WITH described AS (
    SELECT
        run,
        attempt,
        n_accelerators,
        world_size,
        settings,
        first_step_at,
        save_root
    FROM attempt_seen
    WHERE n_step_lines > 0
),

compared AS (
    SELECT
        *,
        lag(n_accelerators IGNORE NULLS) OVER run_order AS before_accelerators,
        lag(world_size IGNORE NULLS) OVER run_order AS before_world_size,
        lag(save_root IGNORE NULLS) OVER run_order AS before_root,
        lag(first_step_at) OVER run_order AS before_at
    FROM described
    WINDOW run_order AS (PARTITION BY run ORDER BY attempt)
),

-- each setting against the last attempt that told of it
told AS (
    SELECT
        run,
        attempt,
        split_part(said, '=', 1) AS name,
        max(said[instr(said, '=') + 1:]) AS word
    FROM (
        SELECT
            run,
            attempt,
            unnest(settings) AS said
        FROM described
    ) AS line
    GROUP BY run, attempt, split_part(said, '=', 1)
),

reset AS (
    SELECT
        run,
        attempt,
        string_agg(name || ' ' || before_word || ' to ' || word, ', ' ORDER BY name) AS settings
    FROM (
        SELECT
            *,
            lag(word) OVER (PARTITION BY run, name ORDER BY attempt) AS before_word
        FROM told
    ) AS sequence
    WHERE word <> before_word
    GROUP BY run, attempt
),

-- an epoch of the configuration begins with the first attempt after its moment
configured AS (
    SELECT
        compared.run,
        compared.attempt,
        string_agg(
            concat_ws(' ', nullif(epoch_setting.reason, ''), '(as configured)'), '; '
            ORDER BY epoch_setting.start_at
        ) AS reason
    FROM compared
    INNER JOIN epoch_setting
        ON
            compared.run = epoch_setting.run
            AND epoch_setting.start_at <= compared.first_step_at
            AND epoch_setting.start_at > compared.before_at
    GROUP BY compared.run, compared.attempt
),

changed AS (
    SELECT
        compared.run,
        compared.attempt,
        nullif(
            concat_ws(
                '; ',
                CASE
                    -- spares come and go; the program's own size counts where it is told
                    WHEN compared.world_size <> compared.before_world_size
                        THEN
                            'accelerators '
                            || compared.before_world_size
                            || ' to '
                            || compared.world_size
                    WHEN
                        compared.n_accelerators <> compared.before_accelerators
                        AND coalesce(compared.world_size <> compared.before_world_size, TRUE)
                        THEN
                            'accelerators '
                            || compared.before_accelerators
                            || ' to '
                            || compared.n_accelerators
                END,
                reset.settings,
                CASE
                    WHEN compared.save_root <> compared.before_root
                        THEN
                            'saves to ' || compared.save_root
                END,
                configured.reason
            ),
            ''
        ) AS why
    FROM compared
    LEFT JOIN reset ON compared.run = reset.run AND compared.attempt = reset.attempt
    LEFT JOIN configured
        ON compared.run = configured.run AND compared.attempt = configured.attempt
),

numbered AS (
    SELECT
        run,
        attempt,
        why,
        1 + sum((why IS NOT NULL)::INTEGER) OVER (PARTITION BY run ORDER BY attempt) AS epoch
    FROM changed
),

-- no attempt is known to have done a step sooner after its allocation began
quickest AS (
    SELECT
        run,
        min(first_step_at - alloc_start_at) AS start_us
    FROM attempt_seen
    WHERE first_step_at > alloc_start_at
    GROUP BY run
)

-- what never did a step has the configuration of what came before it
SELECT
    attempt_seen.*,
    coalesce(
        attempt_seen.source_id IS NULL
        AND (
            max(attempt_seen.source_id) OVER (
                PARTITION BY attempt_seen.run, attempt_seen.job_id
                ORDER BY attempt_seen.attempt
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) IS NOT NULL
            OR first_value(attempt_seen.loaded_step IGNORE NULLS) OVER (
                PARTITION BY attempt_seen.run
                ORDER BY attempt_seen.attempt
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) > coalesce(
                max(attempt_seen.last_step) OVER (
                    PARTITION BY attempt_seen.run
                    ORDER BY attempt_seen.attempt
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ),
                0
            )
        )
        AND attempt_seen.alloc_end_at - attempt_seen.alloc_start_at > quickest.start_us,
        FALSE
    ) AS is_unlogged,
    coalesce(
        last_value(numbered.epoch IGNORE NULLS) OVER (
            PARTITION BY attempt_seen.run ORDER BY attempt_seen.attempt
        ),
        1
    )::BIGINT AS epoch,
    numbered.why AS epoch_why
FROM attempt_seen
LEFT JOIN numbered
    ON attempt_seen.run = numbered.run AND attempt_seen.attempt = numbered.attempt
LEFT JOIN quickest ON attempt_seen.run = quickest.run
