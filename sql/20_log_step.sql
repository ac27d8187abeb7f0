-- table: log_step
-- grain: one completed-step line of a job log (one a step and source line)
-- reads: raw_step, line_time, log_part
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
WITH preferred AS (
    SELECT
        source_id,
        arg_min(
            emitter,
            CASE emitter
                WHEN 'megatron' THEN 1 WHEN 'neox' THEN 2 WHEN 'deepspeed_pipe' THEN 3 ELSE 4
            END
        ) AS emitter
    FROM raw_step
    GROUP BY source_id
)

SELECT
    coalesce(log_part.log_id, raw_step.source_id) AS source_id,
    raw_step.line_no + coalesce(log_part.line_offset, 0) AS line_no,
    raw_step.step,
    raw_step.target_step,
    line_time."at" AS logged_at,
    coalesce(line_time.strength, 'absent') AS strength,
    raw_step.resolution_us,
    raw_step.elapsed_us,
    raw_step.n_samples
FROM raw_step
INNER JOIN preferred
    ON raw_step.source_id = preferred.source_id AND raw_step.emitter = preferred.emitter
LEFT JOIN line_time
    ON raw_step.source_id = line_time.source_id AND raw_step.line_no = line_time.line_no
LEFT JOIN log_part ON raw_step.source_id = log_part.source_id
