-- table: verdict
-- grain: how one attempt that did steps came to its end
-- reads: attempt, step, log_event, checkpoint, baseline, sign, node_state, planned_window
-- params:
-- column run: run
-- column attempt: attempt
-- column ending: complete, running, continued (the log goes on in another file) or interrupted
-- column kind: failure, preemption, planned or unknown, null when complete or running
-- column cause: cause
-- column cause_strength: stated or derived
-- column cause_line: line behind the cause, null when it is the scheduler's word
-- column cause_source_id: its file
-- column rule: the rule that decided kind and cause, in words
-- column signature: cause and kind of its first sign, to recognise the same failure again
-- column phase: step, save or evaluation
-- column evaluated_at: UTC us, end of an evaluation after the last step, null when there was none
-- column progress_at: UTC us, the last progress of any kind
-- column last_step: last completed step before the end, or before another job took the run over
-- column last_step_at: UTC us
-- column overtaken_at: UTC us, another job had taken the run over, null when none did
-- column overdue_at: UTC us, when the next line was overdue
-- column silent_us: from the last progress to the end
-- column hang_us: longest pause that is no hang, in this phase
-- column is_hang: progress had stopped for longer than that
-- column fault_at: UTC us, first indication of the fault; for a planned end the stop itself
-- column fault_low: UTC us, earliest
-- column fault_high: UTC us, latest
-- column fault_strength: stated, derived or bounded
-- column fault_source_id: file of the line that dates the fault
-- column fault_line: that line
-- column detected_at: UTC us, when system or person acted
-- column detector: watchdog, launcher, scheduler, person or program
-- column detected_source_id: file
-- column detected_line: line, null when it is the scheduler's record
-- column precursor_at: UTC us, first fault line in the day before the last step
-- column stop_at: UTC us, end of the attempt as far as anything tells
-- column next_attempt: the attempt after it, of any kind
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

save_law AS (
    SELECT
        run,
        quantile_disc(cost_us, 0.5) AS usual_us,
        quantile_disc(cost_us, 0.999) AS longest_us
    FROM checkpoint
    WHERE cost_us IS NOT NULL
    GROUP BY run
),

evaluation_pause AS (
    SELECT
        run,
        quantile_disc(evaluation_us, 0.5) AS usual_us,
        quantile_disc(evaluation_us, 0.999) AS longest_us
    FROM step
    WHERE evaluation_us > 0
    GROUP BY run
),

evaluation_step AS (
    SELECT DISTINCT
        attempt.run,
        log_event.step
    FROM log_event
    INNER JOIN attempt ON log_event.source_id = attempt.source_id
    WHERE log_event.kind = 'evaluation' AND log_event.step IS NOT NULL
),

