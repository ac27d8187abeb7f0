"""AdamW in single precision, applied and undone: how exact a reconciled snapshot is.

Applying the same operations in the same order to the same numbers gives the same bits, so replay
forward is exact. Undoing a step divides rounding errors by what decay left over; the second moment
loses all digits where one gradient makes up nearly all of it. The guard is per element: a mean
over a shard hides the one parameter whose gradient had a spike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
GUARD = 0.9
"""Beyond this share of the new second moment that one gradient makes up, a step is not undone."""


@dataclass(frozen=True)
class AdamW:
    """The optimizer's settings.

    Attributes:
        rate: learning rate.
        beta1, beta2: decay of the moments, between 0 and 1.
        eps: added to the root of the second moment.
        decay: weight decay, decoupled.

    Source: Loshchilov and Hutter 2019 (ICLR), algorithm 2.
    """

    rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-8
    decay: float = 0.1


class Moments(NamedTuple):
    """State of one shard: parameters, first and second moments, each of shape ``(n,)``."""

    p: F32
    m: F32
    v: F32


class Undone(NamedTuple):
    """A step taken back.

    Attributes:
        state: what it gives; of no use where ``refused``.
        refused: elements at which the guard fires, shape ``(n,)``.
    """

    state: Moments
    refused: NDArray[np.bool_]


def apply_step(state: Moments, gradient: F32, step: int, how: AdamW) -> Moments:
    """Apply one step.

    Args:
        state: before it.
        gradient: of this step, float32, shape ``(n,)``.
        step: its number, from 1.
        how: the settings.
    """
    b1, b2 = np.float32(how.beta1), np.float32(how.beta2)
    one = np.float32(1.0)
    m: F32 = np.asarray(b1 * state.m + (one - b1) * gradient, dtype=np.float32)
    v: F32 = np.asarray(b2 * state.v + (one - b2) * gradient * gradient, dtype=np.float32)
    kept = one - np.float32(how.rate * how.decay)
    return Moments(state.p * kept - _update(m, v, step, how), m, v)


def undo_step(state: Moments, gradient: F32, step: int, how: AdamW) -> Undone:
    """Take one step back.

    Args:
        state: after it.
        gradient: of this step, float32, shape ``(n,)``.
        step: its number, from 1.
        how: the settings.

    Source: the inverse of each line of `apply_step`. With r = (1 - beta2) g^2 / v the relative
    error of the second moment is near 2^-24 / (beta2 (1 - r)), a few times.
    """
    b1, b2 = np.float32(how.beta1), np.float32(how.beta2)
    one = np.float32(1.0)
    kept = one - np.float32(how.rate * how.decay)
    p = (state.p + _update(state.m, state.v, step, how)) / kept
    m: F32 = np.asarray((state.m - (one - b1) * gradient) / b1, dtype=np.float32)
    v: F32 = np.asarray((state.v - (one - b2) * gradient * gradient) / b2, dtype=np.float32)
    refused = guard_fires(gradient, state.v, how) | (v < 0)
    return Undone(Moments(p, m, v), refused)


def guard_ratio(gradient: F32, v: F32, how: AdamW) -> NDArray[np.float64]:
    """Give the share of the new second moment that the gradient makes up, per element.

    Args:
        gradient: of the step, shape ``(n,)``.
        v: second moment after it, likewise.
        how: the settings.

    >>> at = guard_ratio(np.float32([1.0, 0.0]), np.float32([0.1, 0.0]), AdamW(beta2=0.95))
    >>> at.round(6).tolist()
    [0.5, 0.0]
    """
    new = (1.0 - how.beta2) * gradient.astype(np.float64) ** 2
    whole = v.astype(np.float64)
    return np.divide(new, whole, out=np.zeros_like(whole), where=whole > 0)


def guard_fires(gradient: F32, v: F32, how: AdamW) -> NDArray[np.bool_]:
    """Tell the elements at which a step must not be undone."""
    return np.asarray(guard_ratio(gradient, v, how) > GUARD)


def _update(m: F32, v: F32, step: int, how: AdamW) -> F32:
    first = np.float32(1.0 / (1.0 - how.beta1**step))
    second = np.float32(1.0 / (1.0 - how.beta2**step))
    size = np.sqrt(v * second) + np.float32(how.eps)
    return np.asarray(np.float32(how.rate) * (m * first) / size, dtype=np.float32)


@dataclass(frozen=True)
class ReplayCheck:
    """Relative errors (L2) of reconciled shards against a consistent snapshot.

    Attributes:
        torn: parameters, moments of the snapshot as it was captured, against the target.
        forward: of shards brought forward; exactly 0.
        back: of shards taken back, without the elements at which the guard fired.
        refused: those elements, and ``elements`` all that were taken back.
    """

    torn: tuple[float, float, float]
    forward: tuple[float, float, float]
    back: tuple[float, float, float]
    refused: int
    elements: int


def check_replay(
    versions: tuple[int, ...],
    target: int,
    *,
    elements: int = 256,
    seed: int = 1,
    how: AdamW = AdamW(),
) -> ReplayCheck:
    """Train a small made-up model, tear a snapshot of it, and reconcile it.

    Args:
        versions: captured step of each shard, relative to the first one: from 0.
        target: step that all are brought to, likewise.
        elements: parameters a shard.
        seed: of parameters and gradients (NumPy's PCG64).
        how: the optimizer's settings.

    Raises:
        ValueError: a version is negative.
    """
    if min(*versions, target) < 0:
        raise ValueError("versions are relative to the first step captured")
    warm, last = 200, max(*versions, target)
    rng = np.random.default_rng(seed)
    shape = (len(versions), elements)
    gradients = _gradients(rng, shape, warm + last)
    history = _history(rng, gradients, warm, how)
    sums = {"torn": _Errors(), "forward": _Errors(), "back": _Errors()}
    refused = taken_back = 0
    for shard, version in enumerate(versions):
        state, want = _shard(history[version], shard), _shard(history[target], shard)
        sums["torn"].add(state, want, np.ones(elements, dtype=bool))
        good = np.ones(elements, dtype=bool)
        for step in range(version, target):
            state = apply_step(state, gradients[warm + step][shard], warm + step + 1, how)
        for step in range(version - 1, target - 1, -1):
            state, fired = undo_step(state, gradients[warm + step][shard], warm + step + 1, how)
            good &= ~fired
        if version != target:
            sums["forward" if version < target else "back"].add(state, want, good)
        if version > target:
            refused, taken_back = refused + int((~good).sum()), taken_back + elements
    return ReplayCheck(
        sums["torn"].relative(),
        sums["forward"].relative(),
        sums["back"].relative(),
        refused,
        taken_back,
    )


class _Errors:
    def __init__(self) -> None:
        self.squares = np.zeros(3)
        self.sizes = np.zeros(3)

    def add(self, got: Moments, want: Moments, where: NDArray[np.bool_]) -> None:
        for at, (a, b) in enumerate(zip(got, want, strict=True)):
            exact = b[where].astype(np.float64)
            self.squares[at] += float(np.sum((a[where].astype(np.float64) - exact) ** 2))
            self.sizes[at] += float(np.sum(exact**2))

    def relative(self) -> tuple[float, float, float]:
        whole = np.where(self.sizes > 0, self.sizes, 1.0)
        p, m, v = np.sqrt(self.squares / whole).tolist()
        return p, m, v


def _gradients(rng: np.random.Generator, shape: tuple[int, int], steps: int) -> list[F32]:
    """A direction that turns slowly, and noise: what a loss that falls looks like."""
    direction = rng.standard_normal(shape).astype(np.float32)
    made = []
    for _ in range(steps):
        turn = rng.standard_normal(shape).astype(np.float32)
        direction = np.float32(0.95) * direction + np.float32(0.3) * turn
        noise = rng.standard_normal(shape).astype(np.float32)
        made.append(np.asarray(direction + np.float32(0.1) * noise, dtype=np.float32))
    return made


def _history(
    rng: np.random.Generator, gradients: list[F32], warm: int, how: AdamW
) -> list[Moments]:
    zero = np.zeros_like(gradients[0])
    start = rng.standard_normal(zero.shape) * 0.02
    state = Moments(start.astype(np.float32), zero, zero)
    kept = []
    for step, gradient in enumerate(gradients, 1):
        if step == warm + 1:
            kept.append(state)
        state = apply_step(state, gradient, step, how)
        if step > warm:
            kept.append(state)
    return kept or [state]


def _shard(state: Moments, at: int) -> Moments:
    return Moments(state.p[at], state.m[at], state.v[at])
