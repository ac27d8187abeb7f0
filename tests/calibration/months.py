"""Months of a run whose truth is known, and what is said of them: false alarms, power, names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ckpt_audit.audit.components import PARTS, PartTest, Stretch, compare_parts

Rows = list[tuple[object, ...]]
_HOUR = 3600.0


@dataclass(frozen=True)
class Habit:
    """How a run goes: times in seconds.

    Attributes:
        m, i, c, d, r: Mean up-time, interval, cost of a save, detection, recovery.
        sigma: Of the logarithms of D and R.
        invalid: Chance that a save cannot be loaded.
        cascade: Chance that an incident is followed by another one soon.
    """

    m: float = 6 * _HOUR
    i: float = 1800.0
    c: float = 60.0
    d: float = 300.0
    r: float = 900.0
    sigma: float = 0.5
    invalid: float = 0.0
    cascade: float = 0.0

    def play(self, up_time: float, rng: np.random.Generator) -> Stretch:
        """So much up-time of it, failure by failure, by plain steps and no formula."""
        rollback: list[float] = []
        saves: list[float] = []
        left = up_time
        while left > 0.0:
            soon = bool(rollback) and rng.random() < self.cascade
            up = rng.exponential(0.02 * self.m if soon else self.m)
            lived = min(up, left)
            unsaved, ages = lived, [0.0]
            while True:
                cost = self.c * float(np.exp(rng.normal(-0.02, 0.2)))
                if unsaved < self.i + cost:
                    break
                unsaved -= self.i + cost
                saves.append(cost)
                ages.append(0.0 if rng.random() >= self.invalid else ages[-1] + self.i)
            if up < left:
                rollback.append(min(unsaved, self.i) + ages[-1])
            left -= lived
        n = len(rollback)
        return Stretch(
            n, up_time, self.i, tuple(rollback),
            tuple((self.d * _spread(self.sigma, n, rng)).tolist()),
            tuple((self.r * _spread(self.sigma, n, rng)).tolist()),
            tuple(saves),
        )  # fmt: skip


def _spread(sigma: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Lognormal factors of mean 1."""
    return np.exp(rng.normal(-(sigma**2) / 2, sigma, n))


FAULTS = {
    "nothing": {},
    "nothing, bursts in both": {},
    "M halved": {"m": 0.5},
    "D doubled": {"d": 2.0},
    "R times 1.5": {"r": 1.5},
    "C times 1.2": {"c": 1.2},
    "C doubled": {"c": 2.0},
    "a fifth of the saves invalid": {},
}
_RIGHT = {
    "M halved": "incidents", "D doubled": "detection", "R times 1.5": "recovery",
    "C times 1.2": "save_cost", "C doubled": "save_cost",
    "a fifth of the saves invalid": "rollback",
}  # fmt: skip


def judged(
    fault: str, before: int, expected: int, runs: int, seed: int
) -> tuple[float, float, Counter[str]]:
    """How often anything is flagged, how often the right part leads, and each part's flags.

    Args:
        fault: Of ``FAULTS``.
        before: Incidents expected in the time before.
        expected: Incidents expected in the window, were nothing wrong.
        runs: Months.
        seed: Of all draws.
    """
    usual = Habit(cascade=0.3 if "bursts" in fault else 0.0)
    changed = replace(
        usual,
        invalid=0.2 if "invalid" in fault else 0.0,
        **{name: getattr(usual, name) * factor for name, factor in FAULTS[fault].items()},
    )
    flags: Counter[str] = Counter()
    any_flag = right = 0
    for run in range(runs):
        rng = np.random.default_rng((seed, run))
        tests = compare_parts(
            usual.play(before * usual.m, rng), changed.play(expected * usual.m, rng), seed=run
        )
        flagged = [test for test in tests if test.flag]
        flags.update(test.part for test in flagged)
        any_flag += bool(flagged)
        right += bool(flagged) and _leading(flagged) == _RIGHT.get(fault)
    return any_flag / runs, right / max(1, any_flag), flags


def _leading(flagged: list[PartTest]) -> str:
    return max(flagged, key=lambda test: abs(test.excess_s or 0.0)).part


def parts_of_the_loss(size: int) -> Rows:
    """Parts of a month's loss: how often any is flagged, and the right one named first."""
    rows: Rows = [("what changed", "before", "expected", "any flag", "right name", *PARTS)]
    runs = max(50, size // 4)
    for fault in FAULTS:
        for before, expected in ((20, 10), (60, 20), (60, 60)):
            flagged, right, flags = judged(fault, before, expected, runs, seed=11)
            named = "" if fault not in _RIGHT else f"{right:.2f}"
            shares = [f"{flags[part] / runs:.3f}" for part in PARTS]
            rows.append((fault, before, expected, f"{flagged:.3f}", named, *shares))
    return rows


MONTHS = {"parts_of_the_loss": parts_of_the_loss}
