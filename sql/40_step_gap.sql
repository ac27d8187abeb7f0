-- table: step_gap
-- grain: one completed-step line of an attempt, with the time since the one before it
-- reads: attempt, log_start, log_step, log_event, save
-- params:
-- column run: run
-- column attempt: attempt
-- column source_id: the log
-- column line_no: the line
-- column step: step reported as complete
-- column prev_step: step complete before it (of the line before, or of the state loaded)
-- column n_steps: steps that the line stands for
-- column started_at: UTC us, the line before (for the first line: first step complete)
-- column ended_at: UTC us, step complete
-- column gap_us: time between the two
-- column elapsed_us: time per step as printed
-- column resolution_us: how fine the stamp is
-- column is_first: first line of the attempt
-- column n_saves: saves begun since the line before
-- column draining_seq: asynchronous save that was being written meanwhile, null when none was
-- column n_evaluations: evaluations since the line before
-- column epoch: epoch
-- column near_us: median time of a step over the 31 clean lines around it
WITH placed AS (
    SELECT
        attempt.run,
        attempt.attempt,
        attempt.loaded_step,
        attempt.epoch,
        attempt.alloc_start_at,
        log_step.source_id,
        log_step.line_no,
        log_step.step,
        log_step.logged_at,
        log_step.elapsed_us,
        log_step.resolution_us
    FROM (
        SELECT
            log_step.*,
            log_start.attempt_no AS start_no
        FROM log_step
        ASOF INNER JOIN log_start
            ON log_step.source_id = log_start.source_id AND log_step.line_no >= log_start.line_no
    ) AS log_step
    INNER JOIN attempt
        ON log_step.source_id = attempt.source_id AND log_step.start_no = attempt.start_no
    WHERE log_step.logged_at IS NOT NULL
),

