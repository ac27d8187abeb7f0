-- table: stop
-- grain: when the progress of one attempt that did steps stopped, and for how long before its end
-- reads: attempt, step, log_event, checkpoint, phase_law
-- params:
-- column run: run
-- column attempt: attempt
-- column next_attempt: the attempt after it, of any kind
-- column next_job_key: its scheduler record
-- column next_source_id: its log
-- column next_submitted_at: UTC us
-- column next_seen_at: UTC us, its first sign of life
-- column next_launch_line: line where it begins, null when it has no beginning
-- column next_first_step: its first step
-- column next_first_step_at: UTC us
-- column next_loaded_step: step that the next attempt with steps loaded
-- column next_nodes: nodes of the next attempt that tells them
-- column data_end_at: UTC us, the newest thing known of any run
-- column is_same_job: the next attempt is of the same job, or of the same log where there are no records
-- column is_complete: its target was reached
-- column overtaken_at: UTC us, another job had taken the run over, null when none did
-- column last_step: last completed step before the end, or before another job took the run over
-- column last_step_at: UTC us
-- column phase: step, save or evaluation
-- column evaluated_at: UTC us, end of an evaluation after the last step, null when there was none
-- column progress_at: UTC us, the last progress of any kind
-- column overdue_at: UTC us, when the next line was overdue
-- column overdue_high_at: UTC us, the same for the slowest healthy line, known or lately seen
-- column stop_at: UTC us, end of the attempt as far as anything tells
-- column silent_us: from the last progress to the end
-- column hang_us: longest pause that is no hang, in this phase
-- column is_hang: progress had stopped for longer than that
WITH tail_save AS (
    SELECT
        checkpoint.run,
        checkpoint.attempt,
        bool_or(checkpoint.done_line IS NULL AND NOT checkpoint.is_async) AS is_open,
        max(checkpoint.committed_at) FILTER (WHERE NOT checkpoint.is_async) AS done_at
    FROM checkpoint
    WHERE checkpoint.next_step_line IS NULL
    GROUP BY checkpoint.run, checkpoint.attempt
),

evaluation_step AS (
    SELECT DISTINCT
        attempt.run,
        log_event.step
    FROM log_event
    INNER JOIN attempt ON log_event.source_id = attempt.source_id
    WHERE log_event.kind = 'evaluation' AND log_event.step IS NOT NULL
),

evaluation_pace AS (
    SELECT
        run,
        max(step) AS some_step,
        min(distance) AS every_steps
    FROM (
        SELECT
            run,
            step,
            step - lag(step) OVER (PARTITION BY run ORDER BY step) AS distance
        FROM evaluation_step
    ) AS paced
    GROUP BY run
),

tail_evaluation AS (
    SELECT
        attempt.run,
        attempt.attempt,
        max(log_event.logged_at) FILTER (WHERE log_event.strength = 'stated') AS stated_at
    FROM attempt
    INNER JOIN log_event ON attempt.source_id = log_event.source_id
    WHERE
        log_event.kind = 'evaluation'
        AND log_event.line_no > attempt.last_step_line
        AND log_event.line_no <= attempt.last_line
    GROUP BY attempt.run, attempt.attempt
),

-- how long its last lines took, pauses left out: a step that is slow now is due later
pace AS (
    SELECT
        run,
        attempt,
        quantile_disc(line_us, 0.5) AS pace_us,
        max(line_us) AS slowest_us
    FROM (
        SELECT
            run,
            attempt,
            work_us + degraded_us AS line_us
        FROM step
        WHERE NOT is_first
        QUALIFY row_number() OVER (PARTITION BY run, attempt ORDER BY line_no DESC) <= 3
    ) AS latest
    GROUP BY run, attempt
),

-- the laws of the phases of each epoch, side by side
law AS (
    SELECT
        run,
        epoch,
        max(usual_us) FILTER (WHERE phase = 'step') AS line_us,
        max(longest_us) FILTER (WHERE phase = 'step') AS longest_us,
        max(hang_us) FILTER (WHERE phase = 'step') AS step_hang_us,
        max(usual_us) FILTER (WHERE phase = 'save') AS save_us,
        max(hang_us) FILTER (WHERE phase = 'save') AS save_hang_us,
        max(usual_us) FILTER (WHERE phase = 'evaluation') AS evaluation_us,
        max(hang_us) FILTER (WHERE phase = 'evaluation') AS evaluation_hang_us
    FROM phase_law
    GROUP BY run, epoch
),

