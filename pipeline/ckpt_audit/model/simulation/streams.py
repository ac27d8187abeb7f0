"""Random numbers of a block of runs: one stream a purpose, one row a failure.

The n-th failure of a run takes the n-th row whatever the policy is, so that policies meet the same
failures and differ by what they do about them (common random numbers). A block's streams depend on
the seed and the block's number alone, and on nothing that another block draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.simulation.laws import Constant, Floats, Law
from ckpt_audit.model.simulation.scenario import Scenario

ROWS = 32
_PURPOSES = (
    "up", "d", "r", "follows", "window", "d_second", "r_second", "kind", "kind_second",
    "invalid", "invalid_second", "save", "valid", "recovery",
)  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Draws of some failures in a row, each a number or of shape ``(rows, runs)``.

    Attributes:
        up: up-time to a first failure; the rest speaks of that failure, of whether a second one
            follows, when, and of that second one.
        kind: class of the failure.
        invalid: number between 0 and 1 that says how many checkpoints will not load.
    """

    up: Floats
    d: Floats | float
    r: Floats | float
    follows: NDArray[np.bool_] | None = None
    window: Floats | float = 0.0
    d_second: Floats | float = 0.0
    r_second: Floats | float = 0.0
    kind: NDArray[np.int64] | None = None
    kind_second: NDArray[np.int64] | None = None
    invalid: Floats | None = None
    invalid_second: Floats | None = None


class Streams:
    """The streams of one block of runs.

    Args:
        scenario: what is simulated.
        seed: of the whole simulation.
        block: number of the block.
        size: runs in it.
        draws_invalid: whether unusable checkpoints are drawn per failure, and not per save.
    """

    def __init__(
        self, scenario: Scenario, seed: int, block: int, size: int, *, draws_invalid: bool = False
    ) -> None:
        self._scenario = scenario
        self.size = size
        self._draws_invalid = draws_invalid
        self._rng = {
            purpose: np.random.default_rng(
                # What SeedSequence(seed).spawn(...)[block].spawn(...)[number] gives.
                np.random.SeedSequence(entropy=seed, spawn_key=(block, number))
            )
            for number, purpose in enumerate(_PURPOSES)
        }

    def rng(self, purpose: str) -> np.random.Generator:
        """Give the generator of a purpose that is not per failure."""
        return self._rng[purpose]

    def rows(self) -> Rows:
        """Draw the next ``ROWS`` failures of every run."""
        scenario = self._scenario
        cascade = scenario.cascade
        up = np.broadcast_to(self._law("up", scenario.up), (ROWS, self.size))
        first = (up, self._law("d", scenario.d))
        r, kind = self._law("r", scenario.r), self._kinds("kind")
        invalid = self._uniform("invalid") if self._draws_invalid else None
        if cascade is None:
            return Rows(*first, r, kind=kind, invalid=invalid)
        return Rows(
            *first,
            r,
            follows=self._uniform("follows") < cascade.probability,
            window=self._uniform("window") * cascade.window_s,
            d_second=self._law("d_second", scenario.d),
            r_second=self._law("r_second", scenario.r),
            kind=kind,
            kind_second=self._kinds("kind_second"),
            invalid=invalid,
            invalid_second=self._uniform("invalid_second") if self._draws_invalid else None,
        )

    def _law(self, purpose: str, law: Law) -> Floats | float:
        if isinstance(law, Constant):
            return law.value
        return law.draw(self._rng[purpose], (ROWS, self.size))

    def _uniform(self, purpose: str) -> Floats:
        return self._rng[purpose].random((ROWS, self.size))

    def _kinds(self, purpose: str) -> NDArray[np.int64] | None:
        if len(self._scenario.classes) == 1:
            return None
        return draw_kinds(self._scenario, self._rng[purpose], (ROWS, self.size))


def draw_kinds(
    scenario: Scenario, rng: np.random.Generator, shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Draw classes of failures by their shares."""
    edges = np.cumsum([kind.share for kind in scenario.classes])[:-1]
    return np.asarray(np.searchsorted(edges, rng.random(shape), side="right"), dtype=np.int64)


class Table:
    """Draws by failure and run, fetched a few rows at a time and dropped when no run needs them.

    A row has the place of its number modulo the height, a power of two.

    Args:
        streams: where they come from.
        oldest: gives the lowest row that a run may still ask for.
    """

    def __init__(self, streams: Streams, oldest: Callable[[], int]) -> None:
        self._streams, self._oldest = streams, oldest
        self._height, self._end = 2 * ROWS, 0
        self._kept: dict[str, Any] = {}

    def places(self, row: NDArray[np.int64], column: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the places of failures (numbers of rows) of runs (columns), until the next call."""
        while row.size and row.max() >= self._end:
            self._fetch()
        return (row & (self._height - 1)) * self._streams.size + column

    def at(self, name: str, places: NDArray[np.int64]) -> Any:
        """Give the draws at places: an array, or one number where they are all the same."""
        kept = self._kept[name]
        return kept if isinstance(kept, float) else kept.reshape(-1).take(places)

    def _fetch(self) -> None:
        oldest, end = min(self._oldest(), self._end), self._end
        while end + ROWS - oldest > self._height:
            self._grow(oldest)
        start = end & (self._height - 1)
        for name, value in vars(self._streams.rows()).items():
            if isinstance(value, np.ndarray):
                if name not in self._kept:
                    self._kept[name] = np.empty((self._height, self._streams.size), value.dtype)
                self._kept[name][start : start + ROWS] = value
            else:
                self._kept[name] = value
        self._end = end + ROWS

    def _grow(self, oldest: int) -> None:
        rows = np.arange(oldest, self._end)
        before, self._height = self._height, 2 * self._height
        for name, kept in self._kept.items():
            if isinstance(kept, np.ndarray):
                grown = np.empty((self._height, kept.shape[1]), kept.dtype)
                grown[rows & (self._height - 1)] = kept[rows & (before - 1)]
                self._kept[name] = grown
