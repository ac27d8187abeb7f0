-- table: verdict
-- grain: how one attempt that did steps came to its end
-- reads: attempt, stop, end_sign, event, node_action, planned_window, verdict_rule
-- params:
-- column run: run
-- column attempt: attempt
-- column ending: complete, running, continued (the log goes on in another file) or interrupted
-- column kind: failure, preemption, mitigation, planned or unknown, null when complete or running
-- column cause: cause
-- column cause_strength: stated, derived or absent
-- column cause_line: line behind the cause, null when it is the scheduler's word
-- column cause_source_id: its file
-- column rule: the rule that decided kind and cause, in words
-- column conflict: where record and log contradict each other, and which counts, in words; else null
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
-- column detected_low: UTC us, earliest
-- column detected_high: UTC us, latest, null where nothing bounds it
-- column detected_strength: stated, derived or bounded
-- column detector: watchdog, launcher, scheduler, person or program, null where nothing tells
-- column detected_source_id: file
-- column detected_line: line, null when it is the scheduler's record
-- column precursor_at: UTC us, first fault line in the day before the last step
-- column precursor_lead_us: from it to the fault
-- column stop_at: UTC us, end of the attempt as far as anything tells
-- column next_attempt: the attempt after it, of any kind
WITH signalled AS (
    SELECT
        event.run,
        event.attempt,
        arg_max(event.source_id, (event.position, event.line_no)) AS signal_source_id,
        arg_max(event.line_no, (event.position, event.line_no)) AS signal_line
    FROM event
    INNER JOIN stop ON event.run = stop.run AND event.attempt = stop.attempt
    INNER JOIN attempt ON event.run = attempt.run AND event.attempt = attempt.attempt
    WHERE
        event.kind = 'preemption_signal'
        AND event.code = 'SIGTERM'
        AND (
            (event.is_own AND event.line_no > attempt.last_step_line)
            OR event.logged_at BETWEEN stop.progress_at - 600000000 AND stop.stop_at + 60000000
        )
    GROUP BY event.run, event.attempt
),

judged AS (
    SELECT
        stop.*,
        attempt.source_id,
        attempt.job_key,
        attempt.is_recorded,
        attempt.is_alloc_open,
        attempt.cancelled_by,
        attempt.exit_code,
        attempt.exit_line,
        attempt.exit_at,
        attempt.cancel_line,
        attempt.cancel_at,
        attempt.restart_line,
        attempt.restart_at,
        attempt.target_step,
        node_action.* EXCLUDE (run, attempt),
        end_sign.* EXCLUDE (run, attempt),
        signalled.signal_source_id,
        signalled.signal_line,
        CASE
            WHEN stop.is_complete THEN 'complete'
            -- a rotated log: the next file of the job begins with the next step, and no start
            WHEN
                (stop.next_job_key IS NOT DISTINCT FROM attempt.job_key)
                AND stop.next_source_id <> attempt.source_id
                AND stop.next_launch_line IS NULL
                AND stop.next_first_step > stop.last_step
                AND stop.next_first_step_at - stop.progress_at
                <= coalesce(stop.hang_us, stop.next_first_step_at - stop.progress_at)
                THEN 'continued'
            WHEN stop.next_attempt IS NULL AND attempt.is_alloc_open THEN 'running'
            WHEN
                stop.next_attempt IS NULL AND NOT attempt.is_recorded
                AND attempt.cancel_line IS NULL AND attempt.exit_line IS NULL
                AND NOT end_sign.has_word AND attempt.last_at >= stop.data_end_at
                THEN 'running'
            ELSE 'interrupted'
        END AS ending,
        coalesce(CASE WHEN stop.is_same_job THEN NULL ELSE attempt.state END, '') AS word,
        coalesce(attempt.state, '') AS state,
        coalesce(attempt.cancel_reason, '') AS reason,
        (
            SELECT count(*) > 0
            FROM planned_window
            WHERE stop.stop_at BETWEEN planned_window.start_at AND planned_window.end_at
        ) AS is_in_planned_window
    FROM stop
    INNER JOIN attempt ON stop.run = attempt.run AND stop.attempt = attempt.attempt
    INNER JOIN node_action ON stop.run = node_action.run AND stop.attempt = node_action.attempt
    INNER JOIN end_sign ON stop.run = end_sign.run AND stop.attempt = end_sign.attempt
    LEFT JOIN signalled ON stop.run = signalled.run AND stop.attempt = signalled.attempt
),

