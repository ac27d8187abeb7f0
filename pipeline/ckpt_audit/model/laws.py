"""Laws of up-time: how likely a stretch is to last, and for how long on average.

A law is all that the renewal model (`ckpt_audit.model.renewal`) asks of failures. Times are in any
one unit, the same for all of a call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ckpt_audit.model.waste import Floats, checked


class UpTimeLaw(Protocol):
    """What a law of up-time can tell."""

    @property
    def mean(self) -> float:
        """Mean up-time."""

    @property
    def horizon(self) -> float:
        """Time that no stretch outlives with a probability that matters (1e-17)."""

    def survival(self, t: ArrayLike) -> Floats:
        """Probability that a stretch lasts longer than ``t``, of the shape of ``t``."""

    def lived(self, t: ArrayLike) -> Floats:
        """Mean time lived up to ``t``: the integral of the survival from 0 to ``t``."""


_LOG_NEVER = 17.0 * math.log(10.0)


@dataclass(frozen=True)
class Exponential:
    """Failures at a constant rate.

    Attributes:
        mean: mean up-time, above zero.

    >>> round(float(Exponential(2.0).survival(2.0)), 6)
    0.367879
    """

    mean: float

    def __post_init__(self) -> None:
        checked("mean", self.mean, positive=True)

    @property
    def horizon(self) -> float:
        """Time that no stretch outlives with a probability that matters."""
        return self.mean * _LOG_NEVER

    def survival(self, t: ArrayLike) -> Floats:
        """``exp(-t/M)``."""
        return np.exp(-checked("t", t) / self.mean)

    def lived(self, t: ArrayLike) -> Floats:
        """``M (1 - exp(-t/M))``."""
        return -self.mean * np.expm1(-checked("t", t) / self.mean)


@dataclass(frozen=True)
class Weibull:
    """A rate that falls (shape below 1) or rises (above 1) with the age of a stretch.

    Attributes:
        shape: of the law, above zero; 1 is a constant rate.
        mean: mean up-time (not the scale), above zero.

    Source: Weibull 1951 (J. Appl. Mech. 18); mean = scale * Gamma(1 + 1/shape).

    >>> round(float(Weibull(1.0, 2.0).survival(2.0)), 6)
    0.367879
    >>> round(Weibull(0.5, 2.0).scale, 6)
    1.0
    """

    shape: float
    mean: float

    def __post_init__(self) -> None:
        checked("shape", self.shape, positive=True)
        checked("mean", self.mean, positive=True)
        if not 0.1 <= self.shape <= 20.0:
            raise ValueError(f"shape must be from 0.1 to 20, got {self.shape}")

    @property
    def scale(self) -> float:
        """Time that a stretch outlives with probability 1/e."""
        return self.mean / math.gamma(1.0 + 1.0 / self.shape)

    @property
    def horizon(self) -> float:
        """Time that no stretch outlives with a probability that matters."""
        return float(self.scale * _LOG_NEVER ** (1.0 / self.shape))

    def survival(self, t: ArrayLike) -> Floats:
        """``exp(-(t/scale)^shape)``."""
        return np.exp(-((checked("t", t) / self.scale) ** self.shape))

    def lived(self, t: ArrayLike) -> Floats:
        """The incomplete gamma function of ``1/shape`` at ``(t/scale)^shape``, times the mean."""
        from scipy import special  # 0.3 s to import

        powers = (checked("t", t) / self.scale) ** self.shape
        return np.asarray(self.mean * special.gammainc(1.0 / self.shape, powers))


@dataclass(frozen=True)
class Steps:
    """A measured survival curve, such as that of Kaplan and Meier, which falls in steps.

    After the last step nothing survives: a curve whose longest stretch was censored has the mean
    restricted to what was seen, which is less than the true one.

    Attributes:
        times: when the curve falls, rising, above zero.
        levels: what it falls to, falling, at least zero; the last one is taken for zero.

    >>> law = Steps((1.0, 3.0), (0.5, 0.0))
    >>> law.mean, law.survival([0.0, 1.0, 2.9, 3.0]).tolist(), law.lived(2.0).tolist()
    (2.0, [1.0, 0.5, 0.5, 0.0], 1.5)
    """

    times: tuple[float, ...]
    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.times or len(self.times) != len(self.levels):
            raise ValueError("a curve needs as many levels as times, and at least one")
        times, levels = checked("times", self.times, positive=True), checked("levels", self.levels)
        if np.any(np.diff(times) <= 0) or np.any(np.diff(levels, prepend=1.0) > 0):
            raise ValueError("times must rise, and levels fall from at most 1")

    @property
    def mean(self) -> float:
        """Area under the curve."""
        return float(self.lived(self.horizon))

    @property
    def horizon(self) -> float:
        """The last step."""
        return self.times[-1]

    def survival(self, t: ArrayLike) -> Floats:
        """The level at ``t``, after a step that falls there."""
        levels = np.array([1.0, *self.levels[:-1], 0.0])
        return levels[np.searchsorted(self.times, checked("t", t), side="right")]

    def lived(self, t: ArrayLike) -> Floats:
        """Area under the curve up to ``t``."""
        edges = np.array([0.0, *self.times])
        heights = np.array([1.0, *self.levels[:-1]])
        areas = np.concatenate([[0.0], np.cumsum(heights * np.diff(edges))])
        return np.asarray(np.interp(checked("t", t), edges, areas))
