-- table: detection
-- grain: one incident whose detection took just as long as something was configured to wait
-- reads: incident_head, ending, sign, event
-- params:
-- column run: run
-- column incident: ordinal of the incident
-- column timeout_us: the time that was waited
-- column told_by: watchdog, setting or repetition
WITH noticed AS (
    SELECT
        incident_head.run,
        incident_head.incident,
        incident_head.attempt,
        ending.detected_at - ending.fault_at AS detection_us
    FROM incident_head
    INNER JOIN ending
        ON incident_head.run = ending.run AND incident_head.attempt = ending.attempt
    WHERE
        ending.kind IN ('failure', 'unknown')
        AND ending.detected_at - ending.fault_at >= 30000000
),

candidate AS (
    SELECT
        noticed.run,
        noticed.incident,
        noticed.detection_us,
        coalesce(
            1000 * try_cast(
                nullif(regexp_extract(sign.text, 'Timeout\(ms\)=([0-9]{1,12})', 1), '') AS BIGINT
            ),
            sign.logged_at - sign.onset_at
        ) AS timeout_us,
        1 AS rank,
        'watchdog' AS told_by
    FROM noticed
    INNER JOIN sign
        ON noticed.run = sign.run AND noticed.attempt = sign.attempt AND sign.kind = 'watchdog'
    UNION ALL
    SELECT
        noticed.run,
        noticed.incident,
        noticed.detection_us,
        try_cast(split_part(event.code, '=', 2) AS BIGINT) * 60000000 AS timeout_us,
        2 AS rank,
        'setting' AS told_by
    FROM noticed
    INNER JOIN event
        ON
            noticed.run = event.run
            AND event.kind = 'setting'
            AND starts_with(event.code, 'distributed_timeout_minutes=')
    UNION ALL
    -- three that took the same whole number of minutes are no chance
    SELECT
        noticed.run,
        noticed.incident,
        noticed.detection_us,
        (noticed.detection_us + 30000000) // 60000000 * 60000000 AS timeout_us,
        3 AS rank,
        'repetition' AS told_by
    FROM noticed
    INNER JOIN noticed AS other
        ON
            noticed.run = other.run
            AND abs(noticed.detection_us - other.detection_us) * 50 <= noticed.detection_us
    WHERE noticed.detection_us >= 120000000
    GROUP BY noticed.run, noticed.incident, noticed.detection_us
    HAVING count(*) >= 3
)

SELECT
    run,
    incident,
    timeout_us,
    told_by
FROM candidate
WHERE
    timeout_us > 0
    AND abs(detection_us - timeout_us) <= greatest(timeout_us // 20, 10000000)
QUALIFY
    row_number() OVER (
        PARTITION BY run, incident ORDER BY rank, abs(detection_us - timeout_us), timeout_us
    ) = 1
