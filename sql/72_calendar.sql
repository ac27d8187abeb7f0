-- table: calendar
-- grain: one stretch of one run's calendar time with one owner
-- reads: ledger, attempt, counted, ending
-- params:
-- column run: run
-- column bucket: bucket of the ledger inside allocations; queue_after_incident, queue_after_planned or off outside
-- column start_at: UTC us
-- column end_at: UTC us
WITH allocation AS (
    SELECT
        run,
        allocation,
        min(start_at) AS start_at,
        max(end_at) AS end_at
    FROM ledger
    WHERE NOT coalesce(is_spare, FALSE)
    GROUP BY run, allocation
),

edge AS (
    SELECT
        run,
        start_at AS logged_at
    FROM allocation
    UNION
    SELECT
        run,
        end_at AS logged_at
    FROM allocation
),

slot AS (
    SELECT
        run,
        logged_at AS start_at,
        lead(logged_at) OVER (PARTITION BY run ORDER BY logged_at) AS end_at
    FROM edge
),

-- where allocations overlap, the one that began last owns the time
reached AS (
    SELECT
        *,
        max(end_at) OVER (PARTITION BY run ORDER BY start_at) AS so_far_at,
        count(*) OVER (PARTITION BY run, start_at) AS n_together
    FROM allocation
    QUALIFY
        row_number() OVER (PARTITION BY run, start_at ORDER BY end_at DESC, allocation DESC) = 1
),

newest AS (
    SELECT
        slot.run,
        slot.start_at,
        slot.end_at,
        CASE WHEN reached.end_at >= slot.end_at THEN reached.allocation END AS allocation,
        coalesce(
            (reached.end_at < slot.end_at OR reached.n_together > 1)
            AND reached.so_far_at >= slot.end_at,
            FALSE
        ) AS has_rival
    FROM slot
    ASOF LEFT JOIN reached ON slot.run = reached.run AND slot.start_at >= reached.start_at
    WHERE slot.end_at IS NOT NULL
),

owner AS (
    SELECT
        run,
        start_at,
        end_at,
        allocation
    FROM newest
    WHERE NOT has_rival
    UNION ALL
    SELECT
        newest.run,
        newest.start_at,
        newest.end_at,
        arg_max(allocation.allocation, (allocation.start_at, allocation.allocation)) AS allocation
    FROM newest
    INNER JOIN allocation
        ON
            newest.run = allocation.run
            AND newest.start_at >= allocation.start_at
            AND newest.end_at <= allocation.end_at
    WHERE newest.has_rival
    GROUP BY newest.run, newest.start_at, newest.end_at
),

inside AS (
    SELECT
        owner.run,
        ledger.bucket,
        greatest(owner.start_at, ledger.start_at) AS start_at,
        least(owner.end_at, ledger.end_at) AS end_at
    FROM owner
    INNER JOIN ledger ON owner.run = ledger.run AND owner.allocation = ledger.allocation
    WHERE
        ledger.start_at < owner.end_at
        AND ledger.end_at > owner.start_at
        AND NOT coalesce(ledger.is_spare, FALSE)
),

ended AS (
    SELECT
        attempt.run,
        attempt.alloc_start_at,
        arg_max(ending.kind, attempt.attempt) OVER (
            PARTITION BY attempt.run ORDER BY attempt.alloc_start_at
        ) AS kind
    FROM attempt
    INNER JOIN ending ON attempt.run = ending.run AND attempt.attempt = ending.attempt
    QUALIFY
        row_number() OVER (
            PARTITION BY attempt.run, attempt.alloc_start_at ORDER BY attempt.attempt
        ) = 1
),

submitted AS (
    SELECT
        run,
        alloc_start_at,
        min(submitted_at) OVER (PARTITION BY run ORDER BY alloc_start_at DESC) AS submitted_at
    FROM attempt
    QUALIFY row_number() OVER (PARTITION BY run, alloc_start_at ORDER BY attempt) = 1
),

gap AS (
    SELECT
        idle.run,
        idle.start_at,
        idle.end_at,
        idle.after_kind,
        submitted.submitted_at
    FROM (
        SELECT
            owner.run,
            owner.start_at,
            owner.end_at,
            ended.kind AS after_kind
        FROM owner
        ASOF LEFT JOIN ended ON owner.run = ended.run AND owner.start_at > ended.alloc_start_at
        WHERE owner.allocation IS NULL
    ) AS idle
    ASOF LEFT JOIN submitted
        ON idle.run = submitted.run AND idle.end_at <= submitted.alloc_start_at
),

first_wait AS (
    SELECT
        run,
        min(submitted_at) AS start_at,
        min(alloc_start_at) AS end_at
    FROM attempt
    GROUP BY run
),

-- a run that is complete has no calendar after its target
finish AS (
    SELECT
        ending.run,
        arg_max(ending.ending, ending.attempt) AS last_ending,
        arg_max(coalesce(ending.progress_at, attempt.alloc_end_at), ending.attempt) AS finished_at
    FROM ending
    INNER JOIN attempt ON ending.run = attempt.run AND ending.attempt = attempt.attempt
    GROUP BY ending.run
),

owned AS (
    SELECT
        run,
        bucket,
        start_at,
        end_at
    FROM inside
    UNION ALL
    SELECT
        run,
        'queue_after_incident' AS bucket,
        start_at,
        end_at
    FROM gap
    WHERE after_kind IN ('failure', 'preemption', 'mitigation', 'unknown')
    UNION ALL
    SELECT
        run,
        'off' AS bucket,
        start_at,
        least(end_at, greatest(start_at, submitted_at)) AS end_at
    FROM gap
    WHERE
        coalesce(after_kind NOT IN ('failure', 'preemption', 'mitigation', 'unknown'), TRUE)
        AND least(end_at, greatest(start_at, submitted_at)) > start_at
    UNION ALL
    SELECT
        run,
        'queue_after_planned' AS bucket,
        least(end_at, greatest(start_at, coalesce(submitted_at, start_at))) AS start_at,
        end_at
    FROM gap
    WHERE
        coalesce(after_kind NOT IN ('failure', 'preemption', 'mitigation', 'unknown'), TRUE)
        AND least(end_at, greatest(start_at, coalesce(submitted_at, start_at))) < end_at
    UNION ALL
    SELECT
        run,
        'queue_after_planned' AS bucket,
        start_at,
        end_at
    FROM first_wait
    WHERE start_at < end_at
),

whole AS (
    SELECT
        owned.run,
        owned.bucket,
        owned.start_at,
        least(owned.end_at, coalesce(finish.finished_at, owned.end_at)) AS end_at
    FROM owned
    LEFT JOIN finish ON owned.run = finish.run AND finish.last_ending = 'complete'
    WHERE owned.start_at < coalesce(finish.finished_at, owned.end_at)
)

-- without what a person excluded
SELECT
    whole.run,
    whole.bucket,
    greatest(whole.start_at, counted.start_at) AS start_at,
    least(whole.end_at, counted.end_at) AS end_at
FROM whole
INNER JOIN counted
    ON
        whole.run = counted.run
        AND whole.start_at < counted.end_at
        AND whole.end_at > counted.start_at
