-- table: job
-- grain: one scheduler record: cluster, job id and submit time (a requeued job has several)
-- reads: raw_job, job_time, source
-- params: accelerators_per_node
-- column job_key: names the record for good: [cluster/]job id @ submit time
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
-- column started_at: UTC us, null while pending
-- column ended_at: UTC us, null while running or unknown
-- column observed_until: UTC us, end, or for a job still running the moment of the dump
-- column time_limit_us: time limit
-- column n_nodes: allocated nodes
-- column n_accelerators: allocated accelerators, null when neither record nor setting tells
-- column nodes: host names
-- column source_id: where the record stands
-- column line_no: its line
WITH record AS (
    SELECT
        raw_job.*,
        job_time.submitted_at,
        job_time.started_at,
        job_time.ended_at,
        source.content_sha256,
        coalesce(
            nullif(raw_job.cluster, ''),
            max(nullif(raw_job.cluster, '')) OVER (
                PARTITION BY raw_job.job_id, job_time.submitted_at
            ),
            ''
        ) AS known_cluster
    FROM raw_job
    INNER JOIN job_time
        ON raw_job.source_id = job_time.source_id AND raw_job.line_no = job_time.line_no
    INNER JOIN source ON raw_job.source_id = source.source_id
    WHERE raw_job.step_id = ''
)

SELECT
    concat_ws('/', nullif(known_cluster, ''), job_id)
    || '@' || coalesce(submitted_at::VARCHAR, 'unknown') AS job_key,
    known_cluster AS cluster,
    job_id,
    job_id_raw,
    name AS job_name,
    "user" AS user_name,
    work_dir,
    state,
    cancelled_by,
    exit_code,
    exit_signal,
    reason,
    submitted_at,
    started_at,
    ended_at,
    coalesce(ended_at, started_at + elapsed_us, started_at) AS observed_until,
    time_limit_us,
    n_nodes,
    coalesce(n_accelerators, n_nodes * $accelerators_per_node::BIGINT)::BIGINT AS n_accelerators,
    nodes,
    source_id,
    line_no
FROM record
QUALIFY row_number() OVER (
    PARTITION BY known_cluster, job_id, submitted_at
    ORDER BY ended_at IS NOT NULL DESC, coalesce(elapsed_us, 0) DESC, content_sha256, line_no ASC
) = 1
