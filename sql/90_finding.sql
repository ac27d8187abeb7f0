-- table: finding
-- grain: one thing about the data that a reader of the numbers must know
-- reads: source, source_zone, zone_conflict, attempt, epoch, incident, placement, log_attempt, job, checkpoint, log_file, correction, ending, failed_start, baseline, odd_stamp
-- params:
-- column kind: assumed_zone, zone_conflict, missing_log, no_records, unplaced_log, hidden_requeue, new_epoch, conflict, timer_differs, hidden_steps or hidden_redo
-- column subject: run, job or file that it is about
-- column text: what was found, what it means and what to do
-- column could_move_us: how much time it could move, null where that cannot be said
-- column source_id: file
-- column line_no: line
-- corrections that hold somewhere
WITH used_correction AS (
    SELECT unnest(incident.corrected_by) AS ordinal FROM incident
    UNION
    SELECT correction.ordinal
    FROM correction
    INNER JOIN attempt
        ON
            coalesce(correction.run = attempt.run, TRUE)
            AND correction.start_at < attempt.alloc_end_at
            AND correction.end_at > attempt.alloc_start_at
    WHERE correction.action = 'exclude'
),

unused_correction AS (
    SELECT *
    FROM correction
    WHERE ordinal NOT IN (SELECT used_correction.ordinal FROM used_correction)
),

-- each end, and the incident that it is part of
named_end AS (
    SELECT
        run,
        incident_id,
        unnest(ends) AS stop_id
    FROM incident
),

-- names that nothing has, with the likeliest that is meant
no_such AS (
    SELECT DISTINCT asked.name
    FROM (
        SELECT incident AS name FROM unused_correction
        UNION ALL
        SELECT into_incident AS name FROM unused_correction
    ) AS asked
    WHERE asked.name NOT IN (SELECT named_end.stop_id FROM named_end)
),

nearest_end AS (
    SELECT
        no_such.name,
        arg_min(
            named_end.stop_id,
            (levenshtein(left(no_such.name, 100), left(named_end.stop_id, 100)), named_end.stop_id)
        ) AS stop_id
    FROM no_such
    INNER JOIN named_end ON TRUE
    GROUP BY no_such.name
),

-- set moments of one part of one incident are refused together
refused_together AS (
    SELECT
        incident,
        moment IN ('fault_at', 'detected_at') AS is_end,
        count(*) AS n_moments,
        coalesce(arg_min(ordinal, line), min(ordinal)) AS ordinal,
        string_agg(moment || ' at line ' || line, ', ' ORDER BY line) AS moments
    FROM unused_correction
    WHERE action = 'set' AND superseded_by IS NULL
    GROUP BY incident, moment IN ('fault_at', 'detected_at')
),

-- how many steps lie between a save and what came before it in its attempt
paced AS (
    SELECT
        checkpoint.run,
        checkpoint.attempt,
        checkpoint.step,
        checkpoint.step - coalesce(
            lag(checkpoint.step) OVER (
                PARTITION BY checkpoint.run, checkpoint.attempt ORDER BY checkpoint.step
            ),
            attempt.loaded_step,
            0
        ) AS n_steps
    FROM checkpoint
    INNER JOIN attempt
        ON checkpoint.run = attempt.run AND checkpoint.attempt = attempt.attempt
),

cadence AS (
    SELECT
        run,
        quantile_disc(n_steps, 0.5) AS usual_steps
    FROM paced
    WHERE n_steps > 0
    GROUP BY run
    HAVING count(*) >= 2
),

last_save AS (
    SELECT
        run,
        attempt,
        max(step) AS step
    FROM paced
    GROUP BY run, attempt
),

