"""The DuckDB file that everything is kept in: opening, locking, versions, transactions."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pandas as pd
import pyarrow as pa

from ckpt_audit.errors import WarehouseBusyError, WarehouseError

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_POLL_S = 0.25
_HOLDER = re.compile(r"held in (.*?) ?\(PID (\d+)")
_MIGRATION = re.compile(r"(\d{3})_\w+\.sql")
_INCOMING = "incoming_rows"

Params = Mapping[str, object] | Sequence[object] | None


class Warehouse:
    """An open warehouse; use it as a context manager.

    Other modules reach DuckDB only through this class.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, read_only: bool) -> None:
        self._connection = connection
        self._in_transaction = False
        self.path = path
        self.read_only = read_only

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        read_only: bool = False,
        wait_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Self:
        """Opens a warehouse, makes it if it is new, and brings its schema up to date.

        Args:
            path: The database file, or ``:memory:``.
            read_only: Changes nothing; the file must exist and have the current schema.
            wait_s: How long to wait for another process that holds the file, in seconds.
            clock: A monotonic clock in seconds.
            sleep: Waits for some seconds.

        Raises:
            WarehouseBusyError: Another process held the file all the time.
            WarehouseError: The file is missing, no warehouse, too new or too old.
        """
        shown = str(path)
        if read_only and shown != ":memory:" and not Path(shown).exists():
            raise WarehouseError("there is no warehouse; make it with `ckpt-audit ingest`", shown)
        deadline = clock() + wait_s
        while (connection := _connect(shown, read_only, clock() >= deadline)) is None:
            sleep(min(_POLL_S, max(0.0, deadline - clock())))
        warehouse = cls(connection, shown, read_only)
        try:
            connection.execute("SET TimeZone = 'UTC'")
            warehouse._migrate()
        except BaseException:
            connection.close()
            raise
        return warehouse

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; what no transaction committed is gone."""
        self._connection.close()

    def _migrate(self) -> None:
        scripts = migrations(resources.files("ckpt_audit").joinpath("sql", "schema"))
        newest = len(scripts)
        version = self._version()
        if version > newest:
            raise WarehouseError(
                f"made by a newer ckpt-audit (schema {version}, this one knows {newest}); "
                "update ckpt-audit or choose another file with --db",
                self.path,
            )
        if version == newest:
            return
        if self.read_only:
            raise WarehouseError(
                f"made by an older ckpt-audit (schema {version}, this one needs {newest}); "
                "run `ckpt-audit ingest` once to bring it up to date",
                self.path,
            )
        with self.transaction():
            self.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
            for number, script in enumerate(scripts[version:], version + 1):
                self._connection.execute(script)
                self.execute("INSERT INTO schema_version VALUES (?)", [number])

    def _version(self) -> int:
        tables = {str(name) for (name,) in self.rows("SELECT table_name FROM duckdb_tables()")}
        if "schema_version" in tables:
            return int(self.rows("SELECT coalesce(max(version), 0) FROM schema_version")[0][0])
        if tables:
            raise WarehouseError(
                "a DuckDB database of something else; choose another file with --db", self.path
            )
        return 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits what its block did, or nothing of it when the block raises.

        Raises:
            WarehouseError: There is an open transaction already.
        """
        if self._in_transaction:
            raise WarehouseError("a transaction inside a transaction", self.path)
        self._connection.execute("BEGIN TRANSACTION")
        self._in_transaction = True
        try:
            yield
        except BaseException:
            self._roll_back()
            raise
        else:
            self._connection.execute("COMMIT")
        finally:
            self._in_transaction = False

    def _roll_back(self) -> None:
        with suppress(duckdb.TransactionException):  # the engine may have ended it by itself
            self._connection.execute("ROLLBACK")

    def execute(self, sql: str, params: Params = None) -> None:
        """Runs one statement whose result does not matter.

        Args:
            sql: The statement, with ``$name`` or ``?`` for values.
            params: The values.
        """
        self._connection.execute(sql, params)

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """Runs one query and gives its rows."""
        return self._connection.execute(sql, params).fetchall()

    def arrow(self, sql: str, params: Params = None) -> pa.Table:
        """Runs one query and gives its rows as an Arrow table, where null stays null."""
        table: pa.Table = self._connection.sql(sql, params=params).to_arrow_table()
        return table

    def fetch_df(self, sql: str, params: Params = None) -> pd.DataFrame:
        """Runs one query and gives its rows as a data frame."""
        return self._connection.execute(sql, params).df()

    def insert_table(self, table: str, data: pa.Table | pd.DataFrame) -> None:
        """Appends rows to a table; columns are matched by name.

        Args:
            table: Name of the table.
            data: The rows; a column that is left out becomes null.
        """
        if not table.isidentifier():
            raise ValueError(f"{table!r} is no name of a table")
        self._connection.register(_INCOMING, data)
        try:
            self._connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM {_INCOMING}")  # noqa: S608
        finally:
            with suppress(duckdb.TransactionException):  # after an error nothing else is allowed
                self._connection.unregister(_INCOMING)


def _connect(path: str, read_only: bool, is_last: bool) -> duckdb.DuckDBPyConnection | None:
    """Tries once; None when another process holds the file and this was not the last try."""
    try:
        return duckdb.connect(path, read_only=read_only, config=_CONFIG)
    except duckdb.Error as error:
        if not _is_busy(error):
            raise WarehouseError(_why_not_opened(error), path) from error
        if is_last:
            raise WarehouseBusyError(_who_holds(error), path) from error
    return None


def migrations(folder: Traversable) -> list[str]:
    """The schema scripts in order; number n brings the schema to version n.

    Args:
        folder: Where they are.

    Raises:
        WarehouseError: Their numbers are not 1, 2, 3 and so on.
    """
    files = sorted(
        (entry for entry in folder.iterdir() if _MIGRATION.fullmatch(entry.name)),
        key=lambda entry: entry.name,
    )
    for number, entry in enumerate(files, 1):
        if int(entry.name[:3]) != number:
            raise WarehouseError(f"the schema script {entry.name} should have number {number:03d}")
    return [entry.read_text(encoding="utf-8") for entry in files]


def _is_busy(error: duckdb.Error) -> bool:
    return isinstance(error, duckdb.IOException) and "Could not set lock" in str(error)


def _who_holds(error: duckdb.Error) -> str:
    match = _HOLDER.search(str(error))
    holder = f"process {match.group(2)} ({match.group(1)})" if match else "another process"
    return f"in use by {holder}; try again later or wait with --wait 60s"


def _why_not_opened(error: duckdb.Error) -> str:
    text = str(error)
    if "not a valid DuckDB database" in text:
        return "no DuckDB database; choose another file with --db"
    if "No such file or directory" in text:
        return "cannot be made: its folder does not exist"
    first = text.splitlines()[0].removeprefix("IO Error: ")
    return f"cannot be opened as a warehouse ({first}); choose another file with --db"
