-- table: step_fate
-- grain: one completed-step line, or the part of it with one fate (kept, or discarded by one incident)
-- reads: step, discard
-- params:
-- column run: run
-- column attempt: attempt
-- column line_no: the line
-- column step: last step of the part
-- column n_steps: steps in the part
-- column incident: ordinal of the incident that discarded it, null when kept
-- column work_us: work of the part
-- column evaluation_us: evaluation of the part
-- column degraded_us: slow excess of the part
WITH cut AS (
    SELECT
        step.run,
        step.attempt,
        step.line_no,
        step.prev_step,
        step.step,
        step.n_steps AS line_n_steps,
        step.is_first,
        step.work_us AS line_work_us,
        step.evaluation_us AS line_evaluation_us,
        step.degraded_us AS line_degraded_us,
        greatest(step.prev_step, discard.above_step) AS from_step,
        least(step.step, discard.to_step) AS upto_step,
        discard.incident
    FROM step
    INNER JOIN discard
        ON
            step.run = discard.run
            AND step.attempt = discard.attempt
            AND step.step > discard.above_step
            AND step.prev_step < discard.to_step
),

lost AS (
    SELECT
        run,
        attempt,
        line_no,
        sum(upto_step - from_step)::BIGINT AS n_lost
    FROM cut
    GROUP BY run, attempt, line_no
),

part AS (
    SELECT
        run,
        attempt,
        line_no,
        prev_step,
        step,
        line_n_steps,
        line_work_us,
        line_evaluation_us,
        line_degraded_us,
        upto_step,
        upto_step - from_step AS n_steps,
        incident
    FROM cut
    UNION ALL
    SELECT
        step.run,
        step.attempt,
        step.line_no,
        step.prev_step,
        step.step,
        step.n_steps AS line_n_steps,
        step.work_us,
        step.evaluation_us,
        step.degraded_us,
        step.step - coalesce(lost.n_lost, 0) AS upto_step,
        step.n_steps - coalesce(lost.n_lost, 0) AS n_steps,
        NULL AS incident
    FROM step
    LEFT JOIN lost
        ON step.run = lost.run AND step.attempt = lost.attempt AND step.line_no = lost.line_no
    WHERE step.n_steps - coalesce(lost.n_lost, 0) > 0
),

-- the parts of one line add up to the line exactly: cumulative shares, differenced
cumulated AS (
    SELECT
        *,
        sum(n_steps) OVER line_order AS steps_so_far,
        sum(n_steps) OVER line_order - n_steps AS steps_before
    FROM part
    WINDOW line_order AS (PARTITION BY run, attempt, line_no ORDER BY upto_step)
)

SELECT
    run,
    attempt,
    line_no,
    upto_step AS step,
    n_steps,
    incident,
    (
        line_work_us * steps_so_far // line_n_steps - line_work_us * steps_before // line_n_steps
    )::BIGINT AS work_us,
    (
        line_evaluation_us * steps_so_far // line_n_steps
        - line_evaluation_us * steps_before // line_n_steps
    )::BIGINT AS evaluation_us,
    (
        line_degraded_us * steps_so_far
        // line_n_steps
        - line_degraded_us * steps_before
        // line_n_steps
    )::BIGINT
        AS degraded_us
FROM cumulated
