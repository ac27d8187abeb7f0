"""Whether a run failed again at the step where it had failed before: a fault of the program."""

from __future__ import annotations

import math


def same_step_p(rate: float, first_u: float, second_u: float, resolution: float) -> float:
    """Give the chance that an unrelated failure strikes as near to the same step.

    After the run came back, the step where it had failed lies ``first_u`` ahead on its up-time
    clock; the next failure struck at ``second_u``. If it had nothing to do with that step, its
    moment is exponential.

    Args:
        rate: failures of the run per unit of up-time.
        first_u: up-time from the return to the step of the failure before.
        second_u: up-time from the return to the new failure.
        resolution: how far apart two moments may seem that are one (steps between log lines).

    Raises:
        ValueError: a number is negative or not finite.

    Source: the probability that an exponential variable lies within d of a point, d the distance
    seen; uniform under the null but for the resolution, which makes it larger.

    >>> round(same_step_p(1e-5, 3000.0, 3010.0, 10.0), 6)
    0.000194
    """
    numbers = (rate, first_u, second_u, resolution)
    if not all(math.isfinite(x) and x >= 0.0 for x in numbers):
        raise ValueError("rate, moments and resolution must be 0 or more and finite")
    distance = max(abs(second_u - first_u), resolution)
    low, high = max(0.0, first_u - distance), first_u + distance
    return math.exp(-rate * low) - math.exp(-rate * high)


def burst_p(expected: float, further: int) -> float:
    """Give the chance of so many further events where a number is expected.

    Args:
        expected: mean of the Poisson number of further events.
        further: how many came.

    Raises:
        ValueError: the mean is negative or not finite, or the count is negative.

    >>> round(burst_p(0.03, 1), 6), burst_p(0.03, 0)
    (0.029554, 1.0)
    """
    if not (math.isfinite(expected) and expected >= 0.0 and further >= 0):
        raise ValueError("the mean must be 0 or more and finite, the count 0 or more")
    if further == 0:
        return 1.0
    if further > expected + 8.0 * math.sqrt(expected) + 40.0:
        return 0.0
    if further < expected:  # the lower sum is short and not small
        term = below = math.exp(-expected)
        for k in range(1, further):
            term *= expected / k
            below += term
        return max(0.0, 1.0 - below)
    # the tail is summed from its first term, so that small chances keep their digits
    if expected == 0.0:
        return 0.0
    term = math.exp(further * math.log(expected) - expected - math.lgamma(further + 1))
    total, k = 0.0, further
    while term > 1e-18 * (total or 1e-300) and k < further + 1000:
        total += term
        k += 1
        term *= expected / k
    return min(1.0, total)
