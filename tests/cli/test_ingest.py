"""What ``ingest`` says and how it ends."""

from __future__ import annotations

import gzip
import json
import os
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
STEP = (
    " [2026-05-01 10:00:{0:02}] iteration {0:8d}/    1000 | consumed samples:            8 | "
    "elapsed time per iteration (ms): 1000.0 | learning rate: 1.0E-04 | global batch size:     8 | "
    "lm loss: 2.999000E+00 |\n"
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


def test_check_tells_of_what_could_not_be_read(call: Call, sacct: Path, own_place: Path) -> None:
    def unread() -> list[tuple[str, str, str]]:
        results = json.loads(call("check", "--json").out)["checks"]
        found = [result for result in results if result["name"] == "input_unreadable"]
        return [(result["state"], result["subject"], result["summary"]) for result in found]

    (own_place / "slurm-7.out").write_text("".join(STEP.format(n) for n in range(1, 50)))
    call("ingest", "sacct.txt", "slurm-7.out", "--tz", "UTC")
    assert unread() == []
    damaged = own_place / "b.out.gz"
    damaged.write_bytes(gzip.compress(b"line\n" * 500)[:-9])
    assert call("ingest", "missing.txt", "b.out.gz", "--tz", "UTC").code == 4
    ((state, subject, summary),) = unread()
    assert (state, subject) == ("UNKNOWN", "b.out.gz")
    assert summary.startswith("2 inputs could not be read; the first is b.out.gz: ")
    assert call("check").code == 3
    assert "b.out.gz" in call("check").out
    assert call("forget", "b.out.gz").out == "forgotten: b.out.gz\n"
    assert unread() == [
        ("UNKNOWN", "missing.txt", "missing.txt could not be read: no such file or folder")
    ]


def test_an_assumed_zone_stays_under_another_machine_zone(
    call: Call, sacct: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    call("ingest", "sacct.txt")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    (sacct.parent / "later.txt").write_text("\n".join([HEAD, ROW.format(id=9)]) + "\n")
    called = call("ingest", "later.txt")
    assert zones() == [("Europe/Berlin", "machine"), ("Asia/Tokyo", "machine")]
    assert "Asia/Tokyo, Europe/Berlin" in called.err


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


@pytest.mark.parametrize(
    "words",
    [
        ["--format", "slurm_sacct", "--columns", HEAD.replace("|", ",")],
        ["--format", HEAD.replace("|", ",").replace("JobName", "JobName%30")],
        ["--columns", HEAD.replace("|", ","), "--delimiter", "|"],
    ],
)
def test_columns_stand_for_a_missing_header(call: Call, own_place: Path, words: list[str]) -> None:
    (own_place / "bare.txt").write_text(ROW.format(id=7) + "\n" + ROW.format(id=8) + "\n")
    assert call("ingest", "bare.txt", "--tz", "UTC", "--format", "slurm_sacct").code == 4
    called = call("ingest", "bare.txt", "--tz", "UTC", *words)
    assert (called.code, called.err) == (0, "")
    assert called.out.splitlines()[1].split() == ["slurm_sacct", "1", "0", "2", "2", "0"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--columns", "State,End"], "--columns names no JobID"),
        (["--columns", "JobID", "--format", "job_log"], "are of slurm_sacct, not job_log"),
        (["--delimiter", ""], "--delimiter is empty"),
        (["--format", "State,End"], "there is no format 'State,End'"),
    ],
)
def test_columns_that_cannot_be_meant(call: Call, sacct: Path, words: list[str], said: str) -> None:
    called = call("ingest", "sacct.txt", *words)
    assert called.code == 2
    assert said in called.err


def test_what_is_no_file_is_listed(call: Call, own_place: Path) -> None:
    (own_place / "logs").mkdir()
    os.mkfifo(own_place / "logs" / "pipe")
    (own_place / "logs" / "broken").symlink_to("nowhere")
    called = call("ingest", "logs")
    assert called.code == 0
    assert "not recognised: logs/broken: not a regular file" in called.out
    assert "not recognised: logs/pipe: not a regular file" in called.out


@pytest.mark.parametrize("tz", ["CET-1CEST", "Foo/Bar", "/no/where"])
def test_a_zone_that_is_none_is_said(
    call: Call, sacct: Path, monkeypatch: pytest.MonkeyPatch, tz: str
) -> None:
    monkeypatch.setenv("TZ", tz)
    called = call("ingest", "sacct.txt")
    warnings = [line for line in called.err.splitlines() if line.startswith("warning: TZ=")]
    assert len(warnings) == 1
    assert tz in warnings[0]
    assert "--tz" in warnings[0]
    assert zones() == [("UTC", "machine")]


def test_names_cannot_command_the_terminal(call: Call, own_place: Path) -> None:
    name = "a\x1b[2J\x9b\u202e\nb.txt"
    (own_place / name).write_text("roses are red\n" * 50)
    called = call("ingest", name, "no\x1b]0;x\x07")
    shown = r"a\x1b[2J\u009b\u202e\x0ab.txt"
    assert f"not recognised: {shown}: " in called.out
    assert r"unreadable: no\x1b]0;x\x07: " in called.out
    found = json.loads(call("ingest", name, "--json").out)["not_recognised"]
    assert found[0]["path"] == shown


def test_arguments_cannot_command_the_terminal(call: Call) -> None:
    for words in (["formats", "\x1b[2J"], ["runs", "--db", "\x1b[2J"], ["\x1b[2J"]):
        err = call(*words).err
        assert r"\x1b[2J" in err
        assert "\x1b" not in err
