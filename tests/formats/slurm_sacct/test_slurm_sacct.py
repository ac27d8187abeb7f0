from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats.slurm_sacct import SLURM_SACCT, parse_columns
from ckpt_audit.records import ClockKind, JobRecord, Rejected

REAL = Path(__file__).parents[3] / "../shared/real"
XDMOD = (
    "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,"
    "elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit%20,nodelist,"
    "jobname"
)


def _read(
    data: bytes, columns: str | None = None, delimiter: str | None = None
) -> tuple[list[JobRecord], list[Rejected]]:
    options = ReadOptions(parse_columns(columns) if columns else None, delimiter)
    rows = list(SLURM_SACCT.read(ByteSource.from_bytes(data), options))
    jobs = [row for row in rows if isinstance(row, JobRecord)]
    rejected = [row for row in rows if isinstance(row, Rejected)]
    assert len(jobs) + len(rejected) == len(rows)
    return jobs, rejected


def _real(name: str) -> bytes:
    path = REAL / name
    if not path.exists():
        pytest.skip("the real files are not here")
    return path.read_bytes()


HEAD = "JobID|JobName|State|Start|End\n"
GOOD = "1|a|FAILED|2026-05-01T00:00:00|2026-05-01T01:00:00\n"


@pytest.mark.parametrize(
    ("name", "n_jobs", "columns"),
    [
        ("slurm_sacct/gcm_sample-sacct-output.txt", 68, None),
        ("slurm_sacct/gcm_sample-sacct-output-invalid-utf8.txt", 11, None),
        ("slurm_sacct/gcm_sample-sacct-multiple-multiline.txt", 6, None),
        ("slurm_sacct/gcm_sample-sacct-fake-line-break.txt", 4, None),
        ("slurm_sacct/slurm2sql_test-data1.csv", 5, None),
        ("slurm_sacct/slurm2sql_test-data2.csv", 5, None),
        ("slurm_sacct/xdmod_phillips_head400_noheader.log", 400, XDMOD),
        ("slurm_22.05_made_here/sacct.txt", 33, None),
        ("slurm_22.05_made_here/sacct_all_fields.txt", 33, None),
        ("slurm_22.05_made_here/sacct_without_duplicates.txt", 27, None),
    ],
)
def test_real_files(name: str, n_jobs: int, columns: str | None) -> None:
    jobs, rejected = _read(_real(name), columns)
    assert rejected == []
    assert len(jobs) == n_jobs


def test_real_dump_counted_by_hand() -> None:
    jobs, _ = _read(_real("slurm_22.05_made_here/sacct.txt"))
    whole = [job for job in jobs if not job.step_id]
    assert len(whole) == 11
    assert Counter(job.state for job in whole) == {
        "NODE_FAIL": 1, "FAILED": 1, "CANCELLED": 1, "TIMEOUT": 1, "REQUEUED": 1, "RUNNING": 1,
        "COMPLETED": 5,
    }  # fmt: skip
    alpha = [job for job in whole if job.job_id == "1"]
    assert [job.state for job in alpha] == ["NODE_FAIL", "REQUEUED", "RUNNING"]
    assert alpha[0].nodes == ("n1", "n2")
    assert alpha[2].end_us is None


def test_real_headerless_dump_counted_by_hand() -> None:
    jobs, _ = _read(_real("slurm_sacct/xdmod_phillips_head400_noheader.log"), XDMOD)
    states = Counter(job.state for job in jobs)
    assert states["CANCELLED"] == 1
    assert states["COMPLETED"] == 12
    assert states["FAILED"] == 386
    assert states["TIMEOUT"] == 1
    assert sum(job.n_accelerators or 0 for job in jobs) == 2


def test_a_file_without_header_says_what_to_do() -> None:
    data = GOOD.encode() * 3
    assert SLURM_SACCT.sniff(data, "") >= 50
    jobs, rejected = _read(data)
    assert jobs == []
    assert [row.line_no for row in rejected] == [1]
    assert "--columns" in rejected[0].reason


def test_a_table_for_people_says_what_to_do() -> None:
    data = b"       JobID    JobName      State\n------------ ---------- ----------\n1  a  FAILED\n"
    assert SLURM_SACCT.sniff(data, "") >= 50
    jobs, rejected = _read(data)
    assert jobs == []
    assert "--parsable2" in rejected[0].reason


@pytest.mark.parametrize("delimiter", ["|", "|#", "\t", ";", "~~", "^"])
@pytest.mark.parametrize("trailing", [False, True])
def test_delimiters_are_found(delimiter: str, trailing: bool) -> None:
    end = f"{delimiter}\n" if trailing else "\n"
    text = (HEAD + GOOD).replace("|", delimiter).replace("\n", end)
    jobs, rejected = _read(text.encode())
    assert rejected == []
    assert [(job.job_id, job.name, job.state) for job in jobs] == [("1", "a", "FAILED")]


def test_quoted_commas() -> None:
    text = '"JobID","State","Start","NodeList"\n"1","FAILED","2026-05-01T00:00:00","n[1,3]"\n'
    jobs, rejected = _read(text.encode())
    assert rejected == []
    assert jobs[0].nodes == ("n1", "n3")


