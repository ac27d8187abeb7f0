-- table: log_step
-- grain: one completed-step line of a job log (one a step and source line)
-- reads: raw_step, raw_event, line_time, log_part
-- params:
-- column source_id: the log (its first file, where rotation cut it into several)
-- column line_no: the line of the log
-- column step: optimizer step that the line reports
-- column target_step: total that the line prints
-- column logged_at: UTC us when the step was complete, null when undated
-- column strength: stated, derived or absent
-- column resolution_us: how fine the stamp is
-- column elapsed_us: printed time per step since the last such line
-- column n_samples: samples consumed
-- a progress bar is the training's own where the log says how many steps that has
WITH meant AS (
    SELECT *
    FROM raw_step
    WHERE
        emitter <> 'tqdm'
        OR (source_id, target_step) IN (
            SELECT
                raw_event.source_id,
                try_cast(split_part(raw_event.code, '=', 2) AS BIGINT)
            FROM raw_event
            WHERE raw_event.kind = 'setting' AND starts_with(raw_event.code, 'total_steps=')
        )
),

preferred AS (
    SELECT
        source_id,
        arg_min(
            emitter,
            (
                CASE emitter
                    WHEN 'megatron' THEN 1
                    WHEN 'neox' THEN 2
                    WHEN 'deepspeed_pipe' THEN 3
                    WHEN 'tqdm' THEN 5
                -- its manager counts commits; the trainer's own number is that of its checkpoints
                    WHEN 'torchft' THEN 6
                    WHEN 'nemo_bar' THEN 7
                    ELSE 4
                END,
                emitter
            )
        ) AS emitter
    FROM meant
    GROUP BY source_id
),

printed AS (
    SELECT
        coalesce(log_part.log_id, raw_step.source_id) AS source_id,
        raw_step.line_no + coalesce(log_part.line_offset, 0) AS line_no,
        raw_step.step,
        raw_step.target_step,
        line_time."at" AS logged_at,
        coalesce(line_time.strength, 'absent') AS strength,
        raw_step.resolution_us,
        raw_step.elapsed_us,
        raw_step.n_samples,
        raw_step.emitter = 'tracker' AS is_tracker
    FROM meant AS raw_step
    INNER JOIN preferred
        ON raw_step.source_id = preferred.source_id AND raw_step.emitter = preferred.emitter
    LEFT JOIN line_time
        ON raw_step.source_id = line_time.source_id AND raw_step.line_no = line_time.line_no
    LEFT JOIN log_part ON raw_step.source_id = log_part.source_id
),

placed AS (
    SELECT
        *,
        dense_rank() OVER (PARTITION BY source_id, logged_at ORDER BY step) - 1 AS place
    FROM printed
),

-- steps within one tick of the stamps came one after the other, and shared it
line AS (
    SELECT
        * EXCLUDE (place) REPLACE (
            (
                logged_at
                + place * coalesce(resolution_us, 0)
                // (max(place) OVER (PARTITION BY source_id, logged_at) + 1)
            )::BIGINT AS logged_at
        )
    FROM placed
),

-- the history of a tracker and a log that says the same: same steps within a minute
agreed AS (
    SELECT
        history.source_id AS tracker_id,
        line.source_id AS log_id,
        count(DISTINCT history.line_no) AS n_agreed
    FROM line AS history
    INNER JOIN line
        ON
            history.step = line.step
            AND history.logged_at BETWEEN line.logged_at - 60000000 AND line.logged_at + 60000000
    WHERE history.is_tracker AND NOT line.is_tracker
    GROUP BY history.source_id, line.source_id
),

-- with what may lie before the first and after the last of the lines that are printed
span AS (
    SELECT
        source_id,
        min(logged_at) - margin_us AS low,
        max(logged_at) + margin_us AS high
    FROM (
        SELECT
            source_id,
            logged_at,
            60000000 + (max(logged_at) OVER log - min(logged_at) OVER log)
            // greatest(count(logged_at) OVER log - 1, 1) AS margin_us
        FROM line
        WHERE
            source_id IN (SELECT tracker_id FROM agreed)
            OR source_id IN (SELECT log_id FROM agreed)
        WINDOW log AS (PARTITION BY source_id)
    ) AS spaced
    GROUP BY source_id, margin_us
),

shared AS (
    SELECT
        agreed.tracker_id,
        agreed.log_id,
        agreed.n_agreed,
        count(*) FILTER (WHERE line.source_id = agreed.tracker_id) AS n_history,
        count(*) FILTER (WHERE line.source_id = agreed.log_id) AS n_log
    FROM agreed
    INNER JOIN span AS history ON agreed.tracker_id = history.source_id
    INNER JOIN span AS log ON agreed.log_id = log.source_id
    INNER JOIN line
        ON
            line.source_id IN (agreed.tracker_id, agreed.log_id)
            AND line.logged_at BETWEEN greatest(history.low, log.low)
            AND least(history.high, log.high)
    GROUP BY agreed.tracker_id, agreed.log_id, agreed.n_agreed
),

