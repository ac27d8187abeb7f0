"""Which time zone the naive stamps of each source are in, and sources that contradict each other.

The order: given on the command line or in the configuration, proved by a pair of clocks, else
that of the machine that read the source first, which is an assumption.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ckpt_audit.job_spans import JobSpans, utc_jobs
from ckpt_audit.units import S_PER_MIN, US_PER_H, US_PER_S
from ckpt_audit.warehouse import Warehouse
from ckpt_audit.zones import (
    I64,
    MAX_OFFSET_US,
    NO_TIME,
    QUARTER_US,
    localise,
    offset_name,
    paired_clocks,
    proved_zone,
    readings_of,
    zone,
)

ZoneFor = Callable[[str, str], tuple[str, str] | None]

BEFORE_US = S_PER_MIN * US_PER_S  # a log may begin this much before its job
LEAST_SHIFT_US = US_PER_H // 2  # less comes from records of a requeued job that lack the first
AFTER_US = 10 * S_PER_MIN * US_PER_S  # and end this much after it

_SOURCES = """
WITH stamp AS (
    SELECT source_id, clock_kind, clock_us AS low_us, clock_us AS high_us, 1 AS is_line
    FROM raw_step
    UNION ALL
    SELECT source_id, clock_kind, clock_us, clock_us, 1
    FROM raw_event
    UNION ALL
    SELECT
        source_id,
        clock_kind,
        least(submit_us, eligible_us, start_us, end_us),
        greatest(submit_us, eligible_us, start_us, end_us),
        0
    FROM raw_job
    UNION ALL
    SELECT source_id, clock_kind, coalesce(start_us, end_us), coalesce(end_us, start_us), 0
    FROM raw_node
),

stamped AS (
    SELECT
        source_id,
        count(*) AS n_rows,
        count(low_us) FILTER (WHERE clock_kind = 'naive') AS n_naive,
        count(low_us) FILTER (WHERE clock_kind = 'utc') AS n_utc,
        count(low_us) FILTER (WHERE clock_kind = 'no_year') AS n_no_year,
        count(low_us) FILTER (WHERE is_line = 1 AND clock_kind IN ('naive', 'utc'))
            AS n_dated_lines,
        min(low_us) FILTER (WHERE is_line = 1 AND clock_kind = 'naive') AS naive_low_us,
        max(high_us) FILTER (WHERE is_line = 1 AND clock_kind = 'naive') AS naive_high_us,
        min(low_us) FILTER (WHERE clock_kind IN ('naive', 'utc')) AS low_us,
        max(high_us) FILTER (WHERE clock_kind IN ('naive', 'utc')) AS high_us
    FROM stamp
    GROUP BY source_id
)

SELECT
    source.source_id,
    source.path,
    source.format,
    source.content_sha256,
    source.tz_given,
    source.tz_given_origin,
    source.name_refs,
    source.machine_tz,
    coalesce(stamped.n_rows, 0),
    coalesce(stamped.n_naive, 0),
    coalesce(stamped.n_utc, 0),
    coalesce(stamped.n_no_year, 0),
    coalesce(stamped.n_dated_lines, 0),
    stamped.naive_low_us,
    stamped.naive_high_us,
    stamped.low_us,
    stamped.high_us
