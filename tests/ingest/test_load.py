from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ckpt_audit
from ckpt_audit.dating import date_sources
from ckpt_audit.errors import CkptAuditError, NoDataError, UsageError
from ckpt_audit.ingest import load
from ckpt_audit.ingest.base import ReadOptions
from ckpt_audit.ingest.load import Hints, IngestOptions, Progress, forget, ingest
from ckpt_audit.warehouse import Warehouse

REAL = Path(__file__).parents[2] / "../shared/real"
HEAD = "JobID|JobName|State|Start|End\n"
GOOD = "1|a|FAILED|2026-05-01T00:00:00|2026-05-01T01:00:00\n"
TABLES = (
    "raw_step",
    "raw_event",
    "raw_job",
    "raw_domain",
    "raw_node",
    "raw_checkpoint",
    "rejected_line",
    "source",
)


def _line(step: int) -> str:
    return (
        f" [2026-05-01 10:{step // 60:02}:{step % 60:02}] iteration {step:8d}/    1000 | "
        "consumed samples:            8 | elapsed time per iteration (ms): 1000.0 | "
        "learning rate: 1.0E-04 | global batch size:     8 | lm loss: 2.999000E+00 |\n"
    )


def _log(first: int, last: int) -> str:
    return "".join(_line(step) for step in range(first, last + 1))


def _content(warehouse: Warehouse) -> dict[str, list[tuple[Any, ...]]]:
    return {table: warehouse.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in TABLES}


def _steps(warehouse: Warehouse) -> list[int]:
    return [step for (step,) in warehouse.rows("SELECT step FROM raw_step ORDER BY ALL")]


@pytest.fixture
def warehouse() -> Any:
    with Warehouse.open(":memory:") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slurm-7.out").write_text(_log(1, 20))
    (tmp_path / "sacct.txt").write_text(HEAD + GOOD + "2|cut|FAI\n" + GOOD.replace("1|", "3|"))
    (tmp_path / "notes.md").write_text("nothing that is read\n")
    (tmp_path / "empty.out").write_text("")
    return tmp_path


def test_the_report_counts(warehouse: Warehouse, folder: Path) -> None:
    seen: list[Progress] = []
    report = ingest(warehouse, ["."], IngestOptions(progress=seen.append))
    jobs, steps = report.formats["slurm_sacct"], report.formats["job_log"]
    assert (jobs.n_files, jobs.n_lines, jobs.n_rows, jobs.n_rejected) == (1, 4, 2, 1)
    assert [r.example for r in jobs.rejections.values()] == ["sacct.txt:3"]
    assert (steps.n_files, steps.n_lines, steps.n_rows, steps.n_rejected) == (1, 20, 20, 0)
    assert [skipped.path for skipped in report.not_recognised] == ["notes.md"]
    assert [skipped.path for skipped in report.empty] == ["empty.out"]
    assert report.has_changed
    assert report.is_partial
    assert [(p.n_done, p.n_files) for p in seen] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_only_what_was_asked_for_makes_it_partial(warehouse: Warehouse, folder: Path) -> None:
    (folder / "sacct.txt").unlink()
    assert not ingest(warehouse, ["."]).is_partial, "strangers in a folder are none of it"
    assert not ingest(warehouse, ["empty.out"]).is_partial
    assert ingest(warehouse, ["notes.md"]).is_partial
    assert ingest(warehouse, ["missing.out"]).is_partial
    (folder / "cut.out").write_bytes(gzip.compress(_log(1, 50).encode())[:-20])
    report = ingest(warehouse, ["."])
    assert [skipped.path for skipped in report.unreadable] == ["cut.out"]
    assert report.is_partial
    assert _steps(warehouse) == list(range(1, 21)), "nothing of a damaged file is kept"


