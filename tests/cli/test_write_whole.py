"""Where ``-o`` writes to stays what it was: a link, a pipe."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ckpt_audit.cli.whole_file import write_whole
from ckpt_audit.errors import CkptAuditError


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "new" / "page.html"
    for text in ("one", "two"):
        write_whole(target, text)
        assert target.read_text() == text
    assert list(target.parent.iterdir()) == [target]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "may.html", tmp_path / "latest.html"
    link.symlink_to(real)
    for text in ("one", "two"):  # at first it leads to nothing
        write_whole(link, text)
        assert link.is_symlink()
        assert real.read_text() == text
    assert list(real.parent.iterdir()) == [real]


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write_whole(pipe, "whole")
    assert pipe.is_fifo()
    reader.join(timeout=10)
    assert read == ["whole"]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for target in (tmp_path, circle):
        with pytest.raises(CkptAuditError, match="cannot be written"):
            write_whole(target, "text")
    assert {path.name for path in tmp_path.iterdir()} == {"circle", "home"}
