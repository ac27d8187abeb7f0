"""``ckpt-audit simulate``: interval policies, tried out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, Month, RunNames, Since, Until, add_command
from ckpt_audit.cli.session import Session, split_list
from ckpt_audit.cli.simulate_options import MEASURED, Given, policies_of, scenario_of, seconds
from ckpt_audit.cli.simulate_text import text
from ckpt_audit.errors import UsageError
from ckpt_audit.units import S_PER_MIN, format_duration

if TYPE_CHECKING:
    from ckpt_audit.audit.samples import MeasuredLaws
    from ckpt_audit.documents import Json

MOST_RUNS = 1_000_000  # what they did fits into memory
INTERVALS_MIN = (10.0, 20.0, 40.0, 60.0, 120.0)


def _option(name: str, metavar: str, text: str, **more: Any) -> Any:
    return typer.Option(name, metavar=metavar, help=text, show_default=False, **more)


Text = str | None
Texts = list[str] | None
C = Annotated[Text, _option("--c", "DURATION", "Mean pause of a save.")]
M = Annotated[
    Text, _option("--m", "DURATION", "Mean up-time between incidents; never: no failures.")
]
D = Annotated[Text, _option("--d", "DURATION", "Mean time from a fault to its detection.")]
R = Annotated[Text, _option("--r", "DURATION", "Mean time from detection to the first step.")]
Work = Annotated[str, _option("--work", "DURATION", "Useful training until the run is done.")]
Intervals = Annotated[
    Texts,
    _option(
        "--interval", "DURATIONS", "Intervals to try, such as 5m,19m. [default: 10m to 120m, five]"
    ),
]
UpLaw = Annotated[
    str,
    _option(
        "--law",
        "LAW",
        "Law of up-times: exponential, constant, weibull:SHAPE, lognormal:SIGMA, or measured: "
        "from the warehouse, as all that is not given. [default: exponential]",
    ),
]
CLaw = Annotated[str, _option("--c-law", "LAW", "Law of C, as --law. [default: constant]")]
DLaw = Annotated[str, _option("--d-law", "LAW", "Law of D, as --law. [default: constant]")]
RLaw = Annotated[str, _option("--r-law", "LAW", "Law of R, as --law. [default: constant]")]
ByAge = Annotated[
    Texts,
    _option(
        "--by-age",
        "AGE:DURATION,...",
        "A policy whose interval changes with age, such as 0:10m,6h:30m; may be given again.",
    ),
]
Age = Annotated[
    str,
    _option("--age", "CLOCK", "Age is time since the restart or of the run. [default: restart]"),
]
Tier = Annotated[
    Texts,
    _option(
        "--tier",
        "DURATION:N",
        "Every N-th save goes to a further tier as well, which adds this; may be given again.",
    ),
]
Failures = Annotated[
    Texts,
    _option(
        "--failures",
        "SHARE:NODES[:TIER[:R]]",
        "Share of failures that take so many nodes, need a save of that tier (0: any) and have "
        "an R of their own; may be given again.",
    ),
]
SpareNodes = Annotated[
    int | None,
    _option("--spares", "N", "Nodes that stand by; 0: none. [default: always one]", min=0),
]
Repair = Annotated[
    Text, _option("--repair", "DURATION", "Until a failed node is a spare: goes with --spares.")
]
Mode = Annotated[str, _option("--mode", "MODE", "Saves are blocking or async. [default: blocking]")]
DrainSteps = Annotated[
    float | None, _option("--drain-steps", "N", "Steps that a drain lasts for.", min=0.0)
]
Step = Annotated[Text, _option("--step", "DURATION", "Time of a healthy step.")]
Tax = Annotated[
    float | None,
    _option("--tax", "FRACTION", "A step beside a drain takes 1 + this times as long.", min=0.0),
]
DrainRule = Annotated[
    Text,
    _option(
        "--drain-rule",
        "RULE",
        "Where the interval is shorter than a drain: serial, overlap or shrink. [default: serial]",
    ),
]
Lag = Annotated[
    str, _option("--lag", "DURATION", "From a save's end until it can be restored. [default: 0]")
]
CascadeOf = Annotated[
    Text,
    _option(
        "--cascade",
        "P:DURATION[:failure]",
        "Probability that a second failure follows within this time of the restart (or of the "
        "failure), such as 0.1:10m.",
    ),
]
Invalid = Annotated[
    float, _option("--invalid", "P", "Probability that a save will not load. [default: 0]")
]
Retry = Annotated[
    str, _option("--retry", "DURATION", "What trying such a save costs. [default: 0]")
]
Where = Annotated[
    str,
    _option(
        "--recovery-failures",
        "WHERE",
        "Where failures strike besides up-time: none, restore or all. [default: none]",
    ),
]
Deadline = Annotated[
    Text, _option("--deadline", "DURATION", "Show the probability of being done by then.")
]
NumberOfRuns = Annotated[
    int, _option("--runs", "N", "How often the work is done. [default: 1000]", min=1, max=MOST_RUNS)
]
Seed = Annotated[int, _option("--seed", "N", "Of all random numbers. [default: 1]", min=0)]
Workers = Annotated[
    int | None, _option("--workers", "N", "Processes. [default: one a core]", min=1)
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        simulate,
        name="simulate",
        examples=[
            "ckpt-audit simulate --c 1m --m 3h --r 10m --work 500h --interval 2m,5m,19m",
            "ckpt-audit simulate --c 1m --m 3h --work 30d --cascade 0.1:10m --deadline 40d --json",
            "ckpt-audit simulate --mode async --c 1s --m 3h --drain-steps 30 --step 7s --work 30d",
            "ckpt-audit simulate --law measured --month 2026-05 --run llama-70b --work 30d",
        ],
    )


def simulate(
    session: Session,
    work: Work,
    c: C = None,
    m: M = None,
    d: D = None,
    r: R = None,
    interval: Intervals = None,
    law: UpLaw = "exponential",
    c_law: CLaw = "constant",
    d_law: DLaw = "constant",
    r_law: RLaw = "constant",
    by_age: ByAge = None,
    age: Age = "restart",
    tier: Tier = None,
    failures: Failures = None,
    spares: SpareNodes = None,
    repair: Repair = None,
    mode: Mode = "blocking",
    drain_steps: DrainSteps = None,
    step: Step = None,
    tax: Tax = None,
    drain_rule: DrainRule = None,
    lag: Lag = "0",
    cascade: CascadeOf = None,
    invalid: Invalid = 0.0,
    retry: Retry = "0",
    recovery_failures: Where = "none",
    deadline: Deadline = None,
    n_runs: NumberOfRuns = 1000,
    seed: Seed = 1,
    workers: Workers = None,
    month: Month = None,
    since: Since = None,
    until: Until = None,
    run: RunNames = None,
    as_json: AsJson = False,
) -> None:
    """Simulates a run under interval policies, all against the same failures.

    For what no formula covers: other laws, cascades, unusable saves, drains, tiers, spares; and
    for how sure a date is.
    """
    given = Given(
        c=c, m=m, d=d, r=r, work=work, law=law, c_law=c_law, d_law=d_law, r_law=r_law,
        interval=split_list(interval), by_age=by_age or (), age=age, tier=tier or (),
        failures=failures or (), spares=spares, repair=repair, mode=mode,
        drain_steps=drain_steps, step=step, tax=tax, drain_rule=drain_rule, lag=lag,
        cascade=cascade, invalid=invalid, retry=retry, recovery_failures=recovery_failures,
    )  # fmt: skip
    window = (month, since, until)
    if not given.needs_data and (any(window) or run):
        raise UsageError("--month, --since, --until and --run go with a measured law")
    measured = _measured(session, window, run) if given.needs_data else None
    document = _document(session, given, measured, deadline, n_runs, seed, workers or _cores())
    if as_json:
        from ckpt_audit.documents import dumps

        session.out(dumps(document))
    else:
        session.out(text(document))


def _measured(
    session: Session, window: tuple[str | None, str | None, str | None], runs: list[str] | None
) -> MeasuredLaws:
    """The laws of the one run that is meant."""
    from ckpt_audit.audit.samples import measured_laws

    with session.settled_warehouse() as warehouse:
        chosen = workflow.choose_window(warehouse, session.config, session.now, *window)
        data = workflow.load_report_data(warehouse, session.config, chosen, runs)
    if len(data.runs) != 1:
        names = ", ".join(run.run.run for run in data.runs) or "none"
        raise UsageError(f"a measured law is of one run: say --run (in this window: {names})")
    return measured_laws(data.runs[0])


def _document(
    session: Session,
    given: Given,
    measured: MeasuredLaws | None,
    deadline: str | None,
    runs: int,
    seed: int,
    workers: int,
) -> Json:
    """Simulates, and gives the document."""
    from ckpt_audit.documents.simulation import simulate_document
    from ckpt_audit.model import simulation

    scenario, laws = scenario_of(given, measured)
    policies = policies_of(given, [minutes * S_PER_MIN for minutes in INTERVALS_MIN])
    deadline_s = None if deadline is None else seconds("--deadline", deadline)
    horizon_s = max(simulation.give_up_after(scenario), deadline_s or 0.0)
    notes = list(_warned(scenario, policies, deadline_s))
    if laws["up"] == MEASURED and measured is not None:
        notes.append(_uncertain(measured.n_failures))
    with _progress(session) as tell:
        try:
            found = simulation.simulate(
                scenario,
                policies,
                runs=runs,
                seed=seed,
                workers=workers,
                horizon_s=horizon_s,
                tell=tell,
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
    return simulate_document(
        found,
        laws=laws,
        mode=given.mode,
        deadline_s=deadline_s,
        horizon_s=horizon_s,
        notes=notes,
    )


def _warned(scenario: Any, policies: list[Any], deadline_s: float | None) -> Iterator[str]:
    """What stands out before anything is simulated."""
    if scenario.saves[0].mean > scenario.up.mean:
        yield "a save takes longer than the mean up-time: little training is kept at any interval"
    if deadline_s is not None and deadline_s < scenario.work_s:
        yield "the deadline is shorter than the work alone: no policy can meet it"
    for at, policy in enumerate(policies):
        if any(scenario.interval(used) != used for used in policy.intervals_s):
            yield (
                f"row {at + 1}: the interval is shorter than a drain, and one drain runs at a "
                f"time: {format_duration(scenario.interval(policy.shortest_s))} is used"
            )


def _uncertain(n_failures: int) -> str:
    """What error bars do not say of measured up-times."""
    return (
        f"up-times were measured by {n_failures} failures: chance alone moves their mean by "
        f"{n_failures**-0.5:.0%}, and the error bars do not contain that"
    )


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _progress(session: Session) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr where someone watches."""
    if not session.shows_progress:
        yield None
        return
    with typer.progressbar(length=1, label="simulating", file=sys.stderr, width=30) as bar:

        def tell(n_done: int, n_all: int) -> None:
            bar.length = n_all
            bar.update(n_done - bar.pos)

        yield tell