def test_a_dry_run_changes_nothing(warehouse: Warehouse, folder: Path) -> None:
    (folder / "cut.out").write_bytes(gzip.compress(os.urandom(99))[:-20])
    (folder / "copy.out").write_text(_log(1, 5))
    ingest(warehouse, ["slurm-7.out"])
    before = _content(warehouse)
    with (folder / "slurm-7.out").open("a") as file:
        file.write(_log(21, 30))
    report = ingest(warehouse, ["."], IngestOptions(is_dry_run=True))
    assert report.is_dry_run
    assert report.formats["job_log"].n_rows == 35
    assert _content(warehouse) == before


def test_strict_stops(warehouse: Warehouse, folder: Path) -> None:
    strict = IngestOptions(is_strict=True)
    for name, where in (
        ("sacct.txt", "sacct.txt:3"),
        ("notes.md", "notes.md"),
        ("no.out", "no.out"),
    ):
        with pytest.raises(CkptAuditError, match=f"^{where}: "):
            ingest(warehouse, [name], strict)
    assert warehouse.rows("SELECT * FROM raw_job") == []
    ingest(warehouse, ["slurm-7.out"], strict)


def test_a_file_that_grew(warehouse: Warehouse, folder: Path) -> None:
    log = folder / "slurm-7.out"
    ingest(warehouse, ["."])
    log.write_text(_log(1, 20) + _line(21)[:100])
    ingest(warehouse, ["."])
    log.write_text(_log(1, 30))
    ingest(warehouse, ["."])
    assert _steps(warehouse) == list(range(1, 31))
    assert len(warehouse.rows("SELECT * FROM source WHERE format = 'job_log'")) == 1
    sacct = folder / "sacct.txt"
    sacct.write_text(sacct.read_text() + GOOD.replace("1|", "4|"))
    ingest(warehouse, ["."])
    assert len(warehouse.rows("SELECT * FROM raw_job")) == 3


