"""An incident told in sentences: right for what is known, and silent about what is not."""

from dataclasses import replace

import pytest

from ckpt_audit.audit.story import MeanTimes, telling, what_if
from ckpt_audit.facts import Incident
from ckpt_audit.units import US_PER_S, iso
from tests.report.fixture_data import month

AT = 1_777_800_000 * US_PER_S


def say(at: int) -> str:
    return str(iso(at))


@pytest.fixture
def incident() -> Incident:
    """A failure with a bounded fault and two failed retries, whole otherwise."""
    first = month().runs[0].incidents[0]
    return replace(
        first,
        kind="failure",
        cause="gpu",
        phase="step",
        secondary=False,
        attempts=3,
        last_step=1200,
        last_step_at=AT,
        precursor_at=AT - 7200 * US_PER_S,
        fault_at=AT + 60 * US_PER_S,
        detected_at=AT + 660 * US_PER_S,
        detector="watchdog",
        replaced_at=AT + 1000 * US_PER_S,
        first_step_at=AT + 2000 * US_PER_S,
        caught_up_at=AT + 3000 * US_PER_S,
        resume_step=1100,
        verified_step=1150,
        verified_grade="marker",
        verified_checkpoint_age_s=3000.0,
        verified_step_hindsight=1100,
        steps_lost=100,
        detection_s=600.0,
        lost_work_s=6000.0,
        retries_s=300.0,
        recovery_s=1340.0,
        recovery_source="storage",
        loss_s=7940.0,
        bounds={"fault_at": (AT / US_PER_S, AT / US_PER_S + 60)},
    )


def _told(incident: Incident) -> str:
    return " ".join(telling(incident, say))


def test_tells_the_story_in_order(incident: Incident) -> None:
    told = _told(incident)
    parts = (
        "Step 1,200 was complete",
        "checkpoint known to be good was that of step 1,150 (by marker), 50.0 min old",
        "only step 1,100 could have been loaded",
        "A first sign had come 121.0 min before".replace("121.0 min", "2.0 h"),
        "It failed at",
        "10.0 min later, a watchdog gave up",
        "It counts as a failure.",
        "2 tries to come back failed, for 5.0 min in all",
        "It resumed from step 1,100, from storage. It passed over step 1,150, which was known",
        "It cost 2.2 h and 100 steps: lost work 100.0 min, detection 10.0 min, recovery 22.3 min",
    )
    places = [told.find(part) for part in parts]
    assert -1 not in places, dict(zip(parts, places, strict=True))
    assert places == sorted(places)


def test_what_is_not_known_is_not_told(incident: Incident) -> None:
    bare = replace(
        incident,
        verified_step=None,
        verified_step_hindsight=None,
        precursor_at=None,
        first_step_at=None,
        attempts=1,
        loss_s=None,
        cause="unknown",
    )
    told = _told(bare)
    assert "No checkpoint was known to be good then." in told
    assert "nothing says why" in told
    assert "had not come back" in told
    for word in ("None", "unknown", "resumed", "It cost", "first sign"):
        assert word not in told


def test_nothing_was_to_be_noticed_in_a_planned_stop(incident: Incident) -> None:
    told = _told(replace(incident, kind="planned", detection_s=None, cause="scheduler"))
    assert "It was ended at" in told
    assert "gave up" not in told
    assert "is no event" in told


def test_a_moment_that_were_wrong_moves_detection_and_lost_work(incident: Incident) -> None:
    doubts = what_if(incident, MeanTimes(36_000.0, 10), say)
    assert any(
        "already at" in doubt and "detection would be 11.0 min and lost work 99.0 min" in doubt
        for doubt in doubts
    )
    assert not any("only at" in doubt for doubt in doubts)  # it is the upper end already


@pytest.mark.parametrize(
    ("kind", "other", "then"),
    [("failure", "planned and no failure", "66.7 min"), ("planned", "a failure", "54.5 min")],
)
def test_another_kind_is_another_m(incident: Incident, kind: str, other: str, then: str) -> None:
    doubts = what_if(replace(incident, kind=kind), MeanTimes(36_000.0, 10), say)
    now = "M of the run would change: it is 60.0 min now"
    assert f"Were it {other}, {now}, it would be {then}." in doubts


def test_retries_counted_one_by_one_would_shrink_m(incident: Incident) -> None:
    doubts = what_if(incident, MeanTimes(36_000.0, 10), say)
    assert any("each of its 3 attempts" in doubt and "50.0 min" in doubt for doubt in doubts)
    single = what_if(replace(incident, attempts=1), MeanTimes(36_000.0, 10), say)
    assert not any("attempts" in doubt for doubt in single)


def test_the_only_event_leaves_no_m(incident: Incident) -> None:
    assert any("none to give" in doubt for doubt in what_if(incident, MeanTimes(36_000.0, 1), say))
    assert not any("M of the run" in doubt for doubt in what_if(incident, None, say))
