"""Laws that times are drawn from: constant, exponential, Weibull, lognormal, or measured.

A law is given by its mean and, where it has one, its shape: formulas take means, so that a
simulation and a formula can be fed with the same numbers. All times are seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ckpt_audit.model.waste import checked

Floats = NDArray[np.float64]
LEAST_EVENTS = 5  # with fewer, a measured law of up-times says more of chance than of the machine


class Law(Protocol):
    """What a simulation wants of a law."""

    @property
    def mean(self) -> float:
        """The mean, seconds."""
        ...

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw times of this shape, seconds."""
        ...


@dataclass(frozen=True)
class Constant:
    """Always the same time.

    Raises:
        ValueError: the time is negative or not finite.
    """

    value: float

    def __post_init__(self) -> None:
        """Refuse what is no time."""
        checked("value", self.value)

    @property
    def mean(self) -> float:
        """The value, seconds."""
        return self.value

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:  # noqa: ARG002
        """Give the value, this often."""
        return np.full(shape, self.value, dtype=np.float64)


@dataclass(frozen=True)
class Exponential:
    """Events at a constant rate.

    Raises:
        ValueError: the mean is not a positive finite number.
    """

    mean: float

    def __post_init__(self) -> None:
        """Refuse what is no mean."""
        checked("mean", self.mean, positive=True)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw times of this shape, seconds."""
        times = rng.standard_exponential(shape)
        times *= self.mean
        return times


@dataclass(frozen=True)
class Weibull:
    """A rate that falls (shape below 1) or rises (above 1) since the last restart.

    Raises:
        ValueError: the mean or the shape is not a positive finite number.

    Source: mean = scale * Gamma(1 + 1/shape).

    >>> round(Weibull(mean=1.0, shape=0.5).scale, 6)
    0.5
    """

    mean: float
    shape: float

    def __post_init__(self) -> None:
        """Refuse what is no mean or shape."""
        checked("mean", self.mean, positive=True)
        checked("shape", self.shape, positive=True)

    @property
    def scale(self) -> float:
        """The time that 63 % do not reach, seconds."""
        return self.mean / math.gamma(1.0 + 1.0 / self.shape)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw times of this shape, seconds."""
        times = rng.weibull(self.shape, shape)
        times *= self.scale
        return times


