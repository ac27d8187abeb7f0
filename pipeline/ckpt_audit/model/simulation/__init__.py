"""Simulation of interval policies: for what no closed form covers, and for whole distributions.

`simulate` is the one entry: it takes a `Scenario` (work, laws of up-time, C, D and R, and what else
can happen) and some `Policy` values, and gives a `Simulation` with every run's seconds by bucket.
All times are seconds. Nothing here reads a file, a clock or the environment.
"""

from ckpt_audit.model.simulation.laws import (
    Constant,
    Exponential,
    Law,
    Lognormal,
    Measured,
    Weibull,
    parse_law,
    shifted,
    up_times,
)
from ckpt_audit.model.simulation.policies import Policy
from ckpt_audit.model.simulation.results import (
    BUCKETS,
    Estimate,
    PolicyResult,
    Quantile,
    Runs,
    Simulation,
)
from ckpt_audit.model.simulation.run import give_up_after, simulate
from ckpt_audit.model.simulation.scenario import (
    Cascade,
    Drain,
    FailureClass,
    Scenario,
    Spares,
)

__all__ = [
    "BUCKETS",
    "Cascade",
    "Constant",
    "Drain",
    "Estimate",
    "Exponential",
    "FailureClass",
    "Law",
    "Lognormal",
    "Measured",
    "Policy",
    "PolicyResult",
    "Quantile",
    "Runs",
    "Scenario",
    "Simulation",
    "Spares",
    "Weibull",
    "give_up_after",
    "parse_law",
    "shifted",
    "simulate",
    "up_times",
]
