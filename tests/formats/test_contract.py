"""What every format must keep, over the registry and each format's samples.

A format's samples are in ``tests/formats/<name>/*.txt``. Beside them ``damaged/`` may hold copies
of the same name in which some lines are damaged: just these must be rejected. The rows that a
sample gives are kept as snapshots: look at the difference, then accept with ``pytest
--snapshot-update``.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.amber import AmberSnapshotExtension

from ckpt_audit.ingest import FORMATS, recognise
from ckpt_audit.ingest.base import CONTEXT_BYTES, SURE, ByteSource, Format, ReadOptions
from ckpt_audit.ingest.load import ingest
from ckpt_audit.records import StepBatch
from ckpt_audit.warehouse import Warehouse

HERE = Path(__file__).parent
TABLES = (
    "raw_step",
    "raw_event",
    "raw_job",
    "raw_domain",
    "raw_node",
    "raw_checkpoint",
    "rejected_line",
)


def _samples() -> Iterator[Any]:
    for candidate in FORMATS:
        for path in sorted((HERE / candidate.name).glob("*.txt")):
            yield pytest.param(candidate, path, id=f"{candidate.name}-{path.stem}")


each_sample = pytest.mark.parametrize(("fmt", "sample"), list(_samples()))
each_damaged = pytest.mark.parametrize(
    ("fmt", "sample"),
    [
        case
        for case in _samples()
        if (case.values[1].parent / "damaged" / case.values[1].name).exists()
    ],
)
each_incremental = pytest.mark.parametrize(
    ("fmt", "sample"), [case for case in _samples() if case.values[0].incremental]
)


def _rows(fmt: Format, data: bytes) -> list[dict[str, Any]]:
    """What a reader gives, batches of steps taken apart, in the order of lines."""
    rows: list[dict[str, Any]] = []
    for item in fmt.read(ByteSource.from_bytes(data), ReadOptions()):
        if isinstance(item, StepBatch):
            columns = asdict(item)
            names = list(columns)
            rows += [
                {"record": "Step", **dict(zip(names, values, strict=True))}
                for values in zip(*columns.values(), strict=True)
            ]
        else:
            rows.append({"record": type(item).__name__, **asdict(item)})
    return sorted(rows, key=lambda row: (row["line_no"], json.dumps(row, default=str)))


def dump(warehouse: Warehouse) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in the raw tables, without the numbers that sources happen to have."""
    content = {
        table: sorted(
            warehouse.rows(
                f"SELECT source.content_sha256, {table}.* EXCLUDE (source_id) "
                f"FROM {table} INNER JOIN source USING (source_id)"
            ),
            key=repr,
        )
        for table in TABLES
    }
    content["source"] = warehouse.rows(
        "SELECT * EXCLUDE (source_id, path) FROM source ORDER BY content_sha256, name_refs"
    )
    return content


def test_registry_is_sound() -> None:
    names = [fmt.name for fmt in FORMATS]
    assert len(set(names)) == len(names)
    for fmt in FORMATS:
        assert fmt.gives
        assert fmt.title
        assert list((HERE / fmt.name).glob("*.txt")), f"{fmt.name} has no sample"
        assert fmt.sniff(fmt.example.encode() + b"\n", "") >= SURE, f"example of {fmt.name}"


@each_sample
def test_recognised_by_exactly_one(fmt: Format, sample: Path) -> None:
    head = sample.read_bytes()
    sure = [other.name for other in FORMATS if other.sniff(head, sample.name) >= SURE]
    assert sure == [fmt.name]
    assert recognise(head, "") is fmt, "the content decides, not the name"


@pytest.mark.parametrize(
    "content",
    [
        b"hello\n",
        b"\0" * 5000,
        b'{"meta": {"Slurm": {}}, "jobs": [{"job_id": 1}]}',
        b"JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n12 gpu a b R 1:00 1 n1\n",
        b"[2026-05-01T10:00:00.123] launch task StepId=7.0 request from UID:0\n" * 9,
        b"User|JobName|State\nmara|a|FAILED\n",
    ],
)
def test_strangers_are_not_recognised(content: bytes) -> None:
    assert recognise(content, "sacct.txt") is None


