-- table: checkpoint
-- grain: one save of one step by one attempt
-- reads: attempt, event, step_gap, baseline
-- params: verified_rank
-- column run: run
-- column attempt: attempt
-- column ordinal: counts the saves of the run in time and line order, from 1
-- column step: step whose state is saved
-- column source_id: the log
-- column line_no: line where the save begins (or ends, when only that was printed)
-- column done_line: line that says that it is complete
-- column path: folder
-- column tier: remote or local
-- column is_async: the save was only scheduled at its first line
-- column captured_at: UTC us, the state is that of this moment
-- column blocking_done_at: UTC us, training went on
-- column committed_at: UTC us, durable as the framework says
-- column state: started, blocking_done, committed, verified or torn
-- column grade: kind of evidence that it can be loaded: marker or loaded
-- column verified_at: UTC us, since when it was known to be good
-- column is_final: no step of the attempt follows
-- column next_step_line: line of the step line after the save
-- column gap_cost_us: cost from the gap between the steps around it
-- column timer_us: the framework's own timer
-- column stated_us: end less begin, where both are stamped
-- column cost_us: exposed cost that is used, without an outage inside the save
-- column outage_us: what a save took beyond five times the median and ten minutes
-- column cost_origin: gap, timer, stated or null
-- column error_us: how far gap_cost_us may be off
-- column why: why it is not verified, in words
WITH save_line AS (
    SELECT
        attempt.last_step_line,
        attempt.epoch,
        event.*
    FROM event
    INNER JOIN attempt ON event.run = attempt.run AND event.attempt = attempt.attempt
    WHERE
        event.is_own
        AND event.kind IN ('save_started', 'save_scheduled', 'save_done', 'save_timer')
),

-- a save printed by many ranks begins once; begun again after it was done it is another save
begin_line AS (
    SELECT *
    FROM (
        SELECT
            *,
            lag(kind) OVER save_order AS before_kind,
            lag(step) OVER save_order AS before_step
        FROM save_line
        WHERE kind <> 'save_timer'
        WINDOW save_order AS (PARTITION BY run, attempt ORDER BY line_no ASC, kind DESC)
    ) AS sequence
    WHERE
        kind IN ('save_started', 'save_scheduled')
        AND (before_kind IS NULL OR before_kind = 'save_done' OR before_step <> step)
),

done_line AS (
    SELECT
        begin_line.run,
        begin_line.attempt,
        begin_line.line_no,
        max(done.line_no) AS done_line,
        arg_max(done.logged_at, done.line_no) AS done_at,
        arg_max(done.strength, done.line_no) AS done_strength,
        bool_or(done.code = 'local') AS is_local
    FROM save_line AS done
    ASOF INNER JOIN begin_line
        ON
            done.run = begin_line.run
            AND done.attempt = begin_line.attempt
            AND done.step = begin_line.step
            AND done.line_no >= begin_line.line_no
    WHERE done.kind = 'save_done'
    GROUP BY begin_line.run, begin_line.attempt, begin_line.line_no
),

lonely_done AS (
    SELECT
        done.run,
        done.attempt,
        done.step,
        any_value(done.source_id) AS source_id,
        min(done.line_no) AS line_no,
        max(done.line_no) AS done_line,
        any_value(done.path) AS path,
        any_value(done.epoch) AS epoch,
        arg_max(done.logged_at, done.line_no) AS logged_at,
        arg_max(done.strength, done.line_no) AS strength,
        bool_or(done.code = 'local') AS is_local
    FROM save_line AS done
    WHERE
        done.kind = 'save_done'
        AND NOT EXISTS (
            SELECT 1
            FROM begin_line
            WHERE
                begin_line.run = done.run
                AND begin_line.attempt = done.attempt
                AND begin_line.step = done.step
                AND begin_line.line_no <= done.line_no
        )
    -- ranks repeat the line: one save of one step
    GROUP BY done.run, done.attempt, done.step
),

-- the line that says that a save was only scheduled may follow the line where it begins
scheduled AS (
    SELECT DISTINCT
        begin_line.run,
        begin_line.attempt,
        begin_line.line_no
    FROM save_line AS later
    ASOF INNER JOIN begin_line
        ON
            later.run = begin_line.run
            AND later.attempt = begin_line.attempt
            AND later.step = begin_line.step
            AND later.line_no >= begin_line.line_no
    WHERE later.kind = 'save_scheduled'
),

