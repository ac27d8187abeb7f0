"""Where the time went, by allocation and by calendar."""

from __future__ import annotations

from ckpt_audit.facts import LedgerRow, Window
from ckpt_audit.queries.base import bounds_of, dicts
from ckpt_audit.warehouse import Warehouse

_LEDGER = """
SELECT run, bucket,
    sum(least(end_at, $end_at) - greatest(start_at, $start_at))::BIGINT AS observed_us,
    sum(
        (least(end_at, $end_at) - greatest(start_at, $start_at)) * coalesce(n_accelerators, 0)
    )::HUGEINT::VARCHAR AS observed_acc_us,
    sum(
        least(could_move_us, least(end_at, $end_at) - greatest(start_at, $start_at))
    )::BIGINT AS could_move_us,
    count(*) AS n
FROM ledger
WHERE start_at < $end_at AND end_at > $start_at
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
