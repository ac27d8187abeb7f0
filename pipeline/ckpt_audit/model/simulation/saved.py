"""What can be restored: the newest usable save for each tier, and saves still on their way."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.model.simulation.laws import Floats

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass
class Saved:
    """Saves of runs, the last axis of each array.

    For each tier, what a failure that destroys all lower ones would leave:

    Attributes:
        left: training still to do from the newest usable save on, seconds, shape ``(tiers, n)``.
        count: number of that save.
        unusable: newer ones that will not load.

    And the newest saves, oldest first, whose drain or lag may not be over, shape ``(slots, n)``:

    Attributes:
        drained: time of the stretch at which the drain ends.
        ready: time at which it can be restored; infinite in an empty slot.
        new_left, new_count: as above.
        tier: highest tier that it goes to.
        valid: whether it will load.
    """

    left: Floats
    count: Floats
    unusable: Floats
    drained: Floats
    ready: Floats
    new_left: Floats
    new_count: Floats
    tier: Ints
    valid: Bools

    @classmethod
    def none(cls, work_s: float, tiers: int, slots: int, size: int) -> Saved:
        """Nothing saved yet: all work is to do."""
        return cls(
            left=np.full((tiers, size), work_s),
            count=np.zeros((tiers, size)),
            unusable=np.zeros((tiers, size)),
            drained=np.full((slots, size), -np.inf),
            ready=np.full((slots, size), np.inf),
            new_left=np.zeros((slots, size)),
            new_count=np.zeros((slots, size)),
            tier=np.zeros((slots, size), dtype=np.int64),
            valid=np.ones((slots, size), dtype=bool),
        )

    def take(self, which: Ints | Bools) -> Saved:
        """Copy some of the runs."""
        return Saved(*(getattr(self, part.name)[..., which] for part in fields(self)))

    def put(self, which: Ints, runs: Saved) -> None:
        """Put runs back that were taken out."""
        for part in fields(self):
            getattr(self, part.name)[..., which] = getattr(runs, part.name)

    def note(
        self,
        *,
        now: Floats,
        drained: Floats,
        lag_s: float,
        left: Floats,
        count: Floats,
        tier: Ints | None,
        valid: Bools | None,
    ) -> None:
        """Note a save of every run.

        Args:
            now: time of the stretch at which its pause ends, seconds.
            drained: time at which its drain ends.
            lag_s: from then until it can be restored.
            left, count, tier, valid: as the attributes; None: one tier, and all will load.
        """
        slots = self.ready.shape[0]
        if not slots:
            self._promote(np.ones(now.size, dtype=bool), left, count, tier, valid)
            return
        self._promote_slot(0, self.ready[0] <= now)
        for rows in (self.drained, self.ready, self.new_left, self.new_count):
            rows[:-1] = rows[1:]
        # A drain ends after those before it.
        self.drained[-1] = drained if slots == 1 else np.maximum(drained, self.drained[-2])
        self.ready[-1] = self.drained[-1] + lag_s
        self.new_left[-1], self.new_count[-1] = left, count
        if self.left.shape[0] > 1:
            self.tier[:-1] = self.tier[1:]
            self.tier[-1] = 0 if tier is None else tier
        if valid is not None:
            self.valid[:-1] = self.valid[1:]
            self.valid[-1] = valid

    def settle(self, up: Floats) -> None:
        """Take what was ready when a stretch of up-time ended, and lose the rest."""
        for slot in range(self.ready.shape[0]):
            self._promote_slot(slot, self.ready[slot] <= up)
        self.ready[...] = np.inf
        self.drained[...] = -np.inf

    def restore(self, need: Ints) -> tuple[Floats, Floats, Floats]:
        """Go back to the newest usable save that survived.

        Args:
            need: lowest tier that survived, shape ``(n,)``.

        Returns:
            Training left, the number of the save, and how many newer ones would not load.
        """
        columns = np.arange(need.size)
        found = [rows[need, columns] for rows in (self.left, self.count, self.unusable)]
        for tier in range(self.left.shape[0]):
            gone = tier <= need
            self.left[tier] = np.where(gone, found[0], self.left[tier])
            self.count[tier] = np.where(gone, found[1], self.count[tier])
            self.unusable[tier] = np.where(gone, 0.0, self.unusable[tier])  # known by now
        return found[0], found[1], found[2]

    def _promote_slot(self, slot: int, which: Bools) -> None:
        self._promote(
            which, self.new_left[slot], self.new_count[slot], self.tier[slot], self.valid[slot]
        )

    def _promote(
        self, which: Bools, left: Floats, count: Floats, tier: Ints | None, valid: Bools | None
    ) -> None:
        for level in range(self.left.shape[0]):
            here = which if tier is None else which & (tier >= level)
            good = here if valid is None else here & valid
            self.left[level] = np.where(good, left, self.left[level])
            self.count[level] = np.where(good, count, self.count[level])
            if valid is not None:
                bad = self.unusable[level] + (here & ~valid)
                self.unusable[level] = np.where(good, 0.0, bad)
