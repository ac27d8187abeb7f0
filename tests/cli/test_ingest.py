"""What ``ingest`` says and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckpt_audit.warehouse import Warehouse
from tests.cli.conftest import Call

HEAD = (
    "JobID|JobIDRaw|JobName|User|Account|Partition|State|ExitCode|Submit|Start|End|NNodes|NodeList"
)
ROW = (
    "{id}|{id}|llama|ada|ml|gpu|FAILED|1:0|2026-05-01T09:00:00|2026-05-01T10:00:00|"
    "2026-05-01T11:00:00|2|n[1-2]"
)


@pytest.fixture
def sacct(own_place: Path) -> Path:
    path = own_place / "sacct.txt"
    path.write_text("\n".join([HEAD, ROW.format(id=7), ROW.format(id=8)]) + "\n")
    return path


def zones(db: str = "ckpt-audit.duckdb") -> list[tuple[str, str]]:
    with Warehouse.open(db, read_only=True) as warehouse:
        return warehouse.rows("SELECT tz, origin FROM source_zone ORDER BY source_id")


def test_it_ends_with_a_table(call: Call, sacct: Path) -> None:
    called = call("ingest", "sacct.txt", "--tz", "UTC")
    assert (called.code, called.err) == (0, "")
    assert called.out.splitlines()[1].split() == ["slurm_sacct", "1", "0", "3", "2", "0"]


def test_twice_changes_nothing(call: Call, sacct: Path) -> None:
    first = json.loads(call("ingest", "sacct.txt", "--tz", "UTC", "--json").out)
    second = json.loads(call("ingest", "sacct.txt", "--tz", "UTC", "--json").out)
    assert first["has_changed"] is True
    assert second["has_changed"] is False
    assert second["formats"][0]["unchanged"] == 1
    assert first["schema"] == "ckpt-audit/ingest/1"


def test_part_unreadable_is_4(call: Call, sacct: Path, own_place: Path) -> None:
    (own_place / "poem.txt").write_text("roses are red\n" * 50)
    called = call("ingest", "sacct.txt", "poem.txt", "missing.txt", "--tz", "UTC")
    assert called.code == 4
    assert "not recognised: poem.txt: " in called.out
    assert "unreadable: missing.txt: no such file or folder" in called.out


def test_strangers_inside_a_folder_are_only_listed(call: Call, own_place: Path) -> None:
    folder = own_place / "logs"
    folder.mkdir()
    (folder / "poem.txt").write_text("roses are red\n" * 50)
    called = call("ingest", "logs")
    assert called.code == 0
    assert "not recognised: logs/poem.txt" in called.out


def test_an_assumed_zone_is_said(call: Call, sacct: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    called = call("ingest", "sacct.txt")
    assert "notice: " in called.err
    assert "Asia/Tokyo" in called.err
    assert zones() == [("Asia/Tokyo", "machine")]
    assert call("-q", "ingest", "sacct.txt").err == ""


def test_strict_refuses_an_assumed_zone_and_takes_the_file_back(call: Call, sacct: Path) -> None:
    called = call("ingest", "sacct.txt", "--strict")
    assert called.code == 1
    assert "sacct.txt: its time zone is not known" in called.err
    assert zones() == []
    assert call("ingest", "sacct.txt", "--strict", "--tz", "UTC").code == 0


def test_zones_come_from_flag_before_configuration(
    call: Call, sacct: Path, own_place: Path
) -> None:
    (own_place / "ckpt-audit.toml").write_text("timezone = 'Europe/Berlin'\n")
    call("ingest", "sacct.txt")
    assert zones() == [("Europe/Berlin", "config")]
    call("ingest", "sacct.txt", "--db", "other.duckdb", "--tz", "America/New_York")
    assert zones("other.duckdb") == [("America/New_York", "flag")]


def test_a_dry_run_changes_nothing(call: Call, sacct: Path) -> None:
    called = call("ingest", "sacct.txt", "--dry-run")
    assert "dry run: nothing was changed" in called.out
    assert "slurm_sacct" in called.out
    with Warehouse.open("ckpt-audit.duckdb", read_only=True) as warehouse:
        assert warehouse.rows("SELECT count(*) FROM source") == [(0,)]


def test_the_topology_of_the_configuration_is_read_along(
    call: Call, sacct: Path, own_place: Path
) -> None:
    (own_place / "topology.conf").write_text("SwitchName=leaf1 Nodes=n[1-2]\n")
    (own_place / "ckpt-audit.toml").write_text("topology = 'topology.conf'\ntimezone = 'UTC'\n")
    formats = json.loads(call("ingest", "sacct.txt", "--json").out)["formats"]
    assert [row["format"] for row in formats] == ["slurm_sacct", "slurm_topology"]


def test_an_interrupted_ingestion_is_noticed_by_who_reads_next(
    call: Call, sacct: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ckpt_audit import stages

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stages, "run", interrupt)
        assert call("ingest", "sacct.txt", "--tz", "UTC").code == 130
    assert call("check").code == 3
    assert "working the numbers out anew" in call("runs").err
    assert "working" not in call("runs").err
