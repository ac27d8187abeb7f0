"""Files of one rotated log are found, put in order, and told from logs that only look alike."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from ckpt_audit.config import Config
from ckpt_audit.ingest.load import ingest
from ckpt_audit.warehouse import Warehouse
from ckpt_audit.workflow import refresh

LINE = " [2026-05-01 {at}] iteration {step:8d}/ 100 | elapsed time per iteration (ms): 1000.0 |\n"


def _write(folder: Path, name: str, minutes: Iterable[int]) -> None:
    (folder / name).write_text(
        "".join(LINE.format(at=f"10:{minute:02d}:00", step=minute) for minute in minutes)
    )


def _logs(folder: Path) -> list[list[tuple[str, int]]]:
    """Names of the files of each log in several files, with their offsets."""
    with Warehouse.open(":memory:") as warehouse:
        ingest(warehouse, [str(folder)])
        refresh(warehouse, Config(), "UTC")
        found: dict[int, list[tuple[str, int]]] = {}
        for log_id, path, offset in warehouse.rows(
            "SELECT log_id, path, line_offset FROM log_part INNER JOIN source USING (source_id) "
            "ORDER BY log_id, line_offset"
        ):
            found.setdefault(log_id, []).append((Path(path).name, offset))
        return list(found.values())


def test_numbers_fall_towards_the_newest(tmp_path: Path) -> None:
    _write(tmp_path, "slurm-7.out", range(20, 30))
    _write(tmp_path, "slurm-7.out.1", range(10, 20))
    _write(tmp_path, "slurm-7.out.2", range(1, 10))
    parts = [("slurm-7.out.2", 0), ("slurm-7.out.1", 9), ("slurm-7.out", 19)]
    assert _logs(tmp_path) == [parts]


def test_time_rules_where_names_do_not(tmp_path: Path) -> None:
    """Some rotate the other way round."""
    _write(tmp_path, "train.log.1", range(1, 5))
    _write(tmp_path, "train.log.2", range(5, 9))
    assert _logs(tmp_path) == [[("train.log.1", 0), ("train.log.2", 4)]]


def test_a_part_without_a_stamp_has_the_place_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "train.log-20260501").write_text("using world size: 8, data-parallel size: 8\n")
    _write(tmp_path, "train.log", range(5, 9))
    assert _logs(tmp_path) == [[("train.log-20260501", 0), ("train.log", 1)]]


@pytest.mark.parametrize("other", ["train.log.1", "rank1.log"])
def test_what_overlaps_or_has_another_name_is_a_log_of_its_own(tmp_path: Path, other: str) -> None:
    _write(tmp_path, "train.log", range(1, 9))
    _write(tmp_path, other, range(2, 10) if other == "train.log.1" else range(10, 12))
    assert _logs(tmp_path) == []


def test_evidence_names_the_file_and_its_own_line(tmp_path: Path) -> None:
    _write(tmp_path, "slurm-7.out.1", range(1, 10))
    _write(tmp_path, "slurm-7.out", range(10, 20))
    with (tmp_path / "slurm-7.out").open("a") as log:
        log.write("Traceback (most recent call last):\nValueError: loss is not finite\n")
    with Warehouse.open(":memory:") as warehouse:
        from ckpt_audit import queries

        ingest(warehouse, [str(tmp_path)])
        refresh(warehouse, Config(), "UTC")
        (incident,) = queries.incidents(warehouse)
        places = {(Path(line.file or "").name, line.line) for line in incident.evidence}
        assert ("slurm-7.out", 10) in places  # the last step
        assert ("slurm-7.out", 12) in places  # the fault
