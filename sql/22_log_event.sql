-- table: log_event
-- grain: one event line of a job log or kernel log, dated
-- reads: raw_event, line_time, log_part, source
-- params:
-- column source_id: the file (the first of its log, where rotation cut it into several)
-- column line_no: the line of the log
-- column format: format of the file
-- column kind: what the line says
-- column logged_at: UTC us, best estimate, null when undated
-- column low: UTC us, earliest possible
-- column high: UTC us, latest possible
-- column strength: stated, derived, bounded or absent
-- column step: step that the line names
-- column duration_us: duration that the line states
-- column code: short code
-- column node: host that the line names
-- column rank: rank that the line names
-- column path: path that the line names
-- column job_ref: scheduler job id that the line names
-- column text: the line
SELECT
    coalesce(log_part.log_id, raw_event.source_id) AS source_id,
    raw_event.line_no + coalesce(log_part.line_offset, 0) AS line_no,
    source.format,
    raw_event.kind,
    line_time."at" AS logged_at,
    line_time.low,
    line_time.high,
    coalesce(line_time.strength, 'absent') AS strength,
    raw_event.step,
    raw_event.duration_us,
    raw_event.code,
    raw_event.node,
    raw_event.rank,
    raw_event.path,
    raw_event.job_ref,
    raw_event.text
FROM raw_event
INNER JOIN source ON raw_event.source_id = source.source_id
LEFT JOIN line_time
    ON raw_event.source_id = line_time.source_id AND raw_event.line_no = line_time.line_no
LEFT JOIN log_part ON raw_event.source_id = log_part.source_id
