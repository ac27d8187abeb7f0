"""What a run did before a window, in the configuration that it has there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ckpt_audit import queries
from ckpt_audit.audit.correlation import Correlation
from ckpt_audit.audit.estimate import Observed, estimate
from ckpt_audit.audit.forecast import Side
from ckpt_audit.facts import Epoch, Incident, Window
from ckpt_audit.queries.base import FOREVER
from ckpt_audit.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Base:
    """A stretch before a window that it can be predicted from.

    Attributes:
        from_at: When it begins, UTC microseconds.
        side: What was seen in it.
    """

    from_at: int
    side: Side


class Past:
    """The time before a window, run by run; read when it is first asked for.

    A run whose configuration changes inside the window has no base, since what was measured
    before holds for a part of it only.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        window: Window,
        epochs: Sequence[Epoch],
        labels: Mapping[str, Correlation],
    ) -> None:
        """Remember where to read.

        Args:
            warehouse: With derived tables.
            window: The window.
            epochs: Of all runs, up to its end.
            labels: How incidents stand to others, by id.
        """
        self._warehouse = warehouse
        self._window = window
        self._epochs = epochs
        self._labels = labels
        self._incidents: list[Incident] | None = None

    def of(self, run: str) -> Base | None:
        """What a run can be predicted from, or None where that is too little.

        Args:
            run: Name of the run.
        """
        mine = [epoch for epoch in self._epochs if epoch.run == run]
        start_at = self._window.start_at
        if not mine or mine[-1].started_at >= start_at:
            return None
        stretch = Window(mine[-1].started_at, start_at, "before")
        side = self._side(run, stretch)
        return Base(stretch.start_at, side) if side.is_enough else None

    def _side(self, run: str, stretch: Window) -> Side:
        incidents = [
            item
            for item in self._past_incidents()
            if item.run == run and item.fault_at is not None and item.fault_at >= stretch.start_at
        ]
        labels = self._labels
        observed = Observed(
            incidents=tuple(incidents),
            correlations={item.id: labels[item.id] for item in incidents if item.id in labels},
            uptime=tuple(x for x in queries.up_time(self._warehouse, stretch) if x.run == run),
            calendar=(),
            checkpoints=tuple(
                x for x in queries.checkpoints(self._warehouse, stretch) if x.run == run
            ),
            launches=(0, 0),
        )
        return Side(
            observed=observed,
            measured=estimate(observed),
            cadence=queries.cadences(self._warehouse, stretch)[run],
            rows=tuple(x for x in queries.ledger(self._warehouse, stretch) if x.run == run),
        )

    def _past_incidents(self) -> list[Incident]:
        if self._incidents is None:
            past = Window(FOREVER.start_at, self._window.start_at, "past")
            self._incidents = queries.incidents(self._warehouse, past)
        return self._incidents
