"""Failure domains: which node hangs on what, and when what ran where."""

from __future__ import annotations

from ckpt_audit.facts import NodeSpan
from ckpt_audit.queries.base import dicts
from ckpt_audit.warehouse import Warehouse

_SPANS = """
SELECT up_time.run, up_time.attempt, up_time.start_at,
    least(up_time.end_at, $end_at) AS end_at, attempt.nodes, attempt.save_root, attempt.settings
FROM up_time
INNER JOIN attempt ON up_time.run = attempt.run AND up_time.attempt = attempt.attempt
WHERE up_time.start_at < $end_at
ORDER BY up_time.run, up_time.start_at, up_time.attempt
"""

_MEMBERSHIPS = "SELECT DISTINCT kind, name, node FROM raw_domain ORDER BY kind, name, node"

_LINE_STEPS = "SELECT incident_id, line_steps FROM incident ORDER BY incident_id"

_FIRST_SIGNS = """
SELECT incident.incident_id, sign.node,
    min(coalesce(sign.onset_at, sign.logged_at, sign.low)) AS first_at
FROM incident
INNER JOIN sign ON incident.run = sign.run AND incident.attempt = sign.attempt
WHERE NOT sign.is_before AND sign.is_sign AND list_contains(incident.nodes, sign.node)
    AND coalesce(sign.onset_at, sign.logged_at, sign.low) IS NOT NULL
GROUP BY incident.incident_id, sign.node
ORDER BY incident.incident_id, sign.node
"""

_VERSIONS = ("commit=", "image=", "release=", "revision=", "version=")


def node_spans(warehouse: Warehouse, until_at: int) -> list[NodeSpan]:
    """Up-time from the beginning of the data to a moment, with the nodes, by run and start."""
    return [
        NodeSpan(
            run=row["run"],
            attempt=row["attempt"],
            start_at=row["start_at"],
            end_at=row["end_at"],
            nodes=tuple(row["nodes"] or ()),
            storage=_root(row["save_root"]),
            versions=tuple(text for text in row["settings"] or () if text.startswith(_VERSIONS)),
        )
        for row in dicts(warehouse, _SPANS, {"end_at": until_at})
    ]


def _root(folder: str | None) -> str | None:
    """Return the first part of a path from the root: file systems are mounted there, by custom."""
    parts = (folder or "").split("/")
    return f"/{parts[1]}" if len(parts) > 2 and not parts[0] and parts[1] else None


def memberships(warehouse: Warehouse) -> list[tuple[str, str, str]]:
    """Kind, name and node of every failure domain of the topology files."""
    return [(kind, name, node) for kind, name, node in warehouse.rows(_MEMBERSHIPS)]


def line_steps(warehouse: Warehouse) -> dict[str, int]:
    """Usual steps between two step lines, by incident id: how finely its last step is known."""
    return {name: steps for name, steps in warehouse.rows(_LINE_STEPS) if steps is not None}


def first_signs(warehouse: Warehouse) -> dict[str, dict[str, int]]:
    """First sign of the fault on each of its nodes, by incident id; dated ones only."""
    found: dict[str, dict[str, int]] = {}
    for name, node, at in warehouse.rows(_FIRST_SIGNS):
        found.setdefault(name, {})[node] = at
    return found