FROM source
LEFT JOIN stamped ON source.source_id = stamped.source_id
ORDER BY source.source_id
"""


@dataclass(frozen=True, slots=True)
class Stamps:
    """What is known of one source before it is dated.

    Attributes:
        source_id, path, format, content_sha256: As in the table of sources.
        tz_given, tz_given_origin: Zone given for this source, and by what.
        name_refs: Job ids in its name, best first.
        machine_tz: Zone of the machine that read it first, where that is known.
        n_rows: Raw rows with or without a stamp.
        n_naive, n_utc, n_no_year: Stamps of each kind.
        n_dated_lines: Log lines with a naive or UTC stamp.
        naive_low_us, naive_high_us: First and last naive reading of log lines.
        low_us, high_us: First and last naive or UTC reading of anything.
    """

    source_id: int
    path: str
    format: str
    content_sha256: str
    tz_given: str | None
    tz_given_origin: str | None
    name_refs: tuple[str, ...]
    machine_tz: str | None
    n_rows: int
    n_naive: int
    n_utc: int
    n_no_year: int
    n_dated_lines: int
    naive_low_us: int | None
    naive_high_us: int | None
    low_us: int | None
    high_us: int | None


@dataclass(frozen=True, slots=True)
class ZoneChoice:
    """The zone of a source.

    Attributes:
        source_id, path: The source.
        tz: Name of the zone.
        origin: ``flag``, ``config``, ``proved``, ``machine`` or ``utc`` (needs none).
        is_assumed: Nothing but the zone of the machine that read it speaks for it.
        note: Why, for a person.
    """

    source_id: int
    path: str
    tz: str
    origin: str
    is_assumed: bool
    note: str


@dataclass(frozen=True, slots=True)
class ZoneConflict:
    """Two clocks that contradict each other by whole quarters of an hour.

    Attributes:
        source_id, path: The source whose stamps do not fit.
        shift_us: What would have to be added to its instants to make them fit.
        text: What is wrong and what to do.
    """

    source_id: int
    path: str
    shift_us: int
    text: str


def read_stamps(warehouse: Warehouse) -> list[Stamps]:
    """Summarises the stamps of every source, in the order of their numbers."""
    return [
        Stamps(*row[:6], tuple(row[6] or ()), *row[7:])  # type: ignore[call-arg]
        for row in warehouse.rows(_SOURCES)
    ]


class ZoneChooser:
    """Chooses the zone of each source.

    Args:
        warehouse: Where the raw rows are.
        machine_zone: Name of this machine's zone, for sources that were kept without one.
        zone_for: Gives the configured zone of a path and format, and the word for its origin.
        refs: Job ids of job logs.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        machine_zone: str,
        zone_for: ZoneFor,
        refs: dict[int, tuple[str, ...]],
    ) -> None:
        zone(machine_zone)
        self.warehouse, self.machine_zone, self.zone_for = warehouse, machine_zone, zone_for
        self.refs = refs
        self.jobs = utc_jobs(warehouse)
        self.conflicts: list[ZoneConflict] = []

    def choose(self, source: Stamps) -> ZoneChoice:
        """The zone of one source; a given zone that a pair of clocks refutes is a conflict."""
        if not source.n_naive and not source.n_no_year:
            return ZoneChoice(source.source_id, source.path, "UTC", "utc", False, "needs no zone")
        tz, origin = self._given(source)
        machine = source.machine_tz or self.machine_zone
        naive, utc = self._pairs(source)
        proved = proved_zone(naive, utc, tz or machine)
        if tz is not None:
            if proved is not None and proved != tz:
                self._refute(source, tz, proved, utc)
            note = "given with --tz" if origin == "flag" else "from the configuration"
            return ZoneChoice(source.source_id, source.path, tz, origin, False, note)
        note = "lines of the same moment in it print UTC"
        if proved is None:
            proved = self._by_job(source, machine)
            note = "its scheduler record is in UTC"
        if proved is not None:
            return ZoneChoice(source.source_id, source.path, proved, "proved", False, note)
        return ZoneChoice(
            source.source_id,
            source.path,
            machine,
            "machine",
            True,
            "assumed: the zone of the machine that read it; give the right one with --tz",
        )

    def _given(self, source: Stamps) -> tuple[str | None, str]:
        given: tuple[str, str] | None = None
        if source.tz_given is not None:
            given = (source.tz_given, source.tz_given_origin or "flag")
        else:
            given = self.zone_for(source.path, source.format)
        if given is None:
            return None, ""
        zone(given[0])
        return given

    def _pairs(self, source: Stamps) -> tuple[I64, I64]:
        if not source.n_naive or not source.n_utc:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing
        frame = self.warehouse.fetch_df(
            "SELECT clock_kind = 'utc' AS is_utc, clock_us FROM ("
            "SELECT source_id, line_no, clock_kind, clock_us FROM raw_step UNION ALL "
            "SELECT source_id, line_no, clock_kind, clock_us FROM raw_event) AS line "
            "WHERE source_id = $source_id AND clock_kind IN ('naive', 'utc') "
            "AND clock_us IS NOT NULL ORDER BY line_no, is_utc",
            {"source_id": source.source_id},
        )
        clock = frame["clock_us"].to_numpy(dtype=np.int64)
        is_utc = frame["is_utc"].to_numpy(dtype=np.bool_)
        return paired_clocks(np.where(is_utc, NO_TIME, clock), np.where(is_utc, clock, NO_TIME))

    def _refute(self, source: Stamps, tz: str, proved: str, utc: I64) -> None:
        moment = utc[:1]
        shift = int((readings_of(moment, tz) - readings_of(moment, proved))[0])
        if shift:
            text = (
                f"its zone is said to be {tz}, but lines of the same moment in it print UTC and "
                f"{proved} ({hours(shift)} more); correct the zone"
            )
            self.conflicts.append(ZoneConflict(source.source_id, source.path, shift, text))

    def _by_job(self, source: Stamps, machine: str) -> str | None:
        """The zone that alone puts a log inside its job, whose record is in UTC."""
        spans = self.jobs.find(self.refs.get(source.source_id, ()))
        low, high = source.naive_low_us, source.naive_high_us
        if not spans or low is None or high is None or any(span.end_us is None for span in spans):
            return None
        start = min(span.start_us for span in spans)
        end = max(span.end_us or 0 for span in spans)
        fitting = [
            offset
            for offset in range(-MAX_OFFSET_US, MAX_OFFSET_US + 1, QUARTER_US)
            if low - offset >= start - BEFORE_US and high - offset <= end + AFTER_US
        ]
        if len(fitting) != 1:
            return None
        moment = np.array([low], dtype=np.int64)
        here = int(low - localise(moment, machine).early[0])
        return machine if here == fitting[0] else offset_name(fitting[0])


