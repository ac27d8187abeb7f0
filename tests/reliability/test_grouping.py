"""Groups from links: followers, chains of links, one incident that is a group by itself."""

from __future__ import annotations

import pytest

from ckpt_audit.reliability.grouping import followed, group_linked


def test_links_chain_and_followers_join() -> None:
    leader = followed([0, 1, 2, 3], ["a", "b", "c", "b"], [False, False, False, True])
    assert leader == [None, None, None, 1]
    got = group_linked([0, 1, 2, 3], leader, [(0, 1), (1, 2)])
    assert got.group == (0, 0, 0, 0)
    assert got.label == ("correlated", "correlated", "correlated", "cascade")


def test_links_of_a_follower_do_not_count() -> None:
    got = group_linked([0, 1, 2], [None, 0, None], [(1, 2)])
    assert got.group == (0, 0, 1)
    assert got.label == ("isolated", "cascade", "isolated")


def test_one_incident_of_several_parts_is_correlated() -> None:
    got = group_linked([0, 1], [None, None], [], several=[1])
    assert got.group == (0, 1)
    assert got.label == ("isolated", "correlated")


def test_refuses() -> None:
    with pytest.raises(ValueError, match="follows"):
        group_linked([0], [], [])
    with pytest.raises(ValueError, match="one entry"):
        followed([0], [], [])
