"""What a window was expected to cost, from what was measured before it or, without that, in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ckpt_audit.audit.components import FEWEST_BASE, PartTest, Stretch, compare_parts
from ckpt_audit.audit.data import LedgerLine, RunEstimate
from ckpt_audit.audit.diagnosis import Reason, Seen, diagnose
from ckpt_audit.audit.estimate import Observed, exposure_s, members
from ckpt_audit.audit.predict import Measured, Prediction, first_order_s, predict
from ckpt_audit.config import Thresholds
from ckpt_audit.facts import LedgerRow, SaveCadence
from ckpt_audit.reliability.rate import MeanTime
from ckpt_audit.units import S_PER_H, US_PER_S

# time inside the up-time that the model knows nothing of; it cannot be productive either
NOT_MODELLED = ("evaluation", "degraded", "stall")
_SEED = 20_260_501  # any fixed number: the same warehouse gives the same report
_OF_PART = {
    "incidents": ("lost_work", "detection", "restart", "replacement"),
    "rollback": ("lost_work",),
    "detection": ("detection",),
    "recovery": ("restart", "replacement"),
    "save_cost": ("checkpoint",),
}
Charged = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Side:
    """What one run did in a stretch: the window, or the time before it.

    Attributes:
        observed: Incidents, up-time and saves.
        measured: M, C, D and R of it.
        cadence: How often it saved.
        rows: Its ledger.
    """

    observed: Observed
    measured: RunEstimate
    cadence: SaveCadence
    rows: tuple[LedgerRow, ...]

    @property
    def exposure_s(self) -> float:
        """Up-time, seconds."""
        return exposure_s(self.observed.uptime)

    @property
    def not_modelled_s(self) -> float:
        """Time in the up-time that is no part of the model, seconds."""
        told = sum(row.observed_us for row in self.rows if row.bucket in NOT_MODELLED)
        return told / US_PER_S

    @property
    def mean_time(self) -> MeanTime | None:
        """M of the incidents that set the interval."""
        for item in self.measured.populations:
            if item.population == "interval":
                return item.mean_time
        return None

    @property
    def costs_s(self) -> list[float]:
        """Exposed costs of the saves, seconds."""
        return [save.cost_s for save in self.observed.counted_saves if save.cost_s is not None]

    @property
    def is_enough(self) -> bool:
        """Whether a later stretch can be predicted from it."""
        time = self.mean_time
        return (
            time is not None
            and time.incidents >= FEWEST_BASE
            and self.measured.c.mean is not None
            and bool(self.cadence.mean_s)
        )


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected seconds of one bucket.

    Attributes:
        prediction: By the exact model, with its interval.
        shift_s: To be added to all its figures: time that the model knows nothing of, negative.
        first_order_s: By the first-order model.
    """

    prediction: Prediction
    shift_s: float
    first_order_s: float


def forecasts(base: Side, window: Side, charged: Charged) -> dict[str, Forecast]:
    """Predicted seconds by bucket; empty where C, M or the interval is not known.

    Args:
        base: What the parameters come from; the window itself makes the prediction in sample.
        window: What is predicted.
        charged: Allocated seconds of each incident by bucket.
    """
    mean_time, cost_s = base.mean_time, base.measured.c.mean
    if mean_time is None or cost_s is None or not base.cadence.mean_s or not window.exposure_s:
        return {}
    in_sample = base is window
    events = members(base.observed, "interval")
    delays = [item.detection_s or 0.0 for item in events]
    exposure = mean_time.exposure_s if in_sample else window.exposure_s
    not_modelled_s = base.not_modelled_s * (exposure / mean_time.exposure_s)
    found: dict[str, Forecast] = {}
    for bucket in ("restart", "replacement"):
        spent = [charged.get((item.id, bucket), 0.0) for item in events]
        measured = Measured(
            c_mean_s=cost_s,
            interval_s=base.cadence.mean_s,
            m_s=mean_time.m_s or mean_time.m_used_s,
            d_mean_s=_mean(delays),
            r_mean_s=_mean(spent),
            exposure_s=mean_time.exposure_s,
            n_incidents=mean_time.incidents,
            wall_s=mean_time.exposure_s + sum(delays) + sum(spent),
        )
        simple = first_order_s(measured, exposure)
        for item in predict(
            measured,
            seed=_SEED,
            window_exposure_s=exposure,
            in_sample=in_sample,
            c_values_s=base.costs_s,
            d_values_s=delays,
            r_values_s=spent,
        ):
            name = bucket if item.bucket == "restart" else item.bucket
            shift = -not_modelled_s if name == "productive" else 0.0
            found.setdefault(name, Forecast(item, shift, simple[item.bucket] + shift))
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def lines(
    rows: Sequence[LedgerRow],
    expected: Mapping[str, Forecast],
    limits: Thresholds,
    reasons: Sequence[Reason] = (),
) -> tuple[LedgerLine, ...]:
    """The ledger of a window beside what was expected.

    Args:
        rows: The ledger of one run, at least one row.
        expected: By bucket.
        limits: From when on a difference matters.
        reasons: Why parts of the loss differ.
    """
    allocated_s = sum(row.observed_us for row in rows) / US_PER_S
    matters_s = max(limits.residual_min_hours * S_PER_H, limits.residual_min_share * allocated_s)
    seen = {row.bucket: row for row in rows}
    return tuple(
        _line(rows[0].run, bucket, seen.get(bucket), expected.get(bucket), matters_s, reasons)
        for bucket in sorted(set(seen) | set(expected))
    )