evaluation_law AS (
    SELECT
        paced.run,
        max(paced.step) AS some_step,
        min(paced.distance) AS every_steps,
        any_value(evaluation_pause.usual_us) AS usual_us,
        any_value(evaluation_pause.longest_us) AS longest_us
    FROM (
        SELECT
            run,
            step,
            step - lag(step) OVER (PARTITION BY run ORDER BY step) AS distance
        FROM evaluation_step
    ) AS paced
    INNER JOIN evaluation_pause ON paced.run = evaluation_pause.run
    GROUP BY paced.run
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

sequence AS (
    SELECT
        *,
        lead(attempt) OVER run_order AS next_attempt,
        lead(job_key) OVER run_order AS next_job_key,
        lead(source_id) OVER run_order AS next_source_id,
        lead(CASE WHEN n_step_lines > 0 THEN loaded_step END IGNORE NULLS) OVER run_order
            AS next_loaded_step,
        lead(submitted_at) OVER run_order AS next_submitted_at,
        lead(CASE WHEN len(nodes) > 0 THEN nodes END IGNORE NULLS) OVER run_order AS next_nodes,
        lead(first_step) OVER run_order AS next_first_step,
        lead(first_step_at) OVER run_order AS next_first_step_at,
        lead(coalesce(launch_line, load_line, tracker_line)) OVER run_order AS next_launch_line,
        lead(coalesce(first_at, launch_high, alloc_start_at)) OVER run_order AS next_seen_at,
        max(alloc_end_at) OVER () AS data_end_at
    FROM attempt
    WINDOW run_order AS (PARTITION BY run ORDER BY attempt)
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
        save_law.usual_us AS save_us,
        save_law.longest_us AS save_longest_us,
        evaluation_law.usual_us AS evaluation_us,
        evaluation_law.longest_us AS evaluation_longest_us,
        tail_evaluation.attempt IS NOT NULL AS has_evaluated,
        tail_evaluation.stated_at AS evaluation_stated_at,
        -- one was due after the last step, and no line says that it ended
        coalesce(
            tail_evaluation.attempt IS NULL
            AND (sequence.last_step - evaluation_law.some_step) % evaluation_law.every_steps = 0,
            FALSE
        ) AS is_due,
        baseline.hang_us AS step_hang_us,
        baseline.line_us,
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
    LEFT JOIN save_law ON sequence.run = save_law.run
    LEFT JOIN evaluation_law ON sequence.run = evaluation_law.run
    LEFT JOIN tail_evaluation
        ON sequence.run = tail_evaluation.run AND sequence.attempt = tail_evaluation.attempt
    LEFT JOIN baseline
        ON
            sequence.run = baseline.run
            AND (sequence.epoch IS NOT DISTINCT FROM baseline.epoch)
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
            WHEN is_saving THEN coalesce(greatest(5 * save_longest_us, step_hang_us), step_hang_us)
            WHEN is_evaluating THEN greatest(5 * evaluation_longest_us, step_hang_us)
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
            WHEN is_same_job AND is_recorded THEN coalesce(cancel_at, next_seen_at, alloc_end_at)
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
        CASE
            WHEN overtaken_at IS NOT NULL THEN greatest(overtaken_at, progress_at)
            ELSE greatest(raw_stop_at, progress_at)
        END - progress_at AS silent_us,
        overtaken_at IS NULL
        AND coalesce(greatest(raw_stop_at, progress_at) - progress_at > hang_us, FALSE) AS is_hang
    FROM progress
),

cause AS (
    SELECT
        run,
        attempt,
        arg_min(cause, (rank, coalesce(onset_at, 9223372036854775807), line_no)) AS cause,
        arg_min(kind, (rank, coalesce(onset_at, 9223372036854775807), line_no)) AS sign_kind,
        arg_min(code, (rank, coalesce(onset_at, 9223372036854775807), line_no)) AS sign_code,
        arg_min(source_id, (rank, coalesce(onset_at, 9223372036854775807), line_no))
            AS cause_source_id,
        arg_min(line_no, (rank, coalesce(onset_at, 9223372036854775807), line_no)) AS cause_line,
        min(rank) AS cause_rank,
        bool_or(is_sign) AS has_sign
    FROM sign
    WHERE NOT is_before
    GROUP BY run, attempt
),

-- application-level signs without a stamp do not date anything: the overdue line does
dated AS (
    SELECT
        sign.run,
        sign.attempt,
        arg_min(sign.onset_at, (sign.onset_at, sign.line_no)) FILTER (
            WHERE sign.is_sign OR sign.kind = 'watchdog'
        ) AS sign_at,
        arg_min(sign.source_id, (sign.onset_at, sign.line_no)) FILTER (
            WHERE sign.is_sign OR sign.kind = 'watchdog'
        ) AS sign_source_id,
        arg_min(sign.line_no, (sign.onset_at, sign.line_no)) FILTER (
            WHERE sign.is_sign OR sign.kind = 'watchdog'
        ) AS sign_line,
        arg_min(sign.logged_at, (sign.logged_at, sign.line_no)) FILTER (
            WHERE sign.kind = 'watchdog'
        ) AS watchdog_at,
        arg_min(sign.source_id, (sign.logged_at, sign.line_no)) FILTER (
            WHERE sign.kind = 'watchdog'
        )
            AS watchdog_source_id,
        arg_min(sign.line_no, (sign.logged_at, sign.line_no)) FILTER (WHERE sign.kind = 'watchdog')
            AS watchdog_line,
        arg_min(sign.logged_at, (sign.logged_at, sign.line_no)) FILTER (
            WHERE sign.kind = 'launcher_failure'
        )
            AS launcher_at,
        arg_min(sign.source_id, (sign.logged_at, sign.line_no)) FILTER (
            WHERE sign.kind = 'launcher_failure'
        )
            AS launcher_source_id,
        arg_min(sign.line_no, (sign.logged_at, sign.line_no)) FILTER (
            WHERE sign.kind = 'launcher_failure'
        )
            AS launcher_line
    FROM sign
    INNER JOIN stopped ON sign.run = stopped.run AND sign.attempt = stopped.attempt
    WHERE
        NOT sign.is_before
        AND sign.logged_at IS NOT NULL
        AND sign.logged_at <= stopped.stop_at + 60000000
        AND sign.kind <> 'job_cancelled'
    GROUP BY sign.run, sign.attempt
),

precursor AS (
    SELECT
        sign.run,
        sign.attempt,
        min(sign.logged_at) AS precursor_at
    FROM sign
    INNER JOIN stopped ON sign.run = stopped.run AND sign.attempt = stopped.attempt
    WHERE
        sign.is_before
        AND sign.is_hardware
        AND sign.logged_at BETWEEN stopped.last_step_at - 86400000000 AND stopped.last_step_at
    GROUP BY sign.run, sign.attempt
),

-- nodes that the run had and did not take again, and why they were taken out
swapped AS (
    SELECT
        stopped.run,
        stopped.attempt,
        arg_min(node_state.cause, (node_state.cause IS NULL, node_state.started_at)) AS drain_cause,
        arg_min(node_state.source_id, node_state.started_at) AS drain_source_id,
        arg_min(node_state.line_no, node_state.started_at) AS drain_line
    FROM stopped
    INNER JOIN node_state
        ON
            list_contains(stopped.nodes, node_state.node)
            AND NOT list_contains(stopped.next_nodes, node_state.node)
    WHERE
        node_state.state IN ('drain', 'unhealthy')
        AND coalesce(NOT node_state.is_planned, TRUE)
        AND node_state.started_at
        BETWEEN stopped.last_step_at - 86400000000 AND stopped.stop_at + 600000000
    GROUP BY stopped.run, stopped.attempt
),

-- slow for at least a twentieth of its last two hours
slowed AS (
    SELECT
        stopped.run,
        stopped.attempt
    FROM stopped
    INNER JOIN step ON stopped.run = step.run AND stopped.attempt = step.attempt
    WHERE
        step.ended_at > stopped.last_step_at - 7200000000
        AND NOT list_has_all(stopped.next_nodes, stopped.nodes)
    GROUP BY stopped.run, stopped.attempt
    HAVING sum(step.degraded_us) * 20 >= sum(step.degraded_us + step.work_us)
),

-- nodes that were taken for planned work while the attempt ended
serviced AS (
    SELECT DISTINCT
        stopped.run,
        stopped.attempt
    FROM stopped
    INNER JOIN node_state ON list_contains(stopped.nodes, node_state.node)
    WHERE
        node_state.is_planned
        AND node_state.started_at BETWEEN stopped.last_step_at - 86400000000
        AND stopped.stop_at + 600000000
        AND coalesce(node_state.ended_at > stopped.last_step_at, TRUE)
),

judged AS (
    SELECT
        stopped.*,
        swapped.attempt IS NOT NULL AS is_swapped,
        swapped.drain_cause,
        swapped.drain_source_id,
        swapped.drain_line,
        slowed.attempt IS NOT NULL AS is_slowed,
        cause.cause AS sign_cause,
        cause.sign_kind,
        cause.sign_code,
        cause.cause_source_id,
        cause.cause_line,
        coalesce(cause.has_sign, FALSE) AS has_sign,
        coalesce(cause.sign_kind = 'watchdog', FALSE) AS has_watchdog,
        dated.* EXCLUDE (run, attempt),
        precursor.precursor_at,
        CASE
            WHEN stopped.is_complete THEN 'complete'
            -- a rotated log: the next file of the job begins with the next step, and no start
            WHEN
                (stopped.next_job_key IS NOT DISTINCT FROM stopped.job_key)
                AND stopped.next_source_id <> stopped.source_id
                AND stopped.next_launch_line IS NULL
                AND stopped.next_first_step > stopped.last_step
                AND stopped.next_first_step_at - stopped.progress_at
                <= coalesce(stopped.hang_us, stopped.next_first_step_at - stopped.progress_at)
                THEN 'continued'
            WHEN stopped.next_attempt IS NULL AND stopped.is_alloc_open THEN 'running'
            WHEN
                stopped.next_attempt IS NULL AND NOT stopped.is_recorded
                AND stopped.cancel_line IS NULL AND stopped.exit_line IS NULL
                AND cause.cause IS NULL AND stopped.last_at >= stopped.data_end_at
                THEN 'running'
            ELSE 'interrupted'
        END AS ending,
        coalesce(
            CASE WHEN stopped.is_same_job THEN NULL ELSE stopped.state END, ''
        ) AS word,
        coalesce(stopped.cancel_reason, '') AS reason,
        (
            SELECT count(*) > 0
            FROM planned_window
            WHERE stopped.stop_at BETWEEN planned_window.start_at AND planned_window.end_at
        ) OR serviced.attempt IS NOT NULL AS is_in_planned_window
    FROM stopped
    LEFT JOIN swapped ON stopped.run = swapped.run AND stopped.attempt = swapped.attempt
    LEFT JOIN slowed ON stopped.run = slowed.run AND stopped.attempt = slowed.attempt
    LEFT JOIN serviced ON stopped.run = serviced.run AND stopped.attempt = serviced.attempt
    LEFT JOIN cause ON stopped.run = cause.run AND stopped.attempt = cause.attempt
    LEFT JOIN dated ON stopped.run = dated.run AND stopped.attempt = dated.attempt
    LEFT JOIN precursor ON stopped.run = precursor.run AND stopped.attempt = precursor.attempt
),

ruled AS (
    SELECT
        *,
        CASE
            WHEN ending <> 'interrupted' THEN NULL
            WHEN overtaken_at IS NOT NULL THEN 16
            WHEN is_in_planned_window AND NOT has_sign AND NOT is_hang THEN 14
            WHEN word = 'NODE_FAIL' OR reason = 'NODE FAILURE' THEN 1
            WHEN
                NOT has_sign AND NOT is_hang AND (is_swapped OR is_slowed)
                AND word NOT IN ('FAILED', 'TIMEOUT', 'DEADLINE', 'PREEMPTED', 'COMPLETED')
                AND reason NOT IN ('PREEMPTION', 'TIME LIMIT')
                THEN 15
            WHEN word IN ('BOOT_FAIL', 'OUT_OF_MEMORY') THEN 2
            WHEN exit_line IS NOT NULL AND NOT has_sign THEN 3
            WHEN is_hang THEN 4
            WHEN word = 'PREEMPTED' OR reason = 'PREEMPTION' THEN 5
            WHEN has_sign THEN 6
            WHEN word IN ('TIMEOUT', 'DEADLINE') OR reason = 'TIME LIMIT' THEN 7
            WHEN has_watchdog THEN 8
            WHEN word IN ('CANCELLED', 'REQUEUED', 'REVOKED') OR reason = 'JOB REQUEUE' THEN 9
            WHEN cancel_line IS NOT NULL AND word IN ('', 'RUNNING') THEN 9
            WHEN word = 'FAILED' OR coalesce(exit_code, 0) <> 0 OR sign_cause IS NOT NULL THEN 10
            WHEN next_loaded_step >= last_step THEN 13
            WHEN next_attempt IS NOT NULL THEN 11
            ELSE 12
        END AS rule_no
    FROM judged
),

decided AS (
    SELECT
        *,
        CASE
            WHEN rule_no IS NULL THEN NULL
            WHEN rule_no = 5 THEN 'preemption'
            WHEN rule_no = 15 THEN 'mitigation'
            WHEN rule_no IN (3, 7, 9, 13, 14, 16) THEN 'planned'
            WHEN rule_no = 12 THEN 'unknown'
            ELSE 'failure'
        END AS kind,
        CASE
            WHEN rule_no IS NULL THEN NULL
            WHEN rule_no = 5 THEN 'preemption'
            WHEN
                rule_no = 1
                THEN
                    coalesce(
                        CASE WHEN sign_kind IN ('xid', 'link_down') THEN sign_cause END, 'node'
                    )
            WHEN rule_no = 2 THEN CASE WHEN word = 'OUT_OF_MEMORY' THEN 'oom' ELSE 'node' END
            WHEN rule_no = 15 THEN coalesce(drain_cause, 'unknown')
            WHEN rule_no = 3 THEN 'operator'
            WHEN rule_no = 7 THEN 'scheduler'
            WHEN rule_no IN (9, 13, 14, 16) THEN 'operator'
            ELSE coalesce(sign_cause, 'unknown')
        END AS cause,
        CASE rule_no
            WHEN 1 THEN 'the scheduler ended it for a failed node'
            WHEN 2 THEN 'the scheduler ended it with ' || word
            WHEN 3 THEN 'the program says that it stops by plan'
            WHEN
                4
                THEN 'progress had stopped for longer than the hang threshold before it was ended'
            WHEN 5 THEN 'the scheduler took the nodes for another job while it was making progress'
            WHEN 6 THEN 'a fault line follows the last step'
            WHEN 7 THEN 'the time limit ended it while it was making progress'
            WHEN 8 THEN 'a watchdog ended it'
            WHEN 9 THEN 'it was stopped while it was making progress, with no sign of a fault'
            WHEN 10 THEN 'it ended with an error'
            WHEN 11 THEN 'it ended, nothing says why, and a later attempt took over'
            WHEN 12 THEN 'progress ended, nothing says how, and no later attempt is known'
            WHEN 14 THEN 'it ended for planned work, with no sign of a fault'
            WHEN 16 THEN 'another job took the run over while it was still going on'
            WHEN 15
                THEN
                    CASE
                        WHEN is_swapped
                            THEN 'it was stopped to take out a node that was drained, with no fault'
                        ELSE 'it was stopped while it ran slowly, and came back on other nodes'
                    END
            WHEN 13 THEN 'it ended without an error, and a later attempt went on from its last step'
        END AS rule
    FROM ruled
),

detection AS (
    SELECT
        decided.*,
        CASE
            WHEN kind IN ('failure', 'unknown')
                THEN least(
                    coalesce(watchdog_at, 9223372036854775807),
                    coalesce(launcher_at, 9223372036854775807),
                    stop_at,
                    CASE
                        WHEN NOT is_same_job AND next_submitted_at > progress_at
                            THEN next_submitted_at
                        ELSE 9223372036854775807
                    END
                )
            ELSE coalesce(CASE WHEN rule_no = 3 THEN greatest(exit_at, progress_at) END, stop_at)
        END AS acted_at
    FROM decided
),

onset AS (
    SELECT
        *,
        CASE
            WHEN kind IN ('planned', 'preemption', 'mitigation') THEN acted_at
            WHEN kind IS NOT NULL
                THEN greatest(
                    progress_at,
                    least(
                        CASE
                            WHEN sign_at IS NULL THEN 9223372036854775807
                            ELSE greatest(sign_at, progress_at)
                        END,
                        overdue_at,
                        greatest(acted_at, progress_at)
                    )
                )
        END AS fault_at
    FROM detection
)

SELECT
    run,
    attempt,
    ending,
    kind,
    cause,
    CASE
        WHEN cause = 'unknown' THEN 'absent'
        WHEN cause_line IS NOT NULL OR drain_line IS NOT NULL THEN 'stated'
        ELSE 'derived'
    END AS cause_strength,
    CASE
        WHEN rule_no = 15 THEN drain_line
        WHEN rule_no IN (4, 6, 8, 10, 1) AND cause <> 'unknown' THEN cause_line
    END AS cause_line,
    CASE
        WHEN rule_no = 15 THEN drain_source_id
        WHEN rule_no IN (4, 6, 8, 10, 1) AND cause <> 'unknown' THEN cause_source_id
    END AS cause_source_id,
    rule,
    concat_ws('/', cause, sign_kind, sign_code) AS signature,
    phase,
    evaluated_at,
    progress_at,
    last_step,
    last_step_at,
    overtaken_at,
    overdue_at,
    silent_us,
    hang_us,
    is_hang,
    fault_at,
    CASE WHEN kind IN ('failure', 'unknown') THEN progress_at ELSE fault_at END AS fault_low,
    CASE
        WHEN kind NOT IN ('failure', 'unknown') THEN fault_at
        WHEN sign_at = fault_at THEN fault_at
        ELSE greatest(fault_at, least(acted_at, overdue_at))
    END AS fault_high,
    CASE
        WHEN kind IS NULL THEN NULL
        WHEN kind IN ('planned', 'preemption', 'mitigation') THEN 'derived'
        WHEN sign_at = fault_at THEN 'stated'
        ELSE 'bounded'
    END AS fault_strength,
    CASE WHEN sign_at = fault_at THEN sign_source_id END AS fault_source_id,
    CASE WHEN sign_at = fault_at THEN sign_line END AS fault_line,
    greatest(acted_at, fault_at) AS detected_at,
    CASE
        WHEN kind IS NULL THEN NULL
        WHEN rule_no = 3 THEN 'program'
        WHEN acted_at = watchdog_at THEN 'watchdog'
        WHEN acted_at = launcher_at THEN 'launcher'
        WHEN acted_at = next_submitted_at AND acted_at < stop_at THEN 'person'
        WHEN word = 'CANCELLED' OR cancelled_by IS NOT NULL THEN 'person'
        ELSE 'scheduler'
    END AS detector,
    CASE
        WHEN acted_at = watchdog_at THEN watchdog_source_id
        WHEN acted_at = launcher_at THEN launcher_source_id
        WHEN acted_at = cancel_at THEN source_id
    END AS detected_source_id,
    CASE
        WHEN acted_at = watchdog_at THEN watchdog_line
        WHEN acted_at = launcher_at THEN launcher_line
        WHEN acted_at = cancel_at THEN cancel_line
    END AS detected_line,
    precursor_at,
    stop_at,
    next_attempt
FROM onset
