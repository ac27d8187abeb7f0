"""Puts the configuration together: flags over ``CKPT_AUDIT_*`` over the file over defaults.

Pure: the flags, the environment and the way to read a file are handed in. An unknown key is an
error that names the nearest right one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ckpt_audit.config import (
    Config,
    Correction,
    EpochStart,
    PlannedWindow,
    RunConfig,
    RunMatch,
    SourceRule,
    Thresholds,
)
from ckpt_audit.config_values import Kind, convert, nearest
from ckpt_audit.errors import ConfigError
from ckpt_audit.toml_lines import line_of, row_lines

FILE_NAME = "ckpt-audit.toml"
ENV_PREFIX = "CKPT_AUDIT_"
_ENV_OF_THE_CLI = ("CKPT_AUDIT_CONFIG",)  # read by the command line, no key of the file

ReadText = Callable[[Path], str | None]
"""Gives the text of a file, or None where there is no such file."""

Keys = dict[str, tuple[Kind, str]]

# Key of the file -> (kind of value, field of the dataclass).
_TOP: Keys = {
    "db": (Kind.PATH, "db"),
    "wait": (Kind.DURATION, "wait_s"),
    "timezone": (Kind.ZONE, "timezone"),
    "display_timezone": (Kind.ZONE, "display_timezone"),
    "accelerators_per_node": (Kind.COUNT, "accelerators_per_node"),
    "price_per_accelerator_hour": (Kind.AMOUNT, "price_per_accelerator_hour"),
    "topology": (Kind.PATH, "topology"),
    "verified_grade": (Kind.GRADE, "verified_grade"),
    "health_pattern": (Kind.PATTERN, "health_pattern"),
}
_THRESHOLDS: Keys = {
    "correlation_window": (Kind.DURATION, "correlation_window_s"),
    "residual_min_hours": (Kind.AMOUNT, "residual_min_hours"),
    "residual_min_share": (Kind.SHARE, "residual_min_share"),
    "stale_after": (Kind.DURATION, "stale_after_s"),
    "checkpoint_age_warn": (Kind.DURATION, "checkpoint_age_warn_s"),
    "checkpoint_age_critical": (Kind.DURATION, "checkpoint_age_critical_s"),
}
_SOURCE: Keys = {
    "match": (Kind.TEXT, "match"),
    "timezone": (Kind.ZONE, "timezone"),
    "run": (Kind.TEXT, "run"),
    "format": (Kind.TEXT, "format"),
}
_MATCH: Keys = {
    "name": (Kind.TEXT, "name"),
    "user": (Kind.TEXT, "user"),
    "work_dir": (Kind.TEXT, "work_dir"),
}
_RUN: Keys = {
    "target_step": (Kind.COUNT, "target_step"),
    "configured_interval_steps": (Kind.COUNT, "configured_interval_steps"),
    "configured_interval": (Kind.DURATION, "configured_interval_s"),
    "match": (Kind.TABLE, "match"),
    "price_per_accelerator_hour": (Kind.AMOUNT, "price_per_accelerator_hour"),
    "accelerators": (Kind.COUNT, "accelerators"),
    "epochs": (Kind.TABLE, "epochs"),
}
_EPOCH: Keys = {
    "start": (Kind.INSTANT, "start_at"),
    "reason": (Kind.TEXT, "reason"),
}
_CORRECTION: Keys = {
    "action": (Kind.ACTION, "action"),
    "reason": (Kind.TEXT, "reason"),
    "incident": (Kind.TEXT, "incident"),
    "into": (Kind.TEXT, "into"),
    "run": (Kind.TEXT, "run"),
    "kind": (Kind.INCIDENT_KIND, "kind"),
    "cause": (Kind.CAUSE, "cause"),
    "moment": (Kind.MOMENT, "moment"),
    "at": (Kind.INSTANT, "set_at"),
    "start": (Kind.INSTANT, "start_at"),
    "end": (Kind.INSTANT, "end_at"),
}
# What each action needs, and what it may have besides.
_NEEDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "merge": (("incident", "into"), ()),
    "split": (("incident",), ()),
    "reclassify": (("incident",), ("kind", "cause")),
    "set": (("incident", "moment", "at"), ()),
    "exclude": (("start", "end"), ("run",)),
}
_PLANNED: Keys = {
    "start": (Kind.INSTANT, "start_at"),
    "end": (Kind.INSTANT, "end_at"),
    "reason": (Kind.TEXT, "reason"),
}
_TABLES = ("source", "runs", "planned_window", "correction", "thresholds")


def load_config(
    flags: Mapping[str, str],
    environ: Mapping[str, str],
    working_dir: Path,
    read_text: ReadText,
    config_file: Path | None = None,
) -> Config:
    """Puts the configuration together.

    Args:
        flags: Key to text, for the keys that have a flag and where one was given.
        environ: The environment.
        working_dir: Where the search for a file begins.
        read_text: Reads a file.
        config_file: The file to use, or None: search for one.

    Raises:
        ConfigError: A key is unknown, a value is of the wrong type, or a file cannot be read.
    """
    named = environ.get("CKPT_AUDIT_CONFIG")
    if config_file is None and named:
        config_file = Path(named)
    path, text = _find_file(config_file, environ, working_dir, read_text)
    parser = _Parser(path, text or "")
    for key, value in flags.items():
        parser.put_scalar(key, value, f"--{key}", Path())
    parser.read_environment(environ)
    if text is not None:
        parser.read_file()
    return parser.result()


def env_name(key: str) -> str:
    """Name of the environment variable of a dotted key.

    >>> env_name("thresholds.stale_after")
    'CKPT_AUDIT_THRESHOLDS_STALE_AFTER'
    """
    return ENV_PREFIX + key.replace(".", "_").upper()


def _find_file(
    given: Path | None, environ: Mapping[str, str], working_dir: Path, read_text: ReadText
) -> tuple[Path | None, str | None]:
    if given is not None:
        text = read_text(given)
        if text is None:
            raise ConfigError("there is no such configuration file", str(given))
        return given, text
    candidates = [folder / FILE_NAME for folder in (working_dir, *working_dir.parents)]
    home = environ.get("XDG_CONFIG_HOME") or (
        str(Path(environ["HOME"]) / ".config") if environ.get("HOME") else ""
    )
    for folder in ([Path(home)] if home else []) + [Path("/etc")]:
        candidates += [folder / "ckpt-audit" / FILE_NAME, folder / FILE_NAME]
    for path in candidates:
        text = read_text(path)
        if text is not None:
            return path, text
    return None, None


class _Parser:
    """Collects values and their origins from the three places, strongest first."""

    def __init__(self, path: Path | None, text: str) -> None:
        self.path = path
        self.text = text
        self.folder = path.parent if path is not None else Path()
        self.origin = path.name if path is not None else ""
        self.zone = "UTC"
        self.top: dict[str, Any] = {}
        self.thresholds: dict[str, Any] = {}
        self.tables: dict[str, Any] = {}
        self.origins: dict[str, str] = {}

    def fail(
        self,
        message: str,
        key: str | None = None,
        table: str | None = None,
        row: int | None = None,
    ) -> ConfigError:
        """The error for a key of the file, with the line where the key stands."""
        line = line_of(self.text, key, table, row) if key else None
        where = f"{self.path}:{line}" if line else str(self.path)
        return ConfigError(message, where)

    def read_file(self) -> None:
        """Reads the whole file."""
        try:
            document = tomllib.loads(self.text)
        except (ValueError, RecursionError) as error:  # also of numbers and depths without end
            raise ConfigError(f"this is not TOML: {error}", str(self.path)) from None
        allowed = [*_TOP, *_TABLES]
        for key in document:
            if key not in allowed:
                raise self.fail(f"unknown key '{key}'{nearest(key, allowed)}", key)
        for key, value in document.items():
            if key in _TOP:
                self.put_scalar(key, value, self.origin, self.folder)
        self.zone = str(self.top.get("display_timezone", "UTC"))
        self._read_tables(document)

    def _read_tables(self, document: dict[str, Any]) -> None:
        table = document.get("thresholds", {})
        for key in table if isinstance(table, dict) else ():
            self.origins.setdefault(f"thresholds.{key}", self.origin)
        self.thresholds = self._keys(table, _THRESHOLDS, "thresholds") | self.thresholds
        sources = [
            SourceRule(**self._keys(one, _SOURCE, "source", required=("match",), row=row))
            for row, one in enumerate(self._rows(document, "source"))
        ]
        planned = [
            self._planned(one, row)
            for row, one in enumerate(self._rows(document, "planned_window"))
        ]
        lines = row_lines(self.text, "correction")
        runs = document.get("runs", {})
        if not isinstance(runs, dict):
            raise self.fail("'runs' must hold one table a run, as in [runs.\"my-run\"]", "runs")
        self.tables = {
            "sources": tuple(sources),
            "planned_windows": tuple(planned),
            "corrections": tuple(
                self._correction(one, row, lines[row] if row < len(lines) else None)
                for row, one in enumerate(self._rows(document, "correction"))
            ),
            "runs": MappingProxyType({name: self._run(name, row) for name, row in runs.items()}),
        }

    def _rows(self, document: dict[str, Any], name: str) -> list[Any]:
        rows = document.get(name, [])
        if not isinstance(rows, list):
            raise self.fail(f"'{name}' is a list of tables: write [[{name}]]", name)
        return rows

    def _planned(self, table: object, row: int) -> PlannedWindow:
        needed = ("start", "end")
        window = PlannedWindow(**self._keys(table, _PLANNED, "planned_window", needed, row))
        if window.end_at <= window.start_at:
            raise self.fail(
                "the planned window ends before it starts; exchange start and end",
                "end",
                "planned_window",
                row,
            )
        return window

    def _correction(self, table: object, row: int, line: int | None) -> Correction:
        values = self._keys(table, _CORRECTION, "correction", ("action", "reason"), row)
        action = values["action"]
        needed, allowed = _NEEDS[action]
        given = [key for key in table if key not in ("action", "reason")]  # type: ignore[attr-defined]

        def fail(text: str, key: str) -> ConfigError:
            return self.fail(text, key, "correction", row)

        for key in needed:
            if key not in given:
                raise fail(f"a correction with action '{action}' needs '{key}'", "action")
        for key in given:
            if key not in (*needed, *allowed):
                raise fail(f"'{key}' has no meaning for the action '{action}'; take it out", key)
        if not values["reason"].strip():
            raise fail("'reason' says nothing; whoever reads the report must know why", "reason")
        if action == "reclassify" and not {"kind", "cause"} & set(given):
            raise fail("to reclassify, say 'kind' or 'cause'", "action")
        if action == "merge" and values["incident"] == values["into"]:
            raise fail("an incident cannot be merged into itself", "into")
        if action == "exclude" and values["end_at"] <= values["start_at"]:
            raise fail("what is excluded ends before it starts", "end")
        return Correction(**values, line=line or line_of(self.text, "correction"))

    def _run(self, name: str, row: object) -> RunConfig:
        values = self._keys(row, _RUN, f"runs.{name}")
        if "epochs" in values:
            if not isinstance(values["epochs"], list):
                text = f"'epochs' is a list of tables: write [[runs.{name}.epochs]]"
                raise self.fail(text, "epochs")
            values["epochs"] = tuple(
                EpochStart(**self._keys(one, _EPOCH, f"runs.{name}.epochs", required=("start",)))
                for one in values["epochs"]
            )
        if "match" in values:
            values["match"] = RunMatch(**self._keys(values["match"], _MATCH, f"runs.{name}.match"))
        return RunConfig(**values)

    def _keys(
        self,
        table: object,
        known: Keys,
        name: str,
        required: tuple[str, ...] = (),
        row: int | None = None,
    ) -> dict[str, Any]:
        """Converts one table, field name to value."""
        if not isinstance(table, dict):
            raise self.fail(f"'{name}' must be a table of keys", name.split(".", maxsplit=1)[0])
        missing = [key for key in required if key not in table]
        if missing:
            text = f"every [[{name}]] needs '{missing[0]}'"
            raise self.fail(text, name, name if row is not None else None, row)
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key not in known:
                text = f"unknown key '{key}' in {name}{nearest(key, list(known))}"
                raise self.fail(text, key, name, row)
            kind, target = known[key]
            try:
                values[target] = convert(kind, value, self.folder, self.zone)
            except ValueError as error:
                raise self.fail(f"'{key}' in {name} {error}", key, name, row) from None
        return values

    def put_scalar(self, key: str, value: object, origin: str, folder: Path) -> None:
        """Takes one value of the top level or of ``thresholds``, unless a stronger one is there."""
        section, _, name = key.rpartition(".")
        known, target = (_THRESHOLDS, self.thresholds) if section else (_TOP, self.top)
        kind, attribute = known[name]
        try:
            target.setdefault(attribute, convert(kind, value, folder, self.zone))
        except ValueError as error:
            if origin == self.origin:
                raise self.fail(f"'{key}' {error}", key) from None
            raise ConfigError(f"it {error}", origin.removeprefix("environment ")) from None
        self.origins.setdefault(key, origin)

    def read_environment(self, environ: Mapping[str, str]) -> None:
        """Takes every ``CKPT_AUDIT_*`` variable."""
        keys = [*_TOP, *(f"thresholds.{key}" for key in _THRESHOLDS)]
        names = {env_name(key): key for key in keys}
        for variable in sorted(environ):
            if not variable.startswith(ENV_PREFIX) or variable in _ENV_OF_THE_CLI:
                continue
            if variable not in names:
                known = [*names, *_ENV_OF_THE_CLI]
                raise ConfigError(
                    f"unknown environment variable{nearest(variable, known)}", variable
                )
            text = environ[variable]
            self.put_scalar(names[variable], text, f"environment {variable}", Path())

    def result(self) -> Config:
        """The configuration as it stands."""
        return Config(
            **self.top,
            **self.tables,
            thresholds=Thresholds(**self.thresholds),
            origins=MappingProxyType(dict(self.origins)),
            path=self.path,
        )
