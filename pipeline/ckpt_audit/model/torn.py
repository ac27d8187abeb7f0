"""Snapshots whose shards were captured at different steps, and what makes them one again.

A snapshot copied a slice a step is *torn*: its shards are of different versions. With the gradients
of the steps between at hand, every shard can be brought to one version: forward by applying the
steps that it lacks, back by undoing those that it has too many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ckpt_audit.model.waste import checked

Target = Literal["newest", "median", "oldest"]
TARGETS: tuple[Target, ...] = ("newest", "median", "oldest")


@dataclass(frozen=True)
class Reconciliation:
    """What it takes to bring all shards to one version.

    Attributes:
        target: which version.
        version: the step that it is.
        traffic: gradients replayed, in units of one step's gradients of all parameters ("per
            parameter byte" where gradients are as wide as parameters).
        forward, back: the parts of it that are applied and that are undone.
    """

    target: Target
    version: int
    traffic: float
    forward: float
    back: float


@dataclass(frozen=True)
class Snapshot:
    """Shards and the step at which each was captured.

    Attributes:
        versions: captured step, one a shard.
        weights: size of each shard in any unit; empty where all are of one size.
    """

    versions: tuple[int, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.versions:
            raise ValueError("a snapshot has at least one shard")
        if self.weights and len(self.weights) != len(self.versions):
            raise ValueError("every shard needs a size, or none")
        if self.weights:
            checked("size", self.weights, positive=True)

    @property
    def is_consistent(self) -> bool:
        """All shards are of one step."""
        return self.window == 1

    @property
    def window(self) -> int:
        """Steps over which it was captured; 1 where it is consistent.

        >>> Snapshot((100, 101, 103)).window
        4
        """
        return max(self.versions) - min(self.versions) + 1

    def reconcile(self, target: Target) -> Reconciliation:
        """Give what bringing all shards to one version costs.

        The median moves least. It needs steps undone, which is exact only up to rounding
        (`ckpt_audit.model.adamw`); the newest needs none, and is exact.

        Args:
            target: which version.

        Raises:
            ValueError: the target is not known.

        Source: a shard of version v needs |target - v| steps of its own share of the gradients.

        >>> torn = Snapshot(tuple(range(16)))
        >>> [torn.reconcile(target).traffic for target in ("newest", "median", "oldest")]
        [7.5, 4.0, 7.5]
        """
        version = self._version(target)
        sizes = self.weights or (1.0,) * len(self.versions)
        total = math.fsum(sizes)
        moves = [(version - v, size / total) for v, size in zip(self.versions, sizes, strict=True)]
        forward = math.fsum(steps * share for steps, share in moves if steps > 0)
        back = math.fsum(-steps * share for steps, share in moves if steps < 0)
        return Reconciliation(target, version, forward + back, forward, back)

    def _version(self, target: Target) -> int:
        if target == "newest":
            return max(self.versions)
        if target == "oldest":
            return min(self.versions)
        if target != "median":
            raise ValueError(f"the target is newest, median or oldest, got {target!r}")
        sizes = self.weights or (1.0,) * len(self.versions)
        half, so_far = math.fsum(sizes) / 2.0, 0.0
        for version, size in sorted(zip(self.versions, sizes, strict=True)):
            so_far += size
            if so_far >= half:
                return version
        return max(self.versions)


def staggered_traffic(window: int, target: Target) -> float:
    """Give the replay traffic of a snapshot captured evenly over a window of steps.

    It is linear in the window, in units of one step's gradients of all parameters; only the count
    of shards times steps is quadratic, when there are as many shards as steps.

    Args:
        window: steps over which the shards were captured (S), at least 1.
        target: which version they are brought to.

    Raises:
        ValueError: an argument is out of range.

    Source: the mean distance of 0 .. S-1 to its end, (S-1)/2, or to its middle, floor(S^2/4)/S.

    >>> [staggered_traffic(s, "newest") for s in (8, 16, 64)]
    [3.5, 7.5, 31.5]
    """
    if window < 1:
        raise ValueError(f"a window is at least one step, got {window}")
    if target not in TARGETS:
        raise ValueError(f"the target is newest, median or oldest, got {target!r}")
    return (window * window // 4) / window if target == "median" else (window - 1) / 2.0


def longest_worthwhile_window(
    gradient_bytes: float, state_bytes: float, target: Target = "newest"
) -> int:
    """Give the longest window for which replay moves fewer bytes than capturing the state again.

    Args:
        gradient_bytes: bytes of gradient a parameter and step.
        state_bytes: bytes of state a parameter (weights and moments), which replay saves copying.
        target: which version shards are brought to.

    Raises:
        ValueError: an argument is out of range.

    >>> longest_worthwhile_window(gradient_bytes=2, state_bytes=12)
    13
    """
    one = float(checked("gradient_bytes", gradient_bytes, positive=True))
    whole = float(checked("state_bytes", state_bytes, positive=True))
    most = whole / one  # window-fulls of gradients that weigh as much as the state
    window = max(1, math.floor(2.0 * most) if target == "newest" else math.floor(4.0 * most))
    while staggered_traffic(window + 1, target) <= most:
        window += 1
    while window > 1 and staggered_traffic(window, target) > most:
        window -= 1
    return window


def captured(versions: Sequence[int], sizes: Sequence[float] | None = None) -> Snapshot:
    """Give a snapshot of shards.

    Args:
        versions: captured step, one a shard, whole numbers from 0 to 2^53.
        sizes: size of each in any unit; None where all are of one size.

    Raises:
        ValueError: a version or a size is out of range, or there is no shard.
    """
    for version in versions:
        if not 0 <= version <= 1 << 53:
            raise ValueError(f"a captured step must be from 0 to 2^53, got {version}")
    return Snapshot(tuple(versions), tuple(sizes or ()))
