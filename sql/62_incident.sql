-- table: incident
-- grain: one interruption of a run's progress with every failed retry after it
-- reads: event, checkpoint, baseline, log_file, line_time, incident_head, incident_save, detection, chain, ending, span, attempt, step, step_fate, discard, sign, raw_domain, correction, link
-- params:
-- column run: run
-- column incident: counts the run's incidents, from 1
-- column incident_id: run, last step and ordinal; never a time, so that links survive new evidence
-- column attempt: attempt that was interrupted
-- column last_failed_attempt: last attempt with steps that belongs to the chain
-- column resumed_by: attempt that came back, null when none did
-- column kind: failure, preemption, operator_rollback, planned or unknown
-- column cause: cause
-- column cause_strength: stated or derived
-- column rule: rule behind kind and cause
-- column phase: step, save or evaluation
-- column is_secondary: failed before a newer checkpoint was verified, after a failure
-- column attempts: the interrupted attempt and each failed retry
-- column is_hidden: a retry whose log is gone ran for long enough to have done steps
-- column job_ids: scheduler ids of all attempts in the chain and of the one that came back
-- column last_step: last completed step before the fault
-- column reached_step: the highest last step of all ends that belong to it
-- column last_step_at: UTC us
-- column last_step_low: UTC us, earliest moment of its line, null when that is stamped
-- column last_step_high: UTC us, latest moment of it
-- column line_steps: number of steps that may lie between two step lines, as far as lines show
-- column line_us: usual time that they take
-- column first_step_high: UTC us, the first step line after the return
-- column precursor_at: UTC us
-- column precursor_lead_us: from it to the fault
-- column fault_at: UTC us
-- column fault_low: UTC us
-- column fault_high: UTC us
-- column fault_strength: stated, derived or bounded
-- column detected_at: UTC us
-- column detected_low: UTC us
-- column detected_high: UTC us, null where nothing bounds it
-- column detected_strength: stated, derived or bounded
-- column detector: who acted
-- column replaced_at: UTC us
-- column launch_from_at: UTC us, when the launch that came back began: its nodes there, retries over
-- column launched_at: UTC us, null when only bounded
-- column launched_low: UTC us
-- column launched_high: UTC us
-- column load_started_at: UTC us, null when only bounded
-- column load_started_low: UTC us
-- column load_started_high: UTC us
-- column restored_at: UTC us, null when only bounded
-- column restored_low: UTC us
-- column restored_high: UTC us
-- column first_step_at: UTC us
-- column caught_up_at: UTC us
-- column resume_step: step of the state that it resumed from
-- column recovery_source: storage, local, peer, scratch or unknown
-- column verified_step: newest verified step as known at the fault
-- column verified_grade: its grade then
-- column verified_captured_at: UTC us, when that state was captured
-- column verified_step_hindsight: newest step before the fault that is known to be good today
-- column attempted_captured_at: UTC us, capture of the newest save begun before the fault
-- column unsaved_work_us: training time since the later of that capture and the last resume
-- column steps_lost: last step less resume step; where ends far apart were merged, of all of them
-- column partial_us: the step under way when the fault struck
-- column lost_work_us: training time of the executions that this incident discarded
-- column repeated_us: time that doing those steps again took
-- column detection_us: fault to detected, null where nothing was to detect
-- column detection_timeout_us: configured time that was waited before it was noticed, null when it was none
-- column retries_us: inside failed retries
-- column replacement_us: no attempt running
-- column recovery_us: detected to first step
-- column data_us: of the return, skipping data, null where nothing tells
-- column compile_us: of it, compiling
-- column comm_init_us: of it, setting up communication
-- column nodes: culprit nodes, where lines name them
-- column domains: failure domains of those nodes
-- column ends: ids of all ends that belong to it, its own first
-- column corrected_by: ordinals of the corrections that hold in it
-- column overruled: what persons overruled in it, in words
-- column is_excluded: its fault lies in a stretch that a person excluded
-- steps that a repeat of the same failure did are lost work, not time of a retry
WITH thrown AS (
    SELECT
        run,
        attempt,
        incident,
        sum(size_us)::BIGINT AS work_us
    FROM (
        SELECT
            run,
            attempt,
            incident,
            work_us + evaluation_us + degraded_us AS size_us
        FROM step_fate
        WHERE
            incident IS NOT NULL
            -- what an orphan did after it was overtaken is its own affair
            AND (run, attempt, line_no) NOT IN (
                SELECT
                    step.run,
                    step.attempt,
                    step.line_no
                FROM step
                INNER JOIN ending ON step.run = ending.run AND step.attempt = ending.attempt
                WHERE step.ended_at > ending.overtaken_at
            )
        UNION ALL
        -- the evaluation of a last step that is done again
        SELECT
            discard.run,
            discard.attempt,
            discard.incident,
            ending.evaluated_at - ending.last_step_at
        FROM discard
        INNER JOIN ending
            ON
                discard.run = ending.run
                AND discard.attempt = ending.attempt
                AND discard.to_step = ending.last_step
        WHERE ending.evaluated_at > ending.last_step_at AND ending.overtaken_at IS NULL
    ) AS part
    GROUP BY run, attempt, incident
),

