"""The few sequences of steps that commands share, from new rows to a report's facts.

Everything here imports what it needs when it is called: reading help or configuration must not
cost the seconds that data frames and statistics take to load.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ckpt_audit import __version__
from ckpt_audit.config import Config
from ckpt_audit.errors import NoDataError, UsageError
from ckpt_audit.facts import Run, Window
from ckpt_audit.units import US_PER_DAY
from ckpt_audit.windows import NO_RUN, parse_month, parse_range

if TYPE_CHECKING:
    from ckpt_audit.audit.data import ReportData
    from ckpt_audit.documents import Json
    from ckpt_audit.warehouse import Warehouse

SAMPLE_CONFIG = "ckpt-audit.toml"
RECENT_DAYS = 30

_SPAN = "SELECT min(started_at), max(ended_at), bool_or(is_running) FROM run"
_RECORD = """
    INSERT INTO interval_history
    VALUES ($run, $window_start_at, $window_end_at, $label, $version, $document)
"""
_FORGET = "DELETE FROM interval_history WHERE run = $run AND window_start_at = $window_start_at"
_HISTORY = """
    SELECT run, window_start_at, window_end_at, label, version, document
    FROM interval_history ORDER BY window_start_at, run
"""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What the refresh of a warehouse has to say.

    Attributes:
        assumed: Paths of sources whose time zone is nothing but an assumption, and that zone.
        conflicts: Clocks that contradict each other, as (path, sentence).
        warnings: What the checks over the derived tables found.
    """

    assumed: tuple[tuple[str, str], ...]
    conflicts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def refresh(warehouse: Warehouse, config: Config, machine_zone: str) -> Refreshed:
    """Dates the sources, rebuilds the derived tables, and notes under which configuration.

    Args:
        warehouse: Open for writing.
        config: The configuration.
        machine_zone: IANA zone of naive stamps that nothing else dates, where none was kept.
    """
    from ckpt_audit import dating, stages

    unsettle(warehouse)
    with warehouse.transaction():
        dated = dating.date_sources(warehouse, machine_zone=machine_zone, zone_for=zone_for(config))
        warehouse.execute("DELETE FROM zone_conflict")
        for conflict in dated.conflicts:
            warehouse.execute(
                "INSERT INTO zone_conflict VALUES (?, ?, ?)",
                [conflict.source_id, conflict.shift_us, conflict.text],
            )
    warnings = stages.run(warehouse, config)
    warehouse.execute("INSERT INTO build_signature VALUES ($text)", {"text": signature(config)})
    return Refreshed(
        assumed=tuple((choice.path, choice.tz) for choice in dated.assumed),
        conflicts=tuple((conflict.path, conflict.text) for conflict in dated.conflicts),
        warnings=tuple(warnings),
    )


def zone_for(config: Config) -> Callable[[str, str], tuple[str, str] | None]:
    """How to find the configured zone of a source by its path and format, with its origin."""

    def find(path: str, _format: str) -> tuple[str, str] | None:
        zone = config.source_rule(path).timezone or config.timezone
        return None if zone is None else (zone, "config")

    return find


