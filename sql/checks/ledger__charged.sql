-- check: ledger
-- severity: fail
-- says: lost work or detection charged to an incident differs from the incident's own figure
WITH charged AS (
    SELECT
        run,
        incident,
        sum(end_at - start_at) FILTER (WHERE bucket = 'lost_work')::BIGINT AS lost_work_us,
        sum(end_at - start_at) FILTER (WHERE bucket = 'detection')::BIGINT AS detection_us
    FROM ledger
    WHERE incident IS NOT NULL
    GROUP BY run, incident
)

SELECT
    incident.run,
    incident.incident_id,
    incident.lost_work_us,
    charged.lost_work_us AS charged_us
FROM incident
LEFT JOIN charged ON incident.run = charged.run AND incident.incident = charged.incident
WHERE
    incident.lost_work_us IS NOT NULL
    AND incident.lost_work_us <> coalesce(charged.lost_work_us, 0)
    -- steps of an orphan are no lost work
    AND NOT EXISTS (
        SELECT 1
        FROM ledger AS other
        WHERE other.run = incident.run AND other.bucket = 'orphan'
    )
    -- the last step may be stamped after the scheduler's end of the allocation
    AND incident.fault_at <= (
        SELECT attempt.alloc_end_at
        FROM attempt
        WHERE attempt.run = incident.run AND attempt.attempt = incident.attempt
    )