-- conditions only: order, kind, cause and words of the rules stand in verdict_rule
held AS (
    SELECT
        run,
        attempt,
        unnest(
            [
                CASE WHEN overtaken_at IS NOT NULL THEN 'overtaken' END,
                CASE
                    WHEN
                        NOT has_sign AND NOT is_hang
                        AND (
                            is_in_planned_window
                            OR (
                                is_serviced
                                AND NOT has_watchdog
                                AND word NOT IN (
                                    'FAILED', 'OUT_OF_MEMORY', 'BOOT_FAIL', 'PREEMPTED',
                                    'TIMEOUT', 'DEADLINE'
                                )
                            )
                        )
                        THEN 'planned_work'
                END,
                CASE
                    WHEN word = 'NODE_FAIL' OR reason = 'NODE FAILURE' THEN 'node_failed'
                END,
                CASE
                    WHEN
                        NOT has_sign AND NOT is_hang AND (is_swapped OR is_slowed)
                        AND word NOT IN ('FAILED', 'TIMEOUT', 'DEADLINE', 'PREEMPTED', 'COMPLETED')
                        AND reason NOT IN ('PREEMPTION', 'TIME LIMIT')
                        THEN CASE WHEN is_swapped THEN 'drained' ELSE 'slowed' END
                END,
                CASE WHEN word = 'BOOT_FAIL' THEN 'boot_failed' END,
                CASE WHEN word = 'OUT_OF_MEMORY' THEN 'out_of_memory' END,
                CASE
                    WHEN
                        (word = 'PREEMPTED' OR reason = 'PREEMPTION')
                        AND (NOT is_hang OR (exit_line IS NOT NULL AND NOT has_sign))
                        THEN 'preempted'
                END,
                CASE
                    WHEN
                        signal_line IS NOT NULL AND NOT is_recorded AND cancel_line IS NULL
                        AND NOT has_word AND NOT is_hang AND NOT is_same_job
                        THEN 'signalled'
                END,
                CASE WHEN exit_line IS NOT NULL AND NOT has_sign THEN 'planned_exit' END,
                CASE WHEN is_hang THEN 'hung' END,
                CASE WHEN has_sign THEN 'fault_line' END,
                CASE
                    WHEN word IN ('TIMEOUT', 'DEADLINE') OR reason = 'TIME LIMIT' THEN 'time_limit'
                END,
                CASE WHEN has_watchdog THEN 'watchdog' END,
                CASE
                    WHEN
                        word IN ('CANCELLED', 'REQUEUED', 'REVOKED') OR reason = 'JOB REQUEUE'
                        OR (cancel_line IS NOT NULL AND word IN ('', 'RUNNING'))
                        THEN 'stopped'
                END,
                CASE
                    WHEN
                        word = 'FAILED' OR coalesce(exit_code, 0) <> 0 OR has_word
                        THEN 'error'
                END,
                CASE WHEN next_loaded_step >= last_step THEN 'went_on' END,
                CASE WHEN next_attempt IS NOT NULL THEN 'taken_over' END,
                'lost'
            ]
        ) AS rule
    FROM judged
    WHERE ending = 'interrupted'
),

ruled AS (
    SELECT
        held.run,
        held.attempt,
        verdict_rule.rule AS rule_name,
        verdict_rule.kind,
        verdict_rule.cause_from,
        verdict_rule.cause AS rule_cause,
        verdict_rule.sentence
    FROM held
    INNER JOIN verdict_rule ON held.rule = verdict_rule.rule
    QUALIFY
        row_number() OVER (PARTITION BY held.run, held.attempt ORDER BY verdict_rule.rank) = 1
),

named AS (
    SELECT
        judged.*,
        ruled.* EXCLUDE (run, attempt),
        coalesce(
            CASE
                WHEN ruled.cause_from = 'sign' THEN judged.sign_cause
                WHEN
                    ruled.cause_from = 'hardware'
                    AND judged.sign_kind IN (
                        'xid', 'sxid', 'link_down', 'node_state', 'host_memory_error',
                        'kernel_fault'
                    )
                    AND judged.sign_cause NOT IN ('unknown', 'software')
                    THEN judged.sign_cause
                WHEN ruled.cause_from = 'drain' THEN judged.drain_cause
            END,
            ruled.rule_cause
        ) AS cause
    FROM judged
    LEFT JOIN ruled ON judged.run = ruled.run AND judged.attempt = ruled.attempt
),

