"""Sums over one run that several sections share, each computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ckpt_audit.audit.data import LedgerLine, Population, ReportData, RunReport
from ckpt_audit.facts import Incident
from ckpt_audit.report.numbers import plural, slug
from ckpt_audit.report.words import EVENTS, ORDER, event_label
from ckpt_audit.units import US_PER_H

FEW = 5


@dataclass(frozen=True)
class Context:
    """One run of one report, with its sums.

    Attributes:
        data: The whole report.
        one: The run.
    """

    data: ReportData
    one: RunReport

    @cached_property
    def slug(self) -> str:
        """Part of every anchor of this run."""
        return slug(self.one.run.run)

    def anchor(self, section: str) -> str:
        """Anchor of a section of this run."""
        return f"{section}-{self.slug}"

    @cached_property
    def lines(self) -> tuple[LedgerLine, ...]:
        """Ledger in the order of the glossary; buckets that are not known come last."""
        place = {name: at for at, name in enumerate(ORDER)}
        return tuple(sorted(self.one.ledger, key=lambda x: (place.get(x.bucket, 99), x.bucket)))

    @cached_property
    def allocated_us(self) -> int:
        """All allocated microseconds of the window."""
        return sum(line.observed_us for line in self.one.ledger)

    @cached_property
    def allocated_acc_us(self) -> int:
        """The same in accelerator-microseconds; 0 where their number is not known."""
        return sum(line.observed_acc_us for line in self.one.ledger)

    def bucket_us(self, bucket: str) -> int:
        """Microseconds in a bucket."""
        return sum(line.observed_us for line in self.one.ledger if line.bucket == bucket)

    def bucket_acc_us(self, bucket: str) -> int:
        """Accelerator-microseconds in a bucket."""
        return sum(line.observed_acc_us for line in self.one.ledger if line.bucket == bucket)

    @property
    def lost_us(self) -> int:
        """Allocated microseconds that did not go into new steps."""
        return self.allocated_us - self.bucket_us("productive")

    @property
    def lost_acc_us(self) -> int:
        """The same in accelerator-microseconds."""
        return self.allocated_acc_us - self.bucket_acc_us("productive")

    @cached_property
    def moved_us(self) -> int:
        """Microseconds that could belong to another bucket: what one loses another one gains."""
        unsure = sum(line.could_move_us for line in self.lines if line.bucket != "unknown")
        return unsure // 2 + self.bucket_us("unknown")

    @cached_property
    def calendar_us(self) -> int:
        """Calendar microseconds of the run in the window."""
        return sum(row.observed_us for row in self.one.calendar)

    @cached_property
    def incidents(self) -> tuple[Incident, ...]:
        """Incidents that count, in the order in which they struck; unknown moments last."""
        return tuple(i for i in self.listed if not i.excluded)

    @cached_property
    def listed(self) -> tuple[Incident, ...]:
        """The same with those that a person excluded: listed, and in no figure."""
        return tuple(sorted(self.one.incidents, key=lambda i: (_moment(i), i.id)))

    @cached_property
    def failures(self) -> tuple[Incident, ...]:
        """Incidents that are failures."""
        return tuple(i for i in self.incidents if i.kind == "failure")

    @cached_property
    def events(self) -> tuple[Incident, ...]:
        """Incidents that are events of M: failures, and ends of which nothing says how."""
        return tuple(i for i in self.incidents if i.kind in EVENTS)

    @property
    def unknown_ends(self) -> int:
        """How many of the events are ends of which nothing says how."""
        return len(self.events) - len(self.failures)

    def event_label(self, count: int | None = None) -> str:
        """Name of the events, for as many as there are or for another number of them."""
        failures, unknown = len(self.failures), self.unknown_ends
        if count is None:
            return event_label(failures, unknown)
        if failures and unknown:
            return event_label(1, 1)
        return event_label(0, count) if unknown else event_label(count, 0)

    @property
    def events_text(self) -> str:
        """The events and their number."""
        return plural(len(self.events), self.event_label(1), self.event_label(2))

    @property
    def away(self) -> Incident | None:
        """The incident that the run has not come back from, or None."""
        last = self.listed[-1] if self.listed else None
        return last if last is not None and last.first_step_at is None else None

    def label(self, incident: Incident) -> str:
        """Isolated, correlated, cascade, or not tested."""
        found = self.one.correlations.get(incident.id)
        return found.label if found else "not tested"

    def population(self, name: str) -> Population | None:
        """M of one population, or None."""
        return next((p for p in self.one.estimate.populations if p.population == name), None)

    def capacity(self, acc_us: float) -> float | None:
        """Worth of accelerator-microseconds, or None without a price or their number."""
        price = self.one.price_per_acc_h
        if price is None or not self.allocated_acc_us:
            return None
        return acc_us / US_PER_H * price

    @property
    def end_us(self) -> int:
        """End of what is known of the window."""
        return max(self.data.window.start_at, min(self.data.as_of, self.data.window.end_at))


def _moment(incident: Incident) -> int:
    for at in (incident.fault_at, incident.last_step_at, incident.detected_at):
        if at is not None:
            return at
    return 2**62
