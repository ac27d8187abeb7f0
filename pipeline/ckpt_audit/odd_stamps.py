"""Stamps that cannot be right: far outside their job, or far out of the order of their log.

A clock that jumps, a line that is written late by another host, a line that quotes a time: one such
stamp would put an end hours after its job, and every moment after it out of order. A line whose
stamp is odd is dated from its neighbours, as one without a stamp. Many are no oddity but another
clock or zone, and are left as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

import numpy as np

from ckpt_audit.zones import I64, NO_TIME, Bools

TOLERANCE_US: Final = 600_000_000  # hosts' clocks differ, and what is buffered is written late
FEW: Final = 3  # so many are odd in any log, and one line in a hundred in a long one
PER: Final = 100


def odd_stamps(at: I64, job_from: int = NO_TIME, job_until: int = NO_TIME) -> Bools:
    """Tell which stamps of a log are odd.

    Args:
        at: Instants of its stamped lines in the order of the file, UTC us, shape ``(n,)``.
        job_from: When its job began, or ``NO_TIME``.
        job_until: When its job had ended, or ``NO_TIME``.

    Returns:
        Whether each is odd, shape ``(n,)``.

    >>> import numpy as np
    >>> hour = 3_600_000_000
    >>> odd_stamps(np.array([0, hour, 9 * hour, 2 * hour, 3 * hour])).tolist()
    [False, False, True, False, False]
    """
    odd = np.zeros(len(at), dtype=np.bool_)
    most = max(FEW, len(at) // PER)
    outside = odd.copy()
    if job_from != NO_TIME:
        outside |= at < job_from - TOLERANCE_US
    if job_until != NO_TIME:
        outside |= at > job_until + TOLERANCE_US
    if _are_few(int(outside.sum()), len(at), most):
        odd |= outside
    kept = np.flatnonzero(~odd)
    out = kept[_out_of_order(at[kept])]
    if _are_few(len(out), len(kept), most):
        odd[out] = True
    return odd


def _are_few(n_odd: int, n: int, most: int) -> bool:
    return 0 < n_odd <= most and 2 * n_odd < n


def _out_of_order(at: I64) -> I64:
    """Places of the fewest stamps without which the others are in order, within the tolerance."""
    if len(at) < 2 or not (np.maximum.accumulate(at) - at > TOLERANCE_US).any():
        return np.empty(0, dtype=np.int64)
    in_order = _longest_rise(at)
    places = np.arange(len(at))
    after = in_order[np.minimum(np.searchsorted(in_order, places), len(in_order) - 1)]
    before = in_order[np.maximum(np.searchsorted(in_order, places, side="right") - 1, 0)]
    is_far = (at > at[after] + TOLERANCE_US) & (after > places)
    is_far |= (at < at[before] - TOLERANCE_US) & (before < places)
    return np.flatnonzero(is_far)


def _longest_rise(at: I64) -> I64:
    """Places of a longest sequence that never falls."""
    tails: list[int] = []  # the least end of a sequence of each length
    ends: list[int] = []  # its place
    previous = np.full(len(at), -1, dtype=np.int64)
    for place, value in enumerate(at.tolist()):
        length = bisect_right(tails, value)
        previous[place] = ends[length - 1] if length else -1
        if length == len(tails):
            tails.append(value)
            ends.append(place)
        else:
            tails[length], ends[length] = value, place
    found = [ends[-1]]
    while previous[found[-1]] >= 0:
        found.append(int(previous[found[-1]]))
    return _nearer_ends(at, np.array(found[::-1], dtype=np.int64))


def _nearer_ends(at: I64, rise: I64) -> I64:
    """Of ends that would do as well, those that are nearest to the rest in time."""
    if len(rise) < 2:
        return rise
    first, last = rise[1], rise[-2]
    before, after = at[:first], at[last + 1 :]
    rise = rise.copy()
    rise[0] = np.argmax(np.where(before <= at[first], before, NO_TIME))
    rise[-1] = last + 1 + np.argmin(np.where(after >= at[last], after, np.iinfo(np.int64).max))
    return rise