def test_growth_is_read_from_near_the_old_end(
    warehouse: Warehouse, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ckpt_audit.ingest.base.CONTEXT_BYTES", 3000)
    monkeypatch.setattr("ckpt_audit.ingest.base.REDO_BYTES", 1000)
    log = folder / "slurm-7.out"
    log.write_text(_log(1, 200))
    ingest(warehouse, ["slurm-7.out"])
    for last in (201, 230, 500):
        n_before = len(_steps(warehouse))
        log.write_text(_log(1, last))
        report = ingest(warehouse, ["slurm-7.out"]).formats["job_log"]
        assert report.n_lines <= last - n_before + 3000 // len(_line(1)) + 1
        assert _steps(warehouse) == list(range(1, last + 1))


def test_a_log_that_began_again_keeps_the_old_evidence(warehouse: Warehouse, folder: Path) -> None:
    log = folder / "slurm-7.out"
    ingest(warehouse, ["slurm-7.out"])
    log.write_text(_log(11, 40))
    ingest(warehouse, ["slurm-7.out"])
    assert _steps(warehouse) == sorted([*range(1, 21), *range(11, 41)])
    assert len(warehouse.rows("SELECT * FROM source")) == 2
    log.write_text(_log(11, 50))
    ingest(warehouse, ["slurm-7.out"])
    assert _steps(warehouse) == sorted([*range(1, 21), *range(11, 51)])


@pytest.mark.parametrize(
    "names", [("slurm-7.out", "old/slurm-7.out.gz"), ("t.log", "old/t.log.gz")]
)
@pytest.mark.parametrize("whole_first", [False, True])
@pytest.mark.parametrize("cut", [0, 100])
def test_a_part_and_the_whole_are_the_whole(
    warehouse: Warehouse, folder: Path, names: tuple[str, str], whole_first: bool, cut: int
) -> None:
    (folder / "old").mkdir()
    part, whole = folder / names[0], folder / names[1]
    part.write_text(_log(1, 20) + _line(21)[:cut])
    whole.write_bytes(gzip.compress(_log(1, 30).encode()))
    for path in (whole, part) if whole_first else (part, whole):
        ingest(warehouse, [str(path)])
    assert _steps(warehouse) == list(range(1, 31))
    before = _content(warehouse)
    ingest(warehouse, [str(part), str(whole)])
    assert _content(warehouse) == before


def test_rotated_and_renamed_is_known(warehouse: Warehouse, folder: Path) -> None:
    ingest(warehouse, ["slurm-7.out"])
    (folder / "slurm-7.out").rename(folder / "slurm-7.out.1")
    (folder / "slurm-7.out").write_text(_log(21, 30))
    report = ingest(warehouse, ["slurm-7.out", "slurm-7.out.1"])
    assert report.formats["job_log"].n_unchanged == 1
    assert _steps(warehouse) == list(range(1, 31))


def test_equal_content_of_other_jobs_counts(warehouse: Warehouse, folder: Path) -> None:
    (folder / "slurm-8.out").write_text(_log(1, 20))
    ingest(warehouse, ["."])
    assert len(_steps(warehouse)) == 40
    assert warehouse.rows("SELECT name_refs FROM source WHERE format = 'job_log' ORDER BY 1") == [
        (["7"],),
        (["8"],),
    ]


def test_standard_input_and_pipes(warehouse: Warehouse, folder: Path) -> None:
    stdin = io.BytesIO(gzip.compress(_log(1, 20).encode()))
    report = ingest(warehouse, ["-"], IngestOptions(stdin=stdin))
    assert report.formats["job_log"].n_rows == 20
    assert warehouse.rows("SELECT path, name_refs FROM source") == [("-", [])]
    os.mkfifo(folder / "pipe")
    with subprocess.Popen(["cp", "sacct.txt", "pipe"]):
        report = ingest(warehouse, ["pipe"])
    assert report.formats["slurm_sacct"].n_rows == 2


def test_what_a_person_says_is_kept(warehouse: Warehouse, folder: Path) -> None:
    def say(tz: str | None, origin: str | None, run: str | None = None) -> tuple[Any, ...]:
        options = IngestOptions(hints=lambda path: Hints(tz, origin, run))
        ingest(warehouse, ["slurm-7.out"], options)
        return warehouse.rows("SELECT tz_given, tz_given_origin, run_override FROM source")[0]

    assert say(None, None) == (None, None, None)
    assert say("Europe/Berlin", "config") == ("Europe/Berlin", "config", None)
    assert say("Asia/Tokyo", "flag", "llama") == ("Asia/Tokyo", "flag", "llama")
    assert say("Europe/Paris", "config") == ("Asia/Tokyo", "flag", "llama")
    (folder / "slurm-7.out").write_text(_log(1, 30))
    assert say(None, None) == ("Asia/Tokyo", "flag", "llama")
    assert _steps(warehouse) == list(range(1, 31))


def test_a_forced_format(warehouse: Warehouse, folder: Path) -> None:
    def force(name: str) -> IngestOptions:
        return IngestOptions(hints=lambda path: Hints(format_name=name))

    with pytest.raises(UsageError, match="slurm_sacct"):
        ingest(warehouse, ["notes.md"], force("nonsense"))
    report = ingest(warehouse, ["notes.md"], force("slurm_sacct"))
    assert report.n_rejected == 1


def test_columns_said_later_read_what_was_fruitless(warehouse: Warehouse, folder: Path) -> None:
    path = folder / "dump.txt"
    path.write_text("1|FAILED|2026-05-01T00:00:00|2026-05-01T00:00:00\n")
    assert ingest(warehouse, ["dump.txt"]).n_rejected == 1
    columns = ReadOptions(columns=("JobID", "State", "Start", "End"))
    report = ingest(warehouse, ["dump.txt"], IngestOptions(read=columns))
    assert report.formats["slurm_sacct"].n_rows == 1
    assert warehouse.rows("SELECT count(*) FROM rejected_line") == [(0,)]
    assert len(warehouse.rows("SELECT * FROM source")) == 1


def test_forget_is_as_if_never_read(warehouse: Warehouse, folder: Path) -> None:
    ingest(warehouse, ["sacct.txt"])
    before = _content(warehouse)
    (folder / "logs").mkdir()
    (folder / "logs/slurm-9.out").write_text(_log(1, 9))
    ingest(warehouse, ["slurm-7.out", "logs"])
    assert forget(warehouse, "logs/") == ["logs/slurm-9.out"]
    assert forget(warehouse, "slurm-7.out") == ["slurm-7.out"]
    assert _content(warehouse) == before
    with pytest.raises(NoDataError):
        forget(warehouse, "slurm-7")
    ingest(warehouse, ["slurm-7.out"])
    assert len(_steps(warehouse)) == 20


def test_a_file_that_was_forgotten_is_dated_again(warehouse: Warehouse, folder: Path) -> None:
    def dated() -> list[tuple[Any, ...]]:
        date_sources(warehouse, machine_zone="UTC", zone_for=lambda *_: None)
        return warehouse.rows("SELECT * FROM line_time ORDER BY ALL")

    ingest(warehouse, ["slurm-7.out"])
    before = dated()
    warehouse.execute("INSERT INTO zone_conflict VALUES (1, 0, 'old')")
    forget(warehouse, "slurm-7.out")  # and killed before anything was dated
    assert warehouse.rows("SELECT * FROM zone_conflict") == []
    ingest(warehouse, ["slurm-7.out"])
    assert dated() == before
    assert len(before) == 20


def test_the_zone_of_the_machine_is_kept_from_the_first_reading(
    warehouse: Warehouse, folder: Path
) -> None:
    def read_under(zone: str) -> list[tuple[Any, ...]]:
        ingest(warehouse, ["slurm-7.out"], IngestOptions(machine_zone=zone))
        return warehouse.rows("SELECT machine_tz FROM source")

    assert read_under("Europe/Berlin") == [("Europe/Berlin",)]
    assert read_under("Asia/Tokyo") == [("Europe/Berlin",)]
    (folder / "slurm-7.out").write_text(_log(1, 30))
    assert read_under("Asia/Tokyo") == [("Europe/Berlin",)]


def test_what_could_not_be_read_is_kept_until_it_can(warehouse: Warehouse, folder: Path) -> None:
    def unread() -> list[tuple[Any, ...]]:
        return [path for (path,) in warehouse.rows("SELECT path FROM unread_source ORDER BY 1")]

    whole = gzip.compress(_log(1, 50).encode())
    for name in ("cut.out", "logs/cut.out"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(whole[:-20])
    ingest(warehouse, [".", "gone.out"], IngestOptions(is_dry_run=True))
    assert unread() == []
    for _ in range(2):
        ingest(warehouse, [".", "gone.out"])
        assert unread() == ["cut.out", "gone.out", "logs/cut.out"]
    with pytest.raises(CkptAuditError):
        ingest(warehouse, ["lost.out"], IngestOptions(is_strict=True))
    assert "lost.out" in unread()
    (folder / "cut.out").write_bytes(whole)
    ingest(warehouse, ["cut.out"])
    assert forget(warehouse, "logs/") == ["logs/cut.out"]
    assert forget(warehouse, "gone.out") == ["gone.out"]
    assert unread() == ["lost.out"]


def test_a_folder_that_could_be_listed_after_all(warehouse: Warehouse, folder: Path) -> None:
    (folder / "logs").mkdir()
    warehouse.execute("INSERT INTO unread_source VALUES ('logs', 'Permission denied')")
    (folder / "logs/slurm-9.out").write_text(_log(1, 9))
    ingest(warehouse, ["logs"])
    assert warehouse.rows("SELECT * FROM unread_source") == []


def test_numbers_that_cannot_be_are_rejected(warehouse: Warehouse, folder: Path) -> None:
    head = "JobID|End|Restarts|ExitCode\n"
    text = f"{head}1|Unknown|1|0:0\n2|Unknown|{10**30}|0:0\n3|Unknown|1|{10**12}:0\n"
    (folder / "dump.txt").write_text(text)
    report = ingest(warehouse, ["dump.txt"]).formats["slurm_sacct"]
    assert (report.n_rows, report.n_rejected) == (1, 2)
    assert warehouse.rows("SELECT job_id FROM raw_job") == [("1",)]
    assert warehouse.rows("SELECT line_no FROM rejected_line ORDER BY 1") == [(3,), (4,)]


def test_names_and_content_that_are_no_text(warehouse: Warehouse, folder: Path) -> None:
    raw = os.fsencode(folder) + b"/gr\xfcn-5.txt"
    Path(os.fsdecode(raw)).write_bytes(HEAD.encode() + b"1|\0gr\xfcn|FAILED|Unknown|Unknown\n")
    report = ingest(warehouse, ["."])
    assert report.formats["slurm_sacct"].n_files == 2
    assert ("gr?n-5.txt",) in warehouse.rows("SELECT path FROM source")
    assert warehouse.rows("SELECT name FROM raw_job WHERE contains(name, 'gr')") == [("gr\ufffdn",)]


KILLED = """
import sys
from ckpt_audit.ingest.load import ingest
from ckpt_audit.ingest import rows
from ckpt_audit.warehouse import Warehouse
import os, signal
rows._FLUSH_AT = 50
after = int(sys.argv[2])
insert = Warehouse.insert_table
count = 0
def dying(self, table, data):
    global count
    insert(self, table, data)
    count += 1
    if count == after:
        os.kill(os.getpid(), signal.SIGKILL)
Warehouse.insert_table = dying
with Warehouse.open(sys.argv[1]) as warehouse:
    ingest(warehouse, sys.argv[3:])
"""


@pytest.mark.parametrize("after", [1, 2, 3])
def test_killed_at_any_time_loses_and_doubles_nothing(folder: Path, after: int) -> None:
    (folder / "slurm-7.out").write_text(_log(1, 300))
    db = folder / "audit.duckdb"
    environment = os.environ | {"PYTHONPATH": str(Path(ckpt_audit.__file__).parents[1])}
    command = [sys.executable, "-c", KILLED, str(db), str(after), "sacct.txt", "slurm-7.out"]
    done = subprocess.run(command, env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    with Warehouse.open(db) as warehouse:
        assert _steps(warehouse) == []
        ingest(warehouse, ["sacct.txt", "slurm-7.out"])
        assert _steps(warehouse) == list(range(1, 301))
        assert len(warehouse.rows("SELECT * FROM raw_job")) == 2
        assert len(warehouse.rows("SELECT * FROM source")) == 2


def test_real_folder(warehouse: Warehouse) -> None:
    if not REAL.exists():
        pytest.skip("the real files are not here")
    report = ingest(warehouse, [str(REAL / "slurm_22.05_made_here")])
    assert report.formats["slurm_sacct"].n_files == 3
    assert report.formats["slurm_sacct"].n_rows == 93
    assert report.formats["job_log"].n_files == 9
    assert report.n_rejected == 0
    names = {Path(skipped.path).name for skipped in report.not_recognised}
    assert names == {"README.md", "actions.log", "sacct.json", "scontrol_show_node.txt"}
    assert report.formats["slurm_events"].n_rows == 1
    assert report.formats["slurmctld_log"].n_rows > 3
    assert not report.is_partial


def test_every_option_has_a_default() -> None:
    assert load.IngestOptions().hints("x") == Hints()


def test_a_record_that_was_written_anew_takes_the_old_ones_place(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    path = tmp_path / "cycle_info.7.0.1"
    text = (
        '{"cycle_number": 1, "cycle_start_time": "2026-05-04T10:00:00Z",\n"cycle_end_time": "%s"}'
    )
    for end, kinds in (("", ["launch"]), ("2026-05-04T11:00:00Z", ["cycle_end", "launch"])):
        path.write_text(text % end)
        for _ in range(2):
            ingest(warehouse, [str(path)])
            assert warehouse.rows("SELECT kind FROM raw_event ORDER BY 1") == [(k,) for k in kinds]
            assert warehouse.rows("SELECT count(*) FROM source") == [(1,)]