-- the step under way when an attempt of the chain was struck
struck AS (
    SELECT
        chain.run,
        chain.attempt,
        chain.incident,
        chain.is_repeat,
        CASE
            WHEN ending.phase IN ('save', 'evaluation') OR ending.detector = 'program' THEN 0
            ELSE greatest(0, ending.fault_at - ending.progress_at)
        END AS partial_us
    FROM chain
    INNER JOIN ending ON chain.run = ending.run AND chain.attempt = ending.attempt
    WHERE chain.incident IS NOT NULL
),

-- ends that a person joined: what lies between may have been kept
merged AS (
    SELECT
        run,
        incident
    FROM chain
    WHERE is_repeat AND len(corrected_by) > 0
    GROUP BY run, incident
),

first_done AS (
    SELECT
        run,
        attempt,
        min(started_at) AS first_done_at
    FROM step
    WHERE is_first
    GROUP BY run, attempt
),

-- of a repeat that was merged all of it is no time of a retry, from its first step to its fault
stood AS (
    SELECT
        chain.run,
        chain.incident,
        chain.attempt,
        greatest(
            0,
            least(ending.fault_at, span.to_at, span.takeover_at, back_span.from_at)
            - greatest(first_done.first_done_at, span.from_at, head.detected_at)
        ) AS up_us
    FROM merged
    INNER JOIN incident_head AS returned
        ON merged.run = returned.run AND merged.incident = returned.incident
    INNER JOIN ending AS head ON returned.run = head.run AND returned.attempt = head.attempt
    INNER JOIN chain
        ON
            merged.run = chain.run
            AND merged.incident = chain.incident
            AND chain.is_repeat
    INNER JOIN ending ON chain.run = ending.run AND chain.attempt = ending.attempt
    INNER JOIN span ON chain.run = span.run AND chain.attempt = span.attempt
    INNER JOIN first_done ON chain.run = first_done.run AND chain.attempt = first_done.attempt
    LEFT JOIN span AS back_span
        ON returned.run = back_span.run AND returned.resumed_by = back_span.attempt
),

inside AS (
    SELECT
        struck.run,
        struck.incident,
        sum(
            coalesce(stood.up_us, coalesce(thrown.work_us, 0) + struck.partial_us)
        )::BIGINT AS inside_us
    FROM struck
    LEFT JOIN stood ON struck.run = stood.run AND struck.attempt = stood.attempt
    LEFT JOIN thrown
        ON
            struck.run = thrown.run
            AND struck.attempt = thrown.attempt
            AND struck.incident = thrown.incident
    WHERE struck.is_repeat
    GROUP BY struck.run, struck.incident
),

