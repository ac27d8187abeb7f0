-- table: failed_start
-- grain: one attempt that did no step: how far it came, and why it did not come further
-- reads: attempt, span, phase_law, sign
-- params:
-- column run: run
-- column attempt: attempt
-- column phase: launch, load or first_step: what it was in when it ended, null without a log
-- column begun_at: UTC us, the phase began no later, null when nothing dates it
-- column silent_us: from then to its end
-- column hang_us: longest time that is no hang in this phase, null when no healthy one is known
-- column is_hang: it took longer than that
-- column cause: by its strongest line; unknown when there is none
-- column source_id: file of that line
-- column line_no: the line
-- column text: what it says
WITH started AS (
    SELECT
        attempt.run,
        attempt.attempt,
        attempt.epoch,
        span.to_at,
        CASE
            WHEN attempt.source_id IS NULL THEN NULL
            WHEN attempt.restored_line IS NOT NULL OR attempt.is_scratch THEN 'first_step'
            WHEN attempt.load_line IS NOT NULL THEN 'load'
            ELSE 'launch'
        END AS phase,
        -- as in phase_law, from the last stamped line before it
        CASE
            WHEN attempt.restored_line IS NOT NULL
                THEN coalesce(attempt.restored_at, attempt.restored_low)
            WHEN attempt.is_scratch THEN coalesce(attempt.launch_low, attempt.first_at)
            WHEN attempt.load_line IS NOT NULL THEN coalesce(attempt.load_at, attempt.load_low)
            ELSE coalesce(attempt.launch_low, attempt.first_at)
        END AS begun_at
    FROM attempt
    INNER JOIN span ON attempt.run = span.run AND attempt.attempt = span.attempt
    WHERE coalesce(attempt.n_step_lines, 0) = 0
),

-- an invalid pointer or a crash is told by a line
told AS (
    SELECT
        sign.run,
        sign.attempt,
        sign.cause,
        sign.source_id,
        sign.line_no,
        sign.text
    FROM sign
    INNER JOIN started ON sign.run = started.run AND sign.attempt = started.attempt
    QUALIFY
        row_number() OVER (
            PARTITION BY sign.run, sign.attempt
            ORDER BY sign.rank, sign.logged_at, sign.source_id, sign.line_no
        ) = 1
)

SELECT
    started.run,
    started.attempt,
    started.phase,
    started.begun_at,
    CASE WHEN started.to_at >= started.begun_at THEN started.to_at - started.begun_at END
        AS silent_us,
    phase_law.hang_us,
    coalesce(started.to_at - started.begun_at > phase_law.hang_us, FALSE) AS is_hang,
    coalesce(told.cause, 'unknown') AS cause,
    told.source_id,
    told.line_no,
    told.text
FROM started
LEFT JOIN phase_law
    ON
        started.run = phase_law.run
        AND started.epoch IS NOT DISTINCT FROM phase_law.epoch
        AND started.phase = phase_law.phase
LEFT JOIN told ON started.run = told.run AND started.attempt = told.attempt
