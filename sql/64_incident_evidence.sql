-- table: incident_evidence
-- grain: one line (or derivation) behind one moment of one incident
-- reads: incident, attempt, ending, sign, failed_start, log_event, node_state, job, checkpoint, correction
-- params:
-- column run: run
-- column incident: ordinal of the incident
-- column moment: name of the moment, or cause, verified_step, precursor
-- column place: order in which the story is told
-- column source_id: file, null where nothing was printed
-- column line_no: line
-- column strength: stated, derived, bounded or absent
-- column text: the line, or what was derived from what
WITH set_moment AS (
    SELECT
        incident.incident_id AS incident,
        list(correction.moment) AS moments
    FROM incident
    INNER JOIN correction
        ON
            incident.incident_id = correction.incident
            AND list_contains(incident.corrected_by, correction.ordinal)
    WHERE correction.action = 'set'
    GROUP BY incident.incident_id
),

chosen AS (
    SELECT
        incident.*,
        failed.source_id AS failed_source_id,
        failed.last_step_line,
        failed.job_key AS failed_job_key,
        back.source_id AS back_source_id,
        back.job_key AS back_job_key,
        back.launch_line,
        back.load_line,
        back.restored_line,
        back.first_step_line,
        back.first_step,
        ending.fault_source_id,
        ending.fault_line,
        ending.cause_source_id,
        ending.cause_line,
        ending.detected_source_id,
        ending.detected_line,
        ending.stop_at,
        coalesce(set_moment.moments, []) AS set_moments
    FROM incident
    INNER JOIN attempt AS failed
        ON incident.run = failed.run AND incident.attempt = failed.attempt
    INNER JOIN ending ON incident.run = ending.run AND incident.attempt = ending.attempt
    LEFT JOIN attempt AS back ON incident.run = back.run AND incident.resumed_by = back.attempt
    LEFT JOIN set_moment ON incident.incident_id = set_moment.incident
),

line_text AS (
    SELECT
        source_id,
        line_no,
        any_value(text ORDER BY kind) AS text
    FROM log_event
    GROUP BY source_id, line_no
    UNION ALL
    SELECT
        source_id,
        line_no,
        any_value(text ORDER BY state, node) AS text
    FROM node_state
    GROUP BY source_id, line_no
),

pointed AS (
    SELECT
        run,
        incident,
        'last_step_at' AS moment,
        20 AS place,
        failed_source_id AS source_id,
        last_step_line AS line_no,
        'stated' AS strength,
        'step ' || last_step || ' complete' AS fallback
    FROM chosen
    UNION ALL
    SELECT
        run,
        incident,
        'fault_at',
        30,
        fault_source_id,
        fault_line,
        fault_strength,
        CASE
            WHEN list_contains(set_moments, 'fault_at') THEN 'a person set it'
            WHEN fault_strength = 'bounded' AND phase = 'save'
                THEN 'a save was under way; taken from when its end was overdue'
            WHEN fault_strength = 'bounded'
                THEN 'no stamped fault line; taken from when the next step was overdue'
            ELSE 'the moment when it was stopped'
        END
    FROM chosen
    UNION ALL
    SELECT
        run,
        incident,
        'cause',
        35,
        cause_source_id,
        cause_line,
        cause_strength,
        ''
    FROM chosen
    WHERE cause_line IS NOT NULL AND cause_line IS DISTINCT FROM fault_line
    UNION ALL
    SELECT
        run,
        incident,
        'detected_at',
        40,
        detected_source_id,
        detected_line,
        detected_strength,
        CASE
            WHEN list_contains(set_moments, 'detected_at') THEN 'a person set it'
            WHEN detector = 'program' THEN 'the program stopped by plan'
            WHEN detected_strength = 'bounded' AND detected_low = detected_at
                THEN 'nothing tells who saw it and when; taken from the last line'
            WHEN detected_strength = 'bounded'
                THEN
                    'a line without a stamp says that it was noticed before; taken from the end '
                    || 'of the job'
            ELSE 'taken from the last that is known of it'
        END
    FROM chosen
    WHERE
        detected_line IS NOT NULL
        OR detected_strength <> 'stated'
        OR list_contains(set_moments, 'detected_at')
    UNION ALL
    SELECT
        run,
        incident,
        'launched_at',
        60,
        CASE WHEN NOT list_contains(set_moments, 'launched_at') THEN back_source_id END,
        CASE WHEN NOT list_contains(set_moments, 'launched_at') THEN launch_line END,
        CASE WHEN launched_at IS NULL THEN 'bounded' ELSE 'stated' END,
        CASE
            WHEN list_contains(set_moments, 'launched_at') THEN 'a person set it'
            ELSE 'first line of the program'
        END
    FROM chosen
    WHERE launch_line IS NOT NULL OR list_contains(set_moments, 'launched_at')
    UNION ALL
    SELECT
        run,
        incident,
        'load_started_at',
        62,
        CASE WHEN NOT list_contains(set_moments, 'load_started_at') THEN back_source_id END,
        CASE WHEN NOT list_contains(set_moments, 'load_started_at') THEN load_line END,
        CASE WHEN load_started_at IS NULL THEN 'bounded' ELSE 'stated' END,
        CASE WHEN list_contains(set_moments, 'load_started_at') THEN 'a person set it' ELSE '' END
    FROM chosen
    WHERE load_line IS NOT NULL OR list_contains(set_moments, 'load_started_at')
    UNION ALL
    SELECT
        run,
        incident,
        'restored_at',
        64,
        CASE WHEN NOT list_contains(set_moments, 'restored_at') THEN back_source_id END,
        CASE WHEN NOT list_contains(set_moments, 'restored_at') THEN restored_line END,
        CASE WHEN restored_at IS NULL THEN 'bounded' ELSE 'stated' END,
        CASE WHEN list_contains(set_moments, 'restored_at') THEN 'a person set it' ELSE '' END
    FROM chosen
    WHERE restored_line IS NOT NULL OR list_contains(set_moments, 'restored_at')
    UNION ALL
    SELECT
        run,
        incident,
        'first_step_at',
        70,
        back_source_id,
        first_step_line,
        'stated',
        'step ' || first_step || ' complete'
    FROM chosen
    WHERE first_step_line IS NOT NULL
),