tried AS (
    SELECT
        returned.run,
        returned.incident,
        count(later.attempt) AS n_retries,
        coalesce(bool_or(later.is_unlogged), FALSE) AS is_hidden,
        any_value(greatest(back_span.from_at, ending.detected_at) - ending.detected_at) AS wait_us,
        coalesce(
            sum(
                CASE
                    WHEN span.attempt IS NULL THEN 0
                    ELSE
                        greatest(
                            0,
                            least(span.to_at, coalesce(back_span.from_at, span.to_at))
                            - greatest(span.from_at, ending.detected_at)
                        )
                END
            ),
            0
        )::BIGINT AS tried_us,
        coalesce(any_value(inside.inside_us), 0) AS inside_us
    FROM incident_head AS returned
    INNER JOIN ending ON returned.run = ending.run AND returned.attempt = ending.attempt
    LEFT JOIN span AS back_span
        ON returned.run = back_span.run AND returned.resumed_by = back_span.attempt
    LEFT JOIN attempt AS later
        ON
            returned.run = later.run
            AND returned.attempt < later.attempt
            AND (returned.resumed_by IS NULL OR returned.resumed_by > later.attempt)
    LEFT JOIN span ON later.run = span.run AND later.attempt = span.attempt
    LEFT JOIN inside ON returned.run = inside.run AND returned.incident = inside.incident
    GROUP BY returned.run, returned.incident
),

-- allocations that overlap: neither takes more than the time up to the return
retry AS (
    SELECT
        run,
        incident,
        n_retries,
        is_hidden,
        least(inside_us, coalesce(wait_us, inside_us)) AS inside_us,
        greatest(
            0,
            least(tried_us, coalesce(wait_us, tried_us))
            - least(inside_us, coalesce(wait_us, inside_us))
        ) AS retries_us
    FROM tried
),

job_list AS (
    SELECT
        returned.run,
        returned.incident,
        list(DISTINCT attempt.job_id ORDER BY attempt.job_id) FILTER (
            WHERE attempt.job_id IS NOT NULL
        )
            AS job_ids
    FROM incident_head AS returned
    INNER JOIN attempt
        ON
            returned.run = attempt.run
            AND attempt.attempt >= returned.attempt
            AND (attempt.attempt <= returned.resumed_by OR returned.resumed_by IS NULL)
    GROUP BY returned.run, returned.incident
),

discarded AS (
    SELECT
        run,
        incident,
        sum(work_us)::BIGINT AS work_us
    FROM thrown
    GROUP BY run, incident
),

partial AS (
    SELECT
        run,
        incident,
        sum(partial_us)::BIGINT AS partial_us,
        sum(partial_us) FILTER (WHERE NOT is_repeat)::BIGINT AS head_partial_us
    FROM struck
    GROUP BY run, incident
),

mark AS (
    SELECT
        attempt.run,
        attempt.attempt,
        -- an orphan's further steps are not the run's
        max(coalesce(ending.last_step, attempt.last_step)) OVER (
            PARTITION BY attempt.run ORDER BY attempt.attempt
        ) AS high_water_step
    FROM attempt
    LEFT JOIN ending ON attempt.run = ending.run AND attempt.attempt = ending.attempt
),

caught_up AS (
    SELECT
        returned.run,
        returned.incident,
        min(step.ended_at) AS caught_up_at
    FROM incident_head AS returned
    INNER JOIN mark
        ON returned.run = mark.run AND returned.last_failed_attempt = mark.attempt
    INNER JOIN step
        ON
            returned.run = step.run
            AND returned.resumed_by <= step.attempt
            AND mark.high_water_step < step.step
    GROUP BY returned.run, returned.incident
),

-- which attempt did the steps of which again; of merged ends each its own
return_step AS (
    SELECT
        run,
        incident,
        attempt,
        resumed_by
    FROM incident_head
    WHERE (run, incident) NOT IN (SELECT (merged.run, merged.incident) FROM merged)
    UNION ALL
    SELECT
        chain.run,
        chain.incident,
        chain.attempt,
        back.attempt AS resumed_by
    FROM merged
    INNER JOIN chain ON merged.run = chain.run AND merged.incident = chain.incident
    INNER JOIN chain AS back ON chain.run = back.run AND chain.position + 1 = back.position
),

repeated AS (
    SELECT
        returned.run,
        returned.incident,
        sum(step.work_us + step.degraded_us + step.evaluation_us)::BIGINT AS repeated_us
    FROM return_step AS returned
    INNER JOIN ending ON returned.run = ending.run AND returned.attempt = ending.attempt
    INNER JOIN attempt ON returned.run = attempt.run AND returned.attempt = attempt.attempt
    INNER JOIN step
        ON
            returned.run = step.run
            AND returned.resumed_by = step.attempt
            AND step.step <= coalesce(ending.last_step, attempt.last_step)
    GROUP BY returned.run, returned.incident
),

