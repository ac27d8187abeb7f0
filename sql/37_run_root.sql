-- table: run_root
-- grain: one folder of checkpoints that was looked at, and the run that saves there
-- reads: attempt, event, folder_checkpoint
-- params:
-- column run: run
-- column root: folder of the checkpoints, as it was looked at
-- column matched_by: same path, same last part of the path, or the only run
WITH named AS (
    SELECT DISTINCT
        run,
        rtrim(path, '/.') AS path
    FROM event
    WHERE
        path IS NOT NULL
        AND kind IN (
            'save_started', 'save_scheduled', 'save_done', 'save_deleted', 'load_started',
            'load_done', 'load_none', 'load_failed', 'tracker_invalid'
        )
),

-- a path may be that of the folder or of one checkpoint or file in it
printed AS (
    SELECT
        run,
        path AS root
    FROM named
    UNION
    SELECT
        run,
        regexp_replace(
            path,
            '/((global_step|iter_|step[-_=]?|checkpoint[-_]?|epoch=)[0-9]+[^/]*(/.*)?'
            || '|[0-9]+(/.*)?|latest[^/]*)$',
            ''
        ) AS root
    FROM named
),

looked AS (
    SELECT DISTINCT root
    FROM folder_checkpoint
),

only_run AS (
    SELECT any_value(run) AS run
    FROM attempt
    WHERE n_step_lines > 0
    HAVING count(DISTINCT run) = 1
),

candidate AS (
    SELECT
        printed.run,
        looked.root,
        CASE WHEN printed.root = looked.root THEN 1 ELSE 2 END AS rank
    FROM looked
    INNER JOIN printed
        ON
            printed.root = looked.root
            OR regexp_extract(printed.root, '[^/]+/[^/]+$')
            = nullif(regexp_extract(looked.root, '[^/]+/[^/]+$'), '')
    UNION ALL
    SELECT
        only_run.run,
        looked.root,
        3 AS rank
    FROM looked
    CROSS JOIN only_run
)

SELECT DISTINCT
    run,
    root,
    CASE rank WHEN 1 THEN 'same path' WHEN 2 THEN 'same end of the path' ELSE 'the only run' END
        AS matched_by
FROM candidate
QUALIFY
    rank = min(rank) OVER (PARTITION BY root)
    -- a guess that fits two runs is none
    AND (rank = 1 OR count(DISTINCT run) OVER (PARTITION BY root, rank) = 1)
