-- table: ending
-- grain: how one attempt that did steps came to its end, with what a person overrules
-- reads: verdict, correction
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
-- column stop_id: run, last step and the how manieth end at that step; names an incident for good
-- column corrected_by: ordinals of the corrections that hold here
WITH named AS (
    SELECT
        verdict.*,
        CASE
            WHEN verdict.ending = 'interrupted'
                THEN
                    verdict.run || '-s' || verdict.last_step || '-' || row_number() OVER (
                        PARTITION BY verdict.run, verdict.last_step, verdict.ending
                        ORDER BY verdict.attempt
                    )
        END AS stop_id
    FROM verdict
),

-- what is said of an end; a moment that no order of moments could have is left out
said AS (
    SELECT
        named.run,
        named.attempt,
        max(correction.kind) AS kind,
        max(correction.cause) AS cause,
        max(correction.set_at) FILTER (WHERE correction.moment = 'fault_at') AS fault_at,
        max(correction.set_at) FILTER (WHERE correction.moment = 'detected_at') AS detected_at,
        list(correction.ordinal ORDER BY correction.ordinal) FILTER (
            WHERE correction.action = 'reclassify'
        ) AS words,
        list(correction.ordinal ORDER BY correction.ordinal) FILTER (
            WHERE correction.action = 'set'
        ) AS moments
    FROM named
    INNER JOIN correction ON named.stop_id = correction.incident
    WHERE
        correction.superseded_by IS NULL
        AND (
            correction.action = 'reclassify'
            OR (
                correction.moment IN ('fault_at', 'detected_at')
                AND correction.set_at BETWEEN named.progress_at AND named.stop_at
            )
        )
    GROUP BY named.run, named.attempt
),

-- fault and detection are judged together, so that two moments cannot hold that exclude each other
judged AS (
    SELECT
        said.*,
        coalesce(said.fault_at, named.fault_at) <= coalesce(said.detected_at, named.detected_at)
            AS is_in_order
    FROM said
    INNER JOIN named ON said.run = named.run AND said.attempt = named.attempt
),

overruled AS (
    SELECT
        judged.run,
        judged.attempt,
        judged.kind,
        judged.cause,
        CASE WHEN judged.is_in_order THEN judged.fault_at END AS fault_at,
        CASE WHEN judged.is_in_order THEN judged.detected_at END AS detected_at,
        string_agg(correction.reason, '; ' ORDER BY correction.ordinal) AS reason,
        list(correction.ordinal ORDER BY correction.ordinal) AS ordinals
    FROM judged
    INNER JOIN correction
        ON
            list_contains(judged.words, correction.ordinal)
            OR (judged.is_in_order AND list_contains(judged.moments, correction.ordinal))
    GROUP BY ALL
),

applied AS (
    SELECT
        named.* REPLACE (
            -- the hang that is taken for a plan: it stopped when it fell silent
            CASE
                WHEN
                    named.is_hang
                    AND named.kind IN ('failure', 'unknown')
                    AND overruled.kind NOT IN ('failure', 'unknown')
                    THEN named.fault_at
                ELSE named.detected_at
            END AS detected_at
        ),
        overruled.fault_at AS set_fault_at,
        overruled.detected_at AS set_detected_at,
        coalesce(overruled.kind, named.kind) AS new_kind,
        overruled.cause AS new_cause,
        overruled.reason,
        coalesce(overruled.ordinals, []) AS corrected_by
    FROM named
    LEFT JOIN overruled ON named.run = overruled.run AND named.attempt = overruled.attempt
)

SELECT
    * EXCLUDE (set_fault_at, set_detected_at, new_kind, new_cause, reason) REPLACE (
        new_kind AS kind,
        coalesce(new_cause, cause) AS cause,
        CASE WHEN new_cause IS NULL THEN cause_strength ELSE 'stated' END AS cause_strength,
        CASE WHEN reason IS NULL THEN rule ELSE 'a person overruled: ' || reason END AS rule,
        coalesce(set_detected_at, detected_at) AS detected_at,
        coalesce(set_detected_at, detected_low) AS detected_low,
        coalesce(set_detected_at, detected_high) AS detected_high,
        CASE
            WHEN set_detected_at IS NULL THEN detected_strength ELSE 'stated'
        END AS detected_strength,
        CASE WHEN set_detected_at IS NULL THEN detector ELSE 'person' END AS detector,
        CASE WHEN set_detected_at IS NULL THEN detected_source_id END AS detected_source_id,
        CASE WHEN set_detected_at IS NULL THEN detected_line END AS detected_line,
        CASE WHEN set_fault_at IS NULL THEN fault_source_id END AS fault_source_id,
        CASE WHEN set_fault_at IS NULL THEN fault_line END AS fault_line,
        CASE
            WHEN set_fault_at IS NOT NULL THEN set_fault_at
            -- nothing was to be noticed: the stop itself is the moment
            WHEN
                new_kind NOT IN ('failure', 'unknown')
                THEN coalesce(set_detected_at, detected_at)
            ELSE fault_at
        END AS fault_at,
        CASE
            WHEN set_fault_at IS NOT NULL THEN set_fault_at
            WHEN
                new_kind NOT IN ('failure', 'unknown')
                THEN coalesce(set_detected_at, detected_at)
            WHEN kind NOT IN ('failure', 'unknown') THEN progress_at
            ELSE fault_low
        END AS fault_low,
        CASE
            WHEN set_fault_at IS NOT NULL THEN set_fault_at
            WHEN
                new_kind NOT IN ('failure', 'unknown')
                THEN coalesce(set_detected_at, detected_at)
            ELSE fault_high
        END AS fault_high,
        CASE
            WHEN set_fault_at IS NOT NULL THEN 'stated'
            WHEN new_kind IS DISTINCT FROM kind THEN 'bounded'
            ELSE fault_strength
        END AS fault_strength,
        CASE
            WHEN set_fault_at IS NOT NULL THEN set_fault_at
            WHEN
                new_kind NOT IN ('failure', 'unknown')
                THEN coalesce(set_detected_at, detected_at)
            ELSE fault_at
        END - precursor_at AS precursor_lead_us
    )
FROM applied