-- a moment that nothing tells of is said, too
absent AS (
    SELECT
        chosen.run,
        chosen.incident,
        missing.moment,
        missing.place,
        NULL AS source_id,
        NULL AS line_no,
        'absent' AS strength,
        'no line tells' AS text
    FROM chosen
    INNER JOIN
        (VALUES ('launched_at', 60), ('load_started_at', 62), ('restored_at', 64))
            AS missing (moment, place)
        ON
            chosen.resumed_by IS NOT NULL
            AND NOT list_contains(chosen.set_moments, missing.moment)
            AND CASE missing.moment
                WHEN 'launched_at' THEN chosen.launch_line IS NULL
                WHEN 'load_started_at' THEN chosen.load_line IS NULL
                ELSE chosen.restored_line IS NULL
            END
),

job_record AS (
    SELECT
        chosen.run,
        chosen.incident,
        'detected_at' AS moment,
        41 AS place,
        job.source_id,
        job.line_no,
        'stated' AS strength,
        'scheduler record of job ' || job.job_id || ': state ' || job.state
        || coalesce(' by ' || job.cancelled_by, '') || ', exit code '
        || coalesce(job.exit_code::VARCHAR, 'unknown') AS text
    FROM chosen
    INNER JOIN job ON chosen.failed_job_key = job.job_key
    WHERE job.ended_at IS NOT NULL
    UNION ALL
    SELECT
        chosen.run,
        chosen.incident,
        'replaced_at',
        50,
        job.source_id,
        job.line_no,
        'stated',
        'scheduler record of job ' || job.job_id || ' that came back: it starts here'
    FROM chosen
    INNER JOIN job ON chosen.back_job_key = job.job_key
    WHERE chosen.back_job_key IS DISTINCT FROM chosen.failed_job_key
),

retry AS (
    SELECT
        chosen.run,
        chosen.incident,
        'retry' AS moment,
        45 AS place,
        coalesce(attempt.source_id, job.source_id) AS source_id,
        coalesce(attempt.first_line, job.line_no) AS line_no,
        CASE WHEN attempt.source_id IS NULL THEN 'derived' ELSE 'stated' END AS strength,
        CASE WHEN attempt.n_step_lines > 0 THEN 'ended again' ELSE 'failed retry' END
        || coalesce(': job ' || attempt.job_id, '')
        || coalesce(', ' || attempt.state, '')
        || CASE
            WHEN attempt.source_id IS NULL THEN ', no log'
            WHEN attempt.n_step_lines > 0 THEN ', after step ' || attempt.last_step
            ELSE ', no step done'
        END
        || CASE
            WHEN failed_start.cause <> 'unknown'
                THEN ', cause ' || replace(failed_start.cause, '_', ' ')
            ELSE ''
        END
        || CASE
            WHEN failed_start.is_hang
                THEN
                    '; it hung in its ' || replace(failed_start.phase, '_', ' ') || ', '
                    || failed_start.silent_us // 60000000 || ' min where '
                    || failed_start.hang_us // 60000000 || ' min is no hang'
            ELSE ''
        END AS text
    FROM chosen
    INNER JOIN attempt
        ON
            chosen.run = attempt.run
            AND attempt.attempt > chosen.attempt
            AND (attempt.attempt < chosen.resumed_by OR chosen.resumed_by IS NULL)
    LEFT JOIN job ON attempt.job_key = job.job_key
    LEFT JOIN failed_start
        ON attempt.run = failed_start.run AND attempt.attempt = failed_start.attempt
),