def test_a_given_delimiter_and_columns_without_header() -> None:
    jobs, rejected = _read(
        GOOD.replace("|", "!!").encode(), "JobID%20,JobName,State,Start,End", "!!"
    )
    assert rejected == []
    assert jobs[0].end_us is not None


def test_given_columns_do_not_overrule_a_header() -> None:
    jobs, _ = _read((HEAD + GOOD).encode(), "State,JobID,JobName,Start,End")
    assert jobs[0].name == "a"


def test_two_dumps_in_one_file() -> None:
    text = HEAD + GOOD + "State|JobID|End\nTIMEOUT|2|Unknown\n" + HEAD + GOOD
    jobs, rejected = _read(text.encode())
    assert rejected == []
    assert [(job.job_id, job.state, job.line_no) for job in jobs] == [
        ("1", "FAILED", 2),
        ("2", "TIMEOUT", 4),
        ("1", "FAILED", 6),
    ]


def test_a_row_that_ends_too_early_costs_only_itself() -> None:
    jobs, rejected = _read((HEAD + "7|cut|FAIL\n" + GOOD + "8|end|RUN").encode())
    assert [job.job_id for job in jobs] == ["1"]
    assert [row.line_no for row in rejected] == [2, 4]
    assert "dump it again" in rejected[0].reason


@pytest.mark.parametrize("name", ["x|y", "x|y|z|", "|", "a|FAILED|b"])
def test_a_delimiter_in_the_name(name: str) -> None:
    row = f"5|{name}|FAILED|2026-05-01T00:00:00|2026-05-01T01:00:00\n"
    jobs, rejected = _read((HEAD + row + GOOD).encode())
    assert rejected == []
    assert [job.name for job in jobs] == [name, "a"]


def test_a_delimiter_where_none_may_be_is_rejected() -> None:
    text = "JobID|Partition|State|Start\n5|x|y|FAILED|2026-05-01T00:00:00\n"
    jobs, rejected = _read(text.encode())
    assert jobs == []
    assert "--delimiter" in rejected[0].reason


def test_delimiter_in_the_name_and_in_the_command() -> None:
    text = "JobID|JobName|State|End|SubmitLine\n5|x|y|FAILED|Unknown|sbatch -J x|y\n"
    jobs, rejected = _read(text.encode())
    assert rejected == []
    assert jobs[0].name == "x|y"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("State", "WHATEVER"),
        ("Start", "2026-13-01T00:00:00"),
        ("Start", "10:00:00"),
        ("ExitCode", "zero"),
        ("JobID", "abc"),
        ("NodeList", "n[1-"),
        ("ElapsedRaw", "1:00"),
        ("Elapsed", "forever"),
    ],
)
def test_bad_fields_are_named(field: str, value: str) -> None:
    fields = {"JobID": "1", "State": "FAILED", "Start": "Unknown", "ExitCode": "0:0"} | {
        field: value
    }
    text = "|".join(fields) + "\n" + "|".join(fields.values()) + "\n"
    jobs, rejected = _read(text.encode())
    assert jobs == []
    assert field.lower() in rejected[0].reason
    assert rejected[0].line_no == 2


def test_local_and_absolute_times() -> None:
    text = "JobID|State|Start|End\n1|FAILED|2026-05-01T00:00:00+02:00|1777590000\n"
    jobs, _ = _read(text.encode())
    assert jobs[0].clock_kind is ClockKind.UTC
    assert jobs[0].start_us == 1777586400_000000
    mixed = "JobID|State|Start|End\n1|FAILED|2026-05-01T00:00:00|1777590000\n"
    _, rejected = _read(mixed.encode())
    assert "one form" in rejected[0].reason


@pytest.mark.parametrize(
    ("columns", "fields", "expected"),
    [
        ("AllocTRES", "cpu=1,gres/gpu=8,gres/gpu:h100=8", 8),
        ("AllocTRES", "gres/gpu:h100=4,gres/gpu:a100=2", 6),
        ("AllocTRES", "cpu=1,node=1", None),
        ("AllocTRES", "", None),
        ("AllocGRES", "gpu:8", 8),
        ("AllocGRES", "gpu:tesla:4,nic:1", 4),
        ("AllocTRES|AllocGRES", "cpu=1|gres:gpu:2", 2),
    ],
)
def test_accelerators(columns: str, fields: str, expected: int | None) -> None:
    jobs, rejected = _read(f"JobID|End|{columns}\n1|Unknown|{fields}\n".encode())
    assert rejected == []
    assert jobs[0].n_accelerators == expected


def test_nodes_are_counted_only_when_there() -> None:
    head = "JobID|State|End|NNodes|NodeList\n"
    text = f"{head}1|PENDING|Unknown|4|None assigned\n2|FAILED|Unknown|2|n[01-02]\n"
    jobs, _ = _read(text.encode())
    assert [job.n_nodes for job in jobs] == [None, 2]


def test_a_large_count_has_a_unit() -> None:
    jobs, _ = _read(b"JobID|State|End|NNodes\n1|FAILED|Unknown|2K\n")
    assert jobs[0].n_nodes == 2048
