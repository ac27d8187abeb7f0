"""Tables of incidents: which columns, which moments, what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ckpt_audit.audit.incident_table import estimate_table
from ckpt_audit.errors import CkptAuditError, UsageError
from ckpt_audit.ingest.incident_table import IncidentTable, read_incident_table
from ckpt_audit.ingest.streams import SourceError

CSV = """Opened,Host,Class,Closed
2026-05-01 10:00,n1,gpu,2026-05-01 11:00
2026-05-03T00:00:00+02:00,n2,network,
5/2/2026 6:30,n1,gpu,5/2/2026 6:00
not yet,n3,gpu,
"""


def table(tmp_path: Path, text: str | bytes, **options: object) -> IncidentTable:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_incident_table(path, **options)  # type: ignore[arg-type]


def test_csv_with_names_that_tell(tmp_path: Path) -> None:
    found = table(tmp_path, CSV)
    assert [row.node for row in found.rows] == ["n1", "n1", "n2"]
    assert [row.cause for row in found.rows] == ["gpu", "gpu", "network"]
    first, second, third = found.rows
    assert (first.end_s or 0) - first.start_s == 3600
    assert second.end_s is None  # it ended before it began
    assert third.start_s - first.start_s == 36 * 3600
    assert (found.n_records, found.n_rejected, found.is_relative) == (4, 1, False)


def test_compressed_and_other_separators_say_the_same(tmp_path: Path) -> None:
    plain = table(tmp_path, CSV).rows
    assert table(tmp_path, gzip.compress(CSV.replace(",", ";").encode())).rows == plain
    assert table(tmp_path, "\ufeff" + CSV).rows == plain


def test_named_columns_and_rows_chosen(tmp_path: Path) -> None:
    text = "sys,when,box\nA,1.5,x\nB,2,y\nA,3,z\n"
    chosen = table(tmp_path, text, columns={"start": "When", "node": "box"}, where=[("SYS", "A")])
    assert [(row.start_s, row.node) for row in chosen.rows] == [(129_600, "x"), (259_200, "z")]
    assert chosen.is_relative
    hours = table(tmp_path, text, columns={"start": "when"}, unit="h")
    assert hours.rows[0].start_s == 5400


def test_begins_and_ends_as_rows_are_joined(tmp_path: Path) -> None:
    def event(at: float, kind: str, node: str) -> dict[str, object]:
        fault = {"Level": "Hardware", "Class": "GPU"}
        return {"node_id": node, "event_time": at, "event_type": kind, "fault_type": fault}

    events = [
        event(1, "fault_start", "a"),
        event(2, "fault_start", "b"),
        event(3, "fault_end", "a"),
        event(4, "fault_start", "a"),
        event(9, "fault_end", "b"),
        event(9.5, "fault_end", "c"),
    ]
    found = table(tmp_path, json.dumps(events))
    days = [(row.node, row.start_s / 86400, row.end_s and row.end_s / 86400) for row in found.rows]
    assert days == [("a", 1, 3), ("b", 2, 9), ("a", 4, None)]
    assert {row.cause for row in found.rows} == {"GPU"}
    assert found.last_s == 9.5 * 86400


def test_a_cause_that_is_the_column_which_is_filled_in(tmp_path: Path) -> None:
    found = table(tmp_path, "start,hardware,software\n1,Disk,\n2,,Kernel\n3,,\n")
    assert [row.cause for row in found.rows] == ["hardware", "software", None]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", SourceError, "no rows"),
        ("start,node\n", SourceError, "no rows"),
        ("[1, 2", SourceError, "no JSON"),
        ("[" * 100_000, SourceError, "no JSON"),
        ("{}", SourceError, "no rows"),
        ("a,b\n1,2\n", UsageError, "which column"),
        ("start\n1\n2026-05-01\n", SourceError, "plain numbers"),
    ],
)
def test_what_is_no_table(
    tmp_path: Path, text: str, error: type[CkptAuditError], words: str
) -> None:
    with pytest.raises(error, match=words):
        table(tmp_path, text)


def test_wrong_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no column 'when'"):
        table(tmp_path, CSV, columns={"start": "when"})
    with pytest.raises(UsageError, match="not 'begin'"):
        table(tmp_path, CSV, columns={"begin": "opened"})
    with pytest.raises(UsageError, match="no column 'system'"):
        table(tmp_path, CSV, where=[("system", "2")])
    with pytest.raises(UsageError, match="unit"):
        table(tmp_path, CSV, unit="w")


def test_moments_that_are_none(tmp_path: Path) -> None:
    found = table(tmp_path, "start\nnan\ninf\n-\n1e400\n5\n")
    assert (len(found.rows), found.n_rejected) == (1, 4)


def test_estimate_of_a_small_table(tmp_path: Path) -> None:
    found = estimate_table(table(tmp_path, "start,end\n2,3\n4,4\n4,10\n"), nodes=10)
    assert found is not None
    assert found.mean_time.m_s == pytest.approx(10 / 3 * 86400)
    assert found.per_node_day is not None
    assert found.per_node_day.value == pytest.approx(30.0)
    assert found.laws.n_zero == 1
    assert found.chain.grouped_share == pytest.approx(2 / 3)
    assert found.chain.groups == 2
    assert found.trend.p is None
    assert found.repair.n == 3


def test_no_time_gives_nothing(tmp_path: Path) -> None:
    one = table(tmp_path, "start\n2026-05-01\n")
    assert estimate_table(one) is None
    assert estimate_table(table(tmp_path, "start,x\nbad,1\n")) is None
    later = estimate_table(one, until_s=one.rows[0].start_s + 100)
    assert later is not None
    assert later.incidents == 1