timer AS (
    SELECT
        begin_line.run,
        begin_line.attempt,
        begin_line.line_no,
        max(timed.duration_us) AS timer_us
    FROM save_line AS timed
    ASOF INNER JOIN begin_line
        ON
            timed.run = begin_line.run
            AND timed.attempt = begin_line.attempt
            AND timed.line_no >= begin_line.line_no
    WHERE timed.kind = 'save_timer'
    GROUP BY begin_line.run, begin_line.attempt, begin_line.line_no
),

save AS (
    SELECT
        begin_line.run,
        begin_line.attempt,
        begin_line.source_id,
        begin_line.line_no,
        begin_line.step,
        begin_line.path,
        scheduled.line_no IS NOT NULL AS is_async,
        begin_line.logged_at AS begun_at,
        begin_line.strength AS begun_strength,
        begin_line.epoch,
        done_line.done_line,
        done_line.done_at,
        done_line.done_strength,
        coalesce(done_line.is_local, FALSE) AS is_local,
        timer.timer_us
    FROM begin_line
    LEFT JOIN done_line
        ON
            begin_line.run = done_line.run
            AND begin_line.attempt = done_line.attempt
            AND begin_line.line_no = done_line.line_no
    LEFT JOIN timer
        ON
            begin_line.run = timer.run
            AND begin_line.attempt = timer.attempt
            AND begin_line.line_no = timer.line_no
    LEFT JOIN scheduled
        ON
            begin_line.run = scheduled.run
            AND begin_line.attempt = scheduled.attempt
            AND begin_line.line_no = scheduled.line_no
    UNION ALL
    SELECT
        run,
        attempt,
        source_id,
        line_no,
        step,
        path,
        FALSE AS is_async,
        NULL AS begun_at,
        'absent' AS begun_strength,
        epoch,
        done_line,
        logged_at AS done_at,
        strength AS done_strength,
        coalesce(is_local, FALSE) AS is_local,
        NULL AS timer_us
    FROM lonely_done
),

followed AS (
    SELECT
        save.run,
        save.attempt,
        save.line_no,
        step_gap.line_no AS next_step_line,
        step_gap.gap_us,
        step_gap.n_steps,
        step_gap.n_saves,
        step_gap.n_evaluations,
        step_gap.near_us,
        step_gap.resolution_us
    FROM save
    ASOF INNER JOIN step_gap
        ON
            save.run = step_gap.run
            AND save.attempt = step_gap.attempt
            AND save.line_no < step_gap.line_no
    WHERE NOT step_gap.is_first
),

captured AS (
    SELECT
        save.run,
        save.attempt,
        save.line_no,
        step_gap.ended_at AS step_at
    FROM save
    ASOF INNER JOIN step_gap
        ON
            save.run = step_gap.run
            AND save.attempt = step_gap.attempt
            AND save.line_no > step_gap.line_no
),

measured AS (
    SELECT
        save.*,
        followed.next_step_line,
        captured.step_at,
        CASE
            WHEN followed.n_saves = 1 AND followed.n_evaluations = 0
                THEN
                    greatest(
                        0,
                        followed.gap_us
                        - followed.n_steps * coalesce(followed.near_us, baseline.step_us)
                    )
        END AS gap_cost_us,
        followed.resolution_us + coalesce(baseline.spread_us, 0) AS error_us,
        CASE
            WHEN save.begun_strength = 'stated' AND save.done_strength = 'stated'
                THEN save.done_at - save.begun_at
        END AS stated_us,
        attempt.is_alloc_open
        AND attempt.attempt = max(attempt.attempt) OVER (PARTITION BY save.run) AS is_alive
    FROM save
    INNER JOIN attempt ON save.run = attempt.run AND save.attempt = attempt.attempt
    LEFT JOIN followed
        ON
            save.run = followed.run
            AND save.attempt = followed.attempt
            AND save.line_no = followed.line_no
    LEFT JOIN captured
        ON
            save.run = captured.run
            AND save.attempt = captured.attempt
            AND save.line_no = captured.line_no
    LEFT JOIN baseline
        ON
            save.run = baseline.run
            AND (save.epoch IS NOT DISTINCT FROM baseline.epoch)
),

priced AS (
    SELECT
        *,
        CASE
            WHEN is_async THEN gap_cost_us
            WHEN
                gap_cost_us IS NOT NULL
                AND (10 * error_us <= gap_cost_us OR coalesce(timer_us, stated_us) IS NULL)
                THEN gap_cost_us
            ELSE coalesce(timer_us, stated_us)
        END AS cost_us,
        CASE
            WHEN is_async AND gap_cost_us IS NOT NULL THEN 'gap'
            WHEN is_async THEN NULL
            WHEN
                gap_cost_us IS NOT NULL
                AND (10 * error_us <= gap_cost_us OR coalesce(timer_us, stated_us) IS NULL)
                THEN 'gap'
            WHEN timer_us IS NOT NULL THEN 'timer'
            WHEN stated_us IS NOT NULL THEN 'stated'
        END AS cost_origin,
        coalesce(
            CASE WHEN begun_strength = 'stated' THEN begun_at END,
            step_at,
            begun_at,
            done_at - coalesce(timer_us, 0)
        ) AS captured_at
    FROM measured
),