-- which line stands behind the cause: one that says what the rule says
decided AS (
    SELECT
        -- a record tells whole seconds: what is written within that of its end came before it
        * REPLACE (
            CASE
                WHEN is_recorded AND watchdog_at BETWEEN stop_at AND stop_at + 999999 THEN stop_at
                ELSE watchdog_at
            END AS watchdog_at,
            CASE
                WHEN is_recorded AND launcher_at BETWEEN stop_at AND stop_at + 999999 THEN stop_at
                ELSE launcher_at
            END AS launcher_at
        ),
        CASE
            WHEN cause = 'unknown' THEN NULL
            WHEN cause_from = 'drain' THEN drain_source_id
            WHEN kind = 'preemption' THEN signal_source_id
            WHEN cause_from IN ('sign', 'hardware') AND sign_cause = cause THEN sign_source_id
        END AS cause_source_id,
        CASE
            WHEN cause = 'unknown' THEN NULL
            WHEN cause_from = 'drain' THEN drain_line
            WHEN kind = 'preemption' THEN signal_line
            WHEN cause_from IN ('sign', 'hardware') AND sign_cause = cause THEN sign_line
        END AS cause_line
    FROM named
),

detection AS (
    SELECT
        *,
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
            ELSE
                coalesce(
                    -- a clock that is wrong does not put it after the end of its job
                    CASE
                        WHEN rule_name = 'planned_exit'
                            THEN least(greatest(exit_at, progress_at), stop_at)
                    END,
                    stop_at
                )
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
                            WHEN onset_at IS NULL THEN 9223372036854775807
                            ELSE greatest(onset_at, progress_at)
                        END,
                        coalesce(onset_high, 9223372036854775807),
                        overdue_at,
                        greatest(acted_at, progress_at)
                    )
                )
        END AS fault_at
    FROM detection
),

noticed AS (
    SELECT
        *,
        greatest(acted_at, fault_at) AS detected_at,
        -- a watchdog or launcher had spoken before, but when is not printed
        CASE
            WHEN
                kind IN ('failure', 'unknown') AND acted_low < acted_at
                THEN greatest(progress_at, acted_low)
            -- restarted in its job without a word: no later than when the next one is seen
            WHEN
                kind IN ('failure', 'unknown') AND is_same_job AND cancel_at IS NULL
                AND acted_at = stop_at
                AND coalesce(acted_at <> watchdog_at, TRUE)
                AND coalesce(acted_at <> launcher_at, TRUE)
                AND coalesce(acted_at <> restart_at, TRUE)
                THEN fault_at
            ELSE greatest(acted_at, fault_at)
        END AS detected_low,
        -- no record: the log ends, and when somebody saw that is not known
        CASE
            WHEN
                kind IN ('failure', 'unknown') AND acted_at = stop_at AND NOT is_same_job
                AND NOT is_recorded AND cancel_at IS NULL AND overtaken_at IS NULL
                THEN next_seen_at
            ELSE greatest(acted_at, fault_at)
        END AS detected_high,
        CASE
            WHEN kind IS NULL THEN NULL
            WHEN rule_name = 'planned_exit' THEN 'program'
            WHEN acted_at = watchdog_at THEN 'watchdog'
            WHEN acted_at = launcher_at THEN 'launcher'
            WHEN acted_at = next_submitted_at AND acted_at < stop_at THEN 'person'
            WHEN
                kind IN ('failure', 'unknown') AND is_same_job AND job_key IS NOT NULL
                AND cancel_at IS NULL
                THEN 'launcher'
            WHEN word = 'CANCELLED' OR cancelled_by IS NOT NULL THEN 'person'
            -- a log that ends, and no record: nothing tells who saw it
            WHEN
                kind IN ('failure', 'unknown') AND NOT is_recorded AND cancel_at IS NULL
                AND overtaken_at IS NULL
                THEN NULL
            ELSE 'scheduler'
        END AS detector
    FROM onset
),

