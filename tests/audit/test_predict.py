"""Predictions against the closed form, and how often their intervals hold what happens."""

import dataclasses

import numpy as np
import pytest

from ckpt_audit.audit.predict import (
    BUCKETS,
    Cost,
    Measured,
    Prediction,
    expected_s,
    predict,
    simulate,
)

M_S = 10_000.0
MEASURED = Measured(
    c_mean_s=60.0,
    interval_s=1000.0,
    m_s=M_S,
    d_mean_s=100.0,
    r_mean_s=500.0,
    exposure_s=20.5 * M_S,
    n_incidents=20,
    wall_s=25.0 * M_S,
)


def _by_bucket(predictions: tuple[Prediction, ...]) -> dict[str, Prediction]:
    return {prediction.bucket: prediction for prediction in predictions}


def test_simulation_has_the_mean_of_the_closed_form() -> None:
    window_s = 300 * M_S
    rng = np.random.default_rng(1)
    costs = [
        Cost.of(rng.gamma(4.0, mean / 4.0, 200), 0.0)
        for mean in (MEASURED.c_mean_s, MEASURED.d_mean_s, MEASURED.r_mean_s)
    ]
    c, d, r = costs
    drawn = simulate(np.full(999, 1 / M_S), window_s, MEASURED.interval_s, c, d, r, rng)
    means = [float(cost.values.mean()) for cost in costs]
    measured = dataclasses.replace(
        MEASURED, c_mean_s=means[0], d_mean_s=means[1], r_mean_s=means[2]
    )
    for bucket, want in expected_s(measured, window_s).items():
        values = drawn[bucket]
        assert abs(values.mean() - want) < 4 * values.std() / np.sqrt(999) + 1e-4 * want, bucket


def test_simulation_adds_up() -> None:
    rng = np.random.default_rng(2)
    one = Cost.of([], 60.0)
    drawn = simulate(rng.gamma(2.0, 1 / M_S, 50), 5 * M_S, 1000.0, one, one, one, rng)
    total = drawn["productive"] + drawn["checkpoint"] + drawn["lost_work"]
    assert total == pytest.approx(np.full(50, 5 * M_S))
    assert drawn["detection"] == pytest.approx(np.round(drawn["detection"] / 60.0) * 60.0)


def test_expected_seconds_add_up() -> None:
    got = expected_s(MEASURED, MEASURED.exposure_s)
    up = got["productive"] + got["checkpoint"] + got["lost_work"]
    assert up == pytest.approx(MEASURED.exposure_s)
    assert got["detection"] == pytest.approx(20.5 * 100.0)
    assert got["restart"] == pytest.approx(20.5 * 500.0)


def test_same_seed_same_bytes() -> None:
    assert predict(MEASURED, seed=3) == predict(MEASURED, seed=3)
    assert predict(MEASURED, seed=3) != predict(MEASURED, seed=4)


def test_order_flag_and_interval() -> None:
    got = predict(MEASURED, seed=5, in_sample=False, window_exposure_s=2 * M_S)
    assert tuple(prediction.bucket for prediction in got) == BUCKETS
    assert not any(prediction.in_sample for prediction in got)
    assert all(prediction.in_sample for prediction in predict(MEASURED, seed=5))
    assert all(p.low_s <= p.predicted_s <= p.high_s for p in got)
    wide, narrow = _by_bucket(got), _by_bucket(predict(MEASURED, seed=5, confidence=0.5))
    assert wide["restart"].high_s / wide["restart"].predicted_s > (
        narrow["restart"].high_s / narrow["restart"].predicted_s
    )


def test_spread_of_the_costs_widens_the_interval() -> None:
    mean_only = _by_bucket(predict(MEASURED, seed=6))["restart"]
    skewed = np.array([100.0] * 18 + [4100.0] * 2)
    spread = _by_bucket(predict(MEASURED, seed=6, r_values_s=skewed))["restart"]
    assert spread.predicted_s == mean_only.predicted_s
    assert spread.high_s - spread.low_s > 1.2 * (mean_only.high_s - mean_only.low_s)


def test_no_incident_and_no_window() -> None:
    quiet = dataclasses.replace(MEASURED, n_incidents=0, m_s=2 * MEASURED.exposure_s)
    got = _by_bucket(predict(quiet, seed=7))
    assert got["lost_work"].low_s == 0.0
    assert got["lost_work"].high_s > 0.0
    assert all(p.high_s == 0.0 for p in predict(MEASURED, seed=7, window_exposure_s=0.0))


def test_many_values_are_thinned_and_keep_their_mean() -> None:
    values = np.random.default_rng(8).lognormal(3.0, 1.0, 50_000)
    thin = Cost.of(values, 0.0)
    assert thin.values.size == 1000
    assert thin.values.mean() == pytest.approx(values.mean())
    assert predict(MEASURED, seed=8, c_values_s=values, draws=99)


def test_free_saves() -> None:
    got = _by_bucket(predict(dataclasses.replace(MEASURED, c_mean_s=0.0), seed=9))
    assert (got["checkpoint"].predicted_s, got["checkpoint"].high_s) == (0.0, 0.0)


@pytest.mark.parametrize("incidents", [8, 50])
def test_coverage_out_of_sample(incidents: int) -> None:
    """Restart seconds of a next window are inside the interval about as often as it says."""
    rng = np.random.default_rng(10)
    exposure_s, runs, inside = incidents * M_S, 200, 0
    for run in range(runs):
        n = int(rng.poisson(incidents))
        recoveries = rng.lognormal(6.0, 0.5, n)
        mean = float(recoveries.mean()) if n else 450.0
        measured = Measured(
            60.0, 1000.0, exposure_s / (n + 0.5), 0.0, mean, exposure_s, n, 2 * exposure_s
        )
        got = predict(
            measured,
            seed=run,
            window_exposure_s=8 * M_S,
            in_sample=False,
            r_values_s=recoveries,
            draws=299,
        )
        happened = rng.lognormal(6.0, 0.5, int(rng.poisson(8))).sum()
        restart = _by_bucket(got)["restart"]
        inside += restart.low_s <= happened <= restart.high_s
    assert 0.90 <= inside / runs <= 0.99


@pytest.mark.parametrize(
    ("field", "value"),
    [("interval_s", 0.0), ("m_s", -1.0), ("c_mean_s", -1.0), ("exposure_s", 26.0 * M_S)],
)
def test_refuses_what_cannot_be_measured(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        dataclasses.replace(MEASURED, **{field: value})  # type: ignore[arg-type]


def test_refuses() -> None:
    with pytest.raises(ValueError, match="confidence"):
        predict(MEASURED, seed=1, confidence=1.0)
    with pytest.raises(ValueError, match="window_exposure_s"):
        predict(MEASURED, seed=1, window_exposure_s=-1.0)
    with pytest.raises(ValueError, match="not finite"):
        predict(MEASURED, seed=1, d_values_s=[float("nan")])