-- the last stretch of an attempt that should have had three saves and had none
unsaved_stretch AS (
    SELECT
        attempt.run,
        attempt.source_id,
        attempt.last_step_line AS line_no,
        attempt.last_step,
        coalesce(last_save.step, attempt.loaded_step, 0) AS saved_step,
        cadence.usual_steps
    FROM attempt
    INNER JOIN cadence ON attempt.run = cadence.run
    LEFT JOIN last_save ON attempt.run = last_save.run AND attempt.attempt = last_save.attempt
    WHERE
        attempt.n_step_lines > 0
        AND attempt.last_step - coalesce(last_save.step, attempt.loaded_step, 0)
        >= 3 * cadence.usual_steps
),

launched AS (
    SELECT
        log_attempt.source_id,
        count(*) AS n_launches,
        -- restarts inside the job, as a launcher says
        count(log_attempt.restart_line) AS n_restarts,
        count(DISTINCT placement.job_key) AS n_allocations
    FROM log_attempt
    LEFT JOIN placement
        ON
            log_attempt.source_id = placement.source_id
            AND log_attempt.attempt_no = placement.attempt_no
    GROUP BY log_attempt.source_id
),

outside AS (
    SELECT
        attempt.run,
        attempt.source_id,
        attempt.first_line,
        count(*) OVER (PARTITION BY attempt.run) AS n_outside
    FROM attempt
    WHERE
        attempt.is_recorded
        AND attempt.n_step_lines > 0
        AND (
            attempt.first_step_at < attempt.alloc_start_at - 60000000
            OR attempt.last_step_at > attempt.alloc_end_at + 60000000
        )
)

SELECT
    'assumed_zone' AS kind,
    source.format AS subject,
    'the stamps of ' || count(*) || CASE WHEN count(*) = 1 THEN ' file have' ELSE ' files have' END
    || ' no time zone (for example ' || min(source.path) || '); ' || source_zone.tz
    || ' was assumed, the zone of the machine that read them; say --tz or set timezone' AS text,
    NULL::BIGINT AS could_move_us,
    arg_min(source.source_id, source.path) AS source_id,
    NULL::BIGINT AS line_no
FROM source_zone
INNER JOIN source ON source_zone.source_id = source.source_id
WHERE source_zone.is_assumed
GROUP BY source.format, source_zone.tz
UNION ALL
SELECT
    'zone_conflict',
    source.path,
    zone_conflict.text,
    abs(zone_conflict.shift_us),
    source.source_id,
    NULL
FROM zone_conflict
INNER JOIN source ON zone_conflict.source_id = source.source_id
UNION ALL
SELECT
    'missing_log',
    attempt.run,
    'job ' || attempt.job_id || ' (' || attempt.state
    || ') left no log that was read; '
    || CASE
        WHEN attempt.is_unlogged
            THEN
                'it ran for long enough to have done steps, and what it did and how it ended is in '
                || 'no figure: read its log; where a later start of the job began it anew, let '
                || 'requeued jobs append (#SBATCH --open-mode=append)'
        ELSE 'it counts as an attempt that did no step'
    END,
    attempt.alloc_end_at - attempt.alloc_start_at,
    job.source_id,
    job.line_no
FROM attempt
INNER JOIN job ON attempt.job_key = job.job_key
WHERE attempt.source_id IS NULL
UNION ALL
SELECT DISTINCT
    'no_records',
    attempt.run,
    'no scheduler record was read for it: the span of the log stands for the '
    || 'allocation, a lower bound',
    NULL::BIGINT,
    attempt.source_id,
    NULL::BIGINT
FROM attempt
WHERE NOT attempt.is_recorded
UNION ALL
SELECT
    'new_epoch',
    epoch.run,
    'from step ' || attempt.first_step || ' on (attempt ' || epoch.first_attempt || ') it is a new '
    || 'epoch: ' || epoch.why || '; what is healthy is learned anew there',
    NULL,
    attempt.source_id,
    attempt.first_step_line
