-- table: save
-- grain: one save of one step by one attempt, as its lines tell it
-- reads: attempt, event
-- params:
-- column run: run
-- column attempt: attempt
-- column epoch: epoch of the attempt
-- column seq: counts the lines about saves in the attempt; that of the line where it begins
-- column position: line of the attempt's own log at or after which it begins
-- column step: step whose state is saved
-- column source_id: file of the line where it begins (or ends, when only that was printed)
-- column line_no: that line
-- column path: folder
-- column is_async: training goes on while it is written
-- column begun_at: UTC us, when it began, null when only its end was printed
-- column begun_strength: how sure that is
-- column staged_at: UTC us, the copy was taken and training went on
-- column done_source_id: file of the line that says that it is complete
-- column done_line: that line, null when there is none
-- column done_at: UTC us of it
-- column done_strength: how sure that is
-- column stated_us: time that the program says it took
-- column timer_us: the framework's own timer
-- column is_local: it lies on the nodes only, as the program says
-- column uploaded_at: UTC us, it was copied to a store away from the nodes
-- column failed_line: line that says that it did not succeed
-- column failed_source_id: its file
WITH said AS (
    SELECT
        event.*,
        attempt.epoch
    FROM event
    INNER JOIN attempt ON event.run = attempt.run AND event.attempt = attempt.attempt
    WHERE
        event.kind IN (
            'save_started', 'save_scheduled', 'staged', 'save_done', 'save_timer', 'save_failed',
            'uploaded'
        )
),

-- two files that tell of the same begin: the attempt's own log is heard
heard AS (
    SELECT *
    FROM said
    WHERE
        is_own
        OR kind NOT IN ('save_started', 'save_scheduled')
        OR (run, attempt, step) NOT IN (
            SELECT
                own.run,
                own.attempt,
                own.step
            FROM said AS own
            WHERE
                own.is_own AND own.step IS NOT NULL
                AND own.kind IN ('save_started', 'save_scheduled')
        )
),

line AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY run, attempt
            ORDER BY position ASC, is_own DESC, logged_at ASC, line_no ASC, kind DESC
        ) AS seq
    FROM heard
),

-- a save printed by many ranks begins once; begun again after it was done it is another save
begin_line AS (
    SELECT *
    FROM (
        SELECT
            *,
            lag(kind) OVER line_order AS before_kind,
            lag(step) OVER line_order AS before_step
        FROM line
        WHERE kind IN ('save_started', 'save_scheduled', 'save_done', 'save_failed')
        WINDOW line_order AS (PARTITION BY run, attempt ORDER BY seq)
    ) AS sequence
    WHERE
        kind IN ('save_started', 'save_scheduled')
        AND (
            before_kind IS NULL
            OR before_kind IN ('save_done', 'save_failed')
            OR before_step IS DISTINCT FROM step
        )
),

-- what is said of a save after its begin
after_begin AS (
    SELECT
        begin_line.run,
        begin_line.attempt,
        begin_line.seq AS begin_seq,
        line.* EXCLUDE (run, attempt, seq)
    FROM line
    ASOF INNER JOIN begin_line
        ON
            line.run = begin_line.run
            AND line.attempt = begin_line.attempt
            AND line.step = begin_line.step
            AND line.seq >= begin_line.seq
),

-- a timer and a failure may not name the step: they are of the save that began last
unnamed AS (
    SELECT
        begin_line.run,
        begin_line.attempt,
        begin_line.seq AS begin_seq,
        line.* EXCLUDE (run, attempt, seq)
    FROM line
    ASOF INNER JOIN begin_line
        ON
            line.run = begin_line.run
            AND line.attempt = begin_line.attempt
            AND line.seq >= begin_line.seq
    WHERE line.step IS NULL AND line.kind IN ('save_timer', 'save_failed')
),