def signature(config: Config) -> str:
    """What the derived tables depend on besides the rows: versions and parts of the configuration.

    >>> signature(Config()) == signature(Config(timezone="Europe/Berlin"))
    False
    """
    parts = (
        __version__,
        config.timezone,
        config.accelerators_per_node,
        config.verified_grade,
        config.sources,
        sorted(config.runs.items()),
        config.planned_windows,
        config.corrections,
        config.path.name if config.path and config.corrections else None,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def unsettle(warehouse: Warehouse) -> None:
    """Notes that rows are about to change, and with them what is derived from them."""
    warehouse.execute("DELETE FROM build_signature")


def is_settled(warehouse: Warehouse, config: Config) -> bool:
    """Says whether the derived tables are those of the rows and of this configuration."""
    return warehouse.rows("SELECT text FROM build_signature") == [(signature(config),)]


def source_paths(warehouse: Warehouse) -> set[str]:
    """Paths of everything that was read."""
    return {str(path) for (path,) in warehouse.rows("SELECT path FROM source")}


def unread_sources(warehouse: Warehouse) -> list[tuple[str, str]]:
    """Paths of inputs that could not be read when last tried, and why."""
    rows = warehouse.rows("SELECT path, reason FROM unread_source ORDER BY path")
    return [(str(path), str(reason)) for path, reason in rows]


def data_span(warehouse: Warehouse) -> tuple[int, int] | None:
    """First and last instant of any run that the data speak of (UTC microseconds), or None."""
    from ckpt_audit import queries

    first, last, is_running = warehouse.rows(_SPAN)[0]
    if is_running or last is None:
        last = max(last or 0, queries.as_of(warehouse) or 0)
    return None if first is None else (int(first), int(last))


def choose_window(
    warehouse: Warehouse,
    config: Config,
    now: int,
    month: str | None,
    since: str | None = None,
    until: str | None = None,
) -> Window:
    """The window that ``--month``, or ``--since`` and ``--until``, ask for.

    Args:
        warehouse: Where the data are.
        config: The configuration: whose month borders.
        now: The clock, UTC microseconds.
        month: As ``parse_month``; with neither of the others, None means the last month.
        since, until: As ``parse_range``.

    Raises:
        UsageError: Both were given, or a value is no date.
        NoDataError: There are no data.
    """
    span = _span_or_none(warehouse)
    if since is None and until is None:
        return parse_month(month, now, config.display_zone, span)
    if month is not None:
        raise UsageError("give either --month, or --since and --until")
    return parse_range(since, until, config.display_zone, span)


def whole_window(warehouse: Warehouse) -> Window:
    """All time that the data speak of.

    Raises:
        NoDataError: There are no data.
    """
    first, last = _span_or_fail(warehouse)
    return Window(first, last + 1, "all time")


def recent_window(warehouse: Warehouse) -> Window:
    """The newest stretch of data, of ``RECENT_DAYS``.

    Raises:
        NoDataError: There are no data.
    """
    first, last = _span_or_fail(warehouse)
    start = max(first, last - RECENT_DAYS * US_PER_DAY)
    return Window(start, last + 1, f"the last {RECENT_DAYS} days of data")


def _span_or_none(warehouse: Warehouse) -> tuple[int, int] | None:
    """As ``data_span``; an error that says why where there is none since every run is refused."""
    span = data_span(warehouse)
    refused = refused_runs(warehouse) if span is None else []
    if refused:
        raise NoDataError(f"no run is left to tell of: {'; '.join(refused)}")
    return span


def _span_or_fail(warehouse: Warehouse) -> tuple[int, int]:
    span = _span_or_none(warehouse)
    if span is None:
        raise NoDataError(NO_RUN)
    return span


def load_report_data(
    warehouse: Warehouse, config: Config, window: Window, runs: Sequence[str] | None = None
) -> ReportData:
    """All facts of a window.

    Args:
        warehouse: Where the data are.
        config: The configuration.
        window: The month or other stretch.
        runs: Only these, or None: all.

    Raises:
        UsageError: There is no run of such a name.
    """
    from ckpt_audit.audit.assemble import assemble

    _refuse_unknown(warehouse, runs)
    return assemble(warehouse, window, config, list(runs) if runs else None)


def load_check_data(
    warehouse: Warehouse, config: Config, window: Window, runs: Sequence[str] | None = None
) -> ReportData:
    """The same without what was expected of the window, which takes longer than all the rest.

    Args:
        warehouse, config, window, runs: As ``load_report_data``.

    Raises:
        UsageError: There is no run of such a name.
    """
    from ckpt_audit.audit.assemble import assemble

    _refuse_unknown(warehouse, runs)
    return assemble(warehouse, window, config, list(runs) if runs else None, with_forecasts=False)


def _refuse_unknown(warehouse: Warehouse, runs: Sequence[str] | None) -> None:
    if not runs:
        return
    known = [run.run for run in load_runs(warehouse)]
    unknown = next((name for name in runs if name not in known), None)
    if unknown is None:
        return
    because = f"there is no run '{unknown}'; there are {', '.join(known)}"
    for text in refused_runs(warehouse):
        if text.startswith(f"run {unknown}:"):
            because = text
    raise UsageError(because)


def load_runs(warehouse: Warehouse) -> list[Run]:
    """All runs of the warehouse, by name."""
    from ckpt_audit import queries

    return sorted(queries.runs(warehouse), key=lambda run: run.run)


def refused_runs(warehouse: Warehouse) -> list[str]:
    """Runs that are not shown since their numbers contradict each other, each with what to do."""
    from ckpt_audit import queries

    found = [one for one in queries.findings(warehouse) if one.kind == "refused_run"]
    return [f"run {one.subject}: {one.text}" for one in found]


def record_intervals(warehouse: Warehouse, window: Window, document: Json) -> None:
    """Keeps what was recommended for a window; asking again for the same one replaces it.

    Args:
        warehouse: Open for writing.
        window: The window that the recommendation rests on.
        document: The document ``interval/1``.
    """
    from ckpt_audit.documents import dumps

    with warehouse.transaction():
        for row in document["runs"]:
            key = {"run": row["run"], "window_start_at": window.start_at}
            warehouse.execute(_FORGET, key)
            warehouse.execute(
                _RECORD,
                key
                | {
                    "window_end_at": window.end_at,
                    "label": window.label,
                    "version": document["version"],
                    "document": dumps(row),
                },
            )


def interval_history(warehouse: Warehouse) -> list[Json]:
    """What was recommended, oldest window first.

    Returns:
        Rows of ``interval/1``, each with ``label``, ``start_at`` and ``end_at`` of its window and
        the ``version`` that made it.
    """
    import json

    return [
        {
            **json.loads(row),
            "label": label,
            "start_at": start_at,
            "end_at": end_at,
            "version": version,
        }
        for _, start_at, end_at, label, version, row in warehouse.rows(_HISTORY)
    ]


def sample_data() -> Path:
    """Folder of the packaged sample data.

    Raises:
        NoDataError: The installation has none.
    """
    folder = Path(str(resources.files("ckpt_audit").joinpath("sample_data")))
    if not (folder / SAMPLE_CONFIG).exists():
        raise NoDataError("the sample data are missing from this installation")
    return folder