FROM epoch
INNER JOIN attempt ON epoch.run = attempt.run AND epoch.first_attempt = attempt.attempt
WHERE epoch.why IS NOT NULL
UNION ALL
SELECT
    'hidden_requeue',
    source.path,
    'its log shows '
    || launched.n_launches
    || ' starts of the program where the scheduler records show '
    || launched.n_allocations
    || CASE WHEN launched.n_allocations = 1 THEN ' allocation' ELSE ' allocations' END
    || '; if the job was requeued, take the records with sacct --duplicates',
    NULL,
    source.source_id,
    NULL
FROM launched
INNER JOIN source ON launched.source_id = source.source_id
WHERE
    launched.n_allocations > 0
    AND launched.n_launches - launched.n_restarts > launched.n_allocations
UNION ALL
SELECT
    'unplaced_log',
    source.path,
    'it could not be joined to any run: it has no step lines, or no run fits; give '
    || '--run to say which',
    NULL,
    source.source_id,
    NULL
FROM source
INNER JOIN log_file ON source.source_id = log_file.source_id
WHERE
    source.format = 'job_log'
    AND source.n_rows > 0
    AND log_file.is_first
    AND source.source_id NOT IN (
        SELECT attempt.source_id
        FROM attempt
        WHERE attempt.source_id IS NOT NULL
    )
    AND source.source_id NOT IN (SELECT placement.source_id FROM placement)
UNION ALL
SELECT
    'conflict',
    attempt.run,
    'job ' || attempt.job_id || ' is recorded as COMPLETED with exit code 0 though it did no step: '
    || 'taken for a failed start',
    attempt.alloc_end_at - attempt.alloc_start_at,
    job.source_id,
    job.line_no
FROM attempt
INNER JOIN job ON attempt.job_key = job.job_key
WHERE attempt.state = 'COMPLETED' AND attempt.source_id IS NOT NULL AND attempt.n_step_lines = 0
UNION ALL
SELECT
    'unseen_progress',
    failed_start.run,
    coalesce('job ' || attempt.job_id || ': ', '') || 'training ran for '
    || failed_start.silent_us // 1000000 || ' s to the end without a step line; a line comes every '
    || baseline.line_steps || ' steps, and a step takes ' || baseline.step_us // 1000000
    || ' s: taken for a failed start, though it may have done steps that no line tells; log every '
    || 'step',
    failed_start.silent_us,
    attempt.source_id,
    attempt.restored_line
FROM failed_start
INNER JOIN attempt
    ON failed_start.run = attempt.run AND failed_start.attempt = attempt.attempt
INNER JOIN baseline
    ON attempt.run = baseline.run AND attempt.epoch IS NOT DISTINCT FROM baseline.epoch
WHERE
    failed_start.phase = 'first_step'
    AND baseline.line_steps > 1
    AND failed_start.silent_us > 2 * baseline.step_us
UNION ALL
SELECT
    'conflict',
    ending.run,
    CASE WHEN attempt.job_id IS NULL THEN '' ELSE 'job ' || attempt.job_id || ': ' END
    || ending.conflict,
    CASE WHEN ending.kind = 'failure' THEN ending.detected_at - ending.fault_at END,
    coalesce(job.source_id, attempt.source_id),
    job.line_no
FROM ending
INNER JOIN attempt ON ending.run = attempt.run AND ending.attempt = attempt.attempt
LEFT JOIN job ON attempt.job_key = job.job_key
WHERE ending.conflict IS NOT NULL
UNION ALL
SELECT
    'conflict',
    outside.run,
    'steps are stamped outside the allocation of their job: the zones or clocks of '
    || 'log and records differ',
    NULL,
    outside.source_id,
    outside.first_line
FROM outside
UNION ALL
SELECT
    'timer_differs',
    checkpoint.run,
    'what the program says of its saves differs from the gap between the steps by more than a '
    || 'fifth in ' || count(*) || ' saves, by '
    || (
        quantile_disc(
            abs(checkpoint.gap_cost_us - coalesce(checkpoint.timer_us, checkpoint.stated_us)), 0.5
        )::DECIMAL(18, 0) * 0.000001
    )::DECIMAL(18, 2)
    || ' s in the middle; the gap is used',
    sum(
        abs(checkpoint.gap_cost_us - coalesce(checkpoint.timer_us, checkpoint.stated_us))
    )::BIGINT,
    min(checkpoint.source_id),
    NULL
