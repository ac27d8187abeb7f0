-- table: placement
-- grain: one execution of a job log with the scheduler record it ran under
-- reads: log_attempt, log_event, source, job
-- params:
-- column source_id: the log
-- column attempt_no: execution within the log
-- column job_key: scheduler record, null when none fits
-- column placed_by: named in the log, in the file name or in the record of a cycle, or time span
WITH wanted AS (
    SELECT DISTINCT
        source_id,
        job_ref AS ref,
        1 AS rank,
        'job id in the log' AS placed_by
    FROM log_event
    WHERE format = 'job_log' AND job_ref IS NOT NULL
    UNION ALL
    SELECT DISTINCT
        source.source_id,
        log_event.job_ref AS ref,
        1 AS rank,
        'record of its cycle' AS placed_by
    FROM log_event
    INNER JOIN source ON regexp_extract(log_event.path, '[^/]*$') = source.name
    WHERE
        log_event.format = 'cycle_info'
        AND log_event.job_ref IS NOT NULL
        AND source.format = 'job_log'
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
        wanted.placed_by
    FROM wanted
    INNER JOIN job ON wanted.ref = job.job_id OR wanted.ref = job.job_id_raw
    WHERE job.started_at IS NOT NULL
    QUALIFY wanted.rank = min(wanted.rank) OVER (PARTITION BY wanted.source_id)
),

by_span AS (
    SELECT
        log_attempt.source_id,
        log_attempt.attempt_no,
        job.job_key,
        'the only job on its time span' AS placed_by
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

-- records that a log may have run under, in the order of their begin
record AS (
    SELECT
        named.source_id,
        named.job_key,
        named.placed_by,
        job.started_at,
        job.started_at - 60000000 AS from_at,
        job.ended_at,
        job.ended_at + 600000000 AS to_at,
        row_number() OVER (
            PARTITION BY named.source_id ORDER BY job.started_at, job.job_key
        ) AS job_ordinal
    FROM named
    INNER JOIN job ON named.job_key = job.job_key
),

-- of records that begin at the same time the one that goes on the longest
newest AS (
    SELECT *
    FROM record
    QUALIFY
        row_number() OVER (
            PARTITION BY source_id, from_at
            ORDER BY coalesce(to_at, 9223372036854775807) DESC, job_key ASC
        ) = 1
),

-- a start with a date ran under the newest record that had begun, unless that one had ended
settled AS (
    SELECT
        log_attempt.source_id,
        log_attempt.attempt_no,
        newest.job_key,
        newest.placed_by
    FROM log_attempt
    ASOF INNER JOIN newest
        ON
            log_attempt.source_id = newest.source_id
            AND log_attempt.first_at >= newest.from_at
    WHERE log_attempt.first_at <= coalesce(newest.to_at, log_attempt.first_at)
),

unsettled AS (
    SELECT log_attempt.*
    FROM log_attempt
    LEFT JOIN settled
        ON
            log_attempt.source_id = settled.source_id
            AND log_attempt.attempt_no = settled.attempt_no
    WHERE settled.job_key IS NULL
),

judged AS (
    SELECT
        log_attempt.source_id,
        log_attempt.attempt_no,
        record.job_key,
        record.placed_by,
        record.started_at,
        record.job_ordinal,
        log_attempt.first_at AS seen_at
    FROM unsettled AS log_attempt
    INNER JOIN record ON log_attempt.source_id = record.source_id
    WHERE
        coalesce(
            log_attempt.first_at
            BETWEEN record.from_at AND coalesce(record.to_at, log_attempt.first_at),
            coalesce(log_attempt.launch_low <= record.ended_at, TRUE)
            AND coalesce(log_attempt.launch_high >= record.started_at, TRUE)
        )
)

SELECT
    source_id,
    attempt_no,
    job_key,
    placed_by
FROM by_span
UNION ALL
SELECT
    source_id,
    attempt_no,
    job_key,
    placed_by
FROM settled
UNION ALL
SELECT
    source_id,
    attempt_no,
    job_key,
    placed_by
FROM (
    SELECT *
    FROM judged
    QUALIFY
        row_number() OVER (
            PARTITION BY source_id, attempt_no
            ORDER BY
                CASE WHEN seen_at IS NOT NULL THEN started_at END DESC NULLS LAST,
                abs(job_ordinal - attempt_no),
                started_at,
                job_key ASC
        ) = 1
) AS nearest
