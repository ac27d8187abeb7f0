"""What a table of incidents says, as JSON."""

from __future__ import annotations

from dataclasses import asdict

from ckpt_audit.audit.incident_table import TableEstimate
from ckpt_audit.documents import Json, document
from ckpt_audit.documents.process import laws_section
from ckpt_audit.units import US_PER_S, iso


def incident_table_document(name: str, found: TableEstimate) -> Json:
    """The estimate of a table.

    Args:
        name: Of the file.
        found: The estimate.
    """
    table, mean = found.table, found.mean_time
    window = None
    if not table.is_relative:
        window = {
            "start": iso(round(found.start_s * US_PER_S)),
            "end": iso(round(found.end_s * US_PER_S)),
        }
    body = {
        "table": name,
        "columns": dict(table.columns),
        "records": table.n_records,
        "rejected": table.n_rejected,
        "window": window,
        "exposure_s": mean.exposure_s,
        "incidents": found.incidents,
        "nodes": found.nodes,
        "calendar_s_per_incident": {
            "value": mean.m_s,
            "low": mean.low_s,
            "high": mean.high_s,
            "robust_low": found.robust.low_s,
            "robust_high": found.robust.high_s,
            "confidence": mean.confidence,
        },
        "per_1000_node_days": None
        if found.per_node_day is None
        else {
            "value": found.per_node_day.value,
            "low": found.per_node_day.low,
            "high": found.per_node_day.high,
        },
        "shape": laws_section(found.laws),
        "squared_variation": found.variation,
        "chain": {
            "window_s": found.chain.window_s,
            "groups": found.chain.groups,
            "grouped_share": found.chain.grouped_share,
            "by_chance_share": found.chain.by_chance_share,
            "shape": laws_section(found.chain.laws),
            "shape_by_chance": found.chain.shape_by_chance,
        },
        "dispersion": None if found.spread is None else asdict(found.spread),
        "trend": {
            **asdict(found.trend),
            "power_law": None if found.power_law is None else asdict(found.power_law),
        },
        "change_point": None if found.change is None else asdict(found.change),
        "causes": [
            {
                "cause": item.cause,
                "incidents": item.events,
                "share": item.share,
                "m_s": item.mean_time.m_s,
                "low_s": item.mean_time.low_s,
                "high_s": item.mean_time.high_s,
            }
            for item in found.causes
        ],
        "repair": {
            "n": found.repair.n,
            "median_s": found.repair.median,
            "mean_s": found.repair.mean,
            "p90_s": found.repair.p90,
            "p99_s": found.repair.p99,
            "max_s": found.repair.max,
        },
        "suspects": None if found.suspects is None else [asdict(one) for one in found.suspects],
    }
    return document("incident_table", body)
