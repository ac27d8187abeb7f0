from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import ckpt_audit
from ckpt_audit.errors import WarehouseBusyError, WarehouseError
from ckpt_audit.warehouse import Warehouse, migrations

HOLDER = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.naps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.duckdb"


def _domain(node: str) -> pd.DataFrame:
    return pd.DataFrame(
        {"name": ["leaf1"], "source_id": [1], "line_no": [2], "node": [node], "kind": ["leaf"]}
    )


def _insert_two(warehouse: Warehouse, node: str, second_table: str) -> None:
    warehouse.insert_table("raw_domain", _domain(node))
    warehouse.insert_table(second_table, _domain(node))


def test_only_this_module_imports_duckdb() -> None:
    root = Path(ckpt_audit.__file__).parent
    importing = {
        str(file.relative_to(root))
        for file in root.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if (
            isinstance(node, ast.Import)
            and any(a.name.split(".")[0] == "duckdb" for a in node.names)
        )
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "duckdb")
    }
    assert importing == {"warehouse.py"}


def test_opens_again_with_its_content(path: Path) -> None:
    with Warehouse.open(path) as warehouse:
        warehouse.insert_table("raw_domain", _domain("n1"))
    with Warehouse.open(path, read_only=True) as warehouse:
        assert warehouse.rows("SELECT node, name FROM raw_domain") == [("n1", "leaf1")]
        assert list(warehouse.fetch_df("SELECT node FROM raw_domain")["node"]) == ["n1"]


def test_settings_are_safe(path: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a\n1\n")
    local = pd.DataFrame({"a": [1]})
    assert len(local) == 1
    with Warehouse.open(path) as warehouse:
        assert warehouse.rows("SELECT current_setting('TimeZone')") == [("UTC",)]
        for sql in (
            f"SELECT * FROM read_csv('{tmp_path}/other.csv')",
            f"SELECT * FROM '{tmp_path}/other.csv'",
            f"ATTACH '{tmp_path}/other.duckdb'",
            f"COPY raw_domain TO '{tmp_path}/out.csv'",
            "SELECT * FROM local",
            "INSTALL httpfs",
            "SET enable_external_access = true",
        ):
            with pytest.raises(Exception, match=r"Error"):
                warehouse.execute(sql)


def test_transaction_is_all_or_nothing(path: Path) -> None:
    with Warehouse.open(path) as warehouse:
        with pytest.raises(ValueError, match="no name"), warehouse.transaction():
            _insert_two(warehouse, "n1", "no name")
        with pytest.raises(Exception, match="does not exist"), warehouse.transaction():
            _insert_two(warehouse, "n2", "missing")
        with warehouse.transaction():
            warehouse.insert_table("raw_domain", _domain("n3"))
            with pytest.raises(WarehouseError, match="inside"), warehouse.transaction():
                pass
        assert warehouse.rows("SELECT node FROM raw_domain") == [("n3",)]


def test_table_names_are_names(path: Path) -> None:
    with Warehouse.open(path) as warehouse, pytest.raises(ValueError, match="no name"):
        warehouse.insert_table("a; DROP TABLE source", _domain("n1"))


def test_a_newer_schema_says_what_to_do(path: Path) -> None:
    with Warehouse.open(path) as warehouse:
        warehouse.execute("INSERT INTO schema_version VALUES (999)")
    with pytest.raises(WarehouseError, match=r"999.*update ckpt-audit"):
        Warehouse.open(path)


def test_an_older_schema_is_brought_up_to_date(path: Path) -> None:
    with Warehouse.open(path) as warehouse:
        version = warehouse.rows("SELECT max(version) FROM schema_version")
        for (table,) in warehouse.rows("SELECT table_name FROM duckdb_tables()"):
            warehouse.execute(f'DROP TABLE "{table}"')
    with pytest.raises(WarehouseError, match="older"):
        Warehouse.open(path, read_only=True)
    with Warehouse.open(path) as warehouse:
        assert warehouse.rows("SELECT max(version) FROM schema_version") == version
        assert warehouse.rows("SELECT * FROM source") == []


def test_schema_scripts_are_numbered_without_a_gap(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"00{number}_part.sql").write_text(f"SELECT {number}")
    assert migrations(tmp_path) == ["SELECT 1", "SELECT 2"]
    for name in ("004_later.sql", "002_twice.sql"):
        (tmp_path / name).write_text("SELECT 4")
        with pytest.raises(WarehouseError, match=name):
            migrations(tmp_path)
        (tmp_path / name).unlink()


def test_somebody_elses_database_is_left_alone(path: Path) -> None:
    with Warehouse.open(path) as warehouse:
        for (table,) in warehouse.rows("SELECT table_name FROM duckdb_tables()"):
            warehouse.execute(f'DROP TABLE "{table}"')
        warehouse.execute("CREATE TABLE invoice (id INTEGER)")
    with pytest.raises(WarehouseError, match="something else"):
        Warehouse.open(path)


@pytest.mark.parametrize("content", [b"", b"no database " * 1000, b"\0" * 20_000])
def test_another_file_is_no_warehouse(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(WarehouseError) as caught:
        Warehouse.open(path)
    assert "\n" not in str(caught.value)
    assert "--db" in str(caught.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize("read_only", [False, True])
def test_paths_that_cannot_be(tmp_path: Path, read_only: bool) -> None:
    for path in (tmp_path / "missing" / "a.duckdb", tmp_path):
        with pytest.raises(WarehouseError) as caught:
            Warehouse.open(path, read_only=read_only)
        assert "\n" not in str(caught.value)
    with pytest.raises(WarehouseError, match="ckpt-audit ingest"):
        Warehouse.open(tmp_path / "missing.duckdb", read_only=True)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_held_file_is_waited_for_and_its_holder_named(path: Path, read_only: bool) -> None:
    Warehouse.open(path).close()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(WarehouseBusyError, match=str(holder.pid)):
            Warehouse.open(path, read_only=read_only)
        clock = Clock()
        with pytest.raises(WarehouseBusyError):
            Warehouse.open(path, read_only=read_only, wait_s=3, clock=clock, sleep=clock.sleep)
        assert sum(clock.naps) == pytest.approx(3)

        def release(_: float) -> None:
            holder.communicate()

        Warehouse.open(path, read_only=read_only, wait_s=3, sleep=release).close()
    finally:
        holder.communicate()
