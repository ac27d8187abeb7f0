"""Summaries of measured durations: a fixed set of figures, and an interval of the mean.

Quantiles are linear: of n sorted values, the q-quantile is at position ``q (n - 1)``, counted from
0, and values between two positions are interpolated (type 7 of Hyndman and Fan 1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

QUANTILE_RULE: Final = "linear"


@dataclass(frozen=True)
class Sample:
    """Summary of a sample, in the unit of its values; every figure but n is None when n is 0."""

    n: int
    median: float | None
    mean: float | None
    p90: float | None
    p99: float | None
    max: float | None
    min: float | None


NOTHING: Final = Sample(0, None, None, None, None, None, None)


def finite_values(values: ArrayLike) -> NDArray[np.float64]:
    """Return values as a flat array, or refuse them.

    Args:
        values: shape ``(n,)``, any unit; n may be 0.

    Raises:
        ValueError: a value is not finite (an unknown duration must be left out, not passed).
    """
    array = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(array).all():
        raise ValueError("a sample holds a value that is not finite: leave unknown values out")
    return array


def summarise(values: ArrayLike) -> Sample:
    """Summarise a sample.

    Args:
        values: shape ``(n,)``, any unit; n may be 0.

    Raises:
        ValueError: a value is not finite (an unknown duration must be left out, not passed).

    >>> summarise([0, 10])
    Sample(n=2, median=5.0, mean=5.0, p90=9.0, p99=9.9, max=10.0, min=0.0)
    """
    array = finite_values(values)
    if array.size == 0:
        return NOTHING
    median, p90, p99 = np.quantile(array, [0.5, 0.9, 0.99], method=QUANTILE_RULE).tolist()
    return Sample(
        n=int(array.size),
        median=median,
        mean=float(array.mean()),
        p90=p90,
        p99=p99,
        max=float(array.max()),
        min=float(array.min()),
    )


def bootstrap_mean(
    values: ArrayLike, confidence: float = 0.95, draws: int = 999, seed: int = 0
) -> tuple[float, float] | None:
    """Give a percentile bootstrap interval of the mean.

    It is too narrow for a handful of values and for heavy tails.

    Args:
        values: shape ``(n,)``, any unit.
        confidence: of the interval, as a fraction.
        draws: resamples.
        seed: of the generator; the same seed gives the same interval.

    Returns:
        Low and high in the unit of the values, or None with fewer than two values.

    Raises:
        ValueError: a value is not finite, or confidence is not between 0 and 1.

    Source: Efron 1979 (Ann. Statist. 7(1)).
    """
    array = finite_values(values)
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    if array.size < 2:
        return None
    rng = np.random.default_rng(seed)
    means = [array[rng.integers(0, array.size, array.size)].mean() for _ in range(draws)]
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail], method=QUANTILE_RULE).tolist()
    return low, high
