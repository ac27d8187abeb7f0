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
WITH RECURSIVE ended AS (
    SELECT
        link.*,
        ending.stop_id,
        sum((link.ending = 'interrupted')::INTEGER) OVER (
            PARTITION BY link.run ORDER BY link.attempt
        )::BIGINT AS place
    FROM link
    INNER JOIN ending ON link.run = ending.run AND link.attempt = ending.attempt
),

-- of merging and splitting one end only one is asked for: the last in the file
asked AS (
    SELECT
        ended.*,
        correction.action,
        correction.ordinal,
        target.place AS into_place
    FROM ended
    LEFT JOIN correction
        ON
            ended.ending = 'interrupted'
            AND ended.stop_id = correction.incident
            AND correction.action IN ('merge', 'split')
            AND correction.superseded_by IS NULL
    LEFT JOIN ended AS target
        ON
            ended.run = target.run
            AND correction.into_incident = target.stop_id
            AND target.ending = 'interrupted'
),

merging AS (
    SELECT DISTINCT run
    FROM asked
    WHERE action = 'merge'
),

-- an end can only be joined to the chain that it directly follows, and what that is depends on the
-- ends before it: one after the other, in the runs where something is to be merged
walked AS (
    SELECT
        run,
        place,
        place AS begins_at,
        FALSE AS is_merged
    FROM asked
    WHERE
        ending = 'interrupted'
        AND place = 1
        AND run IN (SELECT merging.run FROM merging)
    UNION ALL
    SELECT
        asked.run,
        asked.place,
        CASE
            WHEN coalesce(asked.into_place BETWEEN walked.begins_at AND walked.place, FALSE)
                THEN walked.begins_at
            WHEN asked.is_repeat AND coalesce(asked.action <> 'split', TRUE) THEN walked.begins_at
            ELSE asked.place
        END AS begins_at,
        NOT asked.is_repeat
        AND coalesce(asked.into_place BETWEEN walked.begins_at AND walked.place, FALSE) AS is_merged
    FROM walked
    INNER JOIN asked
        ON
            walked.run = asked.run
            AND walked.place + 1 = asked.place
            AND asked.ending = 'interrupted'
),

decided AS (
    SELECT
        asked.* EXCLUDE (is_repeat, is_secondary),
        coalesce(walked.is_merged, FALSE)
        OR (asked.is_repeat AND coalesce(asked.action <> 'split', TRUE)) AS is_repeat,
        CASE
            WHEN walked.is_merged THEN FALSE
            -- it failed again before a newer checkpoint, only of something else
            WHEN asked.is_repeat AND asked.action = 'split' THEN TRUE
            ELSE asked.is_secondary
        END AS is_secondary,
        CASE
            WHEN walked.is_merged OR (asked.is_repeat AND asked.action = 'split')
                THEN [asked.ordinal]
            ELSE []
        END AS corrected_by
    FROM asked
    LEFT JOIN walked
        ON
            asked.run = walked.run
            AND asked.place = walked.place
            AND asked.ending = 'interrupted'
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
