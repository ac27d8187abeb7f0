"""Which failures of one failure domain followed each other more closely than chance.

Arrays in, frozen results out. A *domain* is a node, a switch, a rack or the like, an event one
failure that touched it. Time is the domain's own clock: the exposure that it had gone through, so
that an idle or a growing domain changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ckpt_audit.reliability.discovery import FALSE_DISCOVERY, q_values
from ckpt_audit.reliability.shrinkage import shrunk_rates

REESTIMATES = 3


@dataclass(frozen=True)
class Links:
    """Each event, tested against the one after it in its domain.

    Attributes:
        after: the next event of the same domain, -1 where there is none, shape ``(n,)``.
        p: chance that the next event comes so soon, shape ``(n,)``; 1 where none came.
        q: false discovery rate at which the link would be believed, shape ``(n,)``.
        linked: the next event is called linked, shape ``(n,)``.
        rates: rate of each domain without the followers, events per unit of exposure,
            shape ``(d,)``.
        shape: how alike the domains are (see `ShrunkRates.shape`).
    """

    after: NDArray[np.int64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    linked: NDArray[np.bool_]
    rates: NDArray[np.float64]
    shape: float


def find_links(
    domain: ArrayLike,
    clock: ArrayLike,
    exposure: ArrayLike,
    slack: ArrayLike = 0.0,
    q: float = FALSE_DISCOVERY,
    levels: int = 1,
) -> Links:
    """Test every event against the next one of its domain, at a stated false discovery rate.

    If events of a domain strike independently at a constant rate per exposure, the gap to the next
    is exponential and ``1 - exp(-rate gap)`` is a valid p value, independent over events. An event
    without a next one gets p = 1, and still counts among the tests. The rate of each domain is
    estimated without the events already called followers, `REESTIMATES` times.

    Args:
        domain: number of each event's domain, from 0, shape ``(n,)``; n may be 0.
        clock: exposure that the domain had gone through when it struck, any unit, shape ``(n,)``.
        exposure: exposure of each domain, those without an event included, shape ``(d,)``.
        slack: by how much the gap may be longer than it seems, in the same unit, one number or
            shape ``(n,)``: the resolution of the stamps and the bounds of the moment. Gaps are
            taken at their longest, which can only hide a link; a gap of zero thus has a p above 0.
        q: false discovery rate over all levels.
        levels: kinds of domain that are tested beside each other; each gets ``q/levels``.

    Raises:
        ValueError: an exposure is not positive, shapes differ, or a domain does not exist.

    Source: gaps of a Poisson process; shrunk rates as in `shrunk_rates`; Benjamini and Hochberg
    1995 over all events.
    """
    d = np.asarray(domain, dtype=np.int64).ravel()
    t = np.asarray(clock, dtype=np.float64).ravel()
    e = np.asarray(exposure, dtype=np.float64).ravel()
    if d.size != t.size or (d.size and not (int(d.min()) >= 0 and int(d.max()) < e.size)):
        raise ValueError("every event needs a clock reading and a domain that exists")
    after, gap = _forward(d, t, np.broadcast_to(np.asarray(slack, dtype=np.float64), t.shape))
    linked = np.zeros(d.size, dtype=np.bool_)
    rates = shrunk_rates(np.bincount(d, minlength=e.size), e)
    p = qs = np.ones(d.size)
    for _ in range(REESTIMATES + 1):
        p = np.where(after >= 0, -np.expm1(-rates.rates[d] * gap), 1.0)
        qs = np.minimum(q_values(p) * levels, 1.0)
        found = (qs <= q) & (after >= 0)
        if (found == linked).all():
            break
        linked = found
        alone = np.ones(d.size, dtype=np.bool_)
        alone[after[linked]] = False
        rates = shrunk_rates(np.bincount(d[alone], minlength=e.size), e)
    return Links(after, p, qs, linked, rates.rates, rates.shape)


def _forward(
    d: NDArray[np.int64], t: NDArray[np.float64], slack: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the next event of the same domain and the longest possible gap to it."""
    order = np.lexsort((np.arange(d.size), t, d))
    after = np.full(d.size, -1, dtype=np.int64)
    gap = np.full(d.size, np.inf)
    here, then = order[:-1], order[1:]
    same = d[here] == d[then]
    here, then = here[same], then[same]
    after[here] = then
    gap[here] = t[then] - t[here] + slack[here] + slack[then]
    return after, gap