told AS (
    SELECT
        run,
        attempt,
        begin_seq,
        bool_or(kind IN ('save_scheduled', 'staged')) AS is_async,
        min(logged_at) FILTER (WHERE kind = 'staged' AND strength = 'stated') AS staged_at,
        -- a stamped line, wherever it stands, dates the end better than one without a stamp
        arg_max(source_id, (strength = 'stated', line_no)) FILTER (WHERE kind = 'save_done')
            AS done_source_id,
        arg_max(line_no, (strength = 'stated', line_no)) FILTER (WHERE kind = 'save_done')
            AS done_line,
        arg_max(logged_at, (strength = 'stated', line_no)) FILTER (WHERE kind = 'save_done')
            AS done_at,
        arg_max(strength, (strength = 'stated', line_no)) FILTER (WHERE kind = 'save_done')
            AS done_strength,
        max(duration_us) FILTER (WHERE kind IN ('save_done', 'staged')) AS said_us,
        max(duration_us) FILTER (WHERE kind = 'save_timer') AS timer_us,
        bool_or(kind = 'save_done' AND coalesce(code, '') = 'local') AS is_local,
        min(logged_at) FILTER (WHERE kind = 'uploaded') AS uploaded_at,
        arg_min(line_no, line_no) FILTER (WHERE kind = 'save_failed') AS failed_line,
        arg_min(source_id, line_no) FILTER (WHERE kind = 'save_failed') AS failed_source_id
    FROM (
        SELECT * FROM after_begin
        UNION ALL
        SELECT * FROM unnamed
    ) AS line
    GROUP BY run, attempt, begin_seq
),

-- only the end was printed: ranks repeat the line, it is one save of one step
lonely AS (
    SELECT
        line.run,
        line.attempt,
        line.step,
        any_value(line.epoch) AS epoch,
        min(line.seq) AS seq,
        arg_min(line.position, line.seq) AS position,
        arg_min(line.source_id, line.seq) AS source_id,
        arg_min(line.line_no, line.seq) AS line_no,
        any_value(line.path) AS path,
        arg_max(line.source_id, (line.strength = 'stated', line.seq)) AS done_source_id,
        arg_max(line.line_no, (line.strength = 'stated', line.seq)) AS done_line,
        arg_max(line.logged_at, (line.strength = 'stated', line.seq)) AS done_at,
        arg_max(line.strength, (line.strength = 'stated', line.seq)) AS done_strength,
        max(line.duration_us) AS said_us,
        bool_or(coalesce(line.code, '') = 'local') AS is_local
    FROM line
    WHERE
        line.kind = 'save_done'
        AND line.step IS NOT NULL
        AND NOT EXISTS (
            SELECT 1
            FROM begin_line
            WHERE
                begin_line.run = line.run
                AND begin_line.attempt = line.attempt
                AND begin_line.step = line.step
                AND begin_line.seq <= line.seq
        )
    GROUP BY line.run, line.attempt, line.step
)

SELECT
    begin_line.run,
    begin_line.attempt,
    begin_line.epoch,
    begin_line.seq,
    begin_line.position,
    begin_line.step,
    begin_line.source_id,
    begin_line.line_no,
    begin_line.path,
    coalesce(told.is_async, FALSE) AS is_async,
    begin_line.logged_at AS begun_at,
    begin_line.strength AS begun_strength,
    told.staged_at,
    told.done_source_id,
    told.done_line,
    told.done_at,
    told.done_strength,
    told.said_us AS stated_us,
    told.timer_us,
    coalesce(told.is_local, FALSE) AS is_local,
    told.uploaded_at,
    told.failed_line,
    told.failed_source_id
FROM begin_line
LEFT JOIN told
    ON
        begin_line.run = told.run
        AND begin_line.attempt = told.attempt
        AND begin_line.seq = told.begin_seq
UNION ALL
SELECT
    run,
    attempt,
    epoch,
    seq,
    position,
    step,
    source_id,
    line_no,
    path,
    FALSE AS is_async,
    NULL AS begun_at,
    'absent' AS begun_strength,
    NULL AS staged_at,
    done_source_id,
    done_line,
    done_at,
    done_strength,
    said_us AS stated_us,
    NULL AS timer_us,
    is_local,
    NULL AS uploaded_at,
    NULL AS failed_line,
    NULL AS failed_source_id
FROM lonely
