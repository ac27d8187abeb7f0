-- table: attempt_seen
-- grain: one execution of the training program of a run, or a job of the run that left no log
-- reads: log_attempt, placement, job, source, run_setting
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
-- column log_path: checkpoint folder
-- column settings: what it says of its configuration, as name=value
WITH job_group AS (
    SELECT
        job.*,
        run_setting.run AS setting_run,
        regexp_extract(job.job_id, '_([0-9]+)$', 1) AS task
    FROM job
    LEFT JOIN run_setting
        ON
            coalesce(run_setting.match_name, run_setting.match_user, run_setting.match_work_dir)
            IS NOT NULL
            AND coalesce(job.job_name GLOB run_setting.match_name, TRUE)
            AND coalesce(job.user_name GLOB run_setting.match_user, TRUE)
            AND coalesce(job.work_dir GLOB run_setting.match_work_dir, TRUE)
    WHERE job.started_at IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY job.job_key ORDER BY run_setting.ordinal) = 1
),

-- tasks of an array that go on where another one has stopped are one run
task_steps AS (
    SELECT
        concat_ws(
            '/',
            job_group.cluster,
            job_group.user_name,
            job_group.job_name,
            job_group.work_dir
        ) AS base_key,
        job_group.task,
        log_attempt.loaded_step,
        log_attempt.first_step,
        log_attempt.last_step,
        log_attempt.first_step_at,
        log_attempt.last_step_at
    FROM job_group
    INNER JOIN placement ON job_group.job_key = placement.job_key
    INNER JOIN log_attempt
        ON
            placement.source_id = log_attempt.source_id
            AND placement.attempt_no = log_attempt.attempt_no
    WHERE job_group.task <> '' AND log_attempt.n_step_lines > 0
),

chained_array AS (
    SELECT DISTINCT later.base_key
    FROM task_steps AS later
    INNER JOIN task_steps AS earlier
        ON
            later.base_key = earlier.base_key
            AND later.task <> earlier.task
            AND earlier.last_step_at <= later.first_step_at
            AND later.first_step > earlier.first_step
            AND coalesce(later.loaded_step, later.first_step - 1) BETWEEN 1 AND earlier.last_step
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM task_steps AS one
            INNER JOIN task_steps AS other
                ON
                    one.base_key = other.base_key
                    AND one.task <> other.task
                    AND one.first_step_at < other.last_step_at
                    AND other.first_step_at < one.last_step_at
            WHERE one.base_key = later.base_key
        )
),

named_job AS (
    SELECT
        * EXCLUDE (base_key, is_chained),
        coalesce(
            'setting/' || setting_run,
            concat_ws('/', base_key, CASE WHEN NOT is_chained THEN nullif(task, '') END)
        ) AS group_key,
        coalesce(
            setting_run,
            concat_ws('_', job_name, CASE WHEN NOT is_chained THEN nullif(task, '') END)
        ) AS group_name
    FROM (
        SELECT
            *,
            concat_ws('/', cluster, user_name, job_name, work_dir) AS base_key,
            concat_ws('/', cluster, user_name, job_name, work_dir) IN (
                SELECT chained_array.base_key
                FROM chained_array
            ) AS is_chained
        FROM job_group
    ) AS keyed
),

-- without a scheduler record a log is known by the folder that it saves to, else by its name
folder AS (
    SELECT
        source_id,
        nullif(
            regexp_replace(
                rtrim(arg_min(log_path, attempt_no) FILTER (WHERE log_path IS NOT NULL), '/'),
                '/(global_step|iter_|step[-_]?|checkpoint[-_]?)[0-9]+(/.*)?$',
                ''
            ),
            ''
        ) AS save_folder
    FROM log_attempt
    GROUP BY source_id
),

titled AS (
    SELECT
        source.source_id,
        source.run_override,
        source.path AS source_path,
        folder.save_folder,
        regexp_replace(source.path, '[^/]*$', '') AS log_folder,
        regexp_replace(
            regexp_replace(source.name, '(\.[a-z]+)?(\.(gz|bz2|xz|zst))?$', ''),
            '[-_.][0-9]{3,}$',
            ''
        ) AS stem
    FROM source
    INNER JOIN folder ON source.source_id = folder.source_id
),

placed_attempt AS (
    SELECT
        log_attempt.*,
        placement.job_key,
        named_job.setting_run,
        -- a start that fits no record belongs with the other starts in its log
        coalesce(
            named_job.group_key, max(named_job.group_key) OVER (PARTITION BY log_attempt.source_id)
        ) AS job_group_key,
        coalesce(
            named_job.group_name,
            max(named_job.group_name) OVER (PARTITION BY log_attempt.source_id)
        ) AS job_group_name
    FROM log_attempt
    LEFT JOIN placement
        ON
            log_attempt.source_id = placement.source_id
            AND log_attempt.attempt_no = placement.attempt_no
    LEFT JOIN named_job ON placement.job_key = named_job.job_key
),

