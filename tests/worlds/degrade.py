"""Worlds whose logs have lost lines: no answer may be certain and wrong.

A value that is given without bounds must be what happened, within the log's resolution, and
bounds must hold it. The records of the scheduler stay whole.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.world.draw import draw
from tests.world.play import play
from tests.world.random_emit import files
from tests.world.random_truth import Truth, truth_of

from .audit import Answers, audit
from .compare import pairs, values


@dataclass
class Honesty:
    """Values that were given, and those that were wrong and certain."""

    given: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    real: int = 0
    missed: int = 0
    invented: int = 0

    @property
    def share(self) -> float:
        """Share of the values given that are right or hold the truth."""
        return 1 - self.wrong.total() / max(1, self.given.total())


def thinned(whole: dict[str, str], share: float, rng: random.Random) -> dict[str, str]:
    """The files with a share of the lines of each log left out at random."""
    found = dict(whole)
    for name, text in whole.items():
        if name.startswith("logs/"):
            kept = [line for line in text.splitlines(keepends=True) if rng.random() >= share]
            found[name] = "".join(kept) or "\n"
    return found


def try_world(
    seed: int, share: float, allowed: frozenset[str], folder: Path, into: Honesty
) -> None:  # fmt: skip
    """Thin the logs of a world and count how honest the answers about it are."""
    scenario = draw(seed, allowed)
    played = play(scenario)
    whole = files(played)
    answers = audit(folder, thinned(whole, share, random.Random(f"{seed}/{share}/thin")))
    for truth in truth_of(played):
        _count(seed, truth, answers, scenario.log_every, into)


def _count(seed: int, truth: Truth, answers: Answers, every: int, into: Honesty) -> None:
    for real, item in pairs(truth, answers, every):
        if real is None:
            into.invented += 1
            into.examples.append(f"seed {seed}: invented {item and item['id']}")
            continue
        into.real += 1
        if item is None:
            into.missed += 1
            into.examples.append(f"seed {seed}: missed {real.how} after step {real.last_step}")
            continue
        for what, got, want, agrees in values(real, item, truth.step_s):
            is_unknown = got is None or (isinstance(got, tuple) and got[0] is None and agrees)
            if got is None and what not in item["bounds"]:
                continue
            into.given[what] += 1
            if not agrees and not is_unknown:
                into.wrong[what] += 1
                into.examples.append(f"seed {seed} {item['id']} {what}: got {got}, want {want}")
