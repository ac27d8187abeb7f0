"""Going on with fewer replicas after a failure, against restarting all of them.

Times are in one unit.
"""

from __future__ import annotations

from dataclasses import dataclass

from ckpt_audit.model.waste import checked


@dataclass(frozen=True)
class Elastic:
    """What a failure costs a run that goes on at reduced size.

    Attributes:
        replicas: data-parallel replicas (n), at least 2.
        reconfigure: from detection until the others train on.
        repair: until the lost replica is back, for which a share 1/n of the work is missing.
        rollback: share of failures, or of the state, that goes back to a checkpoint all the same.
    """

    replicas: int
    reconfigure: float
    repair: float
    rollback: float = 0.0

    def __post_init__(self) -> None:
        if self.replicas < 2:
            raise ValueError(f"going on needs at least 2 replicas, got {self.replicas}")
        checked("reconfigure", self.reconfigure)
        checked("repair", self.repair)
        if float(checked("rollback", self.rollback)) > 1.0:
            raise ValueError(f"rollback must be at most 1, got {self.rollback}")


@dataclass(frozen=True)
class ElasticCost:
    """Mean wall time that one failure costs, first order.

    Attributes:
        elastic: going on with one replica less.
        restart: restarting all.
        gain: ``restart - elastic``; above zero where going on is better.
    """

    elastic: float
    restart: float
    gain: float


def per_failure(how: Elastic, interval: float, d: float, r: float, lag: float = 0.0) -> ElasticCost:
    """Compare going on with restarting, for one failure.

    With no rollback nothing lost hangs on the interval: then saves serve the other failures alone,
    and the interval should be computed from their M.

    Args:
        how: what going on takes.
        interval: useful training time between two pauses.
        d: mean time from fault to detected.
        r: mean time from detected to the first step, of a restart.
        lag: from capture to when a state can be restored.

    Raises:
        ValueError: an argument is out of range.

    Source: ``D + t_e + rollback (I/2 + L) + T_rep/n`` against ``D + R + I/2 + L``.

    >>> per_failure(Elastic(replicas=64, reconfigure=60, repair=6400), 1200, d=90, r=600)
    ElasticCost(elastic=250.0, restart=1290.0, gain=1040.0)
    """
    again = float(checked("interval", interval, positive=True)) / 2.0 + float(checked("lag", lag))
    detection = float(checked("d", d))
    elastic = detection + how.reconfigure + how.rollback * again + how.repair / how.replicas
    restart = detection + float(checked("r", r)) + again
    return ElasticCost(elastic, restart, restart - elastic)


def idle_spares(spares: float, used: float) -> float:
    """Give the share of an allocation that spares kept idle cost, always.

    Args:
        spares: accelerators kept idle.
        used: accelerators that train.

    Raises:
        ValueError: an argument is out of range.

    Source: with s spares per accelerator used, ``s/(1+s)``.

    >>> idle_spares(32, 992)
    0.03125
    """
    idle = float(checked("spares", spares))
    return idle / (idle + float(checked("used", used, positive=True)))
