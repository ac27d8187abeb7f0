"""Puts one report together: facts from the warehouse, estimates, predictions, advice."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from ckpt_audit import __version__, queries
from ckpt_audit.audit.advice import IntervalAdvice, recommend_interval
from ckpt_audit.audit.assumptions import Assumption
from ckpt_audit.audit.correlation import Findings, History, correlate
from ckpt_audit.audit.cost_laws import cost_laws
from ckpt_audit.audit.data import ReportData, RunEstimate, RunReport
from ckpt_audit.audit.domains import Domains
from ckpt_audit.audit.estimate import Observed, estimate, is_event, members
from ckpt_audit.audit.fleet import fleet_of
from ckpt_audit.audit.forecast import Side, compare, forecasts, lines
from ckpt_audit.audit.node_life import early_by_node
from ckpt_audit.audit.past import Past
from ckpt_audit.audit.process import Process, process_of
from ckpt_audit.audit.suspects import KindOfPart, suspects_of
from ckpt_audit.config import Config
from ckpt_audit.facts import Incident, Run, SaveCadence, Window
from ckpt_audit.queries.base import FOREVER
from ckpt_audit.reliability.rate import MeanTime
from ckpt_audit.units import S_PER_H, US_PER_S
from ckpt_audit.warehouse import Warehouse


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _mean_time(measured: RunEstimate, population: str) -> MeanTime | None:
    for item in measured.populations:
        if item.population == population:
            return item.mean_time
    return None


def _assumptions(observed: Observed) -> tuple[Assumption, ...]:
    events = members(observed, "all")
    joined = [item for item in events if observed.correlations[item.id].label != "isolated"]
    older = [
        item
        for item in observed.incidents
        if item.resume_step is not None
        and item.verified_step is not None
        and item.resume_step < item.verified_step
        and item.kind == "failure"
        and not item.excluded
    ]
    return (
        Assumption(
            name="independent",
            holds=None if not events else not joined,
            evidence=f"{len(joined)} of {len(events)} failures are correlated or follow another",
        ),
        Assumption(
            name="valid_saves",
            holds=None if not events else not older,
            evidence=f"{len(older)} of {len(events)} failures resumed from an older checkpoint "
            "than the newest verified one",
        ),
    )


def _advice(
    observed: Observed, measured: RunEstimate, cadence: SaveCadence, calendar_h: float
) -> IntervalAdvice:
    mean_time = _mean_time(measured, "interval")
    step_s = cadence.step_s
    random = members(observed, "interval")
    return recommend_interval(
        c_mean_s=measured.c.mean,
        m_used_s=mean_time.m_used_s if mean_time else None,
        m_low_s=mean_time.low_s if mean_time else None,
        m_high_s=mean_time.high_s if mean_time else None,
        configured_s=cadence.configured_s,
        effective_s=cadence.effective_s,
        step_s=step_s,
        d_s=_mean([item.detection_s or 0.0 for item in random]) or 0.0,
        r_s=_mean([item.recovery_s for item in random if item.recovery_s is not None]) or 0.0,
        c_values_s=[save.cost_s for save in observed.counted_saves if save.cost_s is not None],
        n_incidents=mean_time.incidents if mean_time else 0,
        refusal=measured.refusal,
        wall_h=calendar_h,
        assumptions=_assumptions(observed),
    )


class _Facts:
    """Everything that is read once for all runs."""

    def __init__(self, warehouse: Warehouse, window: Window, config: Config) -> None:
        past = Window(FOREVER.start_at, window.end_at, "past")
        self.past_incidents = queries.incidents(warehouse, past)
        self.incidents = [
            item
            for item in self.past_incidents
            if item.fault_at is not None and item.fault_at >= window.start_at
        ]
        self.ledger = queries.ledger(warehouse, window)
        self.calendar = queries.calendar(warehouse, window)
        self.checkpoints = queries.checkpoints(warehouse, window)
        self.up_time = queries.up_time(warehouse, window)
        self.progress = queries.progress(warehouse, window)
        self.states = queries.states(warehouse, window)
        self.cadences = queries.cadences(warehouse, window)
        self.launches = queries.launches(warehouse, window)
        self.newest = queries.newest_verified(warehouse, window.end_at)
        self.charged = queries.charged(warehouse)
        self.epochs = queries.epochs(warehouse, window)
        self.past_epochs = queries.epochs(warehouse, past)
        self.lifetimes = queries.lifetimes(warehouse, window.end_at)
        self.processes = self._processes(config.display_zone)
        self.correlation, self.suspects = self._together(
            warehouse, window.end_at, config.thresholds.correlation_window_s
        )
        self.past = Past(warehouse, window, self.past_epochs, self.correlation.by_incident)

    def observed(self, whose: Run) -> Observed:
        run = whose.run
        own: tuple[Incident, ...] = tuple(item for item in self.incidents if item.run == run)
        return Observed(
            incidents=own,
            correlations={
                item.id: self.correlation.by_incident[item.id]
                for item in own
                if item.id in self.correlation.by_incident
            },
            uptime=tuple(item for item in self.up_time if item.run == run),
            calendar=tuple(item for item in self.calendar if item.run == run),
            checkpoints=tuple(item for item in self.checkpoints if item.run == run),
            launches=self.launches.get(run, (0, 0)),
            n_unrecorded=whose.n_unrecorded,
            n_unlogged=whose.n_unlogged,
            epochs=tuple(item for item in self.epochs if item.run == run),
        )

    def _processes(self, zone: ZoneInfo) -> dict[str, Process | None]:
        """Failures of each run as a process, from its beginning to the end of the window."""
        return {
            run: process_of(
                [item for item in self.lifetimes if item.run == run],
                [item for item in self.past_epochs if item.run == run],
                zone,
            )
            for run in sorted({item.run for item in self.lifetimes})
        }

    def _together(
        self, warehouse: Warehouse, end_at: int, window_s: float
    ) -> tuple[Findings, tuple[KindOfPart, ...]]:
        """Which failures of all runs belong together, and which parts have too many."""
        events = [
            item for item in self.past_incidents if is_event(item) and item.fault_at is not None
        ]
        spans = queries.node_spans(warehouse, end_at)
        self.early_by_node = early_by_node(spans, events)
        domains = Domains(spans, queries.memberships(warehouse))
        runs = {item.run for item in self.past_epochs}
        found = correlate(
            History(
                events=events,
                domains=domains,
                lifetimes=self.lifetimes,
                epochs={run: [e for e in self.past_epochs if e.run == run] for run in runs},
                processes=self.processes,
                step_s={run: one.step_s for run, one in self.cadences.items() if one.step_s},
                line_steps=queries.line_steps(warehouse),
                first_signs=queries.first_signs(warehouse),
                window_s=window_s,
            )
        )
        group_of = {name: group.id for group in found.groups for name in group.incidents}
        return found, suspects_of(events, group_of, domains)


def _run_report(facts: _Facts, run: Run, config: Config, *, with_forecasts: bool) -> RunReport:
    observed = facts.observed(run)
    measured = estimate(observed, facts.processes.get(run.run))
    cadence = facts.cadences[run.run]
    rows = tuple(row for row in facts.ledger if row.run == run.run)
    calendar_h = sum(row.observed_us for row in observed.calendar) / US_PER_S / S_PER_H
    window = Side(observed, measured, cadence, rows)
    base = facts.past.of(run.run) if with_forecasts else None
    parts, reasons = compare(base.side, window) if base else ((), ())
    before = base.side if base else window
    expected = forecasts(before, window, facts.charged) if with_forecasts else {}
    return RunReport(
        run=run,
        incidents=observed.incidents,
        correlations=observed.correlations,
        ledger=lines(rows, expected, config.thresholds, reasons) if rows else (),
        calendar=observed.calendar,
        checkpoints=observed.checkpoints,
        uptime=observed.uptime,
        progress=tuple(item for item in facts.progress if item.run == run.run),
        states=tuple(item for item in facts.states if item.run == run.run),
        cadence=cadence,
        estimate=measured,
        advice=_advice(observed, measured, cadence, calendar_h),
        newest_verified=facts.newest.get(run.run),
        price_per_acc_h=config.price_for(run.run),
        epochs=tuple(item for item in facts.epochs if item.run == run.run),
        parts=parts,
        costs=cost_laws(observed) if with_forecasts else (),
        base_from_at=base.from_at if base else None,
    )


def assemble(
    warehouse: Warehouse,
    window: Window,
    config: Config,
    runs: Sequence[str] | None = None,
    *,
    with_forecasts: bool = True,
) -> ReportData:
    """Everything that a report of a window says.

    Args:
        warehouse: With derived tables.
        window: The month or other stretch.
        config: The configuration.
        runs: Only these runs; None for all that have time or incidents in the window.
        with_forecasts: Say what was expected of the window, too.
    """
    facts = _Facts(warehouse, window, config)
    present = {row.run for row in facts.calendar} | {item.run for item in facts.incidents}
    chosen = [
        run
        for run in queries.runs(warehouse)
        if (run.run in runs if runs is not None else run.run in present)
    ]
    as_of = queries.as_of(warehouse) or window.start_at
    reports = tuple(
        _run_report(facts, run, config, with_forecasts=with_forecasts) for run in chosen
    )
    return ReportData(
        window=window,
        complete=as_of >= window.end_at,
        as_of=as_of,
        version=__version__,
        runs=reports,
        sources=tuple(queries.sources(warehouse)),
        rejected=tuple(queries.rejected(warehouse)),
        findings=tuple(queries.findings(warehouse)),
        settings=config.settings(),
        context_jobs=queries.context_jobs(warehouse),
        fleet=fleet_of({item.run.run: item.estimate.process for item in reports}),
        correlation=facts.correlation if facts.lifetimes else None,
        suspects=facts.suspects,
        early_by_node=facts.early_by_node,
    )
