"""A few random worlds through the command line; ``make worlds`` tries many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world.draw import FEATURES, draw
from tests.world.ledger import BUCKETS
from tests.world.play import play
from tests.world.random_emit import files
from tests.world.random_truth import truth_of

from .degrade import Honesty, try_world
from .features import HONEST, NOT_YET, RIGHT_TODAY, THINNED, VALUES_NOT_YET
from .world import world_of

SEEDS = range(1, 9)
THIN_SEEDS = range(21, 23)


@pytest.mark.parametrize("seed", SEEDS)
def test_world(seed: int, tmp_path: Path) -> None:
    """Every interruption is found and none invented; its values and the ledger are right."""
    world = world_of(seed, RIGHT_TODAY, frozenset(), tmp_path, VALUES_NOT_YET)
    shown = [str(item) for item in world.score.differences]
    assert not shown, "\n".join([", ".join(sorted(world.scenario.features)), *shown])
    assert world.score.compared > 50


@pytest.mark.parametrize("share", sorted(HONEST))
def test_lost_lines_make_no_answer_certain_and_wrong(share: float, tmp_path: Path) -> None:
    """Where lines are missing, what is said without bounds is right, or bounds hold the truth."""
    honesty = Honesty()
    for seed in THIN_SEEDS:
        try_world(seed, share, THINNED, tmp_path / str(seed), honesty)
    for name in VALUES_NOT_YET:
        del honesty.given[name], honesty.wrong[name]
    assert honesty.given.total() > 200
    assert honesty.share >= HONEST[share], honesty.examples
    assert honesty.missed == honesty.invented == 0, honesty.examples


def test_the_draw_repeats_itself() -> None:
    """One seed gives the same files again, another seed others."""
    first, again, other = (files(play(draw(seed, RIGHT_TODAY))) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_every_feature_can_be_forced() -> None:
    """Each feature, drawn alone, gives a world whose allocations are cut without a gap."""
    for name in FEATURES:
        played = play(draw(3, frozenset({name}), frozenset({name})))
        assert name in played.scenario.features
        for truth in truth_of(played):
            assert tuple(truth.ledger) == BUCKETS
            assert truth.incidents


def test_the_features_that_are_not_right_yet_exist() -> None:
    """The list names nothing that is not drawn."""
    assert frozenset(FEATURES) >= NOT_YET
