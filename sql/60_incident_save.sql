-- table: incident_save
-- grain: one incident, with the newest checkpoints before its fault
-- reads: incident_head, ending, chain, checkpoint, attempt, step
-- params:
-- column run: run
-- column incident: ordinal of the incident
-- column verified_step: newest verified step as known at the fault
-- column verified_grade: its grade then
-- column verified_captured_at: UTC us, when that state was captured
-- column verified_step_hindsight: newest step before the fault that is known to be good today
-- column attempted_captured_at: UTC us, capture of the newest save begun before the fault
-- column after_us: training time of whole steps since the later of that capture and the last resume
WITH good AS (
    SELECT *
    FROM checkpoint
    WHERE tier = 'remote' AND verified_at IS NOT NULL
),

newest_good AS (
    SELECT
        returned.run,
        returned.incident,
        arg_max(good.step, (good.verified_at, good.ordinal)) AS step,
        arg_max(good.captured_at, (good.verified_at, good.ordinal)) AS captured_at,
        arg_max(
            CASE
                WHEN good.loaded_at <= ending.fault_at THEN 'loaded'
                WHEN good.shards_at <= ending.fault_at THEN 'shards'
                ELSE 'marker'
            END,
            (good.verified_at, good.ordinal)
        ) AS grade
    FROM incident_head AS returned
    INNER JOIN ending ON returned.run = ending.run AND returned.attempt = ending.attempt
    INNER JOIN good ON returned.run = good.run AND good.verified_at <= ending.fault_at
    WHERE
        coalesce(good.invalid_at > ending.fault_at, TRUE)
        AND coalesce(good.deleted_at > ending.fault_at, TRUE)
    GROUP BY returned.run, returned.incident
),

-- what is known today to have been there and whole, whenever that was learned
newest_whole AS (
    SELECT
        returned.run,
        returned.incident,
        arg_max(checkpoint.step, (checkpoint.captured_at, checkpoint.ordinal)) AS step
    FROM incident_head AS returned
    INNER JOIN ending ON returned.run = ending.run AND returned.attempt = ending.attempt
    INNER JOIN checkpoint
        ON returned.run = checkpoint.run AND checkpoint.captured_at <= ending.fault_at
    WHERE
        checkpoint.is_good
        AND (checkpoint.tier = 'remote' OR checkpoint.loaded_at IS NOT NULL)
        AND coalesce(checkpoint.deleted_at > ending.fault_at, TRUE)
        -- a load that was tried and did not end
        AND NOT EXISTS (
            SELECT 1
            FROM attempt AS tried
            INNER JOIN chain ON tried.run = chain.run AND returned.resumed_by = chain.attempt
            WHERE
                tried.run = returned.run
                AND tried.attempt > returned.attempt
                AND tried.attempt < returned.resumed_by
                AND tried.loaded_step = checkpoint.step
                AND tried.restored_line IS NULL
                AND chain.resume_step < checkpoint.step
        )
    GROUP BY returned.run, returned.incident
),

newest_begun AS (
    SELECT
        returned.run,
        returned.incident,
        max(checkpoint.captured_at) AS captured_at
    FROM incident_head AS returned
    INNER JOIN ending ON returned.run = ending.run AND returned.attempt = ending.attempt
    INNER JOIN checkpoint
        ON returned.run = checkpoint.run AND checkpoint.captured_at <= ending.fault_at
    GROUP BY returned.run, returned.incident
),

unsaved AS (
    SELECT
        returned.run,
        returned.incident,
        sum(step.work_us + step.degraded_us + step.evaluation_us)::BIGINT AS work_us
    FROM incident_head AS returned
    INNER JOIN step ON returned.run = step.run AND returned.attempt = step.attempt
    LEFT JOIN newest_good
        ON returned.run = newest_good.run AND returned.incident = newest_good.incident
    WHERE newest_good.captured_at IS NULL OR step.ended_at > newest_good.captured_at
    GROUP BY returned.run, returned.incident
)

SELECT
    returned.run,
    returned.incident,
    newest_good.step AS verified_step,
    newest_good.grade AS verified_grade,
    newest_good.captured_at AS verified_captured_at,
    newest_whole.step AS verified_step_hindsight,
    newest_begun.captured_at AS attempted_captured_at,
    coalesce(unsaved.work_us, 0) AS after_us
FROM incident_head AS returned
LEFT JOIN newest_whole
    ON returned.run = newest_whole.run AND returned.incident = newest_whole.incident
LEFT JOIN newest_good
    ON returned.run = newest_good.run AND returned.incident = newest_good.incident
LEFT JOIN newest_begun
    ON returned.run = newest_begun.run AND returned.incident = newest_begun.incident
LEFT JOIN unsaved ON returned.run = unsaved.run AND returned.incident = unsaved.incident
