"""One call of the command line: its clock, environment, configuration and the two streams.

This is the only module of the project that looks at the clock, the environment and the terminal.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ckpt_audit.cli.streams import warn, write
from ckpt_audit.config import Config
from ckpt_audit.config_load import load_config
from ckpt_audit.errors import ConfigError
from ckpt_audit.units import US_PER_S

if TYPE_CHECKING:
    from ckpt_audit.warehouse import Warehouse

ZONE_LINK = Path("/etc/localtime")
_MAX_CONFIG_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Common:
    """The options that every command takes; None where one was not given."""

    db: str | None = None
    config: Path | None = None
    wait: str | None = None
    quiet: bool = False
    verbose: bool = False

    def over(self, other: Common) -> Common:
        """These options, and the other ones where these say nothing."""
        return Common(
            db=self.db or other.db,
            config=self.config or other.config,
            wait=self.wait or other.wait,
            quiet=self.quiet or other.quiet,
            verbose=self.verbose or other.verbose,
        )


@dataclass
class Session:
    """What a command works with."""

    common: Common = Common()
    _config: Config | None = field(default=None, repr=False)
    _has_warned: bool = field(default=False, repr=False)

    @property
    def config(self) -> Config:
        """The effective configuration, read once.

        Raises:
            ConfigError: It says something that it cannot say.
        """
        if self._config is None:
            given = {"db": self.common.db, "wait": self.common.wait}
            flags = {key: value for key, value in given.items() if value is not None}
            self._config = load_config(flags, os.environ, Path.cwd(), read_text, self.common.config)
            self.detail(f"configuration: {self._config.path or 'defaults'}")
        return self._config

    @property
    def now(self) -> int:
        """The clock, microseconds UTC."""
        return time.time_ns() * US_PER_S // 1_000_000_000

    @property
    def machine_zone(self) -> str:
        """IANA name of the machine's own time zone; UTC, with a warning, where TZ names none."""
        tz = os.environ.get("TZ", "")
        zone = machine_zone(tz, ZONE_LINK)
        if zone is None and not self._has_warned:
            self._has_warned = True
            self.say(f"warning: TZ={tz} names no IANA time zone; UTC is used instead; say --tz")
        return zone or "UTC"

    @contextmanager
    def warehouse(self, *, read_only: bool) -> Iterator[Warehouse]:
        """Opens the warehouse of the configuration.

        Args:
            read_only: Nothing will be changed.

        Raises:
            WarehouseBusyError: Another process holds it.
            WarehouseError: It cannot be used.
        """
        from ckpt_audit.warehouse import Warehouse

        config = self.config
        self.detail(f"warehouse: {config.db}")
        with Warehouse.open(config.db, read_only=read_only, wait_s=config.wait_s) as warehouse:
            yield warehouse

    @contextmanager
    def settled_warehouse(self) -> Iterator[Warehouse]:
        """Opens the warehouse to read, with derived tables that fit the configuration.

        Where it says something else than when they were made, or making them was interrupted,
        they are made again first.
        """
        from ckpt_audit import workflow

        with self.warehouse(read_only=True) as warehouse:
            if workflow.is_settled(warehouse, self.config):
                yield warehouse
                return
        self.say("the configuration or the input has changed; working the numbers out anew")
        with self.warehouse(read_only=False) as warehouse:
            workflow.refresh(warehouse, self.config, self.machine_zone)
            yield warehouse

    def out(self, text: str) -> None:
        """Prints data on stdout."""
        write(text)

    def say(self, message: str) -> None:
        """Prints a message on stderr, unless ``--quiet`` was given."""
        if not self.common.quiet:
            warn(message)

    def detail(self, message: str) -> None:
        """Prints a message on stderr where ``-v`` was given."""
        if self.common.verbose:
            warn(message)

    @property
    def shows_progress(self) -> bool:
        """Someone watches: stderr is a terminal and nobody asked for quiet."""
        return not self.common.quiet and sys.stderr is not None and sys.stderr.isatty()


def read_text(path: Path) -> str | None:
    """Reads a configuration file; None where there is none.

    Raises:
        ConfigError: It is there and cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_CONFIG_BYTES + 1)
        if len(content) > _MAX_CONFIG_BYTES:
            raise ConfigError(
                f"more than {_MAX_CONFIG_BYTES >> 20} MiB: this is no configuration file", str(path)
            )
        return content.decode("utf-8").replace("\r\n", "\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError:
        raise ConfigError("this is a folder and not a configuration file", str(path)) from None
    except UnicodeDecodeError:
        raise ConfigError("this is not UTF-8 text", str(path)) from None
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", str(path)) from None


def machine_zone(tz: str, link: Path) -> str | None:
    """Name of a machine's zone, from its ``TZ`` variable or the link that sets it; else UTC.

    Returns:
        The name, or None where TZ is set and holds none: a rule in itself, or a mistake.

    >>> machine_zone(":Europe/Berlin", Path("none")), machine_zone("CET-1CEST", Path("none"))
    ('Europe/Berlin', None)
    """
    from ckpt_audit.config_values import check_zone

    name = tz.removeprefix(":")
    if not name or name.startswith("/"):
        file = Path(name) if name else link
        name = str(file.resolve()).partition("zoneinfo/")[2] if file.exists() else ""
    try:
        return check_zone(name)
    except ValueError:
        return None if tz else "UTC"


def split_list(values: Sequence[str] | None) -> list[str]:
    """The parts of options that may be given more than once or with commas.

    >>> split_list(["45m,60m", "2h"])
    ['45m', '60m', '2h']
    """
    return [part for value in values or () for part in value.split(",") if part]