def hours(shift_us: int) -> str:
    """A shift for people.

    >>> hours(-7_200_000_000), hours(20_700_000_000)
    ('-2 h', '+5.75 h')
    """
    return f"{shift_us / US_PER_H:+g} h"


def job_conflicts(
    spans: dict[int, tuple[int, int]],
    jobs: JobSpans,
    refs: dict[int, tuple[str, ...]],
    choices: dict[int, ZoneChoice],
) -> list[ZoneConflict]:
    """Logs that lie outside their job and would lie inside after a shift of the clock.

    Args:
        spans: First and last stated instant of each source.
        jobs: Dated jobs.
        refs: Job ids of job logs.
        choices: Zones of the sources.
    """
    conflicts: list[ZoneConflict] = []
    for source_id, (low, high) in sorted(spans.items()):
        found = jobs.find(refs.get(source_id, ()))
        if not found or any(span.end_us is None for span in found):
            continue
        start = min(span.start_us for span in found) - BEFORE_US
        end = max(span.end_us or 0 for span in found) + AFTER_US
        log, record = choices[source_id], choices[found[0].source_id]
        if (low >= start and high <= end) or log.origin == record.origin == "utc":
            continue
        n = MAX_OFFSET_US // QUARTER_US
        shifts = [k * QUARTER_US for k in sorted(range(-n, n + 1), key=lambda k: (abs(k), k))]
        shifts = [shift for shift in shifts if abs(shift) >= LEAST_SHIFT_US]
        fitting = [s for s in shifts if low + s >= start and high + s <= end]
        if fitting:
            text = (
                f"its stamps ({log.tz}) lie outside job {found[0].job_id} of {record.path} "
                f"({record.tz}) and would lie inside if shifted by {hours(fitting[0])}: "
                "one of the two zones is wrong (give the right one with --tz), or the dump lacks "
                "earlier records of the job"
            )
            conflicts.append(ZoneConflict(source_id, log.path, fitting[0], text))
    return conflicts