-- rows of a history that a log has too are that log's: counted twice they would be another run
told_twice AS (
    SELECT DISTINCT
        line.source_id,
        line.line_no
    FROM shared
    INNER JOIN span ON shared.log_id = span.source_id
    INNER JOIN line
        ON
            shared.tracker_id = line.source_id
            AND line.logged_at BETWEEN span.low AND span.high
    WHERE 2 * shared.n_agreed >= least(shared.n_history, shared.n_log)
),

-- a log that prints every k-th step, and then a save between two such lines before it ends: the
-- steps up to the save were done, whatever was not printed
distance AS (
    SELECT
        source_id,
        quantile_disc(further, 0.5) AS every_steps
    FROM (
        SELECT
            source_id,
            step - lag(step) OVER (PARTITION BY source_id ORDER BY line_no) AS further
        FROM line
    ) AS spaced
    WHERE further > 0
    GROUP BY source_id
    HAVING quantile_disc(further, 0.5) > 1
),

saved AS (
    SELECT
        coalesce(log_part.log_id, raw_event.source_id) AS source_id,
        raw_event.line_no + coalesce(log_part.line_offset, 0) AS line_no,
        raw_event.step,
        CASE
            WHEN line_time.strength = 'stated' AND raw_event.kind <> 'save_done'
                THEN line_time."at"
        END AS stated_at
    FROM raw_event
    LEFT JOIN line_time
        ON raw_event.source_id = line_time.source_id AND raw_event.line_no = line_time.line_no
    LEFT JOIN log_part ON raw_event.source_id = log_part.source_id
    WHERE
        raw_event.kind IN ('save_started', 'save_scheduled', 'save_done')
        AND raw_event.step IS NOT NULL
        AND coalesce(log_part.log_id, raw_event.source_id) IN (
            SELECT distance.source_id
            FROM distance
        )
),

-- a printed time may hold a save: the usual one of the last lines
paced AS (
    SELECT
        *,
        quantile_disc(elapsed_us, 0.5) OVER (
            PARTITION BY source_id ORDER BY line_no ROWS BETWEEN 4 PRECEDING AND CURRENT ROW
        ) AS usual_us
    FROM line
),

-- dated lines, before which all the lines above them were written
stated AS (
    SELECT
        coalesce(log_part.log_id, line_time.source_id) AS source_id,
        line_time.line_no + coalesce(log_part.line_offset, 0) AS line_no,
        line_time."at"
    FROM line_time
    LEFT JOIN log_part ON line_time.source_id = log_part.source_id
    WHERE line_time.strength = 'stated'
),

timer AS (
    SELECT
        coalesce(log_part.log_id, raw_event.source_id) AS source_id,
        raw_event.line_no + coalesce(log_part.line_offset, 0) AS line_no,
        raw_event.duration_us
    FROM raw_event
    LEFT JOIN log_part ON raw_event.source_id = log_part.source_id
    WHERE raw_event.kind = 'save_timer'
),

reached AS (
    SELECT
        saved.source_id,
        saved.line_no,
        saved.step,
        before.target_step,
        coalesce(
            saved.stated_at,
            least(
                before.logged_at + (saved.step - before.step) * before.usual_us,
                CASE
                    WHEN stated."at" IS NOT NULL
                        THEN
                            greatest(
                                before.logged_at,
                                stated."at" - CASE
                                    WHEN timer.line_no < stated.line_no THEN timer.duration_us
                                    ELSE 0
                                END
                            )
                END
            )
        ) AS logged_at,
        CASE WHEN saved.stated_at IS NULL THEN 'derived' ELSE 'stated' END AS strength,
        before.resolution_us,
        before.usual_us AS elapsed_us
    FROM saved
    ASOF INNER JOIN paced AS before
        ON saved.source_id = before.source_id AND saved.line_no > before.line_no
    ASOF LEFT JOIN line AS later
        ON saved.source_id = later.source_id AND saved.line_no < later.line_no
    ASOF LEFT JOIN stated
        ON saved.source_id = stated.source_id AND saved.line_no < stated.line_no
    ASOF LEFT JOIN timer
        ON saved.source_id = timer.source_id AND saved.line_no < timer.line_no
    INNER JOIN distance ON saved.source_id = distance.source_id
    WHERE
        saved.step > before.step
        AND saved.step < before.step + distance.every_steps
        AND coalesce(later.step <= before.step, TRUE)
    QUALIFY
        row_number() OVER (PARTITION BY saved.source_id, before.line_no ORDER BY saved.line_no) = 1
)

SELECT
    line.source_id,
    line.line_no,
    line.step,
    line.target_step,
    line.logged_at,
    line.strength,
    line.resolution_us,
    line.elapsed_us,
    line.n_samples
FROM line
LEFT JOIN told_twice ON line.source_id = told_twice.source_id AND line.line_no = told_twice.line_no
WHERE told_twice.line_no IS NULL
UNION ALL
SELECT
    source_id,
    line_no,
    step,
    target_step,
    logged_at,
    strength,
    resolution_us,
    elapsed_us,
    NULL AS n_samples
FROM reached
WHERE logged_at IS NOT NULL
