-- table: baseline
-- grain: one epoch of one run: what is healthy there
-- reads: step_gap
-- params:
-- column run: run
-- column epoch: epoch
-- column n_clean: clean lines behind it
-- column step_us: median time of a step
-- column healthy_us: time of a step at its fast sustained level, however long it was slower
-- column line_us: median time between two step lines
-- column line_steps: usual number of steps between two step lines
-- column widest_steps: the same for all but the widest 2 in 100, more where lines are missing
-- column spread_us: 84th percentile less median of the time between two step lines
-- column healthy_p999_us: 99.9th percentile of the healthy time between two step lines
-- column hang_us: a pause longer than this is a hang (or a stall, when it heals)
WITH clean AS (
    SELECT
        run,
        epoch,
        n_steps,
        gap_us,
        near_us,
        resolution_us,
        gap_us // n_steps AS per_step_us
    FROM step_gap
    WHERE NOT is_first AND n_saves = 0 AND n_evaluations = 0 AND draining_seq IS NULL
),

middle AS (
    SELECT
        run,
        epoch,
        count(*) AS n_clean,
        quantile_disc(per_step_us, 0.5) AS step_us,
        coalesce(quantile_disc(near_us, 0.1), quantile_disc(per_step_us, 0.5)) AS healthy_us,
        quantile_disc(gap_us, 0.5) AS line_us,
        quantile_disc(n_steps, 0.5) AS line_steps,
        quantile_disc(n_steps, 0.98) AS widest_steps,
        quantile_disc(gap_us, 0.84) - quantile_disc(gap_us, 0.5) AS spread_us,
        max(resolution_us) AS resolution_us
    FROM clean
    GROUP BY run, epoch
),

tail AS (
    SELECT
        clean.run,
        clean.epoch,
        -- a gap in which lines are missing counts as the time of one line
        quantile_disc(
            clean.gap_us * least(middle.line_steps, clean.n_steps) // clean.n_steps, 0.999
        ) AS healthy_p999_us
    FROM clean
    INNER JOIN middle
        ON clean.run = middle.run AND clean.epoch IS NOT DISTINCT FROM middle.epoch
    -- rare slow steps must not raise the threshold that is to find them
    WHERE clean.gap_us <= 5 * middle.line_us
    GROUP BY clean.run, clean.epoch
)

SELECT
    middle.run,
    middle.epoch,
    middle.n_clean,
    middle.step_us,
    middle.healthy_us,
    middle.line_us,
    middle.line_steps,
    middle.widest_steps,
    middle.spread_us,
    tail.healthy_p999_us,
    -- no pause is told from none by stamps that are coarser than it
    greatest(5 * tail.healthy_p999_us, 3 * middle.line_us, 3 * middle.resolution_us) AS hang_us
FROM middle
INNER JOIN tail ON middle.run = tail.run AND middle.epoch IS NOT DISTINCT FROM tail.epoch
