-- table: discard
-- grain: one stretch of steps of one attempt that a later restart threw away
-- reads: chain, attempt, link
-- params:
-- column run: run
-- column attempt: attempt that had done the steps
-- column above_step: steps greater than this...
-- column to_step: ...up to this one are discarded
-- column incident: ordinal of the incident that discarded them
WITH done AS (
    SELECT
        chain.run,
        chain.attempt,
        attempt.last_step,
        chain.resume_step,
        chain.resumed_incident,
        link.returns_to,
        lead(chain.resumed_incident) OVER (PARTITION BY chain.run ORDER BY chain.attempt)
            AS own_incident
    FROM chain
    INNER JOIN attempt ON chain.run = attempt.run AND chain.attempt = attempt.attempt
    LEFT JOIN link ON chain.run = link.run AND chain.attempt = link.attempt
),

-- attempts that a later one left aside, by going on from steps that an earlier one had done
branch AS (
    SELECT
        done.run,
        done.attempt,
        min(back.attempt) AS left_by,
        arg_min(back.resumed_incident, back.attempt) AS left_in
    FROM done
    INNER JOIN done AS back
        ON
            done.run = back.run
            AND done.attempt > back.returns_to
            AND done.attempt < back.attempt
    GROUP BY done.run, done.attempt
),

sequence AS (
    SELECT
        done.*,
        coalesce(branch.left_by, 0) AS line,
        branch.left_in,
        lag(done.resume_step) OVER line_order AS before_resume_step,
        lead(done.attempt) OVER line_order AS next_attempt,
        lead(done.resume_step) OVER line_order AS next_resume_step
    FROM done
    LEFT JOIN branch ON done.run = branch.run AND done.attempt = branch.attempt
    WINDOW line_order AS (
        PARTITION BY done.run, coalesce(branch.left_by, 0) ORDER BY done.attempt
    )
),

-- what comes next may throw away all; only a restart that goes further back than the one before it
-- can throw away more of what still stands
pair AS (
    SELECT
        earlier.run,
        earlier.attempt,
        earlier.last_step,
        later.attempt AS later_attempt,
        later.resume_step,
        -- what a branch left out is lost by leaving, whoever came back later
        CASE
            WHEN later.returns_to = earlier.attempt THEN earlier.own_incident
            ELSE later.resumed_incident
        END AS resumed_incident
    FROM sequence AS earlier
    INNER JOIN sequence AS later
        ON earlier.run = later.run AND earlier.next_attempt = later.attempt
    WHERE later.resume_step < earlier.last_step
    UNION ALL
    SELECT
        earlier.run,
        earlier.attempt,
        earlier.last_step,
        later.attempt AS later_attempt,
        later.resume_step,
        later.resumed_incident
    FROM sequence AS earlier
    INNER JOIN sequence AS later
        ON
            earlier.run = later.run
            AND earlier.line = later.line
            AND earlier.next_attempt < later.attempt
            AND later.resume_step < earlier.last_step
    WHERE
        earlier.next_resume_step > earlier.resume_step
        AND later.resume_step < later.before_resume_step
    UNION ALL
    -- all of a branch goes
    SELECT
        run,
        attempt,
        last_step,
        line AS later_attempt,
        resume_step,
        left_in AS resumed_incident
    FROM sequence
    WHERE line > 0
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