-- lines of the log count before the record's word, and the record's before silence
contradicted AS (
    SELECT
        *,
        CASE
            WHEN
                ending = 'complete'
                AND state IN ('FAILED', 'NODE_FAIL', 'OUT_OF_MEMORY', 'BOOT_FAIL', 'TIMEOUT')
                AND next_attempt IS NULL
                THEN
                    'it is recorded as ' || state || ', though the log says that its target was '
                    || 'reached: the log counts'
            WHEN kind = 'failure' AND word = 'COMPLETED' AND has_sign
                THEN
                    'it is recorded as COMPLETED, though a fault line follows its last step: '
                    || 'the line counts'
            WHEN
                kind IN ('failure', 'unknown') AND word = 'COMPLETED'
                THEN
                    'it is recorded as COMPLETED at step ' || last_step
                    || coalesce(' of ' || target_step, '')
                    || ', and nothing says that it stopped by plan: taken for ' || kind
            WHEN
                kind = 'failure' AND has_sign AND is_recorded AND NOT is_same_job
                AND detector NOT IN ('watchdog', 'launcher')
                AND acted_at - greatest(onset_at, progress_at)
                > greatest(coalesce(hang_us, 0), 600000000)
                THEN
                    'its record goes on for '
                    || ((acted_at - greatest(onset_at, progress_at)) // 60000000)
                    || ' min after the fault that the log shows: the fault counts from the log, '
                    || 'and the wait as detection'
            WHEN
                kind IN ('failure', 'unknown') AND is_alloc_open AND NOT is_same_job
                THEN
                    'its record still says ' || state || ', though a later attempt has taken over: '
                    || 'it counts as ended'
        END AS conflict
    FROM noticed
)

SELECT
    run,
    attempt,
    ending,
    kind,
    cause,
    CASE
        WHEN cause = 'unknown' THEN 'absent'
        WHEN cause_line IS NOT NULL THEN 'stated'
        ELSE 'derived'
    END AS cause_strength,
    cause_line,
    cause_source_id,
    sentence AS rule,
    conflict,
    -- which of its ports a host names is no part of what failed
    concat_ws('/', cause, sign_kind, CASE WHEN sign_kind <> 'link_down' THEN sign_code END)
        AS signature,
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
    CASE
        WHEN kind IN ('failure', 'unknown') AND (onset_at IS DISTINCT FROM fault_at)
            THEN progress_at
        ELSE fault_at
    END AS fault_low,
    CASE
        WHEN kind NOT IN ('failure', 'unknown') THEN fault_at
        WHEN onset_at = fault_at THEN fault_at
        -- a pause that has lasted as long before may have gone well up to the first sign
        WHEN phase <> 'step' AND NOT is_hang
            THEN greatest(fault_at, least(acted_at, onset_at, onset_high))
        ELSE greatest(fault_at, least(acted_at, overdue_high_at, onset_high))
    END AS fault_high,
    CASE
        WHEN kind IS NULL THEN NULL
        WHEN kind IN ('planned', 'preemption', 'mitigation') THEN 'derived'
        WHEN onset_at = fault_at THEN 'stated'
        ELSE 'bounded'
    END AS fault_strength,
    CASE WHEN onset_at = fault_at THEN onset_source_id END AS fault_source_id,
    CASE WHEN onset_at = fault_at THEN onset_line END AS fault_line,
    detected_at,
    detected_low,
    detected_high,
    CASE
        WHEN kind IS NULL THEN NULL
        WHEN detected_low < detected_at THEN 'bounded'
        WHEN (detected_high IS DISTINCT FROM detected_at) THEN 'bounded'
        WHEN is_recorded THEN 'stated'
        WHEN list_contains([watchdog_at, launcher_at, cancel_at, exit_at], acted_at) THEN 'stated'
        ELSE 'derived'
    END AS detected_strength,
    detector,
    CASE
        WHEN acted_at = watchdog_at THEN watchdog_source_id
        WHEN acted_at = launcher_at THEN launcher_source_id
        WHEN acted_at = cancel_at THEN source_id
        WHEN acted_at = restart_at THEN source_id
    END AS detected_source_id,
    CASE
        WHEN acted_at = watchdog_at THEN watchdog_line
        WHEN acted_at = launcher_at THEN launcher_line
        WHEN acted_at = cancel_at THEN cancel_line
        WHEN acted_at = restart_at THEN restart_line
    END AS detected_line,
    precursor_at,
    fault_at - precursor_at AS precursor_lead_us,
    stop_at,
    next_attempt
FROM contradicted
