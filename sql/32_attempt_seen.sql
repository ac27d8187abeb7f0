-- table: attempt_seen
-- grain: one execution of the training program of a run, or a job of the run that left no log
-- reads: run_group, log_attempt, job, run_setting
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
WITH detailed AS (
    SELECT
        run_group.group_key,
        run_group.group_name,
        run_group.joined_by,
        run_group.job_key,
        job.job_id,
        run_group.source_id,
        run_group.attempt_no,
        log_attempt.start_no,
        coalesce(job.started_at, log_attempt.first_at) AS alloc_start_at,
        CASE
            WHEN job.job_key IS NULL THEN log_attempt.last_at
            -- records older than the log: a job that still ran goes on as long as its log
            WHEN job.ended_at IS NULL
                THEN
                    greatest(
                        job.observed_until,
                        max(log_attempt.last_at) OVER (PARTITION BY run_group.job_key)
                    )
            ELSE job.observed_until
        END AS alloc_end_at,
        job.job_key IS NOT NULL AND job.ended_at IS NULL AS is_alloc_open,
        job.job_key IS NOT NULL AS is_recorded,
        job.submitted_at,
        job.state,
        job.cancelled_by,
        job.exit_code,
        job.exit_signal,
        coalesce(
            job.n_accelerators,
            log_attempt.world_size,
            max(log_attempt.world_size)
                OVER (PARTITION BY run_group.group_key, run_group.source_id),
            max(log_attempt.world_size) OVER (PARTITION BY run_group.group_key)
        ) AS n_accelerators,
        CASE
            WHEN job.n_accelerators IS NOT NULL THEN 'record'
            WHEN max(log_attempt.world_size) OVER (PARTITION BY run_group.group_key) IS NOT NULL
                THEN 'world size'
            ELSE 'unknown'
        END AS accelerators_origin,
        coalesce(job.nodes, []) AS nodes,
        job.user_name,
        job.work_dir,
        log_attempt.* EXCLUDE (source_id, attempt_no, start_no),
        coalesce(log_attempt.first_at, job.started_at) AS begins_at,
        -- files of one job stand in the order in which they begin
        min(log_attempt.first_at) OVER (
            PARTITION BY run_group.job_key, run_group.source_id
        ) AS file_begins_at
    FROM run_group
    LEFT JOIN log_attempt
        ON
            run_group.source_id = log_attempt.source_id
            AND run_group.attempt_no = log_attempt.attempt_no
    LEFT JOIN job ON run_group.job_key = job.job_key
    WHERE coalesce(job.started_at, log_attempt.first_at) IS NOT NULL
),

chained AS (
    SELECT
        *,
        lag(CASE WHEN n_step_lines > 0 THEN last_step END IGNORE NULLS) OVER earlier AS before_step,
        lag(CASE WHEN n_step_lines > 0 THEN target_step END IGNORE NULLS)
            OVER earlier
            AS before_target,
        lag(CASE WHEN n_step_lines > 0 THEN coalesce(state, 'none') END IGNORE NULLS) OVER earlier
            AS before_state,
        lag(CASE WHEN n_step_lines > 0 THEN last_step_at END IGNORE NULLS) OVER earlier AS before_at
    FROM detailed
    WINDOW earlier AS (
        PARTITION BY group_key
        ORDER BY coalesce(alloc_start_at, begins_at), file_begins_at, attempt_no, job_key, source_id
    )
),

-- steps that begin anew after a run that is complete, that ended well, or that still goes on
divided AS (
    SELECT
        *,
        sum(
            CASE
                WHEN
                    n_step_lines > 0
                    AND before_step IS NOT NULL
                    AND (
                        coalesce(is_scratch, FALSE)
                        OR (
                            loaded_step IS NULL
                            AND first_step <= greatest(
                                1, (last_step - first_step) // greatest(n_step_lines - 1, 1)
                            )
                        )
                    )
                    AND (
                        before_step >= before_target
                        OR before_state = 'COMPLETED'
                        OR before_at > first_step_at
                    )
                    THEN 1
                ELSE 0
            END
        ) OVER (
            PARTITION BY group_key
            ORDER BY
                coalesce(alloc_start_at, begins_at), file_begins_at, attempt_no, job_key, source_id
        ) AS part
    FROM chained
),

unique_name AS (
    SELECT
        group_key,
        part,
        min(group_name) AS group_name,
        row_number() OVER (
            PARTITION BY min(group_name) ORDER BY min(alloc_start_at), group_key, part
        ) AS ordinal
    FROM divided
    GROUP BY group_key, part
),

titled_run AS (
    SELECT
        group_key,
        part,
        CASE WHEN ordinal = 1 THEN group_name ELSE group_name || '-' || ordinal END AS run
    FROM unique_name
)

SELECT
    titled_run.run,
    row_number() OVER (
        PARTITION BY divided.group_key, divided.part
        ORDER BY
            coalesce(divided.alloc_start_at, divided.begins_at),
            divided.file_begins_at,
            divided.attempt_no,
            divided.job_key,
            divided.source_id
    ) AS attempt,
    divided.* EXCLUDE (
        group_name,
        begins_at,
        file_begins_at,
        before_step,
        before_target,
        before_state,
        before_at,
        part
    ) REPLACE (
        -- without records the span of the log stands for the one allocation
        CASE
            WHEN divided.job_key IS NOT NULL THEN divided.alloc_start_at
            ELSE min(divided.alloc_start_at) OVER same_log
        END AS alloc_start_at,
        CASE
            WHEN divided.job_key IS NOT NULL THEN divided.alloc_end_at
            ELSE max(divided.alloc_end_at) OVER same_log
        END AS alloc_end_at,
        -- what the site says of a run wins over what was read
        coalesce(run_setting.target_step, divided.target_step) AS target_step,
        coalesce(run_setting.n_accelerators, divided.n_accelerators) AS n_accelerators,
        CASE
            WHEN run_setting.n_accelerators IS NOT NULL THEN 'setting'
            ELSE divided.accelerators_origin
        END AS accelerators_origin
    )
FROM divided
INNER JOIN titled_run
    ON divided.group_key = titled_run.group_key AND divided.part = titled_run.part
LEFT JOIN run_setting ON titled_run.run = run_setting.run
WINDOW same_log AS (
    PARTITION BY divided.group_key, divided.part, divided.job_key, divided.source_id
)
