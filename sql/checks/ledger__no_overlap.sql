-- check: ledger
-- severity: fail
-- says: two stretches of one allocation overlap or leave a hole
SELECT
    run,
    allocation,
    start_at,
    before_at
FROM (
    SELECT
        run,
        allocation,
        start_at,
        lag(end_at) OVER (PARTITION BY run, allocation ORDER BY start_at) AS before_at
    FROM ledger
    WHERE NOT coalesce(is_spare, FALSE)
) AS sequence
WHERE
    before_at IS NOT NULL
    AND before_at <> start_at
    -- a hole is a stretch that a person excluded
    AND NOT (
        before_at < start_at
        AND run IN (
            SELECT counted.run
            FROM counted
            WHERE counted.start_at = sequence.start_at
        )
    )
