-- table: discard
-- grain: one stretch of steps of one attempt that a later restart threw away
-- reads: chain, attempt
-- params:
-- column run: run
-- column attempt: attempt that had done the steps
-- column above_step: steps greater than this...
-- column to_step: ...up to this one are discarded
-- column incident: ordinal of the incident that discarded them
WITH pair AS (
    SELECT
        done.run,
        done.attempt,
        done_attempt.last_step,
        later.attempt AS later_attempt,
        later.resume_step,
        later.resumed_incident
    FROM chain AS done
    INNER JOIN attempt AS done_attempt
        ON done.run = done_attempt.run AND done.attempt = done_attempt.attempt
    INNER JOIN chain AS later
        ON
            done.run = later.run
            AND done.attempt < later.attempt
            AND later.resume_step < done_attempt.last_step
),

lowest AS (
    SELECT
        *,
        coalesce(
            min(resume_step) OVER (
                PARTITION BY run, attempt
                ORDER BY later_attempt
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            last_step
        ) AS kept_before
    FROM pair
)

SELECT
    run,
    attempt,
    resume_step AS above_step,
    kept_before AS to_step,
    resumed_incident AS incident
FROM lowest
WHERE resume_step < kept_before