-- where only every k-th step is logged, the first one was complete before its line
first_done AS (
    SELECT
        run,
        attempt,
        min(started_at) AS first_done_at
    FROM step
    WHERE is_first
    GROUP BY run, attempt
),

sequence AS (
    SELECT
        attempt.*,
        lead(attempt.attempt) OVER run_order AS next_attempt,
        lead(attempt.job_key) OVER run_order AS next_job_key,
        lead(attempt.source_id) OVER run_order AS next_source_id,
        lead(CASE WHEN attempt.n_step_lines > 0 THEN attempt.loaded_step END IGNORE NULLS)
            OVER run_order
            AS next_loaded_step,
        lead(attempt.submitted_at) OVER run_order AS next_submitted_at,
        lead(CASE WHEN len(attempt.nodes) > 0 THEN attempt.nodes END IGNORE NULLS)
            OVER run_order
            AS next_nodes,
        lead(attempt.first_step) OVER run_order AS next_first_step,
        lead(coalesce(first_done.first_done_at, attempt.first_step_at))
            OVER run_order
            AS next_first_step_at,
        lead(coalesce(attempt.launch_line, attempt.load_line, attempt.tracker_line))
            OVER run_order
            AS next_launch_line,
        lead(coalesce(attempt.first_at, attempt.launch_high, attempt.alloc_start_at))
            OVER run_order
            AS next_seen_at,
        max(attempt.alloc_end_at) OVER () AS data_end_at
    FROM attempt
    LEFT JOIN first_done
        ON attempt.run = first_done.run AND attempt.attempt = first_done.attempt
    WINDOW run_order AS (PARTITION BY attempt.run ORDER BY attempt.attempt)
),

-- a job that goes on beside its successor: the run is where the successor is
overtaken AS (
    SELECT
        sequence.run,
        sequence.attempt,
        sequence.next_first_step_at AS overtaken_at,
        max(step.step) AS step,
        max(step.ended_at) AS step_at,
        arg_max(step.line_no, step.ended_at) AS step_line
    FROM sequence
    INNER JOIN step ON sequence.run = step.run AND sequence.attempt = step.attempt
    WHERE
        sequence.job_key IS DISTINCT FROM sequence.next_job_key
        AND sequence.next_first_step_at < sequence.last_step_at
        AND sequence.next_first_step_at > sequence.first_step_at
        AND step.ended_at <= sequence.next_first_step_at
    GROUP BY sequence.run, sequence.attempt, sequence.next_first_step_at
),

progressed AS (
    SELECT
        sequence.* REPLACE (
            coalesce(overtaken.step, sequence.last_step) AS last_step,
            coalesce(overtaken.step_at, sequence.last_step_at) AS last_step_at,
            coalesce(overtaken.step_line, sequence.last_step_line) AS last_step_line
        ),
        overtaken.overtaken_at,
        coalesce(tail_save.is_open, FALSE) AS is_saving,
        tail_save.done_at AS tail_done_at,
        law.* EXCLUDE (run, epoch, line_us, longest_us),
        greatest(
            law.line_us,
            CASE WHEN pace.pace_us IS NOT NULL THEN least(pace.pace_us, law.step_hang_us) END
        ) AS line_us,
        greatest(
            law.line_us,
            law.longest_us,
            CASE WHEN pace.slowest_us IS NOT NULL THEN least(pace.slowest_us, law.step_hang_us) END
        ) AS slowest_us,
        tail_evaluation.attempt IS NOT NULL AS has_evaluated,
        tail_evaluation.stated_at AS evaluation_stated_at,
        -- one was due after the last step, and no line says that it ended
        coalesce(
            tail_evaluation.attempt IS NULL
            AND law.evaluation_us IS NOT NULL
            AND (sequence.last_step - evaluation_pace.some_step) % evaluation_pace.every_steps = 0,
            FALSE
        ) AS is_due,
        coalesce(
            sequence.last_step >= sequence.target_step, sequence.done_line IS NOT NULL, FALSE
        ) OR sequence.done_line IS NOT NULL AS is_complete,
        (sequence.next_job_key IS NOT DISTINCT FROM sequence.job_key)
        AND sequence.next_attempt IS NOT NULL
        AND (sequence.job_key IS NOT NULL OR sequence.next_source_id = sequence.source_id)
            AS is_same_job
    FROM sequence
    LEFT JOIN overtaken
        ON sequence.run = overtaken.run AND sequence.attempt = overtaken.attempt
    LEFT JOIN tail_save
        ON sequence.run = tail_save.run AND sequence.attempt = tail_save.attempt
    LEFT JOIN evaluation_pace ON sequence.run = evaluation_pace.run
    LEFT JOIN tail_evaluation
        ON sequence.run = tail_evaluation.run AND sequence.attempt = tail_evaluation.attempt
    LEFT JOIN pace ON sequence.run = pace.run AND sequence.attempt = pace.attempt
    LEFT JOIN law
        ON
            sequence.run = law.run
            AND sequence.epoch IS NOT DISTINCT FROM law.epoch
    WHERE sequence.n_step_lines > 0 AND sequence.last_step_at IS NOT NULL
),

