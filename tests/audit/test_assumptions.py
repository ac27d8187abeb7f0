"""Assumptions: what is judged, what is passed through, and what stays untested."""

import math

import pytest

from ckpt_audit.audit.assumptions import (
    ASSUMPTIONS,
    Assumption,
    coefficient_of_variation,
    gather,
)


def _named(found: tuple[Assumption, ...]) -> dict[str, Assumption]:
    assert tuple(assumption.name for assumption in found) == ASSUMPTIONS
    return {assumption.name: assumption for assumption in found}


def test_nothing_known_is_not_tested() -> None:
    found = _named(gather(None, None, None, None, []))
    assert {assumption.holds for assumption in found.values()} == {None}


def test_small_c_over_m() -> None:
    found = _named(gather(60.0, 12_000.0, 10_000.0, math.inf, []))["small_c_over_m"]
    assert found.holds is True
    assert "C/M is 0.005, 0 to 0.006 over the interval of M" in found.evidence
    assert _named(gather(600.0, 12_000.0, None, None, []))["small_c_over_m"].holds is False


def test_constant_c() -> None:
    assert _named(gather(1.0, 1.0, None, None, [1.0] * 4))["constant_c"].holds is None
    assert _named(gather(1.0, 1.0, None, None, [1.0] * 5))["constant_c"].holds is True
    skewed = _named(gather(1.0, 1.0, None, None, [1.0] * 9 + [30.0]))["constant_c"]
    assert skewed.holds is False
    assert "over 10 saves" in skewed.evidence


def test_findings_replace_what_is_judged_here() -> None:
    given = Assumption("independent", False, "7 of 20 incidents share a leaf switch")
    assert _named(gather(None, None, None, None, [], [given]))["independent"] == given
    with pytest.raises(ValueError, match="'luck' is not one of"):
        gather(None, None, None, None, [], [Assumption("luck", True, "")])


def test_coefficient_of_variation() -> None:
    assert coefficient_of_variation([1.0]) is None
    assert coefficient_of_variation([0.0, 0.0]) is None
    assert coefficient_of_variation([1.0, 3.0]) == pytest.approx(math.sqrt(2) / 2)
