-- check: ledger
-- severity: fail
-- says: the stretches of an allocation do not add up to it, to the (accelerator-)microsecond
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
        sum(end_at - start_at) FILTER (WHERE NOT coalesce(is_spare, FALSE)) AS spent_us,
        sum((end_at - start_at)::HUGEINT * n_accelerators) AS spent_acc_us,
        sum((end_at - start_at)::HUGEINT * n_allocated) FILTER (
            WHERE NOT coalesce(is_spare, FALSE)
        ) AS allocated_acc_us
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
WHERE
    allocation.end_at - allocation.start_at <> coalesce(spent.spent_us, 0)
    OR spent.spent_acc_us <> spent.allocated_acc_us
