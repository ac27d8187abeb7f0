"""Clocks that run only while failures can strike: exposure of a domain up to any moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Clock:
    """Exposure that has gone by, as a function of time: linear between ``at_us``.

    Attributes:
        at_us: moments where the rate of the clock changes, ascending, shape ``(k,)``.
        gone_s: exposure up to each, unit-seconds, shape ``(k,)``.
        most: largest number of units that were exposed at once.
    """

    at_us: NDArray[np.int64]
    gone_s: NDArray[np.float64]
    most: float

    @property
    def total_s(self) -> float:
        """All of the exposure, unit-seconds."""
        return float(self.gone_s[-1]) if self.gone_s.size else 0.0

    def read(self, at_us: ArrayLike) -> NDArray[np.float64]:
        """Give the exposure up to each moment, unit-seconds.

        Args:
            at_us: moments, shape ``(n,)``; before the first exposure it is 0, after the last all.
        """
        moments = np.asarray(at_us, dtype=np.int64).ravel()
        if not self.at_us.size:
            return np.zeros(moments.size)
        # whole microseconds keep their precision only relative to a moment near by
        start = self.at_us[0]
        read: NDArray[np.float64] = np.interp(
            (moments - start).astype(np.float64),
            (self.at_us - start).astype(np.float64),
            self.gone_s,
        )
        return read


def clock_of(spans: Sequence[tuple[int, int, float]]) -> Clock:
    """Build a clock from stretches of exposure, which may overlap.

    Args:
        spans: begin and end (microseconds) and how many units were exposed (nodes of the domain,
            say); a stretch that ends before it begins is empty.

    >>> clock = clock_of([(0, 10_000_000, 2), (5_000_000, 10_000_000, 1)])
    >>> clock.read([0, 5_000_000, 7_000_000, 99_000_000]).tolist(), clock.most
    ([0.0, 10.0, 16.0, 25.0], 3.0)
    """
    kept = [(start, end, units) for start, end, units in spans if end > start and units > 0]
    if not kept:
        return Clock(np.zeros(0, dtype=np.int64), np.zeros(0), 0.0)
    starts, ends, units = (list(column) for column in zip(*kept, strict=True))
    edges = np.array(starts + ends, dtype=np.int64)
    change = np.array(units + [-n for n in units], dtype=np.float64)
    moments, place = np.unique(edges, return_inverse=True)
    running = np.cumsum(np.bincount(place, weights=change, minlength=moments.size))
    passed = np.diff(moments) / 1e6 * running[:-1]
    return Clock(moments, np.concatenate([[0.0], np.cumsum(passed)]), float(running.max()))
