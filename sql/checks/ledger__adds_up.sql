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

-- what a person excluded is in no bucket
due AS (
    SELECT
        allocation.run,
        allocation.allocation,
        coalesce(
            sum(
                greatest(
                    0,
                    least(allocation.end_at, counted.end_at)
                    - greatest(allocation.start_at, counted.start_at)
                )
            ),
            allocation.end_at - allocation.start_at
        ) AS allocated_us
    FROM allocation
    LEFT JOIN counted ON allocation.run = counted.run
    GROUP BY allocation.run, allocation.allocation, allocation.start_at, allocation.end_at
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
    due.run,
    due.allocation,
    due.allocated_us,
    spent.spent_us
FROM due
LEFT JOIN spent ON due.run = spent.run AND due.allocation = spent.allocation
WHERE
    due.allocated_us <> coalesce(spent.spent_us, 0)
    OR spent.spent_acc_us <> spent.allocated_acc_us