logged AS (
    SELECT
        coalesce(
            'given/' || titled.run_override,
            placed_attempt.job_group_key,
            'log/' || coalesce(titled.save_folder, titled.log_folder || titled.stem)
        ) AS group_key,
        coalesce(
            titled.run_override,
            placed_attempt.job_group_name,
            CASE
                WHEN
                    titled.save_folder IS NOT NULL
                    AND regexp_full_match(
                        lower(titled.stem), '(slurm|job|out|output|log|stdout|train|run)?'
                    )
                    THEN regexp_extract(titled.save_folder, '[^/]*$')
                ELSE titled.stem
            END
        ) AS group_name,
        CASE
            WHEN titled.run_override IS NOT NULL THEN 'given at ingestion'
            WHEN placed_attempt.setting_run IS NOT NULL THEN 'configuration'
            WHEN placed_attempt.job_group_key IS NOT NULL THEN 'same name, user and folder'
            WHEN titled.save_folder IS NOT NULL THEN 'checkpoint folder, no scheduler record'
            ELSE 'file name, no scheduler record'
        END AS joined_by,
        titled.source_path,
        placed_attempt.* EXCLUDE (setting_run, job_group_key, job_group_name)
    FROM placed_attempt
    INNER JOIN titled ON placed_attempt.source_id = titled.source_id
),

-- a program runs once at a time in its job: what lies inside another execution is a copy of its log
distinct_log AS (
    SELECT logged.*
    FROM logged
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM logged AS whole
            WHERE
                whole.job_key = logged.job_key
                AND whole.source_id <> logged.source_id
                AND logged.n_step_lines > 0
                AND whole.first_step <= logged.first_step
                AND whole.last_step >= logged.last_step
                AND whole.first_step_at <= logged.first_step_at
                AND whole.last_step_at >= logged.last_step_at
                AND (
                    whole.n_step_lines > logged.n_step_lines
                    OR (
                        whole.n_step_lines = logged.n_step_lines
                        AND whole.source_path < logged.source_path
                    )
                )
        )
),

-- a second file of the same job that did no step (standard error) is evidence, not an execution
execution AS (
    SELECT logged.* EXCLUDE (source_path)
    FROM distinct_log AS logged
    WHERE
        logged.n_step_lines > 0
        OR (
            logged.job_key IS NOT NULL
            AND NOT EXISTS (
                SELECT 1
                FROM distinct_log AS other
                WHERE
                    other.job_key = logged.job_key
                    AND other.source_id <> logged.source_id
                    AND other.n_step_lines > 0
                    AND logged.launch_line IS NULL
            )
        )
        OR logged.launch_line IS NOT NULL
),

active AS (
    SELECT DISTINCT group_key
    FROM execution
    WHERE n_step_lines > 0
),

every_attempt AS (
    SELECT
        execution.group_key,
        execution.group_name,
        execution.joined_by,
        execution.job_key,
        execution.source_id,
        execution.attempt_no
    FROM execution
    WHERE execution.group_key IN (SELECT active.group_key FROM active)
    UNION ALL
    SELECT
        named_job.group_key,
        named_job.group_name,
        CASE
            WHEN named_job.setting_run IS NULL THEN 'same name, user and folder'
            ELSE 'configuration'
        END AS joined_by,
        named_job.job_key,
        NULL AS source_id,
        1 AS attempt_no
    FROM named_job
    WHERE
        named_job.group_key IN (SELECT active.group_key FROM active)
        AND named_job.job_key NOT IN (
            SELECT execution.job_key
            FROM execution
            WHERE execution.job_key IS NOT NULL
        )
),

detailed AS (
    SELECT
        every_attempt.group_key,
        every_attempt.group_name,
        every_attempt.joined_by,
        every_attempt.job_key,
        named_job.job_id,
        every_attempt.source_id,
        every_attempt.attempt_no,
        execution.start_no,
        coalesce(named_job.started_at, execution.first_at) AS alloc_start_at,
        CASE
            WHEN named_job.job_key IS NULL THEN execution.last_at
            -- records older than the log: a job that still ran goes on as long as its log
            WHEN named_job.ended_at IS NULL
                THEN
                    greatest(
                        named_job.observed_until,
                        max(execution.last_at) OVER (PARTITION BY every_attempt.job_key)
                    )
            ELSE named_job.observed_until
        END AS alloc_end_at,
        named_job.job_key IS NOT NULL AND named_job.ended_at IS NULL AS is_alloc_open,
        named_job.job_key IS NOT NULL AS is_recorded,
        named_job.submitted_at,
        named_job.state,
        named_job.cancelled_by,
        named_job.exit_code,
        named_job.exit_signal,
        coalesce(
            named_job.n_accelerators,
            max(execution.world_size)
                OVER (PARTITION BY every_attempt.group_key, every_attempt.source_id),
            max(execution.world_size) OVER (PARTITION BY every_attempt.group_key)
        ) AS n_accelerators,
        CASE
            WHEN named_job.n_accelerators IS NOT NULL THEN 'record'
            WHEN max(execution.world_size) OVER (PARTITION BY every_attempt.group_key) IS NOT NULL
                THEN 'world size'
            ELSE 'unknown'
        END AS accelerators_origin,
        coalesce(named_job.nodes, []) AS nodes,
        named_job.user_name,
        named_job.work_dir,
        execution.* EXCLUDE (
            group_key,
            group_name,
            joined_by,
            job_key,
            source_id,
            attempt_no,
            start_no, world_size
        ),
        coalesce(execution.first_at, named_job.started_at) AS begins_at,
        -- files of one job stand in the order in which they begin
        min(execution.first_at) OVER (
            PARTITION BY every_attempt.job_key, every_attempt.source_id
        ) AS file_begins_at
    FROM every_attempt
    LEFT JOIN execution
        ON
            every_attempt.source_id = execution.source_id
            AND every_attempt.attempt_no = execution.attempt_no
    LEFT JOIN named_job ON every_attempt.job_key = named_job.job_key
    WHERE coalesce(named_job.started_at, execution.first_at) IS NOT NULL
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
