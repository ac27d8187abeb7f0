"""What listings of checkpoint folders say, and what they are not taken to say."""

from __future__ import annotations

import time

import pytest

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats import checkpoint_listing
from ckpt_audit.ingest.formats.checkpoint_listing import CHECKPOINT_LISTING
from ckpt_audit.records import CheckpointRecord, Rejected

START = 1_777_860_000
ROOT = "/ckpt/a"


def line(path: str, size: int = 10**9, at: int = START, kind: str = "f") -> str:
    return f"{at}.0000000000\t{size}\t{kind}\t{ROOT}/{path}"


def read(*lines: str, observed_us: int | None = None) -> list[CheckpointRecord | Rejected]:
    data = "\n".join(lines).encode("utf-8", "surrogateescape") + b"\n"
    options = ReadOptions(observed_us=observed_us)
    rows = list(CHECKPOINT_LISTING.read(ByteSource.from_bytes(data), options))
    assert all(isinstance(row, CheckpointRecord | Rejected) for row in rows)
    return rows  # type: ignore[return-value]


def by_name(*lines: str) -> dict[str, CheckpointRecord]:
    rows = read(*lines)
    assert not [row for row in rows if isinstance(row, Rejected)]
    return {row.name: row for row in rows if isinstance(row, CheckpointRecord)}


def megatron(step: int, sizes: dict[int, int]) -> list[str]:
    return [
        line(f"iter_{step:07d}/mp_rank_{rank:02d}/model_optim_rng.pt", size, START + step * 60)
        for rank, size in sizes.items()
    ]


WHOLE = dict.fromkeys(range(4), 10**9)


def test_a_hole_in_the_ranks_needs_no_sibling() -> None:
    (found,) = by_name(*megatron(500, {0: 10**9, 1: 10**9, 3: 10**9})).values()
    assert found.grade is None
    assert found.bad_files == ("mp_rank_02/model_optim_rng.pt",)
    assert found.why == "1 file is missing"


def test_one_checkpoint_alone_is_no_evidence() -> None:
    (found,) = by_name(*megatron(500, WHOLE)).values()
    assert (found.grade, found.why) == (None, None)


def test_fewer_ranks_with_larger_shards_are_no_loss() -> None:
    fewer = dict.fromkeys(range(2), 2 * 10**9)
    found = by_name(*megatron(1, WHOLE), *megatron(2, WHOLE), *megatron(3, fewer),
                    *megatron(4, fewer))  # fmt: skip
    assert [row.grade for _, row in sorted(found.items())] == ["shards"] * 4


def test_one_checkpoint_of_fewer_ranks_cannot_be_told() -> None:
    fewer = dict.fromkeys(range(2), 2 * 10**9)
    found = by_name(*megatron(1, WHOLE), *megatron(2, WHOLE), *megatron(3, fewer))
    assert (found["iter_0000003"].grade, found["iter_0000003"].why) == (None, None)


def test_two_torn_ones_do_not_vouch_for_each_other() -> None:
    torn = dict.fromkeys(range(3), 10**9)
    found = by_name(*megatron(1, WHOLE), *megatron(2, torn), *megatron(3, torn))
    assert found["iter_0000002"].bad_files == ("mp_rank_03/model_optim_rng.pt",)
    assert found["iter_0000003"].bad_files == ("mp_rank_03/model_optim_rng.pt",)
    short = {**WHOLE, 1: 10**8}
    found = by_name(*megatron(1, WHOLE), *megatron(2, short), *megatron(3, short))
    assert [row.grade for _, row in sorted(found.items())] == ["shards", None, None]
    assert found["iter_0000003"].bad_files == ("mp_rank_01/model_optim_rng.pt",)


def test_a_shard_of_nine_tenths_is_whole() -> None:
    found = by_name(*megatron(1, WHOLE), *megatron(2, {**WHOLE, 1: 9 * 10**8}))
    assert found["iter_0000002"].grade == "shards"
    found = by_name(*megatron(1, WHOLE), *megatron(2, {**WHOLE, 1: 9 * 10**8 - 1}))
    assert found["iter_0000002"].bad_files == ("mp_rank_01/model_optim_rng.pt",)


