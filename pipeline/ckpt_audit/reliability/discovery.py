"""Many tests at once: which p values to believe when most of them must be chance.

The false discovery rate is the expected share of chance among what is called found.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

FALSE_DISCOVERY: Final = 0.10  # of all that is called linked or suspect, so much may be chance


def q_values(p: ArrayLike) -> NDArray[np.float64]:
    """Give the smallest false discovery rate at which each test would be called found.

    Tests whose q value is at most q are found at a false discovery rate of q, for independent
    tests, and for positively dependent ones. A test that could not find anything has p = 1 and
    must be given too: leaving it out is what breaks the promise.

    Args:
        p: p values, shape ``(n,)``; n may be 0.

    Returns:
        q values, shape ``(n,)``, each at least its p.

    Raises:
        ValueError: a p value is not between 0 and 1.

    Source: Benjamini and Hochberg 1995 (J. R. Statist. Soc. B 57(1)); Yekutieli and Benjamini 1999
    for the adjusted values.

    >>> q_values([0.01, 0.04, 0.03, 0.9]).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.9]
    """
    values = np.asarray(p, dtype=np.float64).ravel()
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("p values lie between 0 and 1")
    n = values.size
    order = np.argsort(values, kind="stable")
    scaled = values[order] * n / np.arange(1, n + 1)
    found = np.empty(n)
    found[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return found
