from __future__ import annotations

import os
from pathlib import Path

import pytest

from ckpt_audit.ingest.discover import Found, discover
from ckpt_audit.ingest.naming import name_refs


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "root"
    for name in (
        "b.out",
        "a.out",
        "sub/c.log",
        ".hidden",
        ".git/x.out",
        "w.duckdb",
        "w.duckdb.wal",
    ):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (tmp_path / "outside.out").write_text("outside")
    monkeypatch.chdir(root)
    return root


def _paths(*arguments: str) -> list[str]:
    return [item.path for item in discover(arguments)]


def test_a_folder_is_walked_in_order(tree: Path) -> None:
    assert _paths(".") == ["a.out", "b.out", "sub/c.log"]
    assert _paths(str(tree)) == [f"{tree}/{name}" for name in ("a.out", "b.out", "sub/c.log")]
    assert not any(item.is_named for item in discover(["."]))


def test_files_globs_and_stdin(tree: Path) -> None:
    assert discover(["b.out"]) == [Found("b.out", is_named=True)]
    assert discover(["*.out"]) == [Found("a.out", is_named=False), Found("b.out", is_named=False)]
    assert _paths("**/*.log") == ["sub/c.log"]
    assert discover(["-"]) == [Found("-", is_named=True, is_stream=True)]
    assert _paths("w.duckdb") == ["w.duckdb"], "what is named is meant"


def test_a_file_comes_once_and_stays_named(tree: Path) -> None:
    found = discover([".", "./b.out", str(tree / "b.out"), "*.out"])
    assert [item.path for item in found] == ["a.out", "b.out", "sub/c.log"]
    assert [item.is_named for item in found] == [False, True, False]


def test_links_do_not_lead_out_or_around(tree: Path) -> None:
    (tree / "loop").symlink_to(tree)
    (tree / "self").symlink_to("self")
    (tree / "out.out").symlink_to(tree.parent / "outside.out")
    (tree / "up").symlink_to(tree.parent)
    (tree / "dangling").symlink_to(tree / "nowhere")
    (tree / "z.out").symlink_to(tree / "a.out")
    found = discover(["."])
    assert [item.path for item in found if item.problem is None] == ["a.out", "b.out", "sub/c.log"]
    assert [item.path for item in found if item.is_stranger] == ["dangling", "self"]
    assert _paths("out.out") == ["out.out"], "a link that is named is meant"


def test_what_is_not_there_is_a_problem(tree: Path) -> None:
    found = discover(["missing.out", "*.zip"])
    assert [(item.path, item.is_named) for item in found] == [
        ("missing.out", True),
        ("*.zip", True),
    ]
    assert all(item.problem for item in found)


def test_names_with_glob_characters(tree: Path) -> None:
    (tree / "a[1].out").write_text("x")
    assert discover(["a[1].out"]) == [Found("a[1].out", is_named=True)]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_closed_folder_is_a_problem(tree: Path) -> None:
    (tree / "sub").chmod(0)
    found = discover(["."])
    (tree / "sub").chmod(0o700)
    assert [item.problem for item in found] == [None, None, "Permission denied"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_a_device_that_never_ends_is_not_read() -> None:
    (found,) = discover(["/dev/zero"])
    assert found.problem is not None
    assert "a device, which may never end" in found.problem
    assert not found.is_stream


def test_special_files(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    stranger = Found("pipe", is_named=False, problem="not a regular file", is_stranger=True)
    assert discover(["."])[2] == stranger
    assert discover([".", "pipe"])[2] == Found("pipe", is_named=True, is_stream=True)
    assert discover(["pipe"]) == [Found("pipe", is_named=True, is_stream=True)]


@pytest.mark.parametrize(
    ("name", "refs"),
    [
        ("slurm-1.out", ("1",)),
        ("slurm-81234.out.gz", ("81234",)),
        ("slurm-81234.out.bz2", ("81234",)),
        ("slurm-81234.out.3.gz", ("81234",)),
        ("slurm-81234.out-20260501.gz", ("81234",)),
        ("delta_7_1.out", ("7_1", "1", "7")),
        ("meg_gpt2_perf_n16-1999618.out", ("1999618", "16", "2")),
        ("job.123.0", ("123",)),
        ("job-00123.err", ("123",)),
        ("train.log", ()),
        ("", ()),
        ("2026-05-01.81234.log", ("81234", "2026", "1", "5")),
        ("x_1_2_3.out", ("2_3", "1_2", "3", "2", "1")),
        ("a1b2c3d4e5f6-9999999999999999.log", ("6", "5", "4", "3", "2", "1")),
        ("slurm-٣.out", ()),
    ],
)
def test_job_ids_in_names(name: str, refs: tuple[str, ...]) -> None:
    assert name_refs(name) == refs
