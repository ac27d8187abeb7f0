"""Instants of scheduler records, also in the hour that a clock put back shows twice."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ckpt_audit.zones import I64, NO_TIME, localise, settle_job

JOB_INSTANTS = ("submitted_at", "eligible_at", "started_at", "ended_at")
_JOB_READINGS = ("submit_us", "eligible_us", "start_us", "end_us")


def job_instants(frame: pd.DataFrame, tz: str) -> dict[str, I64]:
    """Instants of the scheduler records of one source.

    Args:
        frame: Columns ``submit_us``, ``eligible_us``, ``start_us``, ``end_us``, ``elapsed_us``
            (``NO_TIME`` if unknown), ``is_utc``, ``owner`` (who runs what; None for a part of a
            job), ``turn`` (its number, which rises from job to job) and ``nodes``.
        tz: Zone of the naive readings.
    """
    is_utc = frame["is_utc"].to_numpy(dtype=np.bool_)
    readings = np.stack([frame[name].to_numpy(dtype=np.int64) for name in _JOB_READINGS])
    early, late = readings.copy(), readings.copy()
    is_local = (readings != NO_TIME) & ~is_utc
    found = localise(readings[is_local], tz)
    early[is_local], late[is_local] = found.early, found.late
    elapsed = frame["elapsed_us"].to_numpy(dtype=np.int64)
    folded = np.flatnonzero((early != late).any(axis=0))
    for i in folded:
        one, other, (spent,) = (_optional(v) for v in (early[:, i], late[:, i], elapsed[i : i + 1]))
        chosen = settle_job(one, other, spent)
        early[:, i] = [NO_TIME if at is None else at for at in chosen]
    if len(folded):
        _move_off_taken_nodes(frame, early, late, folded)
    return dict(zip(JOB_INSTANTS, early, strict=True))


def _move_off_taken_nodes(frame: pd.DataFrame, at: I64, late: I64, folded: I64) -> None:
    """Gives a job the second pass of the clock where the first finds its nodes taken.

    A job that fits into either pass, and in the first would run on nodes that an earlier job of the
    same owner and name still held, came after that one.

    Args:
        frame: As ``job_instants`` takes it.
        at: Instants by kind and row, changed in place.
        late: The later of two instants each.
        folded: Rows with an ambiguous reading.
    """
    owner, nodes = frame["owner"].tolist(), [frozenset(names) for names in frame["nodes"]]
    start, end = (JOB_INSTANTS.index(name) for name in ("started_at", "ended_at"))

    def is_taken(row: int, begin: int, until: int) -> bool:
        """Whether another job of the chain, begun before on the clock, is on one of the nodes."""
        others = [k for k in same[owner[row]] if k != row and nodes[k] & nodes[row]]
        return any(at[start, k] < until and begin < at[end, k] for k in others)

    same: dict[str | None, list[int]] = {}
    for row in np.flatnonzero((at[start] != NO_TIME) & (at[end] != NO_TIME)).tolist():
        same.setdefault(owner[row], []).append(row)
    both = (at[[start, end]] != late[[start, end]]).all(axis=0)
    turn = frame["turn"].to_numpy(dtype=np.int64)
    for row in sorted(folded[both[folded]].tolist(), key=lambda k: -int(turn[k])):
        if owner[row] is None or not nodes[row]:
            continue
        second = int(late[start, row]), int(late[end, row])
        first = int(at[start, row]), int(at[end, row])
        if is_taken(row, *first) and not is_taken(row, *second):
            at[[start, end], row] = second


def _optional(values: I64) -> tuple[int | None, ...]:
    return tuple(None if value == NO_TIME else int(value) for value in values)