def test_newer_than_the_tracker_is_untold_where_no_shards_tell() -> None:
    tracker = f"#tracker\t{ROOT}/latest_checkpointed_iteration.txt\t500"
    other = {0: 4 * 10**9}
    found = by_name(tracker, *megatron(500, WHOLE), *megatron(1000, other))
    assert found["iter_0000500"].grade == "marker"
    assert found["iter_0000500"].is_pointed
    assert found["iter_0001000"].grade is None
    assert "newer than step 500" in str(found["iter_0001000"].why)
    assert str(found["iter_0001000"].why).endswith("cannot be told")


def test_the_tracker_does_not_vouch_for_an_empty_shard() -> None:
    tracker = f"#tracker\t{ROOT}/latest\tglobal_step500"
    found = by_name(
        tracker,
        line("global_step500/mp_rank_00_model_states.pt", 0),
        line("global_step500/mp_rank_01_model_states.pt"),
    )["global_step500"]
    assert (found.layout, found.grade, found.is_pointed) == ("deepspeed", None, True)
    assert found.bad_files == ("mp_rank_00_model_states.pt",)


def test_an_empty_distcp_file_is_usual() -> None:
    found = by_name(line("step-5/.metadata", 900), line("step-5/__0_0.distcp"),
                    line("step-5/__1_0.distcp", 0))["step-5"]  # fmt: skip
    assert (found.layout, found.grade, found.bad_files) == ("dcp", "marker", ())


def test_every_part_needs_its_own_metadata() -> None:
    found = by_name(
        line("checkpoint-5/trainer_state.json", 900),
        line("checkpoint-5/model_0/.metadata", 900),
        line("checkpoint-5/model_0/__0_0.distcp"),
        line("checkpoint-5/optimizer_0/__0_0.distcp"),
    )["checkpoint-5"]
    assert (found.grade, found.why) == (None, "no .metadata: it is written last")


def test_other_programs_with_such_names_are_unknown() -> None:
    found = by_name(line("checkpoint-500/unet/model.safetensors"),
                    line("step_9/metadata.json", 0, START + 900))  # fmt: skip
    assert {(row.layout, row.grade, row.why) for row in found.values()} == {("unknown", None, None)}


def test_a_shard_that_its_name_counts() -> None:
    found = by_name(
        line("checkpoint-5/trainer_state.json", 900),
        line("checkpoint-5/model-00001-of-00003.safetensors"),
        line("checkpoint-5/model-00003-of-00003.safetensors"),
    )["checkpoint-5"]
    assert found.bad_files == ("model-00002-of-00003.safetensors",)


def test_hf_with_deepspeed_inside_is_one_checkpoint() -> None:
    found = by_name(
        *(
            line(f"checkpoint-{n}/{rest}", at=START + 99 * n)
            for n in (1, 2)
            for rest in ("trainer_state.json", f"global_step{n}/mp_rank_00_model_states.pt")
        ),
        line("checkpoint-2/global_step2/zero_pp_rank_1_mp_rank_00_optim_states.pt"),
    )
    assert set(found) == {"checkpoint-1", "checkpoint-2"}
    assert found["checkpoint-1"].grade == "marker"
    expected = "global_step2/zero_pp_rank_0_mp_rank_00_optim_states.pt"
    assert found["checkpoint-2"].bad_files == (expected,)


def test_nemo_files_of_many_ranks_are_one_checkpoint() -> None:
    name = "gpt--step=9-last"
    found = by_name(*(line(f"mp_rank_0{n}/{name}.ckpt") for n in range(2)),
                    line(f"{name}-unfinished", 0))  # fmt: skip
    assert set(found) == {name}
    assert (found[name].n_files, found[name].why) == (2, "marked as -unfinished")
    assert found[name].step == 10, "NeMo's names count from zero"


def test_two_roots_in_one_listing() -> None:
    rows = read(line("x/iter_0000001/mp_rank_00/model_optim_rng.pt"),
                line("y//iter_0000001/mp_rank_00/model_optim_rng.pt"))  # fmt: skip
    assert [getattr(row, "root", None) for row in rows] == [f"{ROOT}/x", f"{ROOT}/y"]


def test_dates_in_paths_are_no_checkpoints() -> None:
    top = line("", kind="d").rstrip("/")
    (row,) = read(top, line("2026/05/train.log"))
    assert isinstance(row, CheckpointRecord)
    assert (row.root, row.name, row.step) == (ROOT, "", None)


