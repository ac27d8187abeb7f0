-- table: link
-- grain: one attempt that did steps, and how its end hangs together with the end before it
-- reads: attempt, ending, checkpoint, baseline
-- params:
-- column run: run
-- column attempt: attempt
-- column position: counts the run's attempts that did steps
-- column ending: complete, running, continued or interrupted
-- column is_repeat: it failed again at the same step in the same way: part of the chain before it
-- column is_secondary: it failed before a newer checkpoint was verified, after a failure
-- column resume_step: step of the state it started from
-- column previous_attempt: the attempt with steps before it
-- column previous_kind: kind of that one's end
WITH progressed AS (
    SELECT
        attempt.run,
        attempt.attempt,
        attempt.first_step,
        attempt.last_step,
        coalesce(
            attempt.loaded_step,
            attempt.first_step - coalesce(baseline.line_steps, 1)
        ) AS resume_step,
        ending.ending,
        ending.kind,
        ending.signature,
        coalesce(baseline.line_steps, 1) AS line_steps,
        (
            SELECT max(checkpoint.step)
            FROM checkpoint
            WHERE
                checkpoint.run = attempt.run
                AND checkpoint.attempt = attempt.attempt
                AND checkpoint.is_good
                AND checkpoint.tier = 'remote'
                AND checkpoint.step > coalesce(attempt.loaded_step, attempt.first_step - 1)
        ) AS new_verified_step
    FROM attempt
    INNER JOIN ending ON attempt.run = ending.run AND attempt.attempt = ending.attempt
    LEFT JOIN baseline
        ON
            attempt.run = baseline.run
            AND (attempt.epoch IS NOT DISTINCT FROM baseline.epoch)
),

-- a stretch of failures lasts until a checkpoint newer than the state resumed from is verified
reached AS (
    SELECT
        *,
        row_number() OVER run_order AS position,
        lag(attempt) OVER run_order AS previous_attempt,
        lag(kind) OVER run_order AS previous_kind,
        lag(signature) OVER run_order AS previous_signature,
        lag(last_step) OVER run_order AS previous_step,
        sum((new_verified_step IS NOT NULL)::INTEGER) OVER (
            PARTITION BY run ORDER BY attempt
        ) AS stretch
    FROM progressed
    WINDOW run_order AS (PARTITION BY run ORDER BY attempt)
),

compared AS (
    SELECT
        *,
        coalesce(
            kind = 'failure'
            AND previous_kind = 'failure'
            AND new_verified_step IS NULL
            AND signature = previous_signature
            AND abs(last_step - previous_step) < line_steps,
            FALSE
        ) AS is_repeat,
        coalesce(
            kind = 'failure'
            AND sum((kind = 'failure')::INTEGER) OVER (
                PARTITION BY run, stretch
                ORDER BY attempt
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) > 0,
            FALSE
        ) AS is_early
    FROM reached
)

SELECT
    run,
    attempt,
    position,
    ending,
    is_repeat,
    is_early AND NOT is_repeat AS is_secondary,
    resume_step,
    previous_attempt,
    previous_kind
FROM compared
