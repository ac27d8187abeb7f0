-- table: up_time
-- grain: one attempt that did steps: its exposure to interruptions
-- reads: chain, ending, step, incident, attempt, counted
-- params:
-- column run: run
-- column attempt: attempt
-- column start_at: UTC us, first step complete
-- column end_at: UTC us, the fault, the planned end or the last evidence
-- column incident: ordinal of the incident that ended it, null when censored
-- column kind: kind of that incident
-- column n_accelerators: accelerators
WITH first_done AS (
    SELECT
        run,
        attempt,
        min(started_at) AS start_at,
        max(ended_at) AS last_at
    FROM step
    GROUP BY run, attempt
),

whole AS (
    SELECT
        first_done.run,
        first_done.attempt,
        first_done.start_at,
        greatest(
            first_done.start_at,
            CASE
                WHEN ending.ending = 'interrupted' THEN ending.fault_at
                ELSE greatest(first_done.last_at, ending.progress_at)
            END
        ) AS end_at,
        -- the same failure again in a crash loop is no event of its own
        CASE WHEN NOT coalesce(chain.is_repeat, FALSE) THEN chain.incident END AS incident,
        CASE WHEN NOT coalesce(chain.is_repeat, FALSE) THEN incident.kind END AS kind,
        attempt.n_accelerators
    FROM first_done
    INNER JOIN ending ON first_done.run = ending.run AND first_done.attempt = ending.attempt
    INNER JOIN chain ON first_done.run = chain.run AND first_done.attempt = chain.attempt
    INNER JOIN attempt ON first_done.run = attempt.run AND first_done.attempt = attempt.attempt
    LEFT JOIN incident ON chain.run = incident.run AND chain.incident = incident.incident
)

-- without what a person excluded: what ended in there is no event either
SELECT
    whole.* REPLACE (
        greatest(whole.start_at, counted.start_at) AS start_at,
        least(whole.end_at, counted.end_at) AS end_at,
        CASE WHEN whole.end_at < counted.end_at THEN whole.incident END AS incident,
        CASE WHEN whole.end_at < counted.end_at THEN whole.kind END AS kind
    )
FROM whole
INNER JOIN counted
    ON
        whole.run = counted.run
        AND whole.start_at < counted.end_at
        AND whole.end_at >= counted.start_at
