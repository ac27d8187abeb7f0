-- table: phase_law
-- grain: one phase of one epoch of one run: how long it usually takes and may be silent
-- reads: attempt, baseline, checkpoint, step
-- params:
-- column run: run
-- column epoch: epoch
-- column phase: step, save, evaluation, load or first_step
-- column n: healthy times behind it
-- column is_pooled: the epoch has none of its own: those of the whole run stand for it
-- column usual_us: median
-- column longest_us: 99.9th percentile of the healthy ones, without those beyond five times the median
-- column hang_us: a longer silence is a hang: five times the longest, and no less than in a step
WITH first_step AS (
    SELECT
        run,
        epoch,
        first_step_at,
        coalesce(restored_at, restored_low, launch_low, first_at) AS from_at
    FROM attempt
    WHERE n_step_lines > 0
),

-- where begin and end of a load are not stamped, from the last line before to the first after it
sample AS (
    SELECT
        attempt.run,
        attempt.epoch,
        'save' AS phase,
        checkpoint.cost_us AS took_us
    FROM checkpoint
    INNER JOIN attempt
        ON checkpoint.run = attempt.run AND checkpoint.attempt = attempt.attempt
    WHERE checkpoint.cost_us IS NOT NULL AND NOT coalesce(checkpoint.is_async, FALSE)
    UNION ALL
    SELECT
        attempt.run,
        attempt.epoch,
        'evaluation',
        step.evaluation_us
    FROM step
    INNER JOIN attempt ON step.run = attempt.run AND step.attempt = attempt.attempt
    WHERE step.evaluation_us > 0
    UNION ALL
    SELECT
        run,
        epoch,
        'load',
        coalesce(restored_at, restored_high) - coalesce(load_at, load_low)
    FROM attempt
    WHERE n_step_lines > 0 AND load_line IS NOT NULL
    UNION ALL
    SELECT
        run,
        epoch,
        'first_step',
        first_step_at - from_at
    FROM first_step
),

known_epoch AS (
    SELECT DISTINCT
        run,
        epoch
    FROM attempt
),

-- each sample counts for its epoch, and for the run where an epoch has none
counted AS (
    SELECT
        run,
        epoch,
        phase,
        took_us,
        FALSE AS is_pooled
    FROM sample
    WHERE took_us >= 0
    UNION ALL
    SELECT
        sample.run,
        known_epoch.epoch,
        sample.phase,
        sample.took_us,
        TRUE AS is_pooled
    FROM sample
    INNER JOIN known_epoch ON sample.run = known_epoch.run
    WHERE sample.took_us >= 0
),

middle AS (
    SELECT
        run,
        epoch,
        phase,
        is_pooled,
        quantile_disc(took_us, 0.5) AS usual_us
    FROM counted
    GROUP BY run, epoch, phase, is_pooled
),

healthy AS (
    SELECT
        counted.run,
        counted.epoch,
        counted.phase,
        counted.is_pooled,
        count(*) AS n,
        any_value(middle.usual_us) AS usual_us,
        quantile_disc(counted.took_us, 0.999) AS longest_us
    FROM counted
    INNER JOIN middle
        ON
            counted.run = middle.run
            AND counted.epoch IS NOT DISTINCT FROM middle.epoch
            AND counted.phase = middle.phase
            AND counted.is_pooled = middle.is_pooled
    -- one that hung and healed must not raise the threshold that is to find the next
    WHERE counted.took_us <= 5 * middle.usual_us
    GROUP BY counted.run, counted.epoch, counted.phase, counted.is_pooled
)

SELECT
    healthy.run,
    healthy.epoch,
    healthy.phase,
    healthy.n,
    healthy.is_pooled,
    healthy.usual_us,
    healthy.longest_us,
    greatest(5 * healthy.longest_us, baseline.hang_us) AS hang_us
FROM healthy
LEFT JOIN baseline
    ON healthy.run = baseline.run AND healthy.epoch IS NOT DISTINCT FROM baseline.epoch
QUALIFY
    row_number() OVER (
        PARTITION BY healthy.run, healthy.epoch, healthy.phase ORDER BY healthy.is_pooled
    ) = 1
UNION ALL
SELECT
    run,
    epoch,
    'step' AS phase,
    n_clean AS n,
    FALSE AS is_pooled,
    line_us AS usual_us,
    healthy_p999_us AS longest_us,
    hang_us
FROM baseline