-- a save or evaluation that was completed after the last step counts as progress; one still open
-- is a phase with a threshold of its own
evaluated AS (
    SELECT
        *,
        is_due AND NOT is_saving AND tail_done_at IS NULL AS is_evaluating,
        CASE
            WHEN has_evaluated
                THEN
                    greatest(
                        last_step_at,
                        coalesce(evaluation_stated_at, last_step_at + coalesce(evaluation_us, 0))
                    )
        END AS raw_evaluated_at
    FROM progressed
),

placed AS (
    SELECT
        * EXCLUDE (raw_evaluated_at),
        CASE
            WHEN is_saving THEN 'save'
            WHEN is_evaluating THEN 'evaluation'
            ELSE 'step'
        END AS phase,
        CASE
            WHEN is_saving THEN coalesce(save_hang_us, step_hang_us)
            WHEN is_evaluating THEN evaluation_hang_us
            -- an evaluation of unknown length follows: no verdict on how long it may be silent
            WHEN has_evaluated AND evaluation_stated_at IS NULL AND evaluation_us IS NULL THEN NULL
            ELSE step_hang_us
        END AS hang_us,
        CASE
            WHEN is_recorded AND raw_evaluated_at IS NOT NULL
                THEN least(raw_evaluated_at, greatest(last_step_at, alloc_end_at))
            ELSE raw_evaluated_at
        END AS evaluated_at,
        CASE
            WHEN is_same_job AND is_recorded
                THEN
                    coalesce(
                        cancel_at,
                        CASE WHEN restart_at >= last_step_at THEN restart_at END,
                        next_seen_at,
                        alloc_end_at
                    )
            WHEN is_recorded
                THEN
                    coalesce(
                        CASE
                            WHEN cancel_at BETWEEN last_step_at AND alloc_end_at THEN cancel_at
                        END,
                        alloc_end_at
                    )
            ELSE coalesce(cancel_at, last_at)
        END AS raw_stop_at
    FROM evaluated
),

progress AS (
    SELECT
        *,
        greatest(
            last_step_at,
            coalesce(evaluated_at, last_step_at),
            CASE WHEN is_saving THEN last_step_at ELSE coalesce(tail_done_at, last_step_at) END
        ) AS progress_at
    FROM placed
),

stopped AS (
    SELECT
        * EXCLUDE (raw_stop_at),
        CASE
            WHEN overtaken_at IS NOT NULL THEN greatest(overtaken_at, progress_at)
            ELSE greatest(raw_stop_at, progress_at)
        END AS stop_at,
        progress_at
        + CASE
            WHEN is_saving THEN coalesce(save_us, line_us, 0)
            WHEN is_evaluating THEN coalesce(evaluation_us, line_us, 0)
            ELSE coalesce(line_us, 0)
        END
            AS overdue_at,
        progress_at
        + CASE
            WHEN is_saving THEN coalesce(save_us, line_us, 0)
            WHEN is_evaluating THEN coalesce(evaluation_us, line_us, 0)
            ELSE coalesce(slowest_us, line_us, 0)
        END
            AS overdue_high_at,
        CASE
            WHEN overtaken_at IS NOT NULL THEN greatest(overtaken_at, progress_at)
            ELSE greatest(raw_stop_at, progress_at)
        END - progress_at AS silent_us,
        overtaken_at IS NULL
        AND coalesce(greatest(raw_stop_at, progress_at) - progress_at > hang_us, FALSE) AS is_hang
    FROM progress
)

SELECT
    run,
    attempt,
    next_attempt,
    next_job_key,
    next_source_id,
    next_submitted_at,
    next_seen_at,
    next_launch_line,
    next_first_step,
    next_first_step_at,
    next_loaded_step,
    next_nodes,
    data_end_at,
    is_same_job,
    is_complete,
    overtaken_at,
    last_step,
    last_step_at,
    phase,
    evaluated_at,
    progress_at,
    overdue_at,
    overdue_high_at,
    stop_at,
    silent_us,
    hang_us,
    is_hang
FROM stopped