-- a step is complete no earlier than the one before it, whatever a clock said
forward AS (
    SELECT
        * REPLACE (
            max(logged_at) OVER (
                PARTITION BY run, attempt ORDER BY line_no
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS logged_at
        )
    FROM placed
),

ordered AS (
    SELECT
        *,
        lag(step) OVER line_order AS before_step,
        lag(logged_at) OVER line_order AS before_at,
        lag(line_no) OVER line_order AS before_line
    FROM forward
    WINDOW line_order AS (PARTITION BY run, attempt ORDER BY line_no)
),

cleaned AS (
    SELECT
        *,
        coalesce(
            before_step,
            CASE WHEN loaded_step < step THEN loaded_step END,
            step - 1
        ) AS prev_step
    FROM ordered
    WHERE before_step IS NULL OR step > before_step
),

pause AS (
    SELECT
        log_event.source_id,
        log_event.kind,
        log_event.step AS saved_step,
        cleaned.line_no
    FROM log_event
    ASOF INNER JOIN cleaned
        ON log_event.source_id = cleaned.source_id AND log_event.line_no < cleaned.line_no
    WHERE
        log_event.format = 'job_log'
        AND log_event.kind IN ('save_started', 'save_scheduled', 'evaluation')
),

counted AS (
    SELECT
        source_id,
        line_no,
        count(DISTINCT coalesce(saved_step, -1)) FILTER (WHERE kind <> 'evaluation') AS n_saves,
        count(*) FILTER (WHERE kind = 'evaluation') AS n_evaluations
    FROM pause
    GROUP BY source_id, line_no
),

spanned AS (
    SELECT
        cleaned.run,
        cleaned.attempt,
        cleaned.source_id,
        cleaned.line_no,
        cleaned.step,
        cleaned.prev_step,
        cleaned.step - cleaned.prev_step AS n_steps,
        coalesce(
            cleaned.before_at,
            -- steps that no line tells were done since its allocation began, not before
            greatest(
                cleaned.logged_at
                - coalesce(cleaned.elapsed_us, 0) * (cleaned.step - cleaned.prev_step - 1),
                CASE
                    WHEN cleaned.alloc_start_at <= cleaned.logged_at THEN cleaned.alloc_start_at
                END
            )
        ) AS started_at,
        cleaned.logged_at AS ended_at,
        cleaned.elapsed_us,
        cleaned.resolution_us,
        cleaned.before_line,
        cleaned.before_at IS NULL AS is_first,
        coalesce(counted.n_saves, 0) AS n_saves,
        coalesce(counted.n_evaluations, 0) AS n_evaluations,
        cleaned.epoch
    FROM cleaned
    LEFT JOIN counted
        ON cleaned.source_id = counted.source_id AND cleaned.line_no = counted.line_no
),

-- one that never became durable was written for as long as the longest one was, at most
written AS (
    SELECT
        run,
        attempt,
        seq,
        begun_at,
        done_source_id,
        done_line,
        coalesce(done_at, begun_at + max(done_at - begun_at) OVER (PARTITION BY run)) AS done_at
    FROM save
    WHERE is_async AND begun_at IS NOT NULL
),

-- the asynchronous save that began last before the line, and the latest end of those so far
drained AS (
    SELECT
        run,
        attempt,
        seq,
        begun_at,
        max(done_at) OVER save_order AS until_at,
        arg_max(done_source_id, done_at) OVER save_order AS until_source_id,
        arg_max(done_line, done_at) OVER save_order AS until_line
    FROM written
    WHERE done_at IS NOT NULL
    WINDOW save_order AS (
        PARTITION BY run, attempt
        ORDER BY begun_at, seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
),

draining AS (
    SELECT
        spanned.run,
        spanned.attempt,
        spanned.line_no,
        drained.seq
    FROM spanned
    ASOF INNER JOIN drained
        ON
            spanned.run = drained.run
            AND spanned.attempt = drained.attempt
            AND spanned.ended_at > drained.begun_at
    WHERE
        drained.until_at > spanned.started_at
        -- within one tick of the clock the order of the lines tells
        OR (
            drained.until_at = spanned.started_at
            AND drained.until_source_id = spanned.source_id
            AND drained.until_line > spanned.before_line
        )
),

clean AS (
    SELECT
        run,
        attempt,
        line_no,
        quantile_disc((ended_at - started_at) // n_steps, 0.5) OVER (
            PARTITION BY run, attempt ORDER BY line_no ROWS BETWEEN 15 PRECEDING AND 15 FOLLOWING
        ) AS near_us
    FROM spanned
    WHERE
        NOT is_first AND n_saves = 0 AND n_evaluations = 0
        AND (run, attempt, line_no) NOT IN (
            SELECT
                draining.run,
                draining.attempt,
                draining.line_no
            FROM draining
        )
),

following AS (
    SELECT
        spanned.run,
        spanned.attempt,
        spanned.line_no,
        clean.near_us
    FROM spanned
    ASOF INNER JOIN clean
        ON
            spanned.run = clean.run
            AND spanned.attempt = clean.attempt
            AND spanned.line_no <= clean.line_no
),

preceding AS (
    SELECT
        spanned.run,
        spanned.attempt,
        spanned.line_no,
        clean.near_us
    FROM spanned
    ASOF INNER JOIN clean
        ON
            spanned.run = clean.run
            AND spanned.attempt = clean.attempt
            AND spanned.line_no >= clean.line_no
)

SELECT
    spanned.run,
    spanned.attempt,
    spanned.source_id,
    spanned.line_no,
    spanned.step,
    spanned.prev_step,
    spanned.n_steps,
    spanned.started_at,
    spanned.ended_at,
    spanned.ended_at - spanned.started_at AS gap_us,
    spanned.elapsed_us,
    spanned.resolution_us,
    spanned.is_first,
    spanned.n_saves,
    draining.seq AS draining_seq,
    spanned.n_evaluations,
    spanned.epoch,
    coalesce(preceding.near_us, following.near_us) AS near_us
FROM spanned
LEFT JOIN draining
    ON
        spanned.run = draining.run
        AND spanned.attempt = draining.attempt
        AND spanned.line_no = draining.line_no
LEFT JOIN preceding
    ON
        spanned.run = preceding.run
        AND spanned.attempt = preceding.attempt
        AND spanned.line_no = preceding.line_no
LEFT JOIN following
    ON
        spanned.run = following.run
        AND spanned.attempt = following.attempt
        AND spanned.line_no = following.line_no