def test_the_time_of_looking() -> None:
    one = megatron(1, WHOLE)
    (row,) = read(*one, observed_us=7)
    assert isinstance(row, CheckpointRecord)
    assert row.observed_us == 7
    (row,) = read("# observed 2026-05-04T12:00:00+02:00", *one, observed_us=7)
    assert isinstance(row, CheckpointRecord)
    assert row.observed_us == 1_777_888_800_000_000
    rows = read("# observed 2026-05-04 12:00:00", *one)
    assert [type(row) for row in rows] == [Rejected, CheckpointRecord]


@pytest.mark.parametrize(
    "bad",
    [
        "x",
        "1.0\t2\tf",
        f"1.0\t{'9' * 400}\tf\t/a",
        f"{'9' * 5000}\t1\tf\t/a",
        "1.0\t-1\tf\t/a",
        "1.0\t1\tf\t",
        "#tracker\t/ckpt/a/latest",
        "#tracker\t/ckpt/a/other\t5",
        f"#tracker\t/ckpt/a/latest\t{'5' * 65}",
    ],
)
def test_what_is_no_entry_is_rejected(bad: str) -> None:
    rows = read(*megatron(1, WHOLE), bad)
    assert [row.line_no for row in rows if isinstance(row, Rejected)] == [5]
    assert len(rows) == 2


@pytest.mark.parametrize(
    "path",
    [
        "iter_0000001/a\tb.pt",
        "iter_0000001/\x1b[2J\u202e.pt",
        "iter_0000001/\udcff\udcfe.pt",
        "iter_0000001/" + "d/" * 5000 + "x.pt",
        "iter_" + "9" * 400 + "/mp_rank_00/model_optim_rng.pt",
        "iter_0000001/mp_rank_" + "9" * 400 + "/model_optim_rng.pt",
        "iter_0000001/mp_rank_999999999_999999999_999999999/model_optim_rng.pt",
        "iter_0000001/m-1-of-999999.bin",
    ],
)
def test_odd_names_are_harmless(path: str) -> None:
    start = time.process_time()
    rows = read(line(path), "1.0\t5\tf\tno/newline")
    assert time.process_time() - start < 5
    (row,) = rows
    assert isinstance(row, CheckpointRecord)
    assert row.name.startswith("iter_")
    assert row.n_bytes == 10**9
    assert len(row.bad_files) <= 20
    assert row.step in (1, None)


def test_a_file_of_1970_has_no_time() -> None:
    (row,) = read("0.0000000000\t5\tf\t/c/iter_0000001/mp_rank_00/model_optim_rng.pt")
    assert isinstance(row, CheckpointRecord)
    assert row.written_us is None


@pytest.mark.parametrize("piece", ["./", "/", "a/", "step=", "step-1/", ".tmp", ".tmp1", "9", "\t"])
def test_a_long_path_takes_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        start = time.process_time()
        read("1777860000.0\t5\tf\t" + piece * (size // len(piece)))
        return time.process_time() - start

    assert seconds(800_000) <= 12 * seconds(100_000) + 0.2


def test_a_hundred_thousand_shards_in_seconds() -> None:
    lines = [
        line(f"step-{step}/__{rank}_0.distcp", 10**6 if (step, rank) != (3, 77_777) else 10)
        for step in (1, 2, 3)
        for rank in range(100_000)
    ]
    start = time.process_time()
    found = by_name(*lines, *(line(f"step-{step}/.metadata", 9) for step in (1, 2, 3)))
    assert time.process_time() - start < 30
    assert found["step-3"].bad_files == ("__77777_0.distcp",)
    assert found["step-1"].grade == "marker"


def test_many_checkpoints_of_many_shapes_in_seconds() -> None:
    lines = [
        line(f"iter_{step:07d}/{letter * 3}{step % 7}/x{rank}.pt")
        for step in range(600)
        for letter in "abc"
        for rank in range(step % 40)
    ]
    start = time.process_time()
    assert len(by_name(*lines)) > 500
    assert time.process_time() - start < 20


def test_too_many_entries_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_listing, "MOST_ENTRIES", 3)
    (row,) = read(*megatron(1, WHOLE))
    assert isinstance(row, Rejected)
    assert "more than 3 entries" in row.reason