-- why a retry failed: its strongest sign
retry_cause AS (
    SELECT
        chosen.run,
        chosen.incident,
        'retry' AS moment,
        46 AS place,
        failed_start.source_id,
        failed_start.line_no,
        'stated' AS strength,
        failed_start.text
    FROM chosen
    INNER JOIN failed_start
        ON
            chosen.run = failed_start.run
            AND failed_start.attempt > chosen.attempt
            AND (failed_start.attempt < chosen.resumed_by OR chosen.resumed_by IS NULL)
    WHERE failed_start.line_no IS NOT NULL
),

saved AS (
    SELECT
        chosen.run,
        chosen.incident,
        'verified_step' AS moment,
        10 AS place,
        coalesce(checkpoint.done_source_id, checkpoint.source_id) AS source_id,
        checkpoint.done_line AS line_no,
        'stated' AS strength,
        'step ' || checkpoint.step || ' saved' AS text
    FROM chosen
    INNER JOIN checkpoint
        ON
            chosen.run = checkpoint.run
            AND chosen.verified_captured_at = checkpoint.captured_at
            AND chosen.verified_step = checkpoint.step
),

-- saves that are newer than the one that counted, and why they did not
doubtful AS (
    SELECT
        chosen.run,
        chosen.incident,
        CASE WHEN checkpoint.state = 'torn' THEN 'torn_save' ELSE 'doubtful_save' END AS moment,
        25 AS place,
        coalesce(checkpoint.why_source_id, checkpoint.source_id) AS source_id,
        coalesce(checkpoint.why_line, checkpoint.line_no) AS line_no,
        'stated' AS strength,
        'step ' || checkpoint.step || ': ' || checkpoint.why
        || CASE
            WHEN len(checkpoint.bad_files) > 0
                THEN ' (' || array_to_string(checkpoint.bad_files, ', ') || ')'
            ELSE ''
        END AS text
    FROM chosen
    INNER JOIN checkpoint
        ON
            chosen.run = checkpoint.run
            AND coalesce(checkpoint.captured_at <= chosen.fault_at, TRUE)
    WHERE
        checkpoint.why IS NOT NULL
        AND checkpoint.step > coalesce(chosen.verified_step, chosen.resume_step, -1)
        AND checkpoint.attempt <= chosen.attempt
    QUALIFY
        row_number() OVER (
            PARTITION BY chosen.run, chosen.incident ORDER BY checkpoint.ordinal DESC
        ) <= 5
),

warning AS (
    SELECT
        chosen.run,
        chosen.incident,
        'precursor' AS moment,
        5 AS place,
        sign.source_id,
        sign.line_no,
        'stated' AS strength,
        sign.text
    FROM chosen
    INNER JOIN sign ON chosen.run = sign.run AND chosen.attempt = sign.attempt
    WHERE
        sign.is_before
        AND sign.is_hardware
        AND sign.logged_at BETWEEN chosen.last_step_at - 86400000000 AND chosen.last_step_at
    QUALIFY
        row_number()
            OVER (PARTITION BY chosen.run, chosen.incident ORDER BY sign.logged_at, sign.line_no)
        <= 5
)

SELECT
    pointed.run,
    pointed.incident,
    pointed.moment,
    pointed.place,
    pointed.source_id,
    pointed.line_no,
    pointed.strength,
    coalesce(line_text.text, pointed.fallback) AS text
FROM pointed
LEFT JOIN line_text
    ON pointed.source_id = line_text.source_id AND pointed.line_no = line_text.line_no
UNION ALL
SELECT * FROM absent
UNION ALL
SELECT * FROM job_record
UNION ALL
SELECT * FROM retry
UNION ALL
SELECT * FROM retry_cause
UNION ALL
SELECT * FROM saved
UNION ALL
SELECT * FROM doubtful
UNION ALL
SELECT * FROM warning
