-- table: end_sign
-- grain: what the lines about the end of one attempt that did steps tell together
-- reads: sign, stop, event
-- params:
-- column run: run
-- column attempt: attempt
-- column sign_cause: cause by the strongest line, of equal ones the first
-- column sign_kind: what that line says
-- column sign_code: its short code
-- column sign_source_id: its file
-- column sign_line: the line
-- column has_sign: a line after the last step is a sign of the fault itself
-- column has_watchdog: a watchdog spoke after the last step
-- column has_word: any line after the last step bears on the end
-- column onset_at: UTC us, the earliest onset by a dated line
-- column onset_source_id: its file
-- column onset_line: that line
-- column onset_high: UTC us, a sign without a stamp was written no later
-- column watchdog_at: UTC us, the first watchdog
-- column watchdog_source_id: its file
-- column watchdog_line: that line
-- column launcher_at: UTC us, the launcher first says that a process failed, or its record that a cycle ended
-- column launcher_source_id: its file
-- column launcher_line: that line
-- column acted_low: UTC us, a watchdog or launcher without a stamp spoke no earlier
-- column precursor_at: UTC us, first line of a machine's fault in the day before the last step
-- a machine's line of the minute before the last step can be the cause: clocks and ranks differ
WITH telling AS (
    SELECT
        sign.*,
        stop.stop_at,
        stop.last_step_at,
        NOT sign.is_before AS is_after
    FROM sign
    INNER JOIN stop ON sign.run = stop.run AND sign.attempt = stop.attempt
),

cause AS (
    SELECT
        run,
        attempt,
        arg_min(cause, (rank, coalesce(onset_at, 9223372036854775807), line_no)) AS sign_cause,
        arg_min(kind, (rank, coalesce(onset_at, 9223372036854775807), line_no)) AS sign_kind,
        arg_min(code, (rank, coalesce(onset_at, 9223372036854775807), line_no)) AS sign_code,
        arg_min(source_id, (rank, coalesce(onset_at, 9223372036854775807), line_no))
            AS sign_source_id,
        arg_min(line_no, (rank, coalesce(onset_at, 9223372036854775807), line_no)) AS sign_line,
        bool_or(is_sign AND is_after) AS has_sign,
        bool_or(kind = 'watchdog' AND is_after) AS has_watchdog,
        bool_or(is_after) AS has_word
    FROM telling
    WHERE
        is_after
        OR (is_hardware AND is_sign AND logged_at >= last_step_at - 60000000)
    GROUP BY run, attempt
),

-- application-level signs without a stamp do not date anything: the overdue line does
dated AS (
    SELECT
        run,
        attempt,
        arg_min(onset_at, (onset_at, line_no)) FILTER (
            WHERE is_sign OR kind = 'watchdog'
        ) AS began_at,
        arg_min(source_id, (onset_at, line_no)) FILTER (
            WHERE is_sign OR kind = 'watchdog'
        ) AS onset_source_id,
        arg_min(line_no, (onset_at, line_no)) FILTER (
            WHERE is_sign OR kind = 'watchdog'
        ) AS onset_line,
        arg_min(logged_at, (logged_at, line_no)) FILTER (
            WHERE kind = 'watchdog'
        ) AS watchdog_at,
        arg_min(source_id, (logged_at, line_no)) FILTER (
            WHERE kind = 'watchdog'
        )
            AS watchdog_source_id,
        arg_min(line_no, (logged_at, line_no)) FILTER (WHERE kind = 'watchdog')
            AS watchdog_line,
        arg_min(logged_at, (logged_at, line_no)) FILTER (
            WHERE kind = 'launcher_failure'
        )
            AS launcher_at,
        arg_min(source_id, (logged_at, line_no)) FILTER (
            WHERE kind = 'launcher_failure'
        )
            AS launcher_source_id,
        arg_min(line_no, (logged_at, line_no)) FILTER (
            WHERE kind = 'launcher_failure'
        )
            AS launcher_line
    FROM telling
    WHERE
        is_after
        AND logged_at IS NOT NULL
        AND logged_at <= stop_at + 60000000
        AND kind <> 'job_cancelled'
    GROUP BY run, attempt
),

precursor AS (
    SELECT
        run,
        attempt,
        min(logged_at) AS precursor_at
    FROM telling
    WHERE
        is_before
        AND is_hardware
        AND logged_at BETWEEN last_step_at - 86400000000 AND last_step_at
    GROUP BY run, attempt
),

-- what a resiliency layer notes in a file of its own
cycle AS (
    SELECT
        event.run,
        event.attempt,
        min(event.logged_at) AS ended_at,
        arg_min(event.source_id, (event.logged_at, event.line_no)) AS source_id,
        arg_min(event.line_no, (event.logged_at, event.line_no)) AS line_no
    FROM event
    INNER JOIN stop ON event.run = stop.run AND event.attempt = stop.attempt
    WHERE
        event.kind = 'cycle_end'
        AND event.logged_at BETWEEN stop.progress_at AND stop.stop_at + 60000000
    GROUP BY event.run, event.attempt
),

-- lines of the end without a stamp: between what stands around them
undated AS (
    SELECT
        run,
        attempt,
        min(high) FILTER (WHERE is_sign) AS onset_high,
        min(coalesce(low, last_step_at)) FILTER (WHERE kind IN ('watchdog', 'launcher_failure'))
            AS acted_low
    FROM telling
    WHERE is_after AND logged_at IS NULL
    GROUP BY run, attempt
)

SELECT
    stop.run,
    stop.attempt,
    cause.sign_cause,
    cause.sign_kind,
    cause.sign_code,
    cause.sign_source_id,
    cause.sign_line,
    coalesce(cause.has_sign, FALSE) AS has_sign,
    coalesce(cause.has_watchdog, FALSE) AS has_watchdog,
    coalesce(cause.has_word, FALSE) AS has_word,
    dated.began_at AS onset_at,
    dated.onset_source_id,
    dated.onset_line,
    undated.onset_high,
    dated.watchdog_at,
    dated.watchdog_source_id,
    dated.watchdog_line,
    least(dated.launcher_at, cycle.ended_at) AS launcher_at,
    CASE
        WHEN coalesce(dated.launcher_at <= cycle.ended_at, cycle.ended_at IS NULL)
            THEN dated.launcher_source_id
        ELSE cycle.source_id
    END AS launcher_source_id,
    CASE
        WHEN coalesce(dated.launcher_at <= cycle.ended_at, cycle.ended_at IS NULL)
            THEN dated.launcher_line
        ELSE cycle.line_no
    END AS launcher_line,
    undated.acted_low,
    precursor.precursor_at
FROM stop
LEFT JOIN cause ON stop.run = cause.run AND stop.attempt = cause.attempt
LEFT JOIN dated ON stop.run = dated.run AND stop.attempt = dated.attempt
LEFT JOIN cycle ON stop.run = cycle.run AND stop.attempt = cycle.attempt
LEFT JOIN undated ON stop.run = undated.run AND stop.attempt = undated.attempt
LEFT JOIN precursor ON stop.run = precursor.run AND stop.attempt = precursor.attempt