culprit AS (
    SELECT
        sign.run,
        sign.attempt,
        list(DISTINCT sign.node ORDER BY sign.node) FILTER (WHERE sign.node IS NOT NULL) AS nodes
    FROM sign
    INNER JOIN ending ON sign.run = ending.run AND sign.attempt = ending.attempt
    WHERE
        -- says of itself which host prints it, the first of the job, and not which one failed
        sign.kind <> 'job_cancelled'
        AND (
            (
                NOT sign.is_before
                AND (sign.is_sign OR sign.kind = 'launcher_failure')
                AND (sign.cause = ending.cause OR ending.cause = 'unknown')
            )
            -- the line behind the cause names its node, wherever it stands
            OR (sign.source_id = ending.cause_source_id AND sign.line_no = ending.cause_line)
        )
    GROUP BY sign.run, sign.attempt
),

culprit_domain AS (
    SELECT
        culprit.run,
        culprit.attempt,
        list(
            DISTINCT raw_domain.kind
            || ':'
            || raw_domain.name
            ORDER BY raw_domain.kind || ':' || raw_domain.name
        )
            AS domains
    FROM (
        SELECT
            run,
            attempt,
            unnest(nodes) AS node
        FROM culprit
    ) AS culprit
    INNER JOIN raw_domain ON culprit.node = raw_domain.node
    WHERE raw_domain.kind <> 'switch'
    GROUP BY culprit.run, culprit.attempt
),

-- parts of the return that its log tells of: a duration that is printed, or from line to line
stage_part AS (
    SELECT
        returned.run,
        returned.incident,
        event.kind,
        coalesce(
            max(event.duration_us),
            nullif((max(event.logged_at) - min(event.logged_at))::BIGINT, 0)
        ) AS part_us
    FROM incident_head AS returned
    INNER JOIN event ON returned.run = event.run AND returned.resumed_by = event.attempt
    INNER JOIN attempt ON returned.run = attempt.run AND returned.resumed_by = attempt.attempt
    WHERE
        event.kind IN ('data_skip', 'compile', 'comm_init')
        AND event.position < attempt.first_step_line
    GROUP BY returned.run, returned.incident, event.kind
),

part AS (
    SELECT
        run,
        incident,
        max(part_us) FILTER (WHERE kind = 'data_skip') AS data_us,
        max(part_us) FILTER (WHERE kind = 'compile') AS compile_us,
        max(part_us) FILTER (WHERE kind = 'comm_init') AS comm_init_us
    FROM stage_part
    GROUP BY run, incident
),

-- ends that belong together, and what a person had to say of them
members AS (
    SELECT
        chain.run,
        chain.incident,
        list(ending.stop_id ORDER BY chain.attempt) AS ends,
        max(coalesce(ending.last_step, attempt.last_step)) AS reached_step,
        coalesce(bool_or(chain.is_repeat AND len(chain.corrected_by) > 0), FALSE) AS is_merged,
        list_distinct(
            flatten(
                list(
                    list_concat(ending.corrected_by, chain.corrected_by) ORDER BY chain.attempt
                )
            )
        ) AS ordinals
    FROM chain
    INNER JOIN ending ON chain.run = ending.run AND chain.attempt = ending.attempt
    INNER JOIN attempt ON chain.run = attempt.run AND chain.attempt = attempt.attempt
    WHERE chain.incident IS NOT NULL
    GROUP BY chain.run, chain.incident
),

