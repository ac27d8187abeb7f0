"""The configuration as frozen values; ``config_load.py`` reads it.

Every value knows where it came from: a flag, a ``CKPT_AUDIT_*`` variable, ``ckpt-audit.toml`` or
the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from zoneinfo import ZoneInfo

from ckpt_audit.printable import printable
from ckpt_audit.units import format_duration, iso

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class SourceRule:
    """What the content of some input files cannot tell.

    Attributes:
        match: Glob against the path, or against its last parts.
        timezone: IANA zone of naive stamps, or None.
        run: Run that the files belong to, or None.
        format: Format to read them with, or None.
    """

    match: str
    timezone: str | None = None
    run: str | None = None
    format: str | None = None

    def matches(self, path: str) -> bool:
        """Says whether a file is meant.

        >>> SourceRule("logs/*.out").matches("/scratch/logs/a.out")
        True
        """
        return fnmatchcase(path, self.match) or PurePosixPath(path).match(self.match)


@dataclass(frozen=True, slots=True)
class RunMatch:
    """Globs that say which jobs are of a run; None matches anything."""

    name: str | None = None
    user: str | None = None
    work_dir: str | None = None


@dataclass(frozen=True, slots=True)
class EpochStart:
    """Where a new configuration of a run begins: UTC microseconds, and what changed."""

    start_at: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person overrules.

    Attributes:
        action: ``merge`` (``incident`` is part of ``into``), ``split`` (it is one of its own),
            ``reclassify`` (another ``kind`` or ``cause``), ``set`` (a ``moment`` was ``set_at``) or
            ``exclude`` (nothing between ``start_at`` and ``end_at`` counts).
        reason: Why, for everybody who reads the report.
        incident, into, run, kind, cause, moment: What it is about, None where it says nothing.
        set_at, start_at, end_at: UTC microseconds or None.
        line: Where it begins in the file, or None.
    """

    action: str
    reason: str
    incident: str | None = None
    into: str | None = None
    run: str | None = None
    kind: str | None = None
    cause: str | None = None
    moment: str | None = None
    set_at: int | None = None
    start_at: int | None = None
    end_at: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What the site says about one run.

    Attributes:
        target_step: Step at which the run is done.
        configured_interval_steps: Save every so many steps.
        configured_interval_s: Save every so many seconds of training.
        match: Which jobs are of the run, or None: as joined from the records.
        price_per_accelerator_hour: Overrides the site's price.
        accelerators: Number of accelerators of the job.
        epochs: Where new configurations begin, besides those that are found.
    """

    target_step: int | None = None
    configured_interval_steps: int | None = None
    configured_interval_s: float | None = None
    match: RunMatch | None = None
    price_per_accelerator_hour: float | None = None
    accelerators: int | None = None
    epochs: tuple[EpochStart, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedWindow:
    """A stretch in which work stopped by plan: UTC microseconds [start_at, end_at)."""

    start_at: int
    end_at: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Limits that decide what is said.

    Attributes:
        correlation_window_s: What is near in time: short gaps, runs that fail together, nodes
            at once, and the plain window that is shown beside the tested links.
        residual_min_hours, residual_min_share: A residual is flagged only above both of these
            (hours; share of the allocated time).
        stale_after_s: Input older than this is stale.
        checkpoint_age_warn_s, checkpoint_age_critical_s: Age of the newest verified checkpoint;
            None: three and six times the interval that the run saves at.
    """

    correlation_window_s: float = 600.0
    residual_min_hours: float = 1.0
    residual_min_share: float = 0.005
    stale_after_s: float = 129_600.0
    checkpoint_age_warn_s: float | None = None
    checkpoint_age_critical_s: float | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """The effective configuration.

    Attributes:
        db: Warehouse file.
        wait_s: How long to wait for a warehouse in use.
        timezone: IANA zone of naive stamps where no source rule says better, or None.
        display_timezone: IANA zone of month borders and printed times.
        accelerators_per_node: Where the scheduler does not say, or None.
        price_per_accelerator_hour: For capacity figures, or None.
        topology: File of failure domains, or None.
        verified_grade: Lowest grade of evidence that makes a checkpoint count.
        health_pattern: Regular expression with groups ``time``, ``node``, ``verdict`` and, if
            there is one, ``reason`` for the lines of health logs, or None: the usual forms.
        sources, runs, planned_windows, corrections, thresholds: The tables of the file.
        origins: Dotted key to where its value came from.
        path: The file that was read, or None.
    """

    db: Path = Path("ckpt-audit.duckdb")
    wait_s: float = 0.0
    timezone: str | None = None
    display_timezone: str = "UTC"
    accelerators_per_node: int | None = None
    price_per_accelerator_hour: float | None = None
    topology: Path | None = None
    verified_grade: str = "marker"
    health_pattern: str | None = None
    sources: tuple[SourceRule, ...] = ()
    runs: Mapping[str, RunConfig] = field(default_factory=lambda: MappingProxyType({}))
    planned_windows: tuple[PlannedWindow, ...] = ()
    corrections: tuple[Correction, ...] = ()
    thresholds: Thresholds = Thresholds()
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    path: Path | None = None

    @property
    def display_zone(self) -> ZoneInfo:
        """The zone of month borders and printed times."""
        return ZoneInfo(self.display_timezone)

    def source_rule(self, path: str) -> SourceRule:
        """Joins the rules that match a file; the first one that says something wins.

        Args:
            path: The file's path.
        """
        matching = [rule for rule in self.sources if rule.matches(path)]
        return SourceRule(
            match=path,
            timezone=next((rule.timezone for rule in matching if rule.timezone), None),
            run=next((rule.run for rule in matching if rule.run), None),
            format=next((rule.format for rule in matching if rule.format), None),
        )

    def run_config(self, run: str) -> RunConfig:
        """What is configured for a run; all None where nothing is."""
        return self.runs.get(run, RunConfig())

    def price_for(self, run: str) -> float | None:
        """Price of an accelerator-hour of a run, or None where none is set."""
        own = self.run_config(run).price_per_accelerator_hour
        return self.price_per_accelerator_hour if own is None else own

    def settings(self) -> dict[str, tuple[str, str]]:
        """Every value that numbers depend on, as text with its origin, in a stable order.

        Where the warehouse lies and how long to wait for it are left out.

        >>> Config().settings()["verified_grade"]
        ('marker', 'default')
        """
        file = self.path.name if self.path is not None else DEFAULT
        flat: dict[str, tuple[str, str]] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in _NO_SETTING:
                continue
            if isinstance(value, Thresholds):
                for key, text in _flatten(value, "thresholds"):
                    flat[key] = (text, self.origins.get(key, DEFAULT))
            elif isinstance(value, tuple | Mapping):
                flat.update((key, (text, file)) for key, text in _flatten(value, _key(item.name)))
            else:
                key = _key(item.name)
                flat[key] = (_text(item.name, value), self.origins.get(key, DEFAULT))
        return flat


