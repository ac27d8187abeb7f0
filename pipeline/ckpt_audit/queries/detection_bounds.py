"""Low and high of what depends on the moment of detection, where that is only bounded."""

from __future__ import annotations

from typing import Any

from ckpt_audit.units import seconds

Bounds = dict[str, tuple[float | None, float | None]]


def between(low: int | None, high: int | None) -> tuple[float | None, float | None]:
    """Seconds of two moments or durations in microseconds."""
    return (seconds(low), seconds(high))


def detection_bounds(row: dict[str, Any]) -> Bounds:
    """Bounds of ``detected_at``, ``detection_s``, ``replacement_s`` and ``recovery_s``.

    Args:
        row: A row of the incident table, microseconds.

    Returns:
        Seconds; instants in seconds since the epoch. A high end is None where nothing bounds it.
        Empty where the moment is known.
    """
    at, low, high = (row[f"detected_{end}"] for end in ("at", "low", "high"))
    if row["detected_strength"] != "bounded" or at is None or low is None:
        return {}
    found: Bounds = {"detected_at": (seconds(low), seconds(high))}
    if row["detection_us"] is not None:
        longest = None if high is None else seconds(high - row["fault_low"])
        found["detection_s"] = (seconds(max(0, low - row["fault_high"])), longest)
    later = None if high is None else high - at
    for name in ("recovery", "replacement"):
        took = row[f"{name}_us"]
        if took is not None:
            least = 0 if later is None else max(0, took - later)
            found[f"{name}_s"] = (seconds(least), seconds(took + at - low))
    return found
