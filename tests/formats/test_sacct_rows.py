"""Rows of sacct that are broken, cut or hostile."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats._scan import LiteralScanner
from ckpt_audit.ingest.formats.slurm_sacct import SLURM_SACCT
from ckpt_audit.records import JobRecord, Rejected

HEAD = "JobID|JobName|State|NewColumn|Submit|Start|End|Comment\n"


def row(job: int, name: str = "run", comment: str = "") -> str:
    return (
        f"{job}|{name}|COMPLETED|7|2026-05-01T10:00:00|2026-05-01T10:00:09|2026-05-01T18:03:11|"
        f"{comment}\n"
    )


def read(text: str) -> tuple[list[str], list[Rejected]]:
    records = list(SLURM_SACCT.read(ByteSource.from_bytes(text.encode()), ReadOptions()))
    jobs = [record.job_id for record in records if isinstance(record, JobRecord)]
    return jobs, [record for record in records if isinstance(record, Rejected)]


@given(
    names=st.lists(st.text("ab|\n ", max_size=6).map(str.strip), min_size=1, max_size=4),
    n_cut=st.integers(1, 60),
)
def test_rows_after_broken_ones_are_read(names: list[str], n_cut: int) -> None:
    broken = "".join(row(number, name) for number, name in enumerate(names, 1))
    cut = row(98)[: -n_cut - 2]
    jobs, rejected = read(HEAD + broken + row(97) + cut)
    assert "97" in jobs
    assert [item.line_no for item in rejected][-1:] == [2 + broken.count("\n") + 1]
    assert "98" not in jobs


def test_a_comment_of_many_lines_belongs_to_its_row() -> None:
    assert read(HEAD + row(1, comment="one\ntwo\nthree") + row(2)) == (["1", "2"], [])


@pytest.mark.parametrize(
    "hostile", ["9|x\n" + "y\n" * 400_000, "9" + "|x" * 14 + "\n", ("9" + "|x" * 15 + "\n") * 20]
)
def test_what_cannot_be_a_row_takes_little_time(hostile: str) -> None:
    start = time.process_time()
    jobs, _ = read(HEAD + row(1) + hostile + row(2))
    assert jobs == ["1", "2"]
    assert time.process_time() - start < 4


def test_scanners_of_different_literals_find_their_own() -> None:
    one, other = LiteralScanner([b"ab", b"c"]), LiteralScanner([b"c", b"ab"])
    again = LiteralScanner([b"ab", b"c"])
    for scanner, found in ((one, [0, 1]), (other, [1, 0]), (again, [0, 1]), (one, [0, 1])):
        ends, literals = scanner.scan(b"xabyc")
        assert (ends.tolist(), literals.tolist()) == ([3, 5], found)