@each_sample
def test_rows_are_as_accepted(fmt: Format, sample: Path, snapshot: SnapshotAssertion) -> None:
    rows = [json.dumps(row, default=str) for row in _rows(fmt, sample.read_bytes())]
    assert rows == snapshot.use_extension(AmberSnapshotExtension)


@each_damaged
def test_damage_is_rejected_and_the_rest_is_read(fmt: Format, sample: Path) -> None:
    whole = sample.read_bytes()
    damaged = (sample.parent / "damaged" / sample.name).read_bytes()
    pairs = zip(whole.split(b"\n"), damaged.split(b"\n"), strict=True)
    changed = {number for number, (a, b) in enumerate(pairs, 1) if a != b}
    before, after = _rows(fmt, whole), _rows(fmt, damaged)
    assert {row["line_no"] for row in after if row["record"] == "Rejected"} == changed
    assert not [row for row in before if row["record"] == "Rejected"]
    kept = [row for row in after if row["record"] != "Rejected"]
    expected = [row for row in before if row["line_no"] not in changed]
    if fmt.name == "slurm_topology":  # what hangs below a damaged line is gone too
        assert kept
        assert all(row in expected for row in kept)
    else:
        assert kept == expected


@each_sample
def test_noise_does_not_break_it(fmt: Format, sample: Path) -> None:
    lines = sample.read_bytes().split(b"\n")
    noise = b"\0\xff\xfe" * 100
    noisy = b"\n".join([*lines[:2], noise, *lines[2:], b"x" * 2_000_000, b"\r" * 10])
    assert _rows(fmt, noisy)


@each_sample
def test_twice_is_once(fmt: Format, sample: Path, tmp_path: Path) -> None:
    with Warehouse.open(":memory:") as warehouse:
        first = ingest(warehouse, [str(sample)])
        content = dump(warehouse)
        assert first.formats[fmt.name].n_files == 1
        assert sum(map(len, content.values())) > 1
        second = ingest(warehouse, [str(sample)])
        assert dump(warehouse) == content
        assert second.formats[fmt.name].n_unchanged == 1
        assert not second.has_changed


@each_sample
@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", zstandard.compress),
        ("", gzip.compress),
    ],
)
def test_compressed_again_is_once(
    fmt: Format, sample: Path, tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    with Warehouse.open(":memory:") as warehouse:
        ingest(warehouse, [str(sample)])
        content = dump(warehouse)
        again = tmp_path / (sample.name + suffix)
        again.write_bytes(compress(sample.read_bytes()))
        report = ingest(warehouse, [str(again)])
        assert report.formats[fmt.name].n_unchanged == 1
        assert dump(warehouse) == content


def _in_stages(path: Path, data: bytes, cuts: list[int]) -> dict[str, list[tuple[Any, ...]]]:
    with Warehouse.open(":memory:") as warehouse:
        for cut in [*sorted(cuts), len(data)]:
            path.write_bytes(data[:cut])
            ingest(warehouse, [str(path)])
        return dump(warehouse)


@each_incremental
@given(data=st.data())
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_prefix_then_whole_equals_whole(
    fmt: Format, sample: Path, tmp_path: Path, data: st.DataObject
) -> None:
    content = sample.read_bytes()
    recognisable = next(
        size for size in range(0, len(content) + 200, 200) if fmt.sniff(content[:size], "") >= SURE
    )
    cuts = data.draw(st.lists(st.integers(recognisable, len(content)), max_size=3))
    path = tmp_path / sample.name
    assert _in_stages(path, content, cuts) == _in_stages(path, content, [])


@pytest.mark.parametrize("fmt", [fmt for fmt in FORMATS if fmt.incremental], ids=lambda f: f.name)
@given(data=st.data())
@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_long_file_that_grew_equals_whole(
    fmt: Format, tmp_path: Path, data: st.DataObject
) -> None:
    samples = sorted((HERE / fmt.name).glob("*.txt"))
    once = b"".join(sample.read_bytes() for sample in samples)
    content = once * (3 * CONTEXT_BYTES // len(once) + 1)
    cuts = data.draw(
        st.lists(st.integers(CONTEXT_BYTES, len(content)), min_size=1, max_size=3, unique=True)
    )
    path = tmp_path / samples[0].name
    assert _in_stages(path, content, cuts) == _in_stages(path, content, [])
