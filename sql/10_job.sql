-- table: job
-- grain: one scheduler record: cluster, job id and submit time (a requeued job has several)
-- reads: raw_job, job_time, source
-- params: accelerators_per_node
-- column job_key: names the record for good: [cluster/]job id @ submit time (start, where that is not known)
-- column cluster: name of the cluster, '' where no record tells
-- column job_id: id as people write it
-- column job_id_raw: number that the scheduler uses (differs for array tasks)
-- column job_name: name of the job
-- column user_name: who submitted it
-- column work_dir: working folder
-- column state: first word of the scheduler's state
-- column cancelled_by: who cancelled it, where recorded
-- column exit_code: exit code
-- column exit_signal: signal
-- column reason: the scheduler's reason
-- column submitted_at: UTC us
-- column started_at: UTC us, null while pending, and where it ended without having run
-- column ended_at: UTC us, null while running or unknown
-- column observed_until: UTC us, end, or for a job still running the moment of the dump
-- column time_limit_us: time limit
-- column n_nodes: allocated nodes
-- column n_accelerators: allocated accelerators, null when neither record nor setting tells
-- column nodes: host names
-- column source_id: where the record stands
-- column line_no: its line
WITH dated AS (
    SELECT
        raw_job.*,
        job_time.started_at,
        job_time.ended_at,
        source.content_sha256,
        -- a dump without submit times still tells the allocation: by its start
        coalesce(
            job_time.submitted_at,
            max(job_time.submitted_at) OVER (
                PARTITION BY raw_job.job_id, job_time.started_at, job_time.started_at IS NULL
            )
        ) AS submitted_at
    FROM raw_job
    INNER JOIN job_time
        ON raw_job.source_id = job_time.source_id AND raw_job.line_no = job_time.line_no
    INNER JOIN source ON raw_job.source_id = source.source_id
    WHERE raw_job.step_id = ''
),

-- a job that is over had an end, also where the record does not know when: it ran for so long
finished AS (
    SELECT
        * REPLACE (
            coalesce(
                ended_at,
                CASE
                    WHEN
                        state NOT IN (
                            '', 'RUNNING', 'PENDING', 'SUSPENDED', 'COMPLETING', 'CONFIGURING',
                            'RESIZING', 'REQUEUE_HOLD', 'STOPPED', 'SIGNALING',
                            'STAGE_OUT', 'SPECIAL_EXIT'
                        )
                        THEN started_at + elapsed_us
                END
            ) AS ended_at
        )
    FROM dated
),

record AS (
    SELECT
        *,
        coalesce(submitted_at, started_at) AS identity_at,
        -- another dump of the same job may tell what this one leaves out
        max(nullif(name, '')) OVER same_job AS known_name,
        max(nullif("user", '')) OVER same_job AS known_user,
        max(nullif(work_dir, '')) OVER same_job AS known_work_dir,
        max(n_nodes) OVER same_job AS known_n_nodes,
        max(n_accelerators) OVER same_job AS known_n_accelerators,
        max(nodes) OVER same_job AS known_nodes,
        coalesce(
            nullif(cluster, ''),
            max(nullif(cluster, '')) OVER (
                PARTITION BY job_id, coalesce(submitted_at, started_at)
            ),
            ''
        ) AS known_cluster
    FROM finished
    WINDOW same_job AS (PARTITION BY job_id, coalesce(submitted_at, started_at))
)

SELECT
    concat_ws('/', nullif(known_cluster, ''), job_id)
    || '@' || coalesce(identity_at::VARCHAR, 'unknown') AS job_key,
    known_cluster AS cluster,
    job_id,
    job_id_raw,
    coalesce(known_name, '') AS job_name,
    coalesce(known_user, '') AS user_name,
    coalesce(known_work_dir, '') AS work_dir,
    state,
    cancelled_by,
    exit_code,
    exit_signal,
    reason,
    submitted_at,
    -- cancelled while it waited: a record then has a start, which is its end, and no nodes
    CASE
        WHEN NOT (len(coalesce(known_nodes, [])) = 0 AND coalesce(ended_at = started_at, FALSE))
            THEN started_at
    END AS started_at,
    ended_at,
    coalesce(ended_at, started_at + elapsed_us, started_at) AS observed_until,
    time_limit_us,
    known_n_nodes AS n_nodes,
    coalesce(known_n_accelerators, known_n_nodes * $accelerators_per_node::BIGINT)::BIGINT
        AS n_accelerators,
    coalesce(known_nodes, []) AS nodes,
    source_id,
    line_no
FROM record
QUALIFY row_number() OVER (
    PARTITION BY known_cluster, job_id, identity_at
    ORDER BY ended_at IS NOT NULL DESC, coalesce(elapsed_us, 0) DESC, content_sha256, line_no ASC
) = 1
