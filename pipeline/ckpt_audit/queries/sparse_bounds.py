"""Low and high of what depends on single steps where a log prints only every k-th."""

from __future__ import annotations

from typing import Any

from ckpt_audit.queries.detection_bounds import Bounds, between


def sparse_bounds(row: dict[str, Any], known: Bounds) -> Bounds:
    """Bounds of an incident in a log of every k-th step; empty for a log of every step.

    Args:
        row: A row of the incident table, microseconds.
        known: What the moments leave open already, seconds.
    """
    if row["line_steps"] <= 1 or row["last_step"] is None:
        return {}
    return _end_bounds(row) | _return_bounds(row) | _loss_bounds(row, known)


def _end_bounds(row: dict[str, Any]) -> Bounds:
    """Of the end: up to k - 1 more steps were done after the last line."""
    skipped, line_us = row["line_steps"] - 1, row["line_us"] or 0
    found: Bounds = {"last_step": (row["last_step"], row["last_step"] + skipped)}
    if row["last_step_at"] is not None:
        latest = row["last_step_at"] + line_us + line_us // 4  # steps differ
        # no step was complete after the fault
        ended = row["detected_at"] if row["fault_high"] is None else row["fault_high"]
        saved = row["attempted_captured_at"]
        if ended is not None:
            # a pause after the line puts off the steps after it, for as long as it may have taken
            paused = saved is not None and saved >= row["last_step_at"]
            latest = max(row["last_step_at"], ended if paused else min(latest, ended))
        found["last_step_at"] = between(row["last_step_at"], latest)
    if row["steps_lost"] is not None:
        found["steps_lost"] = (row["steps_lost"], row["steps_lost"] + skipped)
    if row["verified_captured_at"] is not None and row["fault_at"] is not None:
        age = row["fault_at"] - row["verified_captured_at"]
        slack = row["fault_at"] - (row["fault_low"] or row["fault_at"])
        later = (row["fault_high"] or row["fault_at"]) - row["fault_at"]
        found["verified_checkpoint_age_s"] = between(
            max(0, age - slack - line_us), age + later + line_us
        )
    return found


def _return_bounds(row: dict[str, Any]) -> Bounds:
    """Of the return: the first step was complete up to k - 1 steps before its line.

    After a change of size the steps before say nothing of these, so that the restore is the bound.
    A retry without a line may have done steps: these are lost work and no part of the recovery.
    """
    found: Bounds = {}
    first, first_high, line_us = row["first_step_at"], row["first_step_high"], row["line_us"] or 0
    if first is None or first_high is None:
        return found
    begun = [row[name] for name in ("restored_low", "restored_at", "launched_low")]
    low = min(first, first_high - line_us, *(at for at in begun[:2] if at is not None))
    low = max([low, *(at for at in begun if at is not None and at <= first)])
    if row["detected_at"] is not None:
        low = max(low, row["detected_at"])
        if row["recovery_us"] is not None:
            unseen = (row["attempts"] - 1) * line_us
            found["recovery_s"] = between(
                max(0, row["recovery_us"] - (first - low) - unseen),
                row["recovery_us"] + first_high - first,
            )
    found["first_step_at"] = between(low, first_high)
    if first == row["detected_at"]:
        found.update(_takeover_bounds(row, first_high - first))
    return found


def _loss_bounds(row: dict[str, Any], known: Bounds) -> Bounds:
    """Of the work lost: the line at which it resumed is shared out by steps.

    A pause in that line is an estimate, since slow steps look like a longer one. What the fault's
    moment leaves open comes on top.
    """
    found: Bounds = {}
    line_us = row["line_us"] or 0
    if row["lost_work_us"] is not None:
        step_us = max(line_us // row["line_steps"], 3 * line_us // 10)
        unseen = (row["attempts"] - 1) * line_us
        value = row["lost_work_us"]
        low, high = known.get("lost_work_s", between(value, value))
        below, above = between(step_us, step_us + unseen)
        found["lost_work_s"] = (
            None if low is None or below is None else max(0.0, low - below),
            None if high is None or above is None else high + above,
        )
    if row["unsaved_work_us"] is not None:
        found["unsaved_work_s"] = between(
            max(0, row["unsaved_work_us"] - line_us), row["unsaved_work_us"] + line_us
        )
    return found


def _takeover_bounds(row: dict[str, Any], later_us: int) -> Bounds:
    """Where a job went on beside its successor, all ends when that one's first step was complete.

    Args:
        row: A row of the incident table, microseconds.
        later_us: How much later that may have been, at most.
    """
    earliest = min(row["last_step_at"], row["fault_at"])
    found: Bounds = {
        name: between(earliest, row["detected_at"] + later_us)
        for name in ("last_step_at", "fault_at", "detected_at", "replaced_at")
        if row[name] is not None
    }
    for name in ("last_step", "steps_lost"):
        if row[name] is not None:
            more = row["line_steps"] * (1 + later_us // max(1, row["line_us"] or later_us or 1))
            found[name] = (max(0, row[name] - row["line_steps"]), row[name] + more)
    return found
