"""Low and high of the figures of an incident that a moment without a stamp leaves open."""

from __future__ import annotations

from typing import Any

from ckpt_audit.queries.detection_bounds import Bounds, between, detection_bounds
from ckpt_audit.queries.sparse_bounds import sparse_bounds


def _least(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else min(one, other)


def _most(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)


def _since(low: int, high: int | None, begun_at: int | None) -> int:
    """The low bound of what came after a launch began: often later than the line before it."""
    if begun_at is None or (high is not None and begun_at > high):
        return low
    return max(low, begun_at)


def incident_bounds(row: dict[str, Any]) -> Bounds:
    """Low and high of what depends on a moment that is only bounded.

    Args:
        row: A row of the incident table, microseconds.

    Returns:
        By name of the figure; durations in seconds, instants in seconds since the epoch.
    """
    bounds: Bounds = {}
    low, high = row["fault_low"], row["fault_high"]
    if row["fault_strength"] == "bounded" and low is not None and low != high:
        bounds["fault_at"] = between(low, high)
        captured = row["verified_captured_at"]
        if captured is not None:
            bounds["verified_checkpoint_age_s"] = between(max(0, low - captured), high - captured)
        if row["detection_us"] is not None:
            bounds["detection_s"] = between(row["detected_at"] - high, row["detected_at"] - low)
        if row["lost_work_us"] is not None:
            shift_low, shift_high = low - row["fault_at"], high - row["fault_at"]
            bounds["lost_work_s"] = between(
                max(0, row["lost_work_us"] + shift_low), row["lost_work_us"] + shift_high
            )
    bounds.update(detection_bounds(row))
    bounds.update(_loop_bounds(row, bounds))
    bounds.update(_unstamped_bounds(row))
    for name, (low, high) in sparse_bounds(row, bounds).items():
        before, after = bounds.get(name, (low, high))
        bounds[name] = (_least(low, before), _most(high, after))
    for name in ("launched", "load_started", "restored"):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        if row[f"{name}_at"] is None and low is not None:
            bounds[f"{name}_at"] = between(_since(low, high, row["launch_from_at"]), high)
    bounds.update(_stage_bounds(row))
    if row["hidden_until_at"] is not None:
        bounds["first_step_at"] = between(row["detected_at"], row["hidden_until_at"])
        bounds["recovery_s"] = between(0, row["hidden_until_at"] - row["detected_at"])
        bounds["attempts"] = (1, row["attempts"])
    return bounds


def _loop_bounds(row: dict[str, Any], known: Bounds) -> Bounds:
    """In a crash loop the step under way at each of its ends is lost work or recovery."""
    n_repeats, line_us = len(row["ends"] or ()) - 1, row["line_us"]
    if n_repeats < 1 or not line_us:
        return {}
    slack = 2 * n_repeats * line_us / 1e6
    found = {}
    for name, value_us in (
        ("lost_work_s", row["lost_work_us"]),
        ("recovery_s", row["recovery_us"]),
    ):
        if value_us is not None:
            low, high = known.get(name, between(value_us, value_us))
            found[name] = (max(0.0, (low or 0.0) - slack), (high or 0.0) + slack)
    return found


def _unstamped_bounds(row: dict[str, Any]) -> Bounds:
    """What depends on the last step where its line has no stamp.

    Its moment is the last dated line plus the times that the steps print. These may leave out the
    pauses of saves and evaluations, so that it was later rather than earlier.
    """
    low, high, at = row["last_step_low"], row["last_step_high"], row["last_step_at"]
    if low is None or high is None or at is None:
        return {}
    latest = max(at, min(high, row["detected_at"] or high))
    # where only what comes after dates it, it may have been at any time before
    earliest = low if at >= high else max(low, at - (at - low) // 100 - 1_000_000)
    found = {"last_step_at": between(earliest, latest)}
    captured = row["verified_captured_at"]
    if row["fault_at"] is not None and row["detected_at"] is not None:
        until = row["detected_at"]
        found["fault_at"] = between(min(earliest, row["fault_at"]), until)
        if row["detection_us"] is not None:
            found["detection_s"] = between(0, until - earliest)
        if row["lost_work_us"] is not None:
            found["lost_work_s"] = between(
                max(0, row["lost_work_us"] - (latest - earliest)),
                row["lost_work_us"] + (until - row["fault_at"]),
            )
        if captured is not None:
            age, slack = row["fault_at"] - captured, latest - earliest + until - row["fault_at"]
            found["verified_checkpoint_age_s"] = between(max(0, age - slack), age + slack)
    return found


def _stage_bounds(row: dict[str, Any]) -> Bounds:
    """Low and high of launch, restore and warm-up where the load is not stamped."""
    begin, first_step = row["launch_from_at"], row["first_step_at"]
    load_low, load_high = row["load_started_low"], row["load_started_high"]
    done_low, done_high = row["restored_low"], row["restored_high"]
    if None in (begin, first_step, load_low, load_high, done_low, done_high):
        return {}
    if load_high < begin:  # it was up before the run was its own: nothing of that is recovery
        return {}
    found = {}
    if row["load_started_at"] is None:
        found["launch_s"] = between(max(0, load_low - begin), load_high - begin)
    if row["load_started_at"] is None or row["restored_at"] is None:
        found["restore_s"] = between(max(0, done_low - load_high), done_high - load_low)
    if row["restored_at"] is None:
        found["warmup_s"] = between(max(0, first_step - done_high), first_step - done_low)
    return found