_NO_SETTING = ("db", "wait_s", "origins", "path")
_KEY = {
    "sources": "source", "planned_windows": "planned_window", "corrections": "correction",
    "set_at": "at",
}  # fmt: skip


def _key(name: str) -> str:
    """Name of a field as it is written in the file.

    >>> _key("stale_after_s"), _key("start_at"), _key("sources")
    ('stale_after', 'start', 'source')
    """
    return _KEY.get(name, name.removesuffix("_s").removesuffix("_at"))


def _flatten(value: object, key: str, name: str = "") -> list[tuple[str, str]]:
    """Dotted keys and texts of a value with all that is in it; unset values of tables are left."""
    if isinstance(value, tuple):
        parts = [(f"{key}[{number}]", "", part) for number, part in enumerate(value, start=1)]
    elif isinstance(value, Mapping):
        parts = [(f"{key}.{inner}", "", value[inner]) for inner in value]
    elif is_dataclass(value):
        named = [f.name for f in fields(value) if f.name != "line"]  # no key of the file
        parts = [(f"{key}.{_key(name)}", name, getattr(value, name)) for name in named]
        if not isinstance(value, Thresholds):
            parts = [part for part in parts if part[2] is not None]
    else:
        return [(key, _text(name, value))]
    return [pair for inner, field_name, part in parts for pair in _flatten(part, inner, field_name)]


def _text(name: str, value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, Path):
        return value.name
    if name.endswith("_s") and isinstance(value, float):
        return format_duration(value)
    if name.endswith("_at") and isinstance(value, int):
        return str(iso(value))
    return printable(str(value))  # it goes to pages
