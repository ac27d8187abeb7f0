-- table: step
-- grain: one completed-step line of an attempt with what its time went into
-- reads: step_gap, baseline, checkpoint
-- params:
-- column run: run
-- column attempt: attempt
-- column source_id: the log
-- column line_no: the line
-- column step: step reported as complete
-- column prev_step: step complete before it
-- column n_steps: steps that the line stands for
-- column started_at: UTC us
-- column ended_at: UTC us
-- column is_first: first line of the attempt
-- column checkpoint_us: pause for saves
-- column evaluation_us: pause for evaluations
-- column stall_us: pause beyond the hang threshold that healed, and storage outage inside a save
-- column degraded_us: excess of sustained slow steps
-- column work_us: the rest, at healthy speed
WITH save_cost AS (
    SELECT
        run,
        attempt,
        next_step_line AS line_no,
        sum(coalesce(cost_us, timer_us, stated_us, 0))::BIGINT AS known_us,
        sum(coalesce(outage_us, 0))::BIGINT AS lost_us
    FROM checkpoint
    WHERE next_step_line IS NOT NULL AND NOT is_async
    GROUP BY run, attempt, next_step_line
),

usual_save AS (
    SELECT
        run,
        greatest(5 * quantile_disc(cost_us, 0.5), 600000000) AS outage_us
    FROM checkpoint
    WHERE cost_us IS NOT NULL
    GROUP BY run
),

joined AS (
    SELECT
        step_gap.*,
        coalesce(baseline.healthy_us, baseline.step_us) AS healthy_us,
        baseline.hang_us,
        coalesce(step_gap.near_us, baseline.step_us, step_gap.elapsed_us) AS local_us,
        save_cost.known_us,
        coalesce(save_cost.lost_us, 0) AS lost_us,
        usual_save.outage_us
    FROM step_gap
    LEFT JOIN baseline
        ON
            step_gap.run = baseline.run
            AND (step_gap.epoch IS NOT DISTINCT FROM baseline.epoch)
    LEFT JOIN save_cost
        ON
            step_gap.run = save_cost.run
            AND step_gap.attempt = save_cost.attempt
            AND step_gap.line_no = save_cost.line_no
    LEFT JOIN usual_save ON step_gap.run = usual_save.run
),

paused AS (
    SELECT
        *,
        greatest(0, gap_us - n_steps * coalesce(local_us, gap_us // greatest(n_steps, 1)))
            AS excess_us,
        n_saves > 0 OR draining_seq IS NOT NULL AS has_save,
        n_evaluations > 0 AS has_evaluation
    FROM joined
),

split AS (
    SELECT
        *,
        CASE
            WHEN is_first THEN 0
            WHEN has_save AND has_evaluation THEN least(excess_us, coalesce(known_us, 0))
            WHEN has_save THEN excess_us
            ELSE 0
        END AS save_us,
        CASE
            WHEN is_first THEN 0
            WHEN
                has_save AND has_evaluation
                THEN excess_us - least(excess_us, coalesce(known_us, 0))
            WHEN has_evaluation THEN excess_us
            ELSE 0
        END AS evaluation_us,
        CASE
            WHEN is_first OR has_save OR has_evaluation THEN 0
            WHEN gap_us > hang_us THEN excess_us
            ELSE 0
        END AS pause_us
    FROM paused
),

-- what the saves themselves are known to have been stuck, else what is beyond all usual
stuck AS (
    SELECT
        *,
        CASE
            WHEN lost_us > 0 THEN least(save_us, lost_us)
            ELSE greatest(0, save_us - coalesce(outage_us, save_us))
        END AS stuck_us
    FROM split
),

stalled AS (
    SELECT
        *,
        save_us - stuck_us AS checkpoint_us,
        pause_us + stuck_us AS stall_us
    FROM stuck
),

sustained AS (
    SELECT
        *,
        CASE
            WHEN local_us * 100 > healthy_us * 105
                THEN least(
                    greatest(
                        0, gap_us - checkpoint_us - evaluation_us - stall_us - n_steps * healthy_us
                    ),
                    gap_us - checkpoint_us - evaluation_us - stall_us
                )
            ELSE 0
        END AS degraded_us
    FROM stalled
)

SELECT
    run,
    attempt,
    source_id,
    line_no,
    step,
    prev_step,
    n_steps,
    started_at,
    ended_at,
    is_first,
    checkpoint_us,
    evaluation_us,
    stall_us,
    degraded_us,
    gap_us - checkpoint_us - evaluation_us - stall_us - degraded_us AS work_us
FROM sustained