-- steps that each end of merged ones threw away; those that several threw away are lost once
thrown_steps AS (
    SELECT
        run,
        incident,
        CASE
            WHEN bool_and(above_step <= to_step) THEN
                sum(greatest(0, to_step - greatest(above_step, coalesce(before_step, above_step))))
        END::BIGINT AS n_steps
    FROM (
        SELECT
            chain.run,
            chain.incident,
            back.resume_step AS above_step,
            ending.last_step AS to_step,
            max(ending.last_step) OVER (
                PARTITION BY chain.run, chain.incident
                ORDER BY back.resume_step, ending.last_step, chain.attempt
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before_step
        FROM chain
        INNER JOIN members
            ON
                chain.run = members.run
                AND chain.incident = members.incident
                AND members.is_merged
        INNER JOIN ending ON chain.run = ending.run AND chain.attempt = ending.attempt
        INNER JOIN chain AS back
            ON chain.run = back.run AND chain.position + 1 = back.position
    ) AS thrown_part
    GROUP BY run, incident
),

-- moments of the return that a person sets
asked_moment AS (
    SELECT
        members.run,
        members.incident,
        max(correction.set_at) FILTER (WHERE correction.moment = 'launched_at') AS launched_at,
        max(correction.set_at) FILTER (
            WHERE correction.moment = 'load_started_at'
        ) AS load_started_at,
        max(correction.set_at) FILTER (WHERE correction.moment = 'restored_at') AS restored_at,
        list(correction.ordinal ORDER BY correction.ordinal) AS ordinals
    FROM members
    INNER JOIN correction
        ON
            members.ends[1] = correction.incident
            AND correction.moment IN ('launched_at', 'load_started_at', 'restored_at')
            AND correction.superseded_by IS NULL
    GROUP BY members.run, members.incident
),

-- when the line of the last step was written, where it has no stamp of its own
last_line AS (
    SELECT
        attempt.run,
        attempt.attempt,
        coalesce(line_time.low, least(attempt.alloc_start_at, line_time.high)) AS low,
        coalesce(
            line_time.high,
            greatest(attempt.alloc_end_at, coalesce(line_time.low, attempt.alloc_end_at))
        ) AS high
    FROM attempt
    ASOF INNER JOIN log_file
        ON
            attempt.source_id = log_file.log_id
            AND attempt.last_step_line > log_file.line_offset
    INNER JOIN line_time
        ON
            log_file.source_id = line_time.source_id
            AND attempt.last_step_line - log_file.line_offset = line_time.line_no
    WHERE line_time.strength IN ('derived', 'bounded')
),

-- what stops again at the same step, some lines after it had resumed, does so by the program or data
again AS (
    SELECT DISTINCT
        chain.run,
        chain.incident
    FROM chain
    INNER JOIN incident_head
        ON chain.run = incident_head.run AND chain.incident = incident_head.incident
    INNER JOIN ending AS head
        ON incident_head.run = head.run AND incident_head.attempt = head.attempt
    INNER JOIN ending ON chain.run = ending.run AND chain.attempt = ending.attempt
    INNER JOIN attempt ON chain.run = attempt.run AND chain.attempt = attempt.attempt
    LEFT JOIN baseline
        ON attempt.run = baseline.run AND (attempt.epoch IS NOT DISTINCT FROM baseline.epoch)
    WHERE
        chain.is_repeat
        AND coalesce(len(chain.corrected_by), 0) = 0
        AND head.kind = 'failure'
        AND head.cause = 'unknown'
        AND ending.last_step - chain.resume_step > coalesce(baseline.line_steps, 1)
),

moment AS (
    SELECT
        returned.*,
        ending.stop_id,
        ending.corrected_by,
        ending.kind AS ending_kind,
        ending.cause,
        ending.cause_strength,
        ending.rule,
        ending.phase,
        ending.last_step_at,
        ending.precursor_at,
        ending.precursor_lead_us,
        ending.detected_low,
        ending.detected_high,
        ending.detected_strength,
        ending.fault_at,
        ending.fault_low,
        ending.fault_high,
        ending.fault_strength,
        last_ending.detected_at AS last_detected_at,
        ending.detected_at,
        ending.detector,
        coalesce(ending.last_step, failed.last_step) AS last_step,
        ending.overtaken_at,
        coalesce(failed.job_key, 'log ' || failed.source_id) AS failed_allocation,
        back.alloc_start_at AS back_start_at,
        back_span.from_at AS back_from_at,
        coalesce(back.job_key, 'log ' || back.source_id) AS back_allocation,
        back.launch_low,
        back.launch_high,
        back.load_at,
        back.load_low,
        back.load_high,
        back.restored_at,
        back.restored_low,
        back.restored_high,
        back.load_line,
        back.is_scratch,
        (
            SELECT min(step.started_at)
            FROM step
            WHERE step.run = back.run AND step.attempt = back.attempt AND step.is_first
        ) AS first_step_at,
        (
            SELECT min(step.ended_at)
            FROM step
            WHERE step.run = back.run AND step.attempt = back.attempt AND step.is_first
        ) AS first_step_high,
        failed.epoch,
        chain.resume_step,
        back_link.returns_to,
        back_link.left_step,
        greatest(back_span.from_at, ending.detected_at) AS launch_from_at
    FROM incident_head AS returned
    INNER JOIN ending ON returned.run = ending.run AND returned.attempt = ending.attempt
    INNER JOIN ending AS last_ending
        ON returned.run = last_ending.run AND returned.last_failed_attempt = last_ending.attempt
    INNER JOIN attempt AS failed ON returned.run = failed.run AND returned.attempt = failed.attempt
    LEFT JOIN attempt AS back ON returned.run = back.run AND returned.resumed_by = back.attempt
    LEFT JOIN span AS back_span
        ON returned.run = back_span.run AND returned.resumed_by = back_span.attempt
    LEFT JOIN chain ON returned.run = chain.run AND returned.resumed_by = chain.attempt
    LEFT JOIN link AS back_link
        ON returned.run = back_link.run AND returned.resumed_by = back_link.attempt
),

-- each of them with the earliest and the latest that it can be
asked_bound AS (
    SELECT
        asked_moment.*,
        moment.launch_from_at,
        moment.first_step_at,
        coalesce(asked_moment.launched_at, moment.launch_low) AS launched_low,
        coalesce(asked_moment.launched_at, moment.launch_high) AS launched_high,
        coalesce(asked_moment.load_started_at, moment.load_at, moment.load_low) AS load_low,
        coalesce(asked_moment.load_started_at, moment.load_at, moment.load_high) AS load_high,
        coalesce(asked_moment.restored_at, moment.restored_at, moment.restored_low)
            AS restored_low,
        coalesce(asked_moment.restored_at, moment.restored_at, moment.restored_high)
            AS restored_high
    FROM asked_moment
    INNER JOIN moment
        ON asked_moment.run = moment.run AND asked_moment.incident = moment.incident
),

-- they are judged together: those that break the order of moments do not hold, none of them
set_moment AS (
    SELECT
        run,
        incident,
        launched_at,
        load_started_at,
        restored_at,
        ordinals
    FROM asked_bound
    WHERE
        least(launched_at, load_started_at, restored_at) >= launch_from_at
        AND greatest(launched_at, load_started_at, restored_at) <= first_step_at
        AND coalesce(launched_low <= load_high, TRUE)
        AND coalesce(launched_low <= restored_high, TRUE)
        AND coalesce(load_low <= restored_high, TRUE)
),

corrected AS (
    SELECT
        members.run,
        members.incident,
        list_concat(members.ordinals, coalesce(set_moment.ordinals, [])) AS ordinals
    FROM members
    LEFT JOIN set_moment
        ON members.run = set_moment.run AND members.incident = set_moment.incident
),

word AS (
    SELECT
        corrected.run,
        corrected.incident,
        list(correction.ordinal ORDER BY correction.ordinal) AS ordinals,
        list(correction.action || ': ' || correction.reason ORDER BY correction.ordinal)
            AS overruled,
        bool_or(correction.kind IS NOT NULL AND correction.incident = moment.stop_id)
            AS has_kind,
        bool_or(correction.cause IS NOT NULL AND correction.incident = moment.stop_id)
            AS has_cause
    FROM corrected
    INNER JOIN moment ON corrected.run = moment.run AND corrected.incident = moment.incident
    INNER JOIN correction ON list_contains(corrected.ordinals, correction.ordinal)
    GROUP BY corrected.run, corrected.incident
),

excluded AS (
    SELECT
        moment.run,
        moment.incident,
        list('exclude: ' || correction.reason ORDER BY correction.ordinal) AS overruled
    FROM moment
    INNER JOIN correction
        ON
            correction.action = 'exclude'
            AND coalesce(correction.run = moment.run, TRUE)
            AND moment.fault_at >= correction.start_at
            AND moment.fault_at < correction.end_at
    GROUP BY moment.run, moment.incident
)

SELECT
    moment.run,
    moment.incident,
    moment.stop_id AS incident_id,
    moment.attempt,
    moment.last_failed_attempt,
    moment.resumed_by,
    CASE
        WHEN
            moment.ending_kind = 'planned'
            -- what a person calls planned is planned
            AND coalesce(NOT word.has_kind, TRUE)
            AND moment.detector IN ('person', 'scheduler', 'program')
            AND moment.cause = 'operator'
            AND (
                moment.resume_step < incident_save.verified_step
                -- a branch was left for the line that it came from
                OR moment.returns_to IS NOT NULL
            )
            THEN 'operator_rollback'
        ELSE moment.ending_kind
    END AS kind,
    CASE
        WHEN again.incident IS NULL OR word.has_cause THEN moment.cause
        ELSE 'software'
    END AS cause,
    CASE
        WHEN again.incident IS NULL OR word.has_cause THEN moment.cause_strength
        ELSE 'derived'
    END AS cause_strength,
    moment.rule
    || CASE
        WHEN again.incident IS NULL OR word.has_cause THEN ''
        ELSE ', and again at the same step: taken for a fault of the software'
    END AS rule,
    moment.phase,
    moment.is_secondary,
    1 + retry.n_retries AS attempts,
    retry.is_hidden,
    coalesce(job_list.job_ids, []) AS job_ids,
    moment.last_step,
    members.reached_step,
    moment.last_step_at,
    last_line.low AS last_step_low,
    last_line.high AS last_step_high,
    coalesce(baseline.widest_steps, baseline.line_steps, 1) AS line_steps,
    greatest(
        baseline.line_us,
        baseline.line_us * (coalesce(baseline.widest_steps, 1) // greatest(baseline.line_steps, 1))
    ) AS line_us,
    moment.first_step_high,
    moment.precursor_at,
    moment.precursor_lead_us,
    moment.fault_at,
    moment.fault_low,
    moment.fault_high,
    moment.fault_strength,
    moment.detected_at,
    moment.detected_low,
    moment.detected_high,
    moment.detected_strength,
    moment.detector,
    CASE
        WHEN moment.resumed_by IS NULL THEN NULL
        WHEN moment.back_allocation = moment.failed_allocation THEN moment.detected_at
        ELSE greatest(moment.back_start_at, moment.detected_at)
    END AS replaced_at,
    CASE WHEN moment.resumed_by IS NOT NULL THEN moment.launch_from_at END AS launch_from_at,
    coalesce(
        set_moment.launched_at,
        CASE WHEN moment.launch_low = moment.launch_high THEN moment.launch_low END
    ) AS launched_at,
    coalesce(set_moment.launched_at, greatest(moment.launch_low, moment.back_start_at))
        AS launched_low,
    coalesce(set_moment.launched_at, moment.launch_high) AS launched_high,
    coalesce(set_moment.load_started_at, moment.load_at) AS load_started_at,
    coalesce(set_moment.load_started_at, greatest(moment.load_low, moment.back_start_at))
        AS load_started_low,
    coalesce(set_moment.load_started_at, moment.load_high) AS load_started_high,
    coalesce(set_moment.restored_at, moment.restored_at) AS restored_at,
    coalesce(set_moment.restored_at, greatest(moment.restored_low, moment.back_start_at))
        AS restored_low,
    coalesce(set_moment.restored_at, moment.restored_high) AS restored_high,
    moment.first_step_at,
    caught_up.caught_up_at,
    moment.resume_step,
    CASE
        WHEN moment.resumed_by IS NULL THEN 'unknown'
        WHEN moment.is_scratch THEN 'scratch'
        -- from a replica that went on
        WHEN EXISTS (
            SELECT 1
            FROM event
            WHERE
                event.run = moment.run
                AND event.attempt = moment.resumed_by
                AND event.line_no = moment.load_line
                AND event.is_own
                AND event.code = 'peer'
        ) THEN 'peer'
        WHEN
            (
                SELECT arg_max(checkpoint.tier, checkpoint.ordinal)
                FROM checkpoint
                WHERE
                    checkpoint.run = moment.run
                    AND checkpoint.step = moment.resume_step
                    AND checkpoint.attempt < moment.resumed_by
            ) = 'local'
            THEN 'local'
        WHEN moment.load_line IS NOT NULL THEN 'storage'
        ELSE 'unknown'
    END AS recovery_source,
    incident_save.verified_step,
    incident_save.verified_grade,
    incident_save.verified_captured_at,
    incident_save.verified_step_hindsight,
    incident_save.attempted_captured_at,
    incident_save.after_us
    + CASE
        WHEN members.is_merged THEN partial.head_partial_us
        ELSE partial.partial_us
    END AS unsaved_work_us,
    -- resumed beyond the last step that was logged: the log is not whole, what was lost is unknown
    CASE
        WHEN moment.resumed_by IS NULL THEN NULL
        WHEN members.is_merged THEN thrown_steps.n_steps
        WHEN moment.returns_to IS NOT NULL THEN moment.last_step - moment.left_step
        WHEN moment.resume_step <= moment.last_step THEN moment.last_step - moment.resume_step
    END AS steps_lost,
    partial.partial_us,
    CASE
        WHEN moment.resumed_by IS NOT NULL THEN coalesce(discarded.work_us, 0) + partial.partial_us
    END
        AS lost_work_us,
    CASE WHEN moment.resumed_by IS NOT NULL THEN coalesce(repeated.repeated_us, 0) END
        AS repeated_us,
    CASE
        WHEN moment.ending_kind IN ('failure', 'unknown') THEN moment.detected_at - moment.fault_at
    END
        AS detection_us,
    CASE WHEN moment.ending_kind IN ('failure', 'unknown') THEN detection.timeout_us END
        AS detection_timeout_us,
    coalesce(retry.retries_us, 0) AS retries_us,
    CASE
        WHEN moment.resumed_by IS NOT NULL
            THEN
                greatest(
                    0,
                    greatest(moment.back_from_at, moment.detected_at)
                    - moment.detected_at
                    - coalesce(retry.retries_us, 0)
                    - coalesce(retry.inside_us, 0)
                )
    END AS replacement_us,
    -- lines that stand in another order than their times tell no recovery
    CASE
        WHEN moment.first_step_at - moment.detected_at >= coalesce(retry.inside_us, 0)
            THEN moment.first_step_at - moment.detected_at - coalesce(retry.inside_us, 0)
    END AS recovery_us,
    part.data_us,
    part.compile_us,
    part.comm_init_us,
    coalesce(culprit.nodes, []) AS nodes,
    coalesce(culprit_domain.domains, []) AS domains,
    members.ends,
    coalesce(word.ordinals, []) AS corrected_by,
    list_concat(coalesce(word.overruled, []), coalesce(excluded.overruled, [])) AS overruled,
    excluded.overruled IS NOT NULL AS is_excluded
FROM moment
INNER JOIN members ON moment.run = members.run AND moment.incident = members.incident
LEFT JOIN thrown_steps
    ON moment.run = thrown_steps.run AND moment.incident = thrown_steps.incident
LEFT JOIN excluded ON moment.run = excluded.run AND moment.incident = excluded.incident
LEFT JOIN word ON moment.run = word.run AND moment.incident = word.incident
LEFT JOIN set_moment ON moment.run = set_moment.run AND moment.incident = set_moment.incident
LEFT JOIN last_line ON moment.run = last_line.run AND moment.attempt = last_line.attempt
LEFT JOIN baseline
    ON
        moment.run = baseline.run
        AND (moment.epoch IS NOT DISTINCT FROM baseline.epoch)
LEFT JOIN again ON moment.run = again.run AND moment.incident = again.incident
LEFT JOIN part ON moment.run = part.run AND moment.incident = part.incident
LEFT JOIN detection ON moment.run = detection.run AND moment.incident = detection.incident
LEFT JOIN retry ON moment.run = retry.run AND moment.incident = retry.incident
LEFT JOIN job_list ON moment.run = job_list.run AND moment.incident = job_list.incident
INNER JOIN incident_save
    ON moment.run = incident_save.run AND moment.incident = incident_save.incident
LEFT JOIN discarded ON moment.run = discarded.run AND moment.incident = discarded.incident
LEFT JOIN partial ON moment.run = partial.run AND moment.incident = partial.incident
LEFT JOIN caught_up ON moment.run = caught_up.run AND moment.incident = caught_up.incident
LEFT JOIN repeated ON moment.run = repeated.run AND moment.incident = repeated.incident
LEFT JOIN culprit ON moment.run = culprit.run AND moment.attempt = culprit.attempt
LEFT JOIN
    culprit_domain
    ON moment.run = culprit_domain.run AND moment.attempt = culprit_domain.attempt
