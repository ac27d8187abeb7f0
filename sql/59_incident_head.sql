-- table: incident_head
-- grain: one incident: the attempt that was interrupted, and the attempts that belong to it
-- reads: chain
-- params:
-- column run: run
-- column incident: counts the run's incidents, from 1
-- column attempt: attempt that was interrupted
-- column is_secondary: failed before a newer checkpoint was verified, after a failure
-- column last_failed_attempt: last attempt with steps that belongs to the chain
-- column resumed_by: attempt that came back, null when none did
WITH head AS (
    SELECT
        chain.run,
        chain.incident,
        chain.attempt,
        chain.is_secondary,
        (
            SELECT max(repeat.attempt)
            FROM chain AS repeat
            WHERE repeat.run = chain.run AND repeat.incident = chain.incident
        ) AS last_failed_attempt
    FROM chain
    WHERE chain.incident IS NOT NULL AND NOT chain.is_repeat
)

SELECT
    head.run,
    head.incident,
    head.attempt,
    head.is_secondary,
    head.last_failed_attempt,
    (
        SELECT min(later.attempt)
        FROM chain AS later
        WHERE later.run = head.run AND later.attempt > head.last_failed_attempt
    ) AS resumed_by
FROM head
