-- table: chain
-- grain: one attempt that did steps, with the incident that its end belongs to
-- reads: link, ending, correction
-- params:
-- column run: run
-- column attempt: attempt
-- column position: counts the run's attempts that did steps
-- column incident: ordinal of the incident that it ended in (or goes on being), null when none
-- column is_repeat: it failed again at the same step in the same way: part of the chain before it
-- column is_secondary: it failed before a newer checkpoint was verified, after a failure
-- column resume_step: step of the state it started from
-- column resumed_incident: ordinal of the incident that it came back from, null at first start
-- column previous_attempt: the attempt with steps before it
-- column previous_kind: kind of that one's end
-- column corrected_by: ordinals of the corrections that joined or split it
WITH ended AS (
    SELECT
        link.*,
        ending.stop_id,
        lag(CASE WHEN link.ending = 'interrupted' THEN ending.stop_id END IGNORE NULLS)
            OVER run_order AS before_id,
        lag(CASE WHEN link.ending = 'interrupted' THEN link.is_repeat END IGNORE NULLS)
            OVER run_order AS before_is_repeat
    FROM link
    INNER JOIN ending ON link.run = ending.run AND link.attempt = ending.attempt
    WINDOW run_order AS (PARTITION BY link.run ORDER BY link.attempt)
),

-- an end can only be joined to the one that it follows, or to the chain of that one
asked AS (
    SELECT
        ended.* EXCLUDE (stop_id, before_id, before_is_repeat),
        (
            SELECT max(correction.ordinal)
            FROM correction
            WHERE
                correction.action = 'merge'
                AND correction.incident = ended.stop_id
                AND (
                    correction.into_incident = ended.before_id
                    OR ended.before_is_repeat
                    OR ended.before_id IN (
                        SELECT other.incident
                        FROM correction AS other
                        WHERE
                            other.action = 'merge'
                            AND other.into_incident = correction.into_incident
                    )
                )
        ) AS merged_by,
        (
            SELECT max(correction.ordinal)
            FROM correction
            WHERE
                correction.action = 'split'
                AND correction.incident = ended.stop_id
                AND ended.is_repeat
        ) AS split_by
    FROM ended
),

decided AS (
    SELECT
        * EXCLUDE (merged_by, split_by) REPLACE (
            CASE
                WHEN position = 1 THEN FALSE
                WHEN merged_by IS NULL AND split_by IS NULL THEN is_repeat
                ELSE coalesce(merged_by, 0) > coalesce(split_by, 0)
            END AS is_repeat,
            is_secondary AND merged_by IS NULL AND split_by IS NULL AS is_secondary
        ),
        CASE
            WHEN merged_by IS NULL AND split_by IS NULL THEN []
            ELSE [greatest(coalesce(merged_by, 0), coalesce(split_by, 0))]
        END AS corrected_by
    FROM asked
),

numbered AS (
    SELECT
        *,
        sum(CASE WHEN ending = 'interrupted' AND NOT is_repeat THEN 1 ELSE 0 END) OVER (
            PARTITION BY run ORDER BY attempt
        ) AS n_so_far
    FROM decided
)

SELECT
    run,
    attempt,
    position,
    CASE WHEN ending = 'interrupted' THEN n_so_far END::BIGINT AS incident,
    is_repeat,
    is_secondary,
    resume_step,
    lag(CASE WHEN ending = 'interrupted' THEN n_so_far END::BIGINT)
        OVER (PARTITION BY run ORDER BY attempt)
        AS resumed_incident,
    previous_attempt,
    previous_kind,
    corrected_by
FROM numbered
