"""Where the time went, by allocation and by calendar."""

from __future__ import annotations

from ckpt_audit.facts import LedgerRow, Window
from ckpt_audit.queries.base import bounds_of, dicts
from ckpt_audit.warehouse import Warehouse

# Time is shared by accelerators: where the program left some of them idle, a stretch counts for as
# much of itself as it has accelerators. The share of [a, b) is floor(b*u/n) - floor(a*u/n) on the
# absolute clock, so that parts add up to the whole to the microsecond wherever they are cut.
_LEDGER = """
WITH cut AS (
    SELECT run, bucket, n_accelerators, n_allocated, is_spare, could_move_us,
        greatest(start_at, $start_at)::HUGEINT AS from_at,
        least(end_at, $end_at)::HUGEINT AS to_at,
        CASE WHEN is_spare THEN n_allocated - n_accelerators ELSE n_accelerators END AS n_used
    FROM ledger
    WHERE start_at < $end_at AND end_at > $start_at
),

shared AS (
    SELECT *,
        CASE
            WHEN n_used IS NULL OR coalesce(n_allocated, 0) = 0 THEN to_at - from_at
            ELSE to_at * n_used // n_allocated - from_at * n_used // n_allocated
        END AS used_us
    FROM cut
)

SELECT run, bucket,
    sum(CASE WHEN is_spare THEN to_at - from_at - used_us ELSE used_us END)::BIGINT AS observed_us,
    sum((to_at - from_at) * coalesce(n_accelerators, 0))::HUGEINT::VARCHAR AS observed_acc_us,
    sum(CASE WHEN bucket = 'unknown' THEN to_at - from_at ELSE could_move_us END)::BIGINT
        AS could_move_us,
    count(*) AS n
FROM shared
GROUP BY run, bucket
ORDER BY run, bucket
"""

_CHARGED = """
SELECT incident.incident_id, ledger.bucket, sum(ledger.end_at - ledger.start_at)::BIGINT AS spent_us
FROM ledger
INNER JOIN incident ON ledger.run = incident.run AND ledger.incident = incident.incident
GROUP BY incident.incident_id, ledger.bucket
"""


def charged(warehouse: Warehouse) -> dict[tuple[str, str], float]:
    """Allocated seconds that the ledger charges, by incident id and bucket; never cut."""
    return {(name, bucket): us / 1e6 for name, bucket, us in warehouse.rows(_CHARGED)}


_CALENDAR = """
SELECT run, bucket,
    sum(least(end_at, $end_at) - greatest(start_at, $start_at))::BIGINT AS observed_us,
    count(*) AS n
FROM calendar
WHERE start_at < $end_at AND end_at > $start_at
GROUP BY run, bucket
ORDER BY run, bucket
"""


def ledger(warehouse: Warehouse, window: Window | None = None) -> list[LedgerRow]:
    """Allocated time by run and bucket, cut to the window exactly."""
    return [
        LedgerRow(
            run=row["run"],
            bucket=row["bucket"],
            observed_us=row["observed_us"],
            observed_acc_us=int(row["observed_acc_us"]),
            could_move_us=row["could_move_us"],
            n=row["n"],
        )
        for row in dicts(warehouse, _LEDGER, bounds_of(window))
    ]


def calendar(warehouse: Warehouse, window: Window | None = None) -> list[LedgerRow]:
    """Calendar time by run and bucket, cut to the window exactly."""
    return [
        LedgerRow(
            run=row["run"],
            bucket=row["bucket"],
            observed_us=row["observed_us"],
            observed_acc_us=0,
            could_move_us=0,
            n=row["n"],
        )
        for row in dicts(warehouse, _CALENDAR, bounds_of(window))
    ]
