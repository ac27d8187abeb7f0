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
),

-- an allocation may end before the last line of its log, and a run may be taken over
whole AS (
    SELECT
        chain.run,
        chain.incident
    FROM chain
    INNER JOIN ending ON chain.run = ending.run AND chain.attempt = ending.attempt
    INNER JOIN span ON chain.run = span.run AND chain.attempt = span.attempt
    WHERE
        chain.incident IS NOT NULL
        AND chain.run NOT IN (
            SELECT counted.run
            FROM counted
            GROUP BY counted.run
            HAVING count(*) > 1
        )
    GROUP BY chain.run, chain.incident
    HAVING bool_and(ending.detected_at <= span.to_at AND span.takeover_at IS NULL)
)

SELECT
    incident.run,
    incident.incident_id,
    incident.lost_work_us,
    charged.lost_work_us AS charged_lost_us,
    incident.detection_us,
    charged.detection_us AS charged_detection_us
FROM incident
INNER JOIN whole ON incident.run = whole.run AND incident.incident = whole.incident
LEFT JOIN charged ON incident.run = charged.run AND incident.incident = charged.incident
WHERE
    incident.lost_work_us <> coalesce(charged.lost_work_us, 0)
    OR incident.detection_us <> coalesce(charged.detection_us, 0)
