-- table: placement
-- grain: one execution of a job log with the scheduler record it ran under
-- reads: log_attempt, log_event, source, job
-- params:
-- column source_id: the log
-- column attempt_no: execution within the log
-- column job_key: scheduler record, null when none fits
-- column placed_by: named in the log, named in the file name, or time span
WITH wanted AS (
    SELECT DISTINCT
        source_id,
        job_ref AS ref,
        1 AS rank,
        'job id in the log' AS placed_by
    FROM log_event
    WHERE format = 'job_log' AND job_ref IS NOT NULL
    UNION ALL
    SELECT
        source_id,
        unnest(name_refs) AS ref,
        1 + generate_subscripts(name_refs, 1) AS rank,
        'job id in the file name' AS placed_by
    FROM source
    WHERE format = 'job_log'
),

named AS (
    SELECT
        wanted.source_id,
        job.job_key,
        wanted.placed_by,
        wanted.rank
    FROM wanted
    INNER JOIN job ON wanted.ref = job.job_id OR wanted.ref = job.job_id_raw
    WHERE job.started_at IS NOT NULL
    QUALIFY wanted.rank = min(wanted.rank) OVER (PARTITION BY wanted.source_id)
),

candidate AS (
    SELECT
        log_attempt.source_id,
        log_attempt.attempt_no,
        named.job_key,
        named.placed_by,
        named.rank
    FROM log_attempt
    INNER JOIN named ON log_attempt.source_id = named.source_id
    UNION ALL
    SELECT
        log_attempt.source_id,
        log_attempt.attempt_no,
        job.job_key,
        'the only job on its time span' AS placed_by,
        99 AS rank
    FROM log_attempt
    INNER JOIN job
        ON
            log_attempt.first_at >= job.started_at - 60000000
            -- a job that had not ended when it was recorded may have gone on since
            AND log_attempt.last_at <= coalesce(job.ended_at, log_attempt.last_at) + 600000000
    WHERE
        log_attempt.source_id NOT IN (SELECT source_id FROM named)
        AND job.job_key NOT IN (SELECT job_key FROM named)
        AND log_attempt.n_step_lines > 0
    QUALIFY count(*) OVER (PARTITION BY log_attempt.source_id, log_attempt.attempt_no) = 1
),

judged AS (
    SELECT
        candidate.*,
        job.started_at,
        log_attempt.first_at AS seen_at,
        coalesce(
            log_attempt.first_at
            BETWEEN job.started_at - 60000000
            AND coalesce(job.ended_at, log_attempt.first_at) + 600000000,
            coalesce(log_attempt.launch_low <= job.ended_at, TRUE)
            AND coalesce(log_attempt.launch_high >= job.started_at, TRUE)
        ) AS fits,
        row_number() OVER (
            PARTITION BY candidate.source_id, candidate.attempt_no
            ORDER BY job.started_at, job.job_key
        ) AS job_ordinal
    FROM candidate
    INNER JOIN job ON candidate.job_key = job.job_key
    INNER JOIN log_attempt
        ON
            candidate.source_id = log_attempt.source_id
            AND candidate.attempt_no = log_attempt.attempt_no
)

SELECT
    source_id,
    attempt_no,
    job_key,
    placed_by
FROM judged
WHERE fits
QUALIFY
    row_number() OVER (
        PARTITION BY source_id, attempt_no
        ORDER BY
            coalesce(seen_at >= started_at - 60000000, FALSE) DESC,
            CASE WHEN seen_at IS NOT NULL THEN started_at END DESC NULLS LAST,
            abs(job_ordinal - attempt_no),
            started_at,
            job_key ASC
    ) = 1
