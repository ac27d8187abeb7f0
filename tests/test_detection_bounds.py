"""Bounds of what depends on the moment of detection."""

from __future__ import annotations

from typing import Any

from ckpt_audit.queries.detection_bounds import detection_bounds

S = 1_000_000


def _row(**changed: Any) -> dict[str, Any]:
    row = {
        "detected_at": 100 * S,
        "detected_low": 100 * S,
        "detected_high": 700 * S,
        "detected_strength": "bounded",
        "fault_low": 80 * S,
        "fault_high": 90 * S,
        "detection_us": 15 * S,
        "recovery_us": 900 * S,
        "replacement_us": 400 * S,
    }
    return row | changed


def test_later_than_the_last_line() -> None:
    assert detection_bounds(_row()) == {
        "detected_at": (100.0, 700.0),
        "detection_s": (10.0, 620.0),
        "recovery_s": (300.0, 900.0),
        "replacement_s": (0, 400.0),
    }


def test_nothing_bounds_the_end() -> None:
    found = detection_bounds(_row(detected_high=None, recovery_us=None))
    assert found["detection_s"] == (10.0, None)
    assert found["replacement_s"] == (0, 400.0)
    assert "recovery_s" not in found


def test_earlier_than_the_end_of_the_job() -> None:
    found = detection_bounds(_row(detected_low=60 * S, detected_high=100 * S))
    assert found["detection_s"] == (0, 20.0)
    assert found["recovery_s"] == (900.0, 940.0)


def test_what_is_known_has_no_bounds() -> None:
    assert detection_bounds(_row(detected_strength="stated")) == {}
    assert detection_bounds(_row(detected_at=None)) == {}
