"""Reasons for a loss that is not as expected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckpt_audit.audit.components import Part, PartTest, Stretch
from ckpt_audit.audit.diagnosis import Reason, Seen, diagnose
from ckpt_audit.facts import Incident
from tests.report.fixture_data import unknown_incident

STRETCH = Stretch(10, 10 * 21600.0, 1800.0)


def seen(events: list[Incident], n_joined: int = 0, effective_s: float | None = 1800.0) -> Seen:
    return Seen(replace(STRETCH, incidents=len(events)), tuple(events), n_joined, effective_s)


def flagged(part: Part, observed: float, expected: float, excess_s: float, n: int = 4) -> PartTest:
    return PartTest(part, n, observed, expected, 0.001, 0.005, excess_s, True)


def reason(test: PartTest, base: Seen, window: Seen) -> Reason:
    (found,) = diagnose([test], base, window)
    assert found.part == test.part
    assert found.seconds <= (test.excess_s or 0.0)
    return found


def events(n: int = 4, **values: object) -> list[Incident]:
    usual = {
        "lost_work_s": 900.0, "unsaved_work_s": 900.0, "detection_s": 300.0,
        "detection_timeout_s": None, "replacement_s": 100.0, "retries_s": 0.0, "launch_s": 60.0,
        "restore_s": 60.0, "warmup_s": 60.0,
    }  # fmt: skip
    return [replace(unknown_incident(), **(usual | values)) for _ in range(n)]  # type: ignore[arg-type]


def test_what_is_not_flagged_is_not_explained() -> None:
    quiet = replace(flagged("detection", 900, 300, 2400), flag=False)
    assert diagnose([quiet], seen(events()), seen(events())) == ()


def test_the_largest_reason_comes_first() -> None:
    tests = [flagged("detection", 900, 300, 2400), flagged("save_cost", 90, 60, 9000, n=300)]
    found = diagnose(tests, seen(events()), seen(events()))
    assert [one.cause for one in found] == ["costlier_saves", "late_detection"]


@pytest.mark.parametrize(
    ("n_joined", "excess_s", "cause"),
    [(0, 9000.0, "more_incidents"), (9, 9000.0, "correlated_incidents")],
)
def test_more_incidents(n_joined: int, excess_s: float, cause: str) -> None:
    test = flagged("incidents", 20, 8.0, excess_s, n=20)
    assert reason(test, seen(events(8)), seen(events(20), n_joined)).cause == cause


def test_fewer_incidents() -> None:
    test = flagged("incidents", 2, 8.0, -9000.0, n=2)
    assert reason(test, seen(events(8)), seen(events(2))).cause == "fewer_incidents"


def test_saves_that_could_not_be_loaded() -> None:
    window = events(3) + events(1, lost_work_s=9000.0, unsaved_work_s=900.0)
    found = reason(flagged("rollback", 2925, 900, 8100), seen(events()), seen(window))
    assert found.cause == "invalid_saves"
    assert found.seconds == pytest.approx(8100.0)
    assert "1 of 4 resumed from before the newest save" in found.evidence


def test_an_interval_that_was_not_kept() -> None:
    window = events(lost_work_s=2900.0, unsaved_work_s=2900.0)
    found = reason(
        flagged("rollback", 2900, 900, 8000), seen(events()), seen(window, effective_s=5400.0)
    )
    assert found.cause == "interval_not_kept"


def test_older_checkpoints_that_nothing_explains() -> None:
    window = events(lost_work_s=2900.0, unsaved_work_s=2900.0)
    found = reason(flagged("rollback", 2900, 900, 8000), seen(events()), seen(window))
    assert found.cause == "older_checkpoints"


def test_a_limit_that_was_waited_for() -> None:
    window = events(detection_s=1800.0, detection_timeout_s=1800.0)
    found = reason(flagged("detection", 1800, 300, 6000), seen(events()), seen(window))
    assert found.cause == "configured_timeout"
    assert "4 of 4 waited for a limit of 30.0 min" in found.evidence


@pytest.mark.parametrize(
    ("observed", "excess_s", "cause"),
    [(900, 2400, "late_detection"), (30, -1080, "sooner_detection")],
)
def test_detection(observed: float, excess_s: float, cause: str) -> None:
    test = flagged("detection", observed, 300, excess_s)
    assert reason(test, seen(events()), seen(events(detection_s=observed))).cause == cause


@pytest.mark.parametrize(
    ("stage", "cause"),
    [("replacement_s", "waiting_for_nodes"), ("retries_s", "failed_retries"),
     ("launch_s", "slow_launch"), ("restore_s", "slow_restore"), ("warmup_s", "slow_warmup")],
)  # fmt: skip
def test_the_stage_that_took_longer(stage: str, cause: str) -> None:
    window = events(4, **{stage: 3000.0})
    test = flagged("recovery", 3280, 280, 4 * 3000.0 - 400)
    assert reason(test, seen(events()), seen(window)).cause == cause


def test_no_stage_stands_out() -> None:
    window = events(replacement_s=400.0, launch_s=360.0, restore_s=360.0, warmup_s=360.0)
    test = flagged("recovery", 1480, 280, 4800)
    assert reason(test, seen(events()), seen(window)).cause == "slow_recovery"
    quick = flagged("recovery", 100, 280, -720)
    assert reason(quick, seen(events()), seen(window)).cause == "quicker_recovery"


def test_saves() -> None:
    cheap = flagged("save_cost", 30, 60, -9000, n=300)
    assert reason(cheap, seen(events()), seen(events())).cause == "cheaper_saves"