-- a later attempt that came up from this very step proves the save, whatever was printed
proved AS (
    SELECT
        priced.run,
        priced.attempt,
        priced.line_no,
        min(
            coalesce(
                attempt.restored_at, attempt.restored_low, attempt.first_at, attempt.alloc_start_at
            )
        ) AS loaded_at
    FROM priced
    INNER JOIN attempt
        ON
            priced.run = attempt.run
            AND priced.attempt < attempt.attempt
            AND priced.step = attempt.loaded_step
    WHERE attempt.n_step_lines > 0
    GROUP BY priced.run, priced.attempt, priced.line_no
),

-- of several saves of one step only the newest can be the one that was loaded
dated AS (
    SELECT
        priced.*,
        CASE
            WHEN
                row_number() OVER (
                    PARTITION BY priced.run, priced.step, proved.loaded_at
                    ORDER BY
                        priced.attempt DESC, priced.done_line IS NOT NULL DESC, priced.line_no DESC
                ) = 1
                THEN proved.loaded_at
        END AS loaded_at,
        CASE
            WHEN priced.done_line IS NOT NULL
                THEN coalesce(
                    CASE
                        WHEN priced.done_strength = 'stated' OR priced.is_async THEN priced.done_at
                    END,
                    priced.captured_at + priced.cost_us,
                    priced.done_at
                )
        END AS durable_at
    FROM priced
    LEFT JOIN proved
        ON
            priced.run = proved.run
            AND priced.attempt = proved.attempt
            AND priced.line_no = proved.line_no
),

-- the lowest grade of evidence that counts is the site's to set
graded AS (
    SELECT
        *,
        CASE
            WHEN loaded_at IS NOT NULL THEN 'loaded'
            WHEN done_line IS NOT NULL THEN 'marker'
        END AS grade,
        CASE
            WHEN done_line IS NOT NULL AND $verified_rank::BIGINT <= 1
                THEN coalesce(durable_at, loaded_at)
            ELSE loaded_at
        END AS verified_at,
        coalesce(
            loaded_at IS NOT NULL OR (done_line IS NOT NULL AND $verified_rank::BIGINT <= 1), FALSE
        ) AS is_verified,
        done_line IS NOT NULL OR loaded_at IS NOT NULL AS is_complete,
        greatest(
            5
            * quantile_disc(cost_us, 0.5) FILTER (WHERE done_line IS NOT NULL)
                OVER (PARTITION BY run),
            600000000
        ) AS limit_us
    FROM dated
)

SELECT
    run,
    attempt,
    row_number() OVER (PARTITION BY run ORDER BY attempt, line_no) AS ordinal,
    step,
    source_id,
    line_no,
    done_line,
    path,
    CASE WHEN is_local THEN 'local' ELSE 'remote' END AS tier,
    is_async,
    captured_at,
    CASE WHEN NOT is_async THEN durable_at END AS blocking_done_at,
    durable_at AS committed_at,
    CASE
        WHEN is_verified THEN 'verified'
        WHEN is_complete THEN 'committed'
        WHEN is_alive AND next_step_line IS NULL THEN 'started'
        -- training went on, but nothing says that the state is durable
        WHEN NOT is_async AND next_step_line IS NOT NULL THEN 'blocking_done'
        WHEN is_async AND is_alive THEN 'blocking_done'
        ELSE 'torn'
    END AS state,
    grade,
    verified_at,
    next_step_line IS NULL AS is_final,
    next_step_line,
    gap_cost_us,
    timer_us,
    stated_us,
    CASE WHEN is_complete THEN least(cost_us, limit_us) END AS cost_us,
    CASE WHEN is_complete THEN greatest(0, cost_us - limit_us) END AS outage_us,
    CASE WHEN is_complete THEN cost_origin END AS cost_origin,
    error_us,
    CASE
        WHEN is_verified THEN NULL
        WHEN is_complete THEN 'its evidence is of a lower grade than the configuration asks for'
        WHEN is_async THEN 'scheduled, but no line says that it became durable'
        WHEN next_step_line IS NOT NULL THEN 'begun, but no line says that it was completed'
        ELSE 'begun, and the attempt ended before a line said that it was completed'
    END AS why
FROM graded
