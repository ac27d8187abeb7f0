"""A site's own pattern of health checks: what it finds, and that no line makes it slow."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats.health_log import HEALTH_LOG
from ckpt_audit.linear import LinearPattern
from ckpt_audit.records import NodeRecord

OURS = r"^(?P<time>\S+) (?P<node>n\d+).*?(?P<verdict>PASS|FAIL)(?: (?P<reason>.*))?$"


def read(text: str, pattern: str) -> list[NodeRecord]:
    rows = HEALTH_LOG.read(
        ByteSource.from_bytes(text.encode()), ReadOptions(health_pattern=pattern)
    )
    found = list(rows)
    assert all(isinstance(row, NodeRecord) for row in found)
    return [row for row in found if isinstance(row, NodeRecord)]


def test_a_sites_own_pattern() -> None:
    rows = read(
        "2026-05-04T03:12:44+00:00 n7 dcgm level 3: FAIL 7 of 8\nnothing\n"
        "2026-05-04T03:13:44+00:00 n8 dcgm level 3: PASS\n",
        OURS,
    )
    assert [(row.line_no, row.node, row.state, row.reason) for row in rows] == [
        (1, "n7", "unhealthy", "7 of 8"),
        (3, "n8", "healthy", "PASS"),
    ]


def test_what_stands_far_behind_is_found() -> None:
    (row,) = read(f"2026-05-04T03:12:44+00:00 n7 {'x' * 20_000} FAIL gpu\n", OURS)
    assert (row.node, row.reason) == ("n7", "gpu")


@pytest.mark.parametrize(
    "hostile", [r"(?:a+)+", r"(?:a|aa)*", r"a*a*a*a*a*a*", r"(?:.*,)*", r".*.*.*.*"]
)
def test_no_line_makes_a_pattern_slow(hostile: str) -> None:
    pattern = rf"(?P<time>{hostile}x) (?P<node>y)(?P<verdict>z)"
    start = time.process_time()
    assert read(("a" * 60_000 + "\n") * 20, pattern) == []
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(?P<time>a", "is no regular expression"),
        ("(?P<time>a)(b)", "group without a name"),
        ("(?P<time>a)(?=b)", "bounded time"),
        (r"(?P<time>a)(?P=time)", "bounded time"),
    ],
)
def test_what_cannot_be_bounded_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        LinearPattern(pattern)


@given(st.lists(st.text("n7 PASFIL:x", max_size=30), max_size=5))
def test_it_finds_what_expressions_of_python_find(lines: list[str]) -> None:
    text = r"(?P<node>n\d*).*?(?P<verdict>PASS|FAIL|:)(?P<reason>.*)$"
    expected = [match and match.groupdict() for match in (re.search(text, line) for line in lines)]
    assert LinearPattern(text).find(lines) == expected
