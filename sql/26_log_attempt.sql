-- table: log_attempt
-- grain: one execution of the training program as one job log tells it
-- reads: log_start, log_event, log_step
-- params:
-- column source_id: the log
-- column attempt_no: counts the executions in this log, from 1
-- column start_no: the same in log_start, which also counts stretches that are no execution
-- column first_line: first line
-- column last_line: last line that said something
-- column first_at: UTC us of the earliest dated line, null when nothing is dated
-- column last_at: UTC us of the latest dated line
-- column first_step: first step line
-- column last_step: largest step
-- column first_step_at: UTC us of the first step line
-- column last_step_at: UTC us of the last step line
-- column first_step_line: line of the first step line
-- column last_step_line: line of the last step line
-- column n_step_lines: number of step lines
-- column target_step: total that the step lines print
-- column world_size: ranks, where printed
-- column launch_line: line of the first sign of life
-- column launch_low: UTC us, earliest moment of that line
-- column launch_high: UTC us, latest moment of that line
-- column load_line: line where the load begins
-- column load_low: UTC us, earliest moment of the load's begin
-- column load_high: UTC us, latest moment of it
-- column load_at: UTC us, where stated
-- column restored_line: line where the load ends
-- column restored_low: UTC us, earliest
-- column restored_high: UTC us, latest
-- column restored_at: UTC us, where stated
-- column loaded_step: step of the state that was loaded, 0 from scratch, null unknown
-- column is_scratch: the log says that nothing was loaded
-- column tracker_line: line that calls the checkpoint pointer unusable
-- column done_line: line that says that training is done
-- column done_at: UTC us of it
-- column exit_line: line of a clean exit by plan
-- column exit_at: UTC us of it
-- column cancel_line: line where the scheduler cancels
-- column cancel_at: UTC us of it
-- column cancel_reason: reason as the scheduler says it, '' when it gives none
-- column restart_line: line where a launcher says that it starts the program anew after it
-- column restart_at: UTC us of it
-- column log_path: checkpoint folder that it loads from or saves to
-- column save_root: folder of all the checkpoints that it saves to, null when it does not say
-- column load_root: folder of all the checkpoints that it loads from, null when it does not say
-- column settings: what it says of its configuration, as name=value, in order
WITH line AS (
    SELECT
        source_id,
        line_no,
        kind,
        logged_at,
        low,
        high,
        strength,
        step,
        code,
        path
    FROM log_event
    WHERE format = 'job_log'
    UNION ALL
    SELECT
        source_id,
        line_no,
        'step' AS kind,
        logged_at,
        logged_at AS low,
        logged_at AS high,
        strength,
        step,
        NULL AS code,
        NULL AS path
    FROM log_step
),

placed AS (
    SELECT
        line.*,
        log_start.attempt_no
    FROM line
    ASOF INNER JOIN log_start
        ON line.source_id = log_start.source_id AND line.line_no >= log_start.line_no
    -- a replica group that heals after the first step joins a program that goes on
    QUALIFY
        coalesce(
            line.code IS DISTINCT FROM 'peer'
            OR line.line_no < min(line.line_no) FILTER (WHERE line.kind = 'step') OVER (
                PARTITION BY line.source_id, log_start.attempt_no
            ),
            TRUE
        )
),

