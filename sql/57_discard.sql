-- table: discard
-- grain: one stretch of steps of one attempt that a later restart threw away
-- reads: chain, attempt
-- params:
-- column run: run
-- column attempt: attempt that had done the steps
-- column above_step: steps greater than this...
-- column to_step: ...up to this one are discarded
-- column incident: ordinal of the incident that discarded them
WITH sequence AS (
    SELECT
        chain.run,
        chain.attempt,
        attempt.last_step,
        chain.resume_step,
        chain.resumed_incident,
        lag(chain.resume_step) OVER run_order AS before_resume_step,
        lead(chain.attempt) OVER run_order AS next_attempt,
        lead(chain.resume_step) OVER run_order AS next_resume_step
    FROM chain
    INNER JOIN attempt ON chain.run = attempt.run AND chain.attempt = attempt.attempt
    WINDOW run_order AS (PARTITION BY chain.run ORDER BY chain.attempt)
),

-- what comes next may throw away all; only a restart that goes further back than the one before it
-- can throw away more of what still stands
pair AS (
    SELECT
        done.run,
        done.attempt,
        done.last_step,
        later.attempt AS later_attempt,
        later.resume_step,
        later.resumed_incident
    FROM sequence AS done
    INNER JOIN sequence AS later
        ON done.run = later.run AND done.next_attempt = later.attempt
    WHERE later.resume_step < done.last_step
    UNION ALL
    SELECT
        done.run,
        done.attempt,
        done.last_step,
        later.attempt AS later_attempt,
        later.resume_step,
        later.resumed_incident
    FROM sequence AS done
    INNER JOIN sequence AS later
        ON
            done.run = later.run
            AND done.next_attempt < later.attempt
            AND later.resume_step < done.last_step
    WHERE
        done.next_resume_step > done.resume_step
        AND later.resume_step < later.before_resume_step
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