def standard_normals(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw standard normal numbers, in half the time that NumPy takes.

    Two make a point whose square distance is exponential and whose direction is uniform. The
    distance is exact; directions are single precision, 16.7 million of them.

    Args:
        rng: where from.
        shape: of the result; the last number of an odd many is drawn and left out.

    Source: G. E. P. Box and M. E. Muller 1958 (Ann. Math. Statist. 29).
    """
    size = math.prod(shape)
    half = (size + 1) // 2
    distance = rng.standard_exponential(half)
    distance *= 2.0
    np.sqrt(distance, out=distance)
    angle = rng.random(half, dtype=np.float32)
    angle *= np.float32(2.0 * math.pi)
    points = np.empty((2, half))
    np.multiply(distance, np.cos(angle), out=points[0])
    np.multiply(distance, np.sin(angle, out=angle), out=points[1])
    return points.reshape(-1)[:size].reshape(shape)


@dataclass(frozen=True)
class Lognormal:
    """A skewed time: most are short and a few are very long.

    Raises:
        ValueError: the mean or the spread is not a positive finite number.

    Source: mean = exp(mu + sigma^2 / 2).
    """

    mean: float
    sigma: float

    def __post_init__(self) -> None:
        """Refuse what is no mean or spread."""
        checked("mean", self.mean, positive=True)
        checked("sigma", self.sigma, positive=True)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw times of this shape, seconds."""
        times = standard_normals(rng, shape)
        times *= self.sigma
        times += math.log(self.mean) - self.sigma**2 / 2.0
        return np.exp(times, out=times)


@dataclass(frozen=True)
class Measured:
    """Times as they were measured: one of them is drawn each time, all alike.

    Attributes:
        values: measured times, seconds.
        weights: how often each is drawn, as fractions; all alike when empty.
        tail: fraction of draws that are longer than every measured end (see `up_times`): the
            longest value, and an exponential time of mean ``tail_mean`` on top.
        tail_mean: seconds.

    Raises:
        ValueError: there is no value, or one is negative or not finite.
    """

    values: tuple[float, ...]
    weights: tuple[float, ...] = ()
    tail: float = 0.0
    tail_mean: float = 0.0
    _table: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what was not measured, and prepare drawing."""
        if not self.values:
            raise ValueError("a measured law needs at least one value")
        checked("values", self.values)
        if self.weights and len(self.weights) != len(self.values):
            raise ValueError("a measured law has as many weights as values, or none")
        total = np.cumsum(self.weights) if self.weights else np.empty(0)
        object.__setattr__(self, "_table", total)

    @property
    def mean(self) -> float:
        """The mean of what is drawn, seconds."""
        values = np.asarray(self.values)
        if not self.weights:
            return float(values.mean())
        return float(values @ np.asarray(self.weights)) + self.tail * (
            self.values[-1] + self.tail_mean
        )

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw times of this shape, seconds."""
        values = np.asarray(self.values, dtype=np.float64)
        if not self.weights:
            return values[rng.integers(0, values.size, shape)]
        place = rng.random(shape)
        at = np.searchsorted(self._table, place, side="right")
        times = values[np.minimum(at, values.size - 1)]
        if self.tail > 0.0:
            beyond = at >= values.size
            # the same uniform number says how far: what is left of it is uniform again
            rest = np.clip((place - (1.0 - self.tail)) / self.tail, 0.0, 1.0 - 2.0**-53)
            times = np.where(beyond, times - self.tail_mean * np.log1p(-rest), times)
        return np.asarray(times, dtype=np.float64)


@dataclass(frozen=True)
class Shifted:
    """Times of another law, and a constant on top; made by `shifted`."""

    law: Law
    by: float

    @property
    def mean(self) -> float:
        """The mean, seconds."""
        return self.law.mean + self.by

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw times of this shape, seconds."""
        return self.law.draw(rng, shape) + self.by


def shifted(law: Law, by: float) -> Law:
    """Add a constant to what a law draws, seconds.

    Raises:
        ValueError: the constant is negative or not finite.

    >>> shifted(Constant(10.0), 300.0)
    Constant(value=310.0)
    """
    checked("by", by)
    return Constant(law.value + by) if isinstance(law, Constant) else Shifted(law, by)


def up_times(durations_s: ArrayLike, has_failed: Sequence[bool]) -> Measured:
    """Make a law of measured up-times, those that a planned end or the present cut off included.

    Leaving cut-off times out would make up-times look too short. What is left of the estimate
    beyond the longest failure goes on at the mean rate of all of them.

    Args:
        durations_s: up-times, seconds, shape ``(n,)``.
        has_failed: whether a failure ended each; else it was cut off.

    Raises:
        ValueError: fewer than five failures, or a time is not positive and finite.

    Source: Kaplan and Meier 1958 (JASA 53); a failure comes before what is cut off at its time.

    >>> law = up_times([1.0, 2.0, 2.0, 3.0, 4.0, 5.0], [True, True, False, True, True, True])
    >>> law.values, [round(w, 4) for w in law.weights]
    ((1.0, 2.0, 3.0, 4.0, 5.0), [0.1667, 0.1667, 0.2222, 0.2222, 0.2222])
    """
    times = checked("durations_s", durations_s, positive=True).ravel()
    failed = np.asarray(has_failed, dtype=bool)
    if failed.shape != times.shape:
        raise ValueError("every up-time needs to say whether a failure ended it")
    if failed.sum() < LEAST_EVENTS:
        raise ValueError(
            f"only {failed.sum()} measured up-times ended in a failure, and a law of them needs "
            f"{LEAST_EVENTS}: give a law with the measured mean instead"
        )
    values, weights, alive = [], [], 1.0
    for at in np.unique(times[failed]):
        dies = float((failed & (times == at)).sum()) / float((times >= at).sum())
        values.append(float(at))
        weights.append(alive * dies)
        alive *= 1.0 - dies
    tail = alive if alive > 1e-12 else 0.0
    return Measured(tuple(values), tuple(weights), tail, float(times.sum() / failed.sum()))


def parse_law(text: str, mean: float) -> Law:
    """Read a law as people write it, with its mean given apart.

    Args:
        text: ``constant``, ``exponential``, ``weibull:SHAPE`` or ``lognormal:SIGMA``.
        mean: seconds.

    Raises:
        ValueError: there is no such law, or its shape or mean is none.

    >>> parse_law("weibull:0.7", 60.0)
    Weibull(mean=60.0, shape=0.7)
    """
    name, _, parameter = text.partition(":")
    if name in ("constant", "exponential") and not parameter:
        return Constant(mean) if name == "constant" or mean == 0.0 else Exponential(mean)
    if name in ("weibull", "lognormal") and parameter:
        try:
            shape = float(checked("shape", float(parameter), positive=True))
        except ValueError:
            raise ValueError(f"{parameter!r} is no shape of a law") from None
        law = Weibull if name == "weibull" else Lognormal
        return law(mean, shape) if mean != 0.0 else Constant(0.0)
    raise ValueError(
        f"{text!r} is no law (constant, exponential, weibull:SHAPE or lognormal:SIGMA)"
    )
