"""Folders of checkpoints: found as one input, listed without being opened, kept as a history."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ckpt_audit.ingest import checkpoint_walk
from ckpt_audit.ingest.base import ReadOptions
from ckpt_audit.ingest.checkpoint_walk import listing, members
from ckpt_audit.ingest.discover import Found, discover
from ckpt_audit.ingest.load import IngestOptions, forget, ingest
from ckpt_audit.ingest.streams import SourceError
from ckpt_audit.warehouse import Warehouse

DAY = 86_400_000_000
SHARD = "mp_rank_00/model_optim_rng.pt"
STEP = (
    " [2026-05-01 10:00:{0:02}] iteration {0:8d}/    1000 | consumed samples:            8 | "
    "elapsed time per iteration (ms): 1000.0 | global batch size:     8 |\n"
)


@pytest.fixture
def warehouse() -> Any:
    with Warehouse.open(":memory:") as opened:
        yield opened


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: str, size: int = 8, at: int = 1_777_860_000) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"x" * size)
    os.utime(file, (at, at))
    return file


def megatron(root: str, *steps: int) -> None:
    for step in steps:
        put(f"{root}/iter_{step:07d}/{SHARD}", at=1_777_860_000 + 60 * step)
    Path(root, "latest_checkpointed_iteration.txt").write_text(str(steps[-1]))


def look(warehouse: Warehouse, day: int, *what: str) -> Any:
    return ingest(
        warehouse, what or ["ckpt"], IngestOptions(read=ReadOptions(observed_us=day * DAY))
    )


def seen(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    return warehouse.rows(
        "SELECT observed_us // 86400000000, name, grade FROM raw_checkpoint ORDER BY ALL"
    )


def test_a_root_is_one_input_and_the_rest_is_found(place: Path) -> None:
    megatron("ckpt", 500, 1000)
    put("ckpt/progress.txt")
    put("ckpt/model.safetensors")
    put("ckpt/logs/slurm-7.out")
    put("a.out")
    assert discover(["."]) == [
        Found("a.out", is_named=False),
        Found("ckpt", is_named=False, is_checkpoints=True),
        Found("ckpt/logs/slurm-7.out", is_named=False),
        Found("ckpt/progress.txt", is_named=False),
    ]
    assert discover(["ckpt", "."])[0] == Found("ckpt", is_named=True, is_checkpoints=True)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["latest_checkpointed_iteration.txt"], {"latest_checkpointed_iteration.txt"}),
        (["latest", "global_step5/x"], {"latest", "global_step5"}),
        (["latest", "slurm-1.out"], set()),
        (["checkpoint-5/trainer_state.json"], {"checkpoint-5"}),
        (["step-5/.metadata", "step-6/x", "run.log"], {"step-5", "step-6"}),
        (["step_5/__0_0.distcp"], {"step_5"}),
        (["step_5/train.log"], set()),
        (["5/_CHECKPOINT_METADATA", "6/x"], {"5", "6"}),
        (["5/items/manifest.ocdbt"], {"5"}),
        (["5/train.log", "6/train.log"], set()),
        (["7.orbax-checkpoint-tmp-12/x", "5/x"], {"7.orbax-checkpoint-tmp-12", "5"}),
        (["g--step=5-last/x", "g--step=5-unfinished"], {"g--step=5-last", "g--step=5-unfinished"}),
        (["step=5.log"], set()),
        (["checkpoint_1_9-model_part-0-shard0.pt"], {"checkpoint_1_9-model_part-0-shard0.pt"}),
        (["checkpoint_last.pt"], {"checkpoint_last.pt"}),
        (["checkpoint.log", "iter_5/x", "checkpoints/x"], set()),
    ],
)
def test_what_a_root_looks_like(place: Path, files: list[str], expected: set[str]) -> None:
    for name in files:
        put(f"r/{name}")
    assert members(Path("r")) == expected


def test_the_same_folder_twice_changes_nothing(place: Path, warehouse: Warehouse) -> None:
    megatron("ckpt", 500, 1000)
    assert look(warehouse, 1).formats["checkpoint_listing"].n_files == 1
    first = seen(warehouse)
    assert first == [(1, "iter_0000500", "shards"), (1, "iter_0001000", "marker")]
    again = look(warehouse, 2)
    assert (again.formats["checkpoint_listing"].n_unchanged, again.has_changed) == (1, False)
    assert seen(warehouse) == first


def test_a_change_is_kept_beside_what_was(place: Path, warehouse: Warehouse) -> None:
    megatron("ckpt", 500)
    look(warehouse, 1)
    megatron("ckpt", 500, 1000)
    look(warehouse, 2)
    Path("ckpt/iter_0001000", SHARD).unlink()
    Path("ckpt/iter_0001000/mp_rank_00").rmdir()
    Path("ckpt/iter_0001000").rmdir()
    Path("ckpt/latest_checkpointed_iteration.txt").write_text("500")
    os.utime("ckpt/latest_checkpointed_iteration.txt", (5e8, 5e8))
    look(warehouse, 3)
    assert seen(warehouse) == [
        (1, "iter_0000500", "marker"),
        (2, "iter_0000500", "shards"),
        (2, "iter_0001000", "marker"),
        (3, "iter_0000500", "marker"),
    ]


def test_back_to_an_earlier_state_is_a_new_look(place: Path, warehouse: Warehouse) -> None:
    for name in ("a", "b"):
        put(f"ckpt/checkpoint-{1 + (name == 'b')}/trainer_state.json")
    for day, hidden in enumerate([False, True, False, False], 1):
        here, away = Path("ckpt/checkpoint-2"), Path("away")
        if hidden:
            here.rename(away)
        elif away.exists():
            away.rename(here)
        look(warehouse, day)
    days = [row[0] for row in warehouse.rows(
        "SELECT DISTINCT observed_us // 86400000000 FROM raw_checkpoint ORDER BY 1")]  # fmt: skip
    assert days == [1, 2, 3]


def test_two_roots_of_one_name_are_two(place: Path, warehouse: Warehouse) -> None:
    megatron("a/ckpt", 500)
    megatron("b/ckpt", 500)
    look(warehouse, 1, "a", "b")
    roots = warehouse.rows("SELECT DISTINCT root FROM raw_checkpoint ORDER BY 1")
    assert roots == [(f"{place}/a/ckpt",), (f"{place}/b/ckpt",)]
    assert look(warehouse, 2, "b").has_changed is False


def test_forget_takes_all_looks(place: Path, warehouse: Warehouse) -> None:
    for last in (500, 1000):
        megatron("ckpt", last)
        look(warehouse, last)
    assert forget(warehouse, "ckpt") == ["ckpt", "ckpt"]
    assert seen(warehouse) == []
    assert warehouse.rows("SELECT count(*) FROM source") == [(0,)]


def test_listings_in_files_are_kept_beside_one_another(place: Path, warehouse: Warehouse) -> None:
    text = "1777860{}00.0\t5\tf\t/c/checkpoint-{}/trainer_state.json\n"
    for n in (1, 2):
        Path("l.txt").write_text("".join(text.format(k, k) for k in range(1, n + 1)))
        look(warehouse, n, "l.txt")
    rows = warehouse.rows("SELECT observed_us, name FROM raw_checkpoint ORDER BY ALL")
    assert rows == [(None, "checkpoint-1"), (None, "checkpoint-1"), (None, "checkpoint-2")]


def test_a_dry_run_changes_nothing(place: Path, warehouse: Warehouse) -> None:
    megatron("ckpt", 500)
    report = ingest(warehouse, ["ckpt"], IngestOptions(is_dry_run=True))
    assert report.formats["checkpoint_listing"].n_rows == 1
    assert seen(warehouse) == []


def test_a_log_beside_checkpoints_is_read(place: Path, warehouse: Warehouse) -> None:
    megatron("out", 500)
    Path("out/train.log").write_text("".join(map(STEP.format, range(1, 9))))
    report = look(warehouse, 1, "out")
    assert report.formats["job_log"].n_rows == 8
    assert report.formats["checkpoint_listing"].n_rows == 1
    Path("out/train.log").write_text("".join(map(STEP.format, range(1, 20))))
    assert look(warehouse, 2, "out").formats["checkpoint_listing"].n_unchanged == 1


def lines(root: str) -> list[str]:
    return b"".join(listing(Path(root))).decode().splitlines()


def test_no_link_is_followed(place: Path) -> None:
    megatron("ckpt", 500)
    put("secret/mp_rank_00/key.pt")
    Path("ckpt/iter_0001000").symlink_to(place / "secret")
    Path("ckpt/iter_0000500/loop").symlink_to(place / "ckpt")
    Path("ckpt/iter_0000500/self").symlink_to("self")
    text = "\n".join(lines("ckpt"))
    assert "key.pt" not in text
    assert f"\tl\t{place}/ckpt/iter_0001000" in text
    assert text.count("\tl\t") == 3


@pytest.mark.parametrize("kind", ["fifo", "large", "link", "folder", "empty", "binary", "devil"])
def test_an_odd_tracker_is_not_read(place: Path, kind: str) -> None:
    put(f"ckpt/iter_0000500/{SHARD}")
    tracker = Path("ckpt/latest_checkpointed_iteration.txt")
    if kind == "fifo":
        os.mkfifo(tracker)
    elif kind == "large":
        with tracker.open("wb") as file:
            file.truncate(1 << 30)
    elif kind == "link":
        put("secret").write_text("500")
        tracker.symlink_to(place / "secret")
    elif kind == "folder":
        tracker.mkdir()
    else:
        tracker.write_bytes({"empty": b"", "binary": b"\xff\0\xfe", "devil": b"5\n#x\t\x1b["}[kind])
    said = [line for line in lines("ckpt") if line.startswith("#tracker")]
    shown = {"empty": [""], "binary": ["?\\x00?"], "devil": ["5\\x0a#x\\x09\\x1b["]}
    expected = [text.replace("?", "\ufffd") for text in shown.get(kind, [])]
    assert [line.split("\t")[2] for line in said] == expected


def test_names_of_strangers_make_no_lines(place: Path, warehouse: Warehouse) -> None:
    megatron("ckpt", 500)
    for name in (b"a\n0.0\t9\tf\tx", b"b\tc", b"\xff\xfe", b"\x1b[2J"):
        Path(os.fsdecode(b"ckpt/iter_0000500/" + name)).write_bytes(b"1")
    assert sum("\tf\t" in line for line in lines("ckpt")) == 6
    report = look(warehouse, 1)
    assert report.formats["checkpoint_listing"].n_rejected == 0
    assert warehouse.rows("SELECT n_files FROM raw_checkpoint") == [(5,)]


def test_too_many_entries_are_said(
    place: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    megatron("ckpt", 500, 1000)
    monkeypatch.setattr(checkpoint_walk, "MOST_ENTRIES", 4)
    report = look(warehouse, 1)
    assert [skipped.reason for skipped in report.unreadable] == [
        "more than 4 entries; list and ingest fewer at a time"
    ]
    assert seen(warehouse) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_closed_checkpoint_is_said(place: Path) -> None:
    megatron("ckpt", 500)
    Path("ckpt/iter_0000500").chmod(0)
    with pytest.raises(SourceError, match="Permission denied"):
        lines("ckpt")
    Path("ckpt/iter_0000500").chmod(0o700)


def test_a_checkpoint_deleted_while_it_is_listed(place: Path) -> None:
    megatron("ckpt", 500, 1000)
    parts = listing(Path("ckpt"))
    first = [next(parts), next(parts)]
    Path("ckpt/iter_0001000", SHARD).unlink()
    assert first
    assert sum(SHARD.encode() in line for line in parts) == 1
