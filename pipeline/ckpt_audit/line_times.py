"""Times of the lines of one log: those without a stamp are dated from their neighbours.

Pure functions over columns with one entry per line, in the order of the file. ``NO_TIME`` stands
for an unknown instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

import numpy as np
import numpy.typing as npt
import pandas as pd

from ckpt_audit.records import EventKind
from ckpt_audit.step_times import Chain, chain_of, date_steps
from ckpt_audit.zones import I64, NO_TIME, Bools


class Role(IntFlag):
    """What a line is for the dating of its neighbours; joined lines have several roles."""

    NONE = 0
    STEP = 1  # completed-step line
    LAUNCH = 2
    LOADED_STEP = 4  # names the step of the state that is loaded (0: nothing to load)
    START = 8  # a sign that the program starts: launch, load, start of training
    TRAINING_START = 16
    PAUSE_END = 32  # a pause between steps is over: saved, evaluated
    SAVE_DONE = 64
    TIMER = 128
    END = 256  # the program has ended
    MAYBE_END = 512  # the program may have ended; a launch after it is a new start
    LATE = 1024  # stands at the end of its bounds, not at their beginning
    BETWEEN = 2048  # happens between two steps, never inside one
    RESTORED = 4096  # the state is there: stands right before what comes next
    UNDATABLE = 8192  # has a stamp that nothing can date
    EVALUATION = 16384
    EVALUATION_TIMER = 32768


_BETWEEN_LATE = Role.LATE | Role.BETWEEN
_LOADING = Role.START | Role.LOADED_STEP | Role.BETWEEN

ROLES: dict[str, Role] = {
    EventKind.LAUNCH: Role.LAUNCH | Role.START | Role.BETWEEN,
    EventKind.TRAINING_START: (Role.TRAINING_START | Role.START | Role.RESTORED | _BETWEEN_LATE),
    EventKind.LOAD_STARTED: _LOADING,
    EventKind.LOAD_DONE: _LOADING | Role.RESTORED | Role.LATE,
    EventKind.LOAD_NONE: _LOADING,
    EventKind.TRACKER_INVALID: Role.BETWEEN,
    EventKind.SAVE_STARTED: Role.BETWEEN,
    EventKind.SAVE_SCHEDULED: Role.BETWEEN,
    EventKind.SAVE_DONE: Role.SAVE_DONE | Role.PAUSE_END | _BETWEEN_LATE,
    EventKind.SAVE_TIMER: Role.TIMER | Role.PAUSE_END | _BETWEEN_LATE,
    EventKind.EVALUATION: Role.EVALUATION | Role.PAUSE_END | _BETWEEN_LATE,
    EventKind.EVALUATION_TIMER: Role.EVALUATION_TIMER | Role.PAUSE_END | _BETWEEN_LATE,
    EventKind.TRAINING_DONE: Role.END,
    EventKind.PROGRAM_EXIT: Role.END,
    EventKind.JOB_CANCELLED: Role.END,
    EventKind.LAUNCHER_FAILURE: Role.END,
    EventKind.TASK_EXIT: Role.MAYBE_END,
    EventKind.TRACEBACK: Role.MAYBE_END,
    EventKind.NODE_FAILURE: Role.MAYBE_END,
    EventKind.OUT_OF_MEMORY: Role.MAYBE_END,
    EventKind.ACCELERATOR_OOM: Role.MAYBE_END,
}


class Strength(IntEnum):
    """How sure a time is, as numbers for columns."""

    ABSENT = 0
    BOUNDED = 1
    DERIVED = 2
    STATED = 3


@dataclass(frozen=True, slots=True)
class Lines:
    """Columns of the lines of one source.

    Attributes:
        at: Instants of the lines that have a stamp.
        is_exact: False where the clock skipped the reading, so that the instant is derived.
        resolution_us: How fine the stamps are; 0 without one.
        role: Values of Role.
        step: Completed step, -1 on other lines.
        elapsed_us: Printed time per step, -1 if none.
        named_step: Step that an event names, -1 if none.
        duration_us: Duration that a timer states, -1 if none.
    """

    at: I64
    is_exact: Bools
    resolution_us: I64
    role: I64
    step: I64
    elapsed_us: I64
    named_step: I64
    duration_us: I64

    def has(self, role: Role) -> Bools:
        """Which lines have any of the roles."""
        return np.asarray((self.role & int(role)) != 0)


@dataclass(frozen=True, slots=True)
class Times:
    """When the lines were printed: best estimate, bounds and values of Strength."""

    at: I64
    low: I64
    high: I64
    strength: npt.NDArray[np.int8]


def previous_index(mask: Bools) -> I64:
    """For each place the nearest marked place before it, or -1."""
    marked = np.where(mask, np.arange(len(mask)), -1)
    reached = np.maximum.accumulate(marked) if len(mask) else marked
    return np.concatenate([np.array([-1]), reached[:-1]]) if len(mask) else marked


def next_index(mask: Bools) -> I64:
    """For each place the nearest marked place after it, or the length."""
    n = len(mask)
    return n - 1 - previous_index(mask[::-1])[::-1]


def cut_attempts(lines: Lines) -> I64:
    """Numbers the executions of the program that one log tells of.

    A sign of a start (launch, load, start of training) after steps or after the end of a program
    begins the next one; so does a step that is smaller than the one before.
    """
    is_step = lines.has(Role.STEP) & (lines.step > 0)
    is_start = lines.has(Role.START)
    ended = is_step | lines.has(Role.END)
    maybe = ended | lines.has(Role.MAYBE_END)

    def follows(mask: Bools) -> Bools:
        before = previous_index(mask | is_start)
        return np.asarray((before >= 0) & mask[before] & ~is_start[before])

    cut = is_start & (follows(ended) | (lines.has(Role.LAUNCH) & follows(maybe)))
    attempt = np.cumsum(cut)
    rows = np.flatnonzero(is_step)
    back = (np.diff(lines.step[rows]) < 0) & (np.diff(attempt[rows]) == 0)
    cut[rows[1:][back]] = True
    return np.cumsum(cut)


def time_lines(lines: Lines) -> Times:
    """Dates every line of a source.

    Lines with a stamp keep it. A step line takes the stamp of a neighbour that names the same
    step, else the time of an anchor and the printed times per step. Events get bounds.
    """
    at = lines.at.copy()
    strength = np.where(
        at == NO_TIME, Strength.ABSENT, np.where(lines.is_exact, Strength.STATED, Strength.DERIVED)
    ).astype(np.int8)
    low, high = at.copy(), at.copy()
    if not (at == NO_TIME).any():
        return Times(at, low, high, strength)
    attempt = cut_attempts(lines)
    chain = chain_of(
        attempt=attempt,
        step=np.where(lines.has(Role.STEP), lines.step, -1),
        elapsed_us=lines.elapsed_us,
        loaded_step=np.where(lines.has(Role.LOADED_STEP), lines.named_step, -1),
        timer_us={
            role: np.where(lines.has(role), np.maximum(lines.duration_us, 0), 0)
            for role in (Role.TIMER, Role.EVALUATION_TIMER)
        },
    )
    stated = at != NO_TIME
    date_steps(
        at, chain, attempt, starts=lines.has(Role.TRAINING_START), pauses=lines.has(Role.PAUSE_END)
    )
    derived = ~stated & (at != NO_TIME)
    before, after = previous_index(stated), next_index(stated)
    _set_bounds(at, low, high, derived, before, after)
    strength[derived] = Strength.DERIVED
    _Gaps(lines, chain, attempt, at).fill(low, high, strength)
    return Times(at, low, high, strength)


def _set_bounds(at: I64, low: I64, high: I64, rows: Bools, before: I64, after: I64) -> None:
    """Bounds of derived steps: the dated lines around them, widened where those are disordered."""
    padded = np.append(at, NO_TIME)  # index -1 and index n are both this entry
    below, above = padded[before[rows]], padded[after[rows]]
    here = at[rows]
    low[rows] = np.where(below == NO_TIME, NO_TIME, np.minimum(below, here))
    high[rows] = np.where(above == NO_TIME, NO_TIME, np.maximum(above, here))


class _Gaps:
    """The lines without a time, each between the dated lines around it.

    Args:
        lines: The lines.
        chain: What the step lines say.
        attempt: Number of the execution of each line.
        at: Instants of stamped and derived lines; filled in by ``fill``.
    """

    def __init__(self, lines: Lines, chain: Chain, attempt: I64, at: I64) -> None:
        timed = at != NO_TIME
        self.rows = np.flatnonzero(~timed & ~chain.is_step & ~lines.has(Role.UNDATABLE))
        self.lines, self.at = lines, at
        n, padded = len(at), np.append(at, NO_TIME)
        self.before = previous_index(timed)[self.rows]
        self.after = next_index(timed)[self.rows]
        self.low, self.later = padded[self.before], padded[self.after]
        group = np.append(attempt, -1)
        self.low_same = group[self.before] == attempt[self.rows]
        self.later_same = group[self.after] == attempt[self.rows]
        last = np.minimum(self.after, n - 1)
        self.next_is_step = self.later_same & (chain.elapsed_us[last] >= 0) & chain.is_step[last]
        self.next_goes_on = self.later_same & ~lines.has(Role.END | Role.MAYBE_END)[last]
        self.next_is_start = self.later_same & lines.has(Role.TRAINING_START)[last]
        self.per_step = np.where(self.next_is_step, chain.elapsed_us[last], 0)
        self.next_step = chain.step[last]
        self.prior_step = chain.prior_step[last]
        self.before_is_step = chain.is_step[self.before]
        resolution = np.append(lines.resolution_us, 0)
        self.tolerance = np.maximum(resolution[self.before], resolution[self.after])

    def fill(self, low: I64, high: I64, strength: npt.NDArray[np.int8]) -> None:
        """Writes times, bounds and strengths of the lines."""
        rows = self.rows
        if not len(rows):
            return
        resolved, lows, began = self._pause()
        known = self.later != NO_TIME
        is_between = self.lines.has(Role.BETWEEN)[rows]
        highs = np.where(is_between & resolved & self.next_is_step, began, self.later)
        highs = np.where(known, np.maximum(highs, lows), NO_TIME)
        timed_end = self._timed_end(lows)
        by_timer = (timed_end != NO_TIME) & (~known | (timed_end <= self.later))
        by_timer &= ~resolved | (timed_end > highs) | self._is_followed()
        highs = np.where(by_timer & known, self.later, highs)
        here = np.where(self.low_same, lows, NO_TIME)
        is_late = self.lines.has(Role.LATE)[rows]
        restored = self.lines.has(Role.RESTORED)[rows] & self.next_goes_on
        here = np.where(is_late & (resolved | restored), highs, here)
        here = np.where(by_timer, timed_end, here)
        here = self._in_order(here)
        highs = np.where(known, np.maximum(highs, here), NO_TIME)
        self.at[rows], low[rows], high[rows] = here, lows, highs
        unknown = (here == NO_TIME) & (lows == NO_TIME) & (highs == NO_TIME)
        pinned = (here != NO_TIME) & (lows == highs)
        strength[rows] = np.where(
            unknown, Strength.ABSENT, np.where(pinned, Strength.DERIVED, Strength.BOUNDED)
        )

    def _pause(self) -> tuple[Bools, I64, I64]:
        """Whether the next line tells when the pause ended; lower bounds; that end.

        The printed time per step leaves the pause out when it does not reach back to the line
        before; then the steps before and after the one that an event names count for the bounds.
        """
        steps = self.next_step - self.prior_step
        left_out = self.later - self.per_step * steps > self.low + self.tolerance
        left_out &= self.next_is_step
        named = np.maximum(self._named_step(), self.prior_step)
        done = np.where(left_out, np.minimum(named, self.next_step) - self.prior_step, 0)
        shift = np.where(self.low_same & self.before_is_step, self.per_step * done, 0)
        lows = np.where(self.low == NO_TIME, NO_TIME, self.low + shift)
        began = self.later - self.per_step * (steps - done)
        return left_out | self.next_is_start, lows, began

    def _named_step(self) -> I64:
        """The step that a line, or one before it in the same gap, names; -1 if none does."""
        named = self.lines.named_step[self.rows]
        place = np.maximum.accumulate(np.where(named >= 0, np.arange(len(named)), -1))
        same_gap = (place >= 0) & (self.before[place] == self.before)
        return np.where(same_gap, named[place], -1)

    def _timed_end(self, lows: I64) -> I64:
        """End of a save or evaluation as its timer states it, after the other one before it."""
        is_save = self.lines.has(Role.SAVE_DONE | Role.TIMER)[self.rows]
        is_evaluation = self.lines.has(Role.EVALUATION | Role.EVALUATION_TIMER)[self.rows]
        saved, evaluated = self._timer_before(Role.TIMER), self._timer_before(Role.EVALUATION_TIMER)
        saving = self._save_timer()
        spent = np.where(
            is_save & (saving > 0),
            saving + evaluated,
            np.where(is_evaluation & (evaluated > 0), evaluated + saved, 0),
        )
        return np.where(self.low_same & (spent > 0), lows + spent, NO_TIME)

    def _is_followed(self) -> Bools:
        """Whether a pause of the other kind comes after it, before the next dated line."""
        save, evaluation = Role.SAVE_DONE | Role.TIMER, Role.EVALUATION | Role.EVALUATION_TIMER
        return np.logical_or(
            *(
                self.lines.has(one)[self.rows]
                & (next_index(self.lines.has(other))[self.rows] < self.after)
                for one, other in ((save, evaluation), (evaluation, save))
            )
        )

    def _save_timer(self) -> I64:
        """The timer of a save, printed at its line or after it; 0 if none."""
        is_timer = self.lines.has(Role.TIMER) & (self.lines.duration_us >= 0)
        timer = np.where(is_timer[self.rows], self.rows, next_index(is_timer)[self.rows])
        step_line = next_index(self.lines.has(Role.STEP))[self.rows]
        valid = (timer < step_line) & (timer < len(self.at))
        return np.where(valid, np.append(self.lines.duration_us, 0)[np.where(valid, timer, -1)], 0)

    def _timer_before(self, role: Role) -> I64:
        """The last timer of a kind up to a line, since the dated line before it; 0 if none."""
        is_timer = self.lines.has(role) & (self.lines.duration_us >= 0)
        timer = np.where(is_timer[self.rows], self.rows, previous_index(is_timer)[self.rows])
        valid = timer > self.before
        return np.where(valid, np.append(self.lines.duration_us, 0)[np.where(valid, timer, -1)], 0)

    def _in_order(self, here: I64) -> I64:
        """Lets no line of a gap be earlier than a line before it in the same gap."""
        known = here != NO_TIME
        if known.any():
            series = pd.Series(here[known])
            here = here.copy()
            here[known] = series.groupby(self.before[known]).cummax().to_numpy(dtype=np.int64)
        return here