gathered AS (
    SELECT
        source_id,
        attempt_no,
        min(line_no) AS first_line,
        max(line_no) AS last_line,
        min(logged_at) FILTER (WHERE strength IN ('stated', 'derived')) AS first_at,
        max(logged_at) FILTER (WHERE strength IN ('stated', 'derived')) AS last_at,
        arg_min(step, line_no) FILTER (WHERE kind = 'step') AS first_step,
        max(step) FILTER (WHERE kind = 'step') AS last_step,
        arg_min(logged_at, line_no) FILTER (WHERE kind = 'step') AS first_step_at,
        max(logged_at) FILTER (WHERE kind = 'step') AS last_step_at,
        min(line_no) FILTER (WHERE kind = 'step') AS first_step_line,
        max(line_no) FILTER (WHERE kind = 'step') AS last_step_line,
        count(*) FILTER (WHERE kind = 'step') AS n_step_lines,
        max(try_cast(code AS BIGINT)) FILTER (WHERE kind = 'launch') AS world_size,
        min(line_no) FILTER (
            WHERE kind IN ('launch', 'load_started', 'load_none', 'training_start')
        ) AS launch_line,
        min(low) FILTER (WHERE kind = 'launch') AS launch_low,
        min(high) FILTER (WHERE kind IN ('launch', 'load_started', 'load_none', 'training_start'))
            AS launch_high,
        min(line_no) FILTER (WHERE kind = 'load_started') AS load_line,
        min(low) FILTER (WHERE kind = 'load_started') AS load_low,
        min(high) FILTER (WHERE kind = 'load_started') AS load_high,
        min(logged_at) FILTER (WHERE kind = 'load_started' AND strength = 'stated') AS load_at,
        max(line_no) FILTER (WHERE kind = 'load_done') AS restored_line,
        max(low) FILTER (WHERE kind = 'load_done') AS restored_low,
        max(high) FILTER (WHERE kind = 'load_done') AS restored_high,
        max(logged_at) FILTER (WHERE kind = 'load_done' AND strength = 'stated') AS restored_at,
        coalesce(
            arg_max(step, line_no) FILTER (WHERE kind = 'load_done' AND step IS NOT NULL),
            arg_max(step, line_no) FILTER (WHERE kind = 'load_started' AND step IS NOT NULL)
        ) AS named_step,
        bool_or(kind = 'load_none') AS is_scratch,
        min(line_no) FILTER (WHERE kind = 'tracker_invalid') AS tracker_line,
        min(line_no) FILTER (WHERE kind = 'training_done') AS done_line,
        min(logged_at) FILTER (WHERE kind = 'training_done') AS done_at,
        min(line_no) FILTER (WHERE kind = 'program_exit') AS exit_line,
        min(logged_at) FILTER (WHERE kind = 'program_exit') AS exit_at,
        min(line_no) FILTER (WHERE kind = 'job_cancelled') AS cancel_line,
        min(logged_at) FILTER (WHERE kind = 'job_cancelled') AS cancel_at,
        arg_max(code, coalesce(length(code), 0)) FILTER (WHERE kind = 'job_cancelled')
            AS cancel_reason,
        min(line_no) FILTER (WHERE kind = 'restart') AS restart_line,
        min(logged_at) FILTER (WHERE kind = 'restart') AS restart_at,
        arg_min(path, line_no) FILTER (
            WHERE kind IN ('save_started', 'save_done', 'load_started', 'load_done')
        ) AS log_path,
        arg_min(path, line_no) FILTER (
            WHERE
            kind IN ('save_started', 'save_scheduled', 'save_done')
            -- what lies on the nodes only is no place that a run has
            AND coalesce(code, '') <> 'local'
        ) AS save_path,
        arg_min(path, line_no) FILTER (WHERE kind IN ('load_started', 'load_done')) AS load_path,
        list(DISTINCT code ORDER BY code) FILTER (
            WHERE kind = 'setting'
            AND split_part(code, '=', 1) IN (
                'async_save', 'global_batch_size', 'non_persistent_save_interval', 'release',
                'save_interval'
            )
        ) AS settings
    FROM placed
    GROUP BY source_id, attempt_no
),

target AS (
    SELECT
        log_step.source_id,
        max(log_step.target_step) AS target_step
    FROM log_step
    GROUP BY log_step.source_id
),

-- noise before the first start is no execution of the program
kept AS (
    SELECT
        *,
        -- the part of a path that names one checkpoint
        '/((global_step|iter_)[0-9]+(/.*)?|(step|checkpoint|epoch)[-_=]?[0-9]+[^/]*'
        || '|[^/]*step=[0-9]+[^/]*|[0-9]+|latest[^/]*)$' AS one_checkpoint
    FROM gathered
    QUALIFY
        n_step_lines > 0
        OR launch_line IS NOT NULL
        OR tracker_line IS NOT NULL
        OR count(*) OVER (PARTITION BY source_id) = 1
)

SELECT
    kept.source_id,
    row_number() OVER (PARTITION BY kept.source_id ORDER BY kept.attempt_no) AS attempt_no,
    kept.attempt_no AS start_no,
    kept.first_line,
    kept.last_line,
    kept.first_at,
    kept.last_at,
    kept.first_step,
    kept.last_step,
    kept.first_step_at,
    kept.last_step_at,
    kept.first_step_line,
    kept.last_step_line,
    kept.n_step_lines,
    target.target_step,
    kept.world_size,
    kept.launch_line,
    kept.launch_low,
    kept.launch_high,
    kept.load_line,
    kept.load_low,
    kept.load_high,
    kept.load_at,
    kept.restored_line,
    kept.restored_low,
    kept.restored_high,
    kept.restored_at,
    CASE
        WHEN kept.named_step IS NOT NULL THEN kept.named_step
        WHEN kept.is_scratch THEN 0
    END AS loaded_step,
    kept.is_scratch AND kept.named_step IS NULL AS is_scratch,
    kept.tracker_line,
    kept.done_line,
    kept.done_at,
    kept.exit_line,
    kept.exit_at,
    kept.cancel_line,
    kept.cancel_at,
    kept.cancel_reason,
    kept.restart_line,
    kept.restart_at,
    kept.log_path,
    regexp_replace(rtrim(kept.save_path, '/'), kept.one_checkpoint, '') AS save_root,
    regexp_replace(rtrim(kept.load_path, '/'), kept.one_checkpoint, '') AS load_root,
    coalesce(kept.settings, []) AS settings
FROM kept
LEFT JOIN target ON kept.source_id = target.source_id
