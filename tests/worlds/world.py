"""One world from its seed to the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.world.draw import Scenario, draw
from tests.world.play import play
from tests.world.random_emit import files
from tests.world.random_truth import truth_of

from .audit import audit
from .compare import Difference, Score, compare


@dataclass(frozen=True)
class World:
    """A scenario and how the answers about it compare."""

    scenario: Scenario
    score: Score


def world_of(
    seed: int,
    allowed: frozenset[str],
    forced: frozenset[str],
    folder: Path,
    ignored: frozenset[str] = frozenset(),
) -> World:
    """Draw, play, write, audit and compare the world of a seed.

    Args:
        seed: Chooses the world.
        allowed: Features that may occur.
        forced: Features that must occur.
        folder: An empty folder.
        ignored: Names of values that are not compared.
    """
    scenario = draw(seed, allowed, forced)
    played = play(scenario)
    try:
        answers = audit(folder, files(played))
    except AssertionError as error:
        return World(scenario, Score(0, [Difference("", "command failed", "", str(error), None)]))
    score = compare(scenario, truth_of(played), answers)
    score.differences = [item for item in score.differences if item.what not in ignored]
    return World(scenario, score)
