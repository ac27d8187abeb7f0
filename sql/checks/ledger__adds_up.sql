-- check: ledger
-- severity: fail
-- says: the stretches of an allocation do not add up to it, to the microsecond
WITH allocation AS (
    SELECT
        run,
        coalesce(job_key, 'log ' || source_id) AS allocation,
        min(alloc_start_at) AS start_at,
        max(alloc_end_at) AS end_at
    FROM attempt
    GROUP BY run, coalesce(job_key, 'log ' || source_id)
),

spent AS (
    SELECT
        run,
        allocation,
        sum(end_at - start_at) AS spent_us,
        min(start_at) AS start_at,
        max(end_at) AS end_at
    FROM ledger
    GROUP BY run, allocation
)

SELECT
    allocation.run,
    allocation.allocation,
    allocation.end_at - allocation.start_at AS allocated_us,
    spent.spent_us
FROM allocation
LEFT JOIN spent ON allocation.run = spent.run AND allocation.allocation = spent.allocation
WHERE allocation.end_at - allocation.start_at <> coalesce(spent.spent_us, 0)
