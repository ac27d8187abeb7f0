"""Two published traces of real clusters: the figures that others found in them.

The files are no part of the project; where they are absent the tests are skipped.
"""

from __future__ import annotations

import csv
import json
import lzma
import math
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from ckpt_audit.reliability.dispersion import dispersion
from ckpt_audit.reliability.fits import fit_laws
from ckpt_audit.reliability.rate import mean_time, per_1000_acc_h
from ckpt_audit.reliability.trend import trend
from tests.e2e.conftest import real

Floats = NDArray[np.float64]
H_PER_DAY = 24.0
QUARTER_H = 0.25
LANL = "LA-UR-05-7318-failure-data-1996-2005.csv.xz"


@pytest.fixture(scope="module")
def trace() -> list[dict[str, object]]:
    """A trace of node faults of a GPU cluster."""
    loaded: list[dict[str, object]] = json.loads(
        real("datasets", "fault_trace.json").read_text("utf-8")
    )
    return loaded


@pytest.fixture(scope="module")
def faults_h(trace: list[dict[str, object]]) -> Floats:
    """Moments of its faults, hours, ascending."""
    days = [float(str(e["event_time"])) for e in trace if e["event_type"] == "fault_start"]
    return np.sort(days) * H_PER_DAY


@pytest.fixture(scope="module")
def lanl() -> list[dict[str, str]]:
    """Failures of the systems of a national laboratory, 1996 to 2005."""
    with lzma.open(real("datasets", LANL), "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def started_h(rows: list[dict[str, str]], system: str, node: str | None = None) -> Floats:
    """Moments of failures, hours since 1970, ascending."""
    found = [
        datetime.strptime(row["Prob Started"], "%m/%d/%Y %H:%M").replace(tzinfo=UTC).timestamp()
        for row in rows
        if row["System"] == system and (node is None or row["nodenum"] == node)
    ]
    return np.sort(found) / 3600.0


def shape(gaps: Floats) -> float:
    return next(fit.shape for fit in fit_laws(gaps).fits if fit.law == "weibull")


def chained(moments: Floats, window: float) -> Floats:
    """First moments of the groups whose neighbours are at most so far apart."""
    return moments[np.concatenate([[True], np.diff(moments) > window])]


def grouped(moments: Floats, window: float) -> float:
    """Share of moments with another one at most so far away."""
    near = np.diff(moments) <= window
    return float((np.append(False, near) | np.append(near, False)).mean())


def test_gpu_cluster_rate(trace: list[dict[str, object]], faults_h: Floats) -> None:
    assert len(trace) == 1168
    assert faults_h.size == 584
    assert len({event["node_id"] for event in trace}) == 231
    node_h = 400 * 348 * H_PER_DAY
    assert per_1000_acc_h(584, node_h).value * H_PER_DAY == pytest.approx(4.20, abs=0.005)
    last = max(float(str(event["event_time"])) for event in trace)
    assert mean_time(584, last * H_PER_DAY).m_s == pytest.approx(14.34, abs=0.005)


def test_gpu_cluster_shape(faults_h: Floats) -> None:
    raw = fit_laws(np.diff(faults_h))
    assert raw.n_zero == 55
    assert shape(np.diff(faults_h)) == pytest.approx(0.624, abs=5e-4)
    assert shape(np.diff(chained(faults_h, QUARTER_H))) == pytest.approx(0.787, abs=5e-4)


def test_gpu_cluster_bursts_against_a_constant_rate(faults_h: Floats) -> None:
    assert grouped(faults_h, QUARTER_H) == pytest.approx(0.277, abs=5e-4)
    rate = 584 / (348 * H_PER_DAY)
    assert 1 - math.exp(-2 * rate * QUARTER_H) == pytest.approx(0.034, abs=5e-4)
    found = dispersion([(faults_h, 349 * H_PER_DAY)])
    assert found is not None
    assert found.p < 0.01


def test_chaining_alone_lifts_the_shape() -> None:
    rng = np.random.default_rng(1)
    constant = np.cumsum(rng.exponential(14.34, 20_000))
    assert shape(np.diff(constant)) == pytest.approx(1.0, abs=0.015)
    assert shape(np.diff(chained(constant, 0.05 * 14.34)) - 0.0) > 1.03


def test_laboratory_node_22(lanl: list[dict[str, str]]) -> None:
    moments = started_h(lanl, "2", "22")
    since = datetime(2000, 1, 1, tzinfo=UTC).timestamp() / 3600.0
    late, early = np.diff(moments[moments >= since]), np.diff(moments[moments < since])
    assert shape(late) == pytest.approx(0.735, abs=6e-4)
    assert late.var() / late.mean() ** 2 == pytest.approx(1.86, abs=0.006)
    assert early.var() / early.mean() ** 2 == pytest.approx(4.12, abs=0.006)


@pytest.mark.parametrize(("system", "laplace"), [("2", -35.8), ("18", -1.2)])
def test_laboratory_trends(lanl: list[dict[str, str]], system: str, laplace: float) -> None:
    moments = started_h(lanl, system)
    clock = moments - moments[0]
    # observation ends with the last event, which says nothing then
    found = trend(clock[:-1], float(clock[-1]), draws=199)
    assert found.laplace == pytest.approx(laplace, abs=0.1)
    assert found.p is not None
    assert (found.p <= 0.05) == (system == "2")
    assert found.direction == ("less frequent" if system == "2" else "none")
