-- table: run_group
-- grain: one execution of a job log, or one job without a log, and the group of jobs that it belongs to
-- reads: log_attempt, placement, job, source, run_setting
-- params:
-- column group_key: names the group; its attempts are cut into runs afterwards
-- column group_name: what people call it
-- column joined_by: why it belongs there, in words
-- column job_key: scheduler record, null where there is none
-- column source_id: the log, null for a job without one
-- column attempt_no: execution within the log
WITH job_group AS (
    SELECT
        job.*,
        run_setting.run AS setting_run,
        regexp_extract(job.job_id, '_([0-9]+)$', 1) AS task,
        concat_ws('/', job.cluster, job.user_name, job.job_name, job.work_dir) AS base_key
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

named_job AS (
    SELECT
        job_key,
        started_at,
        ended_at,
        nullif(cluster, '') AS cluster,
        nullif(user_name, '') AS user_name,
        nullif(work_dir, '') AS work_dir,
        setting_run,
        job_name AS base_name,
        CASE WHEN task <> '' THEN base_key END AS array_key,
        coalesce('setting/' || setting_run, concat_ws('/', base_key, nullif(task, '')))
            AS group_key,
        coalesce(setting_run, concat_ws('_', job_name, nullif(task, ''))) AS group_name
    FROM job_group
),

-- without a scheduler record a log is known by the folder that it saves to, else by its name
folder AS (
    SELECT
        source_id,
        nullif(
            arg_min(coalesce(save_root, load_root), attempt_no) FILTER (
                WHERE coalesce(save_root, load_root) IS NOT NULL
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

-- a start that fits no record belongs with the other starts in its log
placed_attempt AS (
    SELECT
        log_attempt.*,
        placement.job_key,
        max(placement.job_key) OVER (PARTITION BY log_attempt.source_id) AS near_job_key
    FROM log_attempt
    LEFT JOIN placement
        ON
            log_attempt.source_id = placement.source_id
            AND log_attempt.attempt_no = placement.attempt_no
),

logged AS (
    SELECT
        coalesce(
            'given/' || titled.run_override,
            named_job.group_key,
            'log/' || coalesce(titled.save_folder, titled.log_folder || titled.stem)
        ) AS group_key,
        coalesce(
            titled.run_override,
            named_job.group_name,
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
            WHEN named_job.setting_run IS NOT NULL THEN 'configuration'
            WHEN named_job.job_key IS NOT NULL THEN 'same name, user and folder'
            WHEN titled.save_folder IS NOT NULL THEN 'checkpoint folder, no scheduler record'
            ELSE 'file name, no scheduler record'
        END AS joined_by,
        coalesce(titled.run_override, named_job.setting_run) IS NOT NULL AS is_given,
        named_job.base_name,
        named_job.array_key,
        named_job.cluster,
        named_job.user_name,
        named_job.work_dir,
        named_job.started_at AS job_started_at,
        titled.source_path,
        placed_attempt.* EXCLUDE (near_job_key)
    FROM placed_attempt
    INNER JOIN titled ON placed_attempt.source_id = titled.source_id
    LEFT JOIN named_job
        ON coalesce(placed_attempt.job_key, placed_attempt.near_job_key) = named_job.job_key
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
    SELECT
        logged.* EXCLUDE (source_path),
        logged.n_step_lines > 0 AS has_steps,
        -- where its state came from; a log of every k-th step does not tell to the step
        coalesce(
            logged.loaded_step,
            logged.first_step
            - greatest(
                1, (logged.last_step - logged.first_step) // greatest(logged.n_step_lines - 1, 1)
            )
        ) AS resume_step,
        CASE
            WHEN regexp_matches(logged.save_root, '^/|://') THEN logged.save_root
            WHEN logged.work_dir IS NOT NULL THEN logged.work_dir || '/' || logged.save_root
        END AS save_place,
        CASE
            WHEN regexp_matches(logged.load_root, '^/|://') THEN logged.load_root
            WHEN logged.work_dir IS NOT NULL THEN logged.work_dir || '/' || logged.load_root
        END AS load_place
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

-- what begins in the middle goes on with something
newcomer AS (
    SELECT
        group_key,
        array_key,
        cluster,
        user_name,
        resume_step,
        first_step_at,
        coalesce(load_place, save_place) AS place,
        arg_min(save_place, first_step_at) FILTER (WHERE save_place IS NOT NULL)
            OVER (PARTITION BY group_key)
            AS later_place
    FROM execution
    WHERE has_steps AND NOT is_given
    QUALIFY row_number() OVER (PARTITION BY group_key ORDER BY first_step_at, source_id) = 1
),

source_of AS (
    SELECT
        *,
        coalesce(save_place, load_place) AS place
    FROM execution
    WHERE has_steps AND NOT is_given
),

-- tasks of one array that ran at the same time are runs beside each other
parallel_array AS (
    SELECT DISTINCT array_key
    FROM (
        SELECT
            array_key,
            group_key,
            first_step_at,
            lag(group_key) OVER array_order AS before_key,
            max(last_step_at) OVER (
                PARTITION BY array_key
                ORDER BY first_step_at, group_key
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before_at
        FROM source_of
        WHERE array_key IS NOT NULL
        WINDOW array_order AS (PARTITION BY array_key ORDER BY first_step_at, group_key)
    ) AS sequence
    WHERE before_at > first_step_at AND before_key <> group_key
),

-- a later job loads a step that an earlier one had reached, from the folder where that one saved
edge AS (
    SELECT
        newcomer.group_key AS later_key,
        source_of.group_key AS earlier_key,
        concat_ws('/', 'folder', newcomer.cluster, newcomer.user_name, newcomer.place) AS joint_key,
        'a later job loads what an earlier one saved in the same folder' AS joined_by
    FROM newcomer
    INNER JOIN source_of
        ON
            newcomer.place = source_of.place
            AND newcomer.group_key <> source_of.group_key
    WHERE
        newcomer.resume_step BETWEEN greatest(1, source_of.resume_step + 1) AND source_of.last_step
        AND source_of.first_step_at < newcomer.first_step_at
        -- who loads from there and saves elsewhere begins something of its own
        AND coalesce(newcomer.later_place = newcomer.place, TRUE)
        AND coalesce(newcomer.user_name = source_of.user_name, TRUE)
        AND coalesce(newcomer.cluster = source_of.cluster, TRUE)
    UNION
    SELECT
        newcomer.group_key AS later_key,
        source_of.group_key AS earlier_key,
        'array/' || newcomer.array_key AS joint_key,
        'a later job of the array loads what an earlier one saved' AS joined_by
    FROM newcomer
    INNER JOIN source_of
        ON
            newcomer.array_key = source_of.array_key
            AND newcomer.group_key <> source_of.group_key
    WHERE
        newcomer.resume_step BETWEEN greatest(1, source_of.resume_step + 1) AND source_of.last_step
        AND source_of.last_step_at <= newcomer.first_step_at
        AND (newcomer.place IS NULL OR source_of.place IS NULL)
        AND newcomer.array_key NOT IN (
            SELECT parallel_array.array_key
            FROM parallel_array
        )
),

edge_joint AS (
    SELECT
        group_key,
        min(joint_key) AS joint_key,
        arg_min(joined_by, joint_key) AS joined_by
    FROM (
        SELECT
            later_key AS group_key,
            joint_key,
            joined_by
        FROM edge
        UNION ALL
        SELECT
            earlier_key,
            joint_key,
            joined_by
        FROM edge
    ) AS member
    GROUP BY group_key
),

-- an array whose tasks ran one after another (`--array=0-9%1`)
sequential_array AS (
    SELECT array_key
    FROM (
        SELECT
            array_key,
            started_at,
            max(coalesce(ended_at, started_at)) OVER (
                PARTITION BY array_key
                ORDER BY started_at, job_key
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before_at
        FROM named_job
        WHERE array_key IS NOT NULL
    ) AS sequence
    GROUP BY array_key
    HAVING NOT coalesce(bool_or(before_at > started_at), FALSE)
),

-- all its tasks that did steps are one run: those that did none are failed starts of that run
whole_array AS (
    SELECT
        source_of.array_key,
        coalesce(min(edge_joint.joint_key), 'array/' || source_of.array_key) AS joint_key
    FROM source_of
    INNER JOIN sequential_array ON source_of.array_key = sequential_array.array_key
    LEFT JOIN edge_joint ON source_of.group_key = edge_joint.group_key
    GROUP BY source_of.array_key
    HAVING count(DISTINCT coalesce(edge_joint.joint_key, source_of.group_key)) = 1
),

joint AS (
    SELECT
        group_key,
        joint_key,
        joined_by
    FROM edge_joint
    UNION ALL
    SELECT DISTINCT
        named_job.group_key,
        whole_array.joint_key,
        'task of an array whose tasks ran one after another' AS joined_by
    FROM named_job
    INNER JOIN whole_array ON named_job.array_key = whole_array.array_key
    WHERE
        named_job.setting_run IS NULL
        AND named_job.group_key NOT IN (SELECT edge_joint.group_key FROM edge_joint)
),

-- the name of what began first
joint_name AS (
    SELECT
        joint.joint_key,
        arg_min(coalesce(source_of.base_name, source_of.group_name), source_of.first_step_at)
            AS group_name
    FROM joint
    INNER JOIN source_of ON joint.group_key = source_of.group_key
    GROUP BY joint.joint_key
),

every_attempt AS (
    SELECT
        group_key,
        group_name,
        joined_by,
        is_given,
        job_key,
        source_id,
        attempt_no,
        has_steps,
        coalesce(first_at, launch_low, job_started_at) AS begins_at,
        first_step_at,
        last_step_at,
        coalesce(save_place, load_place) AS place
    FROM execution
    UNION ALL
    SELECT
        group_key,
        group_name,
        CASE WHEN setting_run IS NULL THEN 'same name, user and folder' ELSE 'configuration' END
            AS joined_by,
        setting_run IS NOT NULL AS is_given,
        job_key,
        NULL AS source_id,
        1 AS attempt_no,
        FALSE AS has_steps,
        started_at AS begins_at,
        NULL AS first_step_at,
        NULL AS last_step_at,
        NULL AS place
    FROM named_job
    WHERE
        job_key NOT IN (
            SELECT execution.job_key
            FROM execution
            WHERE execution.job_key IS NOT NULL
        )
),

joined AS (
    SELECT
        every_attempt.* REPLACE (
            coalesce(joint.joint_key, every_attempt.group_key) AS group_key,
            coalesce(joint_name.group_name, every_attempt.group_name) AS group_name,
            coalesce(joint.joined_by, every_attempt.joined_by) AS joined_by
        )
    FROM every_attempt
    LEFT JOIN joint ON every_attempt.group_key = joint.group_key
    LEFT JOIN joint_name ON joint.joint_key = joint_name.joint_key
),

-- one name, and two folders at the same time: two runs
parallel_group AS (
    SELECT DISTINCT group_key
    FROM (
        SELECT
            group_key,
            place,
            first_step_at,
            lag(place) OVER group_order AS before_place,
            max(last_step_at) OVER (
                PARTITION BY group_key
                ORDER BY first_step_at, place
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before_at
        FROM joined
        WHERE has_steps AND place IS NOT NULL AND NOT is_given
        WINDOW group_order AS (PARTITION BY group_key ORDER BY first_step_at, place)
    ) AS sequence
    WHERE before_at > first_step_at AND before_place <> place
),

-- what does not tell its folder belongs with its own log, else with what had ended last
told_place AS (
    SELECT
        group_key,
        last_step_at AS ended_at,
        min(place) AS place
    FROM joined
    WHERE place IS NOT NULL AND last_step_at IS NOT NULL
    GROUP BY group_key, last_step_at
),

first_place AS (
    SELECT
        group_key,
        arg_min(place, ended_at) AS place
    FROM told_place
    GROUP BY group_key
),

placed AS (
    SELECT
        named.* EXCLUDE (log_place),
        coalesce(named.log_place, told_place.place, first_place.place) AS own_place
    FROM (
        SELECT
            joined.*,
            coalesce(
                joined.place,
                CASE
                    WHEN joined.source_id IS NOT NULL
                        THEN min(joined.place) OVER (
                            PARTITION BY joined.group_key, joined.source_id
                        )
                END
            ) AS log_place
        FROM joined
        INNER JOIN parallel_group ON joined.group_key = parallel_group.group_key
    ) AS named
    ASOF LEFT JOIN told_place
        ON named.group_key = told_place.group_key AND named.begins_at >= told_place.ended_at
    LEFT JOIN first_place ON named.group_key = first_place.group_key
),

parted AS (
    SELECT
        group_key || '//' || own_place AS group_key,
        group_name,
        'same name, user and folder, told apart by the folder of the checkpoints' AS joined_by,
        job_key,
        source_id,
        attempt_no,
        has_steps
    FROM placed
    UNION ALL
    SELECT
        group_key,
        group_name,
        joined_by,
        job_key,
        source_id,
        attempt_no,
        has_steps
    FROM joined
    WHERE group_key NOT IN (SELECT parallel_group.group_key FROM parallel_group)
)

SELECT
    group_key,
    group_name,
    joined_by,
    job_key,
    source_id,
    attempt_no
FROM parted
QUALIFY bool_or(has_steps) OVER (PARTITION BY group_key)