def _line(
    run: str,
    bucket: str,
    row: LedgerRow | None,
    forecast: Forecast | None,
    matters_s: float,
    reasons: Sequence[Reason],
) -> LedgerLine:
    observed_us = row.observed_us if row else 0
    line = LedgerLine(
        run=run,
        bucket=bucket,
        observed_us=observed_us,
        observed_acc_us=row.observed_acc_us if row else 0,
        could_move_us=row.could_move_us if row else 0,
        n=row.n if row else 0,
        predicted_s=None,
        predicted_low_s=None,
        predicted_high_s=None,
        in_sample=False,
        residual_s=None,
        flag=False,
    )
    if forecast is None:
        return line
    told, shift = forecast.prediction, forecast.shift_s
    observed_s = observed_us / US_PER_S
    residual_s = observed_s - told.predicted_s - shift
    is_outside = not told.low_s + shift <= observed_s <= told.high_s + shift
    return replace(
        line,
        predicted_s=told.predicted_s + shift,
        predicted_low_s=told.low_s + shift,
        predicted_high_s=told.high_s + shift,
        in_sample=told.in_sample,
        residual_s=residual_s,
        flag=is_outside and abs(residual_s) >= matters_s,
        first_order_s=forecast.first_order_s,
        percentile=told.percentile(observed_s - shift),
        reasons=tuple(one for one in reasons if bucket in _OF_PART[one.part]),
    )


def stretch_of(side: Side) -> Stretch | None:
    """The figures of a stretch that are compared part by part; None where it does not save."""
    if not side.cadence.mean_s:
        return None
    events = members(side.observed, "interval")
    return Stretch(
        incidents=len(events),
        exposure_s=side.exposure_s,
        interval_s=side.cadence.mean_s,
        rollback_s=tuple(x.lost_work_s for x in events if x.lost_work_s is not None),
        detection_s=tuple(x.detection_s for x in events if x.detection_s is not None),
        recovery_s=tuple(x.recovery_s for x in events if x.recovery_s is not None),
        save_s=tuple(max(0.0, cost) for cost in side.costs_s),
    )


def compare(base: Side, window: Side) -> tuple[tuple[PartTest, ...], tuple[Reason, ...]]:
    """Test the parts of the window's loss against the time before, and name what differs.

    Args:
        base: The time before, enough to predict from.
        window: The window.
    """
    before, now = stretch_of(base), stretch_of(window)
    if before is None or now is None or not before.exposure_s:
        return (), ()
    tests = compare_parts(before, now, seed=_SEED, lag_s=_lag_s(base))
    return tests, diagnose(tests, _seen(base, before), _seen(window, now))


def _lag_s(side: Side) -> float:
    """Mean time from the end of a pause until the save can be loaded, seconds."""
    lags = [
        max(0.0, (save.commit_s or 0.0) - (save.block_s or 0.0))
        for save in side.observed.counted_saves
        if save.is_async and save.commit_s is not None
    ]
    return math.fsum(lags) / len(lags) if lags else 0.0


def _seen(side: Side, stretch: Stretch) -> Seen:
    events = tuple(members(side.observed, "interval"))
    labels = [side.observed.correlations.get(item.id) for item in events]
    joined = sum(one is not None and one.label != "isolated" for one in labels)
    return Seen(stretch, events, joined, side.cadence.effective_s)
