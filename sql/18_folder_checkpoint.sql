-- table: folder_checkpoint
-- grain: one checkpoint as one look at its folder found it
-- reads: raw_checkpoint
-- params:
-- column source_id: the listing, or the folder as it was walked
-- column line_no: its line
-- column root: folder of the checkpoints, without a trailing slash
-- column name: name of the checkpoint in it
-- column path: root and name
-- column step: step by its name, null where none is named
-- column layout: megatron, deepspeed, dcp, hf, orbax, nemo, fairseq or unknown
-- column observed_at: UTC us, when somebody looked, null where the listing does not say
-- column written_at: UTC us, its newest file, null where the times are those of a copy
-- column grade: marker or shards where its files are evidence that it can be loaded, else null
-- column why: what speaks against it, or why it cannot be told, in words
-- column is_negative: its files speak against it; false where nothing does, or it cannot be told
-- column bad_files: names of files that are missing, empty, short or temporary (at most 20)
-- column is_pointed: the tracker file names it
-- column first_seen_at: UTC us, the first look that found it
-- column missing_at: UTC us, the first later look that no longer found it, null when still there
WITH found AS (
    SELECT
        source_id,
        line_no,
        rtrim(root, '/') AS root,
        name,
        step,
        layout,
        observed_us AS observed_at,
        written_us AS written_at,
        grade,
        why,
        bad_files,
        is_pointed
    FROM raw_checkpoint
),

-- a folder without any checkpoint was looked at too: its row has no name
look AS (
    SELECT DISTINCT
        root,
        observed_at
    FROM found
    WHERE observed_at IS NOT NULL
),

named AS (
    SELECT
        root,
        name,
        min(observed_at) AS first_seen_at
    FROM found
    WHERE name <> ''
    GROUP BY root, name
),

absence AS (
    SELECT
        named.root,
        named.name,
        look.observed_at AS missing_at
    FROM named
    INNER JOIN look
        ON named.root = look.root AND named.first_seen_at < look.observed_at
    LEFT JOIN found
        ON
            named.root = found.root
            AND named.name = found.name
            AND look.observed_at = found.observed_at
    WHERE found.root IS NULL
)

SELECT
    found.source_id,
    found.line_no,
    found.root,
    found.name,
    found.root || '/' || found.name AS path,
    found.step,
    found.layout,
    found.observed_at,
    found.written_at,
    found.grade,
    found.why,
    coalesce(NOT ends_with(found.why, 'cannot be told'), FALSE) AS is_negative,
    found.bad_files,
    found.is_pointed,
    named.first_seen_at,
    absence.missing_at
FROM found
INNER JOIN named ON found.root = named.root AND found.name = named.name
ASOF LEFT JOIN absence
    ON
        found.root = absence.root
        AND found.name = absence.name
        AND found.observed_at < absence.missing_at