FROM checkpoint
WHERE
    checkpoint.cost_origin = 'gap'
    AND NOT checkpoint.is_async
    AND abs(checkpoint.gap_cost_us - coalesce(checkpoint.timer_us, checkpoint.stated_us))
    > greatest(checkpoint.gap_cost_us // 5, checkpoint.error_us)
GROUP BY checkpoint.run
UNION ALL
SELECT
    'hidden_steps',
    incident.run,
    'it resumed from step ' || incident.resume_step || ', beyond step ' || incident.reached_step
    || ', the last one logged before ' || incident.incident_id || ': the log is not whole',
    NULL,
    attempt.source_id,
    attempt.last_step_line
FROM incident
INNER JOIN attempt
    ON incident.run = attempt.run AND incident.last_failed_attempt = attempt.attempt
WHERE incident.resume_step > incident.reached_step AND incident.steps_lost IS NULL
UNION ALL
SELECT
    'odd_stamp',
    source.path,
    count(*)
    || CASE WHEN count(*) = 1 THEN ' line has a stamp' ELSE ' lines have stamps' END
    || ' far outside the time of the job or out of the order of the log, the first is line '
    || min(odd_stamp.line_no) || '; dated from the lines around: look whether a clock was wrong',
    NULL,
    source.source_id,
    min(odd_stamp.line_no)
FROM odd_stamp
INNER JOIN source ON odd_stamp.source_id = source.source_id
GROUP BY source.source_id, source.path
UNION ALL
SELECT
    'hidden_redo',
    source.path,
    'it is the history of an experiment tracker, which drops steps that go backwards: work that '
    || 'was redone after a rollback is hidden in it, so that lost work is too small; read the '
    || 'log of the job too',
    NULL,
    source.source_id,
    NULL
FROM source
WHERE source.format = 'tracker_history' AND source.n_rows > 0
UNION ALL
SELECT
    'missing_saves',
    run,
    'it saves every ' || usual_steps || ' steps, but from step ' || saved_step || ' to '
    || last_step || ' no save is seen: look whether saves are skipped',
    NULL,
    source_id,
    line_no
FROM unsaved_stretch
UNION ALL
SELECT
    'overruled',
    coalesce(correction.incident, correction.run, 'all runs'),
    'a person overruled what was found (' || correction.action || '): ' || correction.reason
    || CASE
        WHEN correction.action = 'exclude'
            THEN '; nothing in that stretch counts, and its time is in no figure'
        ELSE ''
    END,
    CASE WHEN correction.action = 'exclude' THEN correction.end_at - correction.start_at END,
    NULL,
    NULL
FROM correction
WHERE correction.ordinal IN (SELECT used_correction.ordinal FROM used_correction)
UNION ALL
SELECT
    'correction_ambiguous',
    meant.stop_id,
    correction.place || ': several ends are at step ' || meant.last_step || ', and their ids count '
    || 'them in order; ' || meant.stop_id || ' is that of job ' || own.job_id
    || ': look whether it is the one that is meant, logs that were read later may come before it',
    NULL,
    NULL,
    NULL
FROM correction
INNER JOIN ending AS meant ON correction.incident = meant.stop_id
INNER JOIN attempt AS own ON meant.run = own.run AND meant.attempt = own.attempt
WHERE
    correction.ordinal IN (SELECT used_correction.ordinal FROM used_correction)
    AND EXISTS (
        SELECT 1
        FROM ending AS other
        INNER JOIN attempt AS tried
            ON other.run = tried.run AND other.attempt = tried.attempt
        WHERE
            other.run = meant.run
            AND other.last_step = meant.last_step
            AND other.stop_id <> meant.stop_id
            AND tried.job_id <> own.job_id
    )
UNION ALL
SELECT
    'correction_unused',
    left(coalesce(one.incident, one.run, 'all runs'), 200),
    one.place || ': this correction (' || one.action || ') '
    || CASE
        WHEN one.superseded_by IS NOT NULL THEN 'is superseded by ' || one.superseded_by
        ELSE 'holds nowhere: '
    END
    || CASE
        WHEN one.superseded_by IS NOT NULL THEN ''
        WHEN one.action = 'exclude' AND one.run NOT IN (SELECT attempt.run FROM attempt)
            THEN 'there is no run of that name'
        WHEN one.action = 'exclude' THEN 'no run has time in that stretch'
        WHEN named_end.stop_id IS NULL
            THEN
                'there is no incident of that name'
                || coalesce('; the nearest is ' || nearest_end.stop_id, '')
        WHEN one.action = 'merge' AND into_end.stop_id IS NULL
            THEN
                'there is no incident ' || left(one.into_incident, 200)
                || coalesce('; the nearest is ' || nearest_into.stop_id, '')
        WHEN one.action = 'merge' AND into_end.incident_id = named_end.incident_id
            THEN 'they are one incident already'
        WHEN one.action = 'merge' THEN 'the one incident does not follow the other'
        WHEN one.action = 'split' THEN 'it is an incident of its own already'
        WHEN
            NOT refused_together.is_end
            AND named_end.stop_id <> named_end.incident_id
            THEN 'the return is that of ' || named_end.incident_id || '; name that one'
        WHEN refused_together.n_moments > 1
            THEN
                'the moments (' || refused_together.moments
                || ') would stand before or after each other or their neighbours'
        ELSE 'the moment would stand before or after its neighbours'
    END
    || '; mend it or take it out',
    NULL,
    NULL,
    NULL
FROM unused_correction AS one
LEFT JOIN named_end ON one.incident = named_end.stop_id
LEFT JOIN named_end AS into_end ON one.into_incident = into_end.stop_id
LEFT JOIN nearest_end ON one.incident = nearest_end.name
LEFT JOIN nearest_end AS nearest_into ON one.into_incident = nearest_into.name
LEFT JOIN refused_together
    ON
        one.action = 'set'
        AND one.superseded_by IS NULL
        AND one.incident = refused_together.incident
        AND (one.moment IN ('fault_at', 'detected_at')) = refused_together.is_end
-- of those that are refused together one line is enough
WHERE coalesce(refused_together.ordinal = one.ordinal, TRUE)
UNION ALL
SELECT
    'grace_saves',
    run,
    'saves on the signal of a preemption: ' || n_saved || ' of ' || n_ends
    || '; what was done since the last save was lost each time it failed',
    NULL,
    NULL,
    NULL
FROM (
    SELECT
        ending.run,
        count(*) AS n_ends,
        count(*) FILTER (
            WHERE EXISTS (
                SELECT 1
                FROM checkpoint
                WHERE
                    checkpoint.run = ending.run
                    AND checkpoint.attempt = ending.attempt
                    AND checkpoint.is_final
                    AND checkpoint.is_good
            )
        ) AS n_saved
    FROM ending
    WHERE ending.kind = 'preemption'
    GROUP BY ending.run
) AS grace
WHERE n_saved < n_ends
UNION ALL
SELECT
    'conflict',
    ending.run,
    'the log of job ' || attempt.job_id || ' ends with a fault, and its record goes on for '
    || (ending.detected_at - ending.fault_at) // 60000000
    || ' min: the fault counts from the log, its detection from the end of the record',
    ending.detected_at - ending.fault_at,
    ending.cause_source_id,
    ending.cause_line
FROM ending
INNER JOIN attempt ON ending.run = attempt.run AND ending.attempt = attempt.attempt
WHERE
    ending.kind = 'failure'
    AND attempt.job_id IS NOT NULL
    AND ending.cause_line IS NOT NULL
    AND ending.detector IN ('scheduler', 'person')
    AND ending.detected_at - ending.fault_at > 1800000000
