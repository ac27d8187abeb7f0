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
-- column returns_to: earlier attempt that had done the step it resumed at, where the one before it had not got so far
-- column left_step: step at which the attempts in between had left that line
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

-- what the next attempt loads had been saved, whether or not a line says so
saved AS (
    SELECT
        * REPLACE (
            coalesce(
                new_verified_step,
                CASE
                    WHEN next_resume_step > resume_step AND next_resume_step <= last_step
                        THEN next_resume_step
                END
            ) AS new_verified_step
        )
    FROM (
        SELECT
            *,
            lead(resume_step) OVER (PARTITION BY run ORDER BY attempt) AS next_resume_step
        FROM progressed
    ) AS sequence
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
    FROM saved
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
),

-- beyond what the attempt before it had done: back to a line that had been left
returned AS (
    SELECT
        later.run,
        later.attempt,
        max(earlier.attempt) AS returns_to
    FROM reached AS later
    INNER JOIN reached AS earlier
        ON
            later.run = earlier.run
            AND later.previous_attempt > earlier.attempt
            AND later.resume_step > earlier.resume_step
            AND later.resume_step <= earlier.last_step
    -- it must have saved that step: else the log of the attempt before is not whole
    INNER JOIN checkpoint
        ON
            earlier.run = checkpoint.run
            AND earlier.attempt = checkpoint.attempt
            AND later.resume_step = checkpoint.step
    -- what a log of every k-th step does not show is no other line
    WHERE later.resume_step > later.previous_step + later.line_steps
    GROUP BY later.run, later.attempt
),

rejoined AS (
    SELECT
        returned.run,
        returned.attempt,
        returned.returns_to,
        min(branch.resume_step) AS left_step
    FROM returned
    INNER JOIN reached AS branch
        ON
            returned.run = branch.run
            AND returned.returns_to < branch.attempt
            AND returned.attempt > branch.attempt
    GROUP BY returned.run, returned.attempt, returned.returns_to
)

SELECT
    compared.run,
    compared.attempt,
    compared.position,
    compared.ending,
    compared.is_repeat,
    compared.is_early AND NOT compared.is_repeat AS is_secondary,
    compared.resume_step,
    compared.previous_attempt,
    compared.previous_kind,
    rejoined.returns_to,
    rejoined.left_step
FROM compared
LEFT JOIN rejoined ON compared.run = rejoined.run AND compared.attempt = rejoined.attempt
