"""Times of step lines that have no stamp: an anchor and the printed times per step.

The printed time per step is a mean since the last such line, so that line to line it sums up to
the time that passed. Whether it holds saves and evaluations differs by version: a dated line in
between that is later than the sum says that it did not, and so do lines after a save that print
no more than the others although a timer says how long it took.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from ckpt_audit.units import US_PER_DAY
from ckpt_audit.zones import I64, NO_TIME, Bools

_MOST_US = 1000 * US_PER_DAY  # between two step lines; more is a misprint


@dataclass(frozen=True, slots=True)
class Chain:
    """What the step lines of a log say, spread over all its lines.

    Attributes:
        is_step: Lines that report a step larger than 0.
        step: That step, -1 elsewhere.
        prior_step: The step reported or loaded before it in the same attempt.
        elapsed_us: Printed time per step, also where only a neighbour with the same step has it;
            -1 if none.
        spent_us: Time since the line of ``prior_step``; 0 on a further line of the same step.
        pause_us: Part of it that a timer tells and the printed time per step does not hold.
        group: Number of the stretch of lines with the same step; -1 elsewhere.
    """

    is_step: Bools
    step: I64
    prior_step: I64
    elapsed_us: I64
    spent_us: I64
    pause_us: I64
    group: I64


def chain_of(
    *,
    attempt: I64,
    step: I64,
    elapsed_us: I64,
    loaded_step: I64,
    timer_us: Mapping[Hashable, I64],
) -> Chain:
    """Finds out how many steps, and how much time, lie between step lines.

    Args:
        attempt: Number of the attempt of each line, never falling.
        step: Completed step, -1 on other lines. Lines of step 0 come from initialisation and
            count for nothing.
        elapsed_us: Printed time per step, -1 if none.
        loaded_step: Step of the state that a line says is loaded, -1 on other lines.
        timer_us: By kind of pause (save, evaluation) its time as a timer says, 0 on other lines.
    """
    is_step = step > 0
    rows = np.flatnonzero(is_step)
    blank = np.full(len(step), -1, dtype=np.int64)
    chain = Chain(is_step, np.where(is_step, step, -1), blank.copy(), blank.copy(), blank.copy(),
                  np.zeros(len(step), dtype=np.int64), blank)  # fmt: skip
    if not len(rows):
        return chain
    steps, attempts = step[rows], attempt[rows]
    opens = np.ones(len(rows), dtype=np.bool_)
    opens[1:] = (np.diff(steps) != 0) | (np.diff(attempts) != 0)
    first = np.flatnonzero(opens)
    group = np.cumsum(opens) - 1
    prior = _prior_steps(
        steps[first], attempts[first], _loaded_before(attempt, loaded_step, rows[first])
    )
    printed = np.maximum.reduceat(elapsed_us[rows], first)
    pace = _carried(printed, attempts[first])
    count = np.maximum(steps[first] - prior, 0)
    spent = pace * np.minimum(count, _MOST_US // np.maximum(pace, 1))
    pause = _left_out(timer_us, rows[first], attempts[first], pace, count)
    chain.group[rows] = group
    chain.prior_step[rows] = prior[group]
    chain.elapsed_us[rows] = printed[group]
    chain.spent_us[rows] = np.where(opens, (spent + pause)[group], 0)
    chain.pause_us[rows] = np.where(opens, pause[group], 0)
    return chain


def _left_out(
    timer_us: Mapping[Hashable, I64], rows: I64, attempts: I64, pace: I64, count: I64
) -> I64:
    """Timers since the step before that the printed times per step leave out; else 0.

    Several timers of one kind between two steps are those of ranks or parts: the longest counts.
    """
    pause = np.zeros(len(rows), dtype=np.int64)
    if len(rows) < 2:
        return pause
    for one_kind in timer_us.values():
        pause[1:] += np.maximum.reduceat(one_kind, rows)[:-1]
    pause[1:][np.diff(attempts) != 0] = 0
    paused = (pause > 0) & (pause < _MOST_US) & (pace > 0)
    clean = (pause == 0) & (pace > 0)
    if not paused.any() or not clean.any():
        return np.zeros_like(pause)
    held = (pace[paused] - np.int64(np.median(pace[clean]))) * count[paused]
    is_held = 2 * held.sum() >= pause[paused].sum()
    return np.where(paused & ~is_held, pause, 0)


def _loaded_before(attempt: I64, loaded_step: I64, rows: I64) -> I64:
    """The step loaded last before each row in its attempt; -1 if nothing says so."""
    place = np.maximum.accumulate(np.where(loaded_step >= 0, np.arange(len(attempt)), -1))[rows]
    known = (place >= 0) & (attempt[place] == attempt[rows])
    return np.where(known, loaded_step[place], -1)


def _prior_steps(steps: I64, attempts: I64, loaded: I64) -> I64:
    """The step before each one; at the start of an attempt the loaded one.

    Where nothing says what was loaded, the distance of the next two lines is taken, and step 0
    where there are none.
    """
    starts = np.ones(len(steps), dtype=np.bool_)
    starts[1:] = np.diff(attempts) != 0
    prior = np.concatenate([np.zeros(1, dtype=np.int64), steps[:-1]])
    stride = np.append(np.where(np.diff(attempts) == 0, np.diff(steps), steps[:-1]), steps[-1:])
    guessed = np.maximum(steps - stride, 0)
    return np.where(starts, np.where(loaded >= 0, np.minimum(loaded, steps), guessed), prior)


def _carried(printed: I64, attempts: I64) -> I64:
    """Time per step; where it is not printed, the last printed one of the attempt, else 0."""
    place = np.maximum.accumulate(np.where(printed >= 0, np.arange(len(printed)), -1))
    known = (place >= 0) & (attempts[place] == attempts)
    return np.where(known, printed[place], 0)


def date_steps(at: I64, chain: Chain, attempt: I64, *, starts: Bools, pauses: Bools) -> None:
    """Fills in the times of step lines without a stamp.

    Args:
        at: Instants of stamped lines, ``NO_TIME`` elsewhere; filled in.
        chain: What the step lines say.
        attempt: Number of the attempt of each line.
        starts: Lines that say that training starts.
        pauses: Lines that end a pause between steps.
    """
    _copy_neighbours(at, chain)
    if not (chain.is_step & (at == NO_TIME)).any():
        return
    walk = _Walk(at, chain, attempt, starts, pauses)
    for weak in (False, True):
        walk.forward(weak=weak)
        walk.backward(weak=weak)
    at[:] = walk.at


def _copy_neighbours(at: I64, chain: Chain) -> None:
    """Gives a step line the stamp of a neighbour of the same step, if no dated line is between."""
    rows = np.flatnonzero(chain.is_step)
    if len(rows) < 2:
        return
    times, group = at[rows], chain.group[rows]
    n_dated = np.cumsum(at != NO_TIME)[rows]
    alone = n_dated[1:] - (times[1:] != NO_TIME) == n_dated[:-1]
    same = (group[1:] == group[:-1]) & alone
    from_before = same & (times[1:] == NO_TIME) & (times[:-1] != NO_TIME)
    from_after = same & (times[:-1] == NO_TIME) & (times[1:] != NO_TIME)
    taken = times.copy()
    taken[:-1][from_after] = times[1:][from_after]
    taken[1:][from_before] = times[:-1][from_before]
    at[rows] = taken


class _Walk:
    """Walks over the step lines without a time, from what is known to what is not.

    Plain lists and one pass each way: a million lines take about a second.
    """

    def __init__(self, at: I64, chain: Chain, attempt: I64, starts: Bools, pauses: Bools) -> None:
        n = len(at)
        known = at != NO_TIME
        places = np.arange(n)
        before = np.maximum.accumulate(np.where(known, places, -1))
        after = np.minimum.accumulate(np.where(known, places, n)[::-1])[::-1]
        start = np.maximum.accumulate(np.where(known & starts, places, -1))
        step_rows = np.flatnonzero(chain.is_step)
        todo = step_rows[~known[step_rows]]
        place = np.searchsorted(step_rows, todo)
        padded = np.concatenate([[-1], step_rows, [-1]])
        numbers = np.append(attempt, -1)
        prior, following = padded[place], padded[place + 2]
        mine = attempt[todo]
        self.at: list[int] = at.tolist()
        self.pauses = pauses
        self.todo: list[int] = todo.tolist()
        self.before: list[int] = before[todo].tolist()
        self.after: list[int] = np.where(after[todo] < n, after[todo], -1).tolist()
        self.prior: list[int] = np.where(numbers[prior] == mine, prior, -1).tolist()
        self.following: list[int] = np.where(numbers[following] == mine, following, -1).tolist()
        self.start: list[int] = np.where(numbers[start[todo]] == mine, start[todo], -1).tolist()
        self.before_is_mine: list[bool] = (numbers[before[todo]] == mine).tolist()
        after_mine = np.append(attempt, -1)[np.array(self.after, dtype=np.int64)] == mine
        self.after_is_mine: list[bool] = after_mine.tolist()
        self.spent: list[int] = chain.spent_us.tolist()
        self.work: list[int] = (chain.spent_us - chain.pause_us).tolist()

    def forward(self, *, weak: bool) -> None:
        """Sums up from the step or start of training before; if weak, from any dated line."""
        at, stretch, floor, ceiling = self.at, list[int](), 0, -1
        for k, i in enumerate(self.todo):
            if at[i] != NO_TIME:
                continue
            prior, before, start = self.prior[k], self.before[k], self.start[k]
            if stretch and (prior != stretch[-1] or before > stretch[-1]):
                self._fit(stretch, floor, ceiling)
                stretch = []
            anchor = max(prior, start)
            if weak and (anchor < 0 or at[anchor] == NO_TIME) and self.before_is_mine[k]:
                anchor = before
            if anchor < 0 or at[anchor] == NO_TIME:
                continue
            here = at[anchor] + self.spent[i]
            base = at[anchor]
            if before > anchor and at[before] > here:
                base = at[before]
                here = base + (self.work[i] if self.pauses[before] else 0)
            if not stretch:
                ceiling = self.after[k]
                floor = max(base, at[before]) if before >= 0 and anchor <= before else base
            at[i] = max(here, floor)
            stretch.append(i)
        self._fit(stretch, floor, ceiling)

    def _fit(self, stretch: list[int], floor: int, ceiling: int) -> None:
        """Scales a stretch of derived times back so that it ends before the next dated line."""
        if not stretch or ceiling < 0:
            return
        at = self.at
        room, used = max(at[ceiling] - floor, 0), at[stretch[-1]] - floor
        if used > room:
            for i in stretch:
                at[i] = floor + (at[i] - floor) * room // used

    def backward(self, *, weak: bool) -> None:
        """Subtracts from the step after; if weak, from any dated line of the attempt."""
        at = self.at
        for k in range(len(self.todo) - 1, -1, -1):
            i = self.todo[k]
            if at[i] != NO_TIME:
                continue
            following, after, before = self.following[k], self.after[k], self.before[k]
            if following >= 0 and at[following] != NO_TIME:
                here = at[following] - self.spent[following]
                if 0 <= after < following:
                    here = min(here, at[after])
                limit = at[following]
            elif weak and self.after_is_mine[k]:
                here = limit = at[after]
            else:
                continue
            at[i] = min(max(here, at[before]), limit) if before >= 0 else here
