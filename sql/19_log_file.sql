-- table: log_file
-- grain: one file and where its lines stand in the log that it is a part of
-- reads: source, log_part
-- params:
-- column log_id: number of the log: its first file's
-- column line_offset: lines of the log before the file
-- column source_id: the file
-- column path: its path
-- column is_first: the log begins with it
SELECT
    coalesce(log_part.log_id, source.source_id) AS log_id,
    coalesce(log_part.line_offset, 0) AS line_offset,
    source.source_id,
    source.path,
    coalesce(log_part.log_id, source.source_id) = source.source_id AS is_first
FROM source
LEFT JOIN log_part ON source.source_id = log_part.source_id
