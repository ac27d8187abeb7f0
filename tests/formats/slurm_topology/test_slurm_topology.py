from __future__ import annotations

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats.slurm_topology import SLURM_TOPOLOGY
from ckpt_audit.records import DomainRecord, Rejected


def _read(text: str) -> list[DomainRecord | Rejected]:
    rows = list(SLURM_TOPOLOGY.read(ByteSource.from_bytes(text.encode()), ReadOptions()))
    return [row for row in rows if isinstance(row, DomainRecord | Rejected)]


def _domains(text: str) -> list[tuple[str, str, str]]:
    return [(r.node, r.kind, r.name) for r in _read(text) if isinstance(r, DomainRecord)]


def test_every_switch_above_a_node_is_a_domain() -> None:
    text = "SwitchName=top Switches=mid\nSwitchName=mid Switches=leaf\nSwitchName=leaf Nodes=n01\n"
    assert _domains(text) == [
        ("n01", "leaf", "leaf"),
        ("n01", "switch", "mid"),
        ("n01", "switch", "top"),
    ]


def test_a_cycle_of_switches_ends() -> None:
    text = "SwitchName=a Nodes=n1\nSwitchName=b Switches=a,c\nSwitchName=c Switches=b\n"
    assert _domains(text) == [("n1", "leaf", "a"), ("n1", "switch", "b"), ("n1", "switch", "c")]


def test_keywords_in_any_case_comments_and_continued_lines() -> None:
    text = (
        "# SwitchName=no Nodes=x\nSWITCHNAME = l NODES=n[08-10] # c\nSwitchName=m \\\n Switches=l\n"
    )
    assert _domains(text)[:2] == [("n08", "leaf", "l"), ("n08", "switch", "m")]
    assert [row.line_no for row in _read(text)][:2] == [2, 3]


def test_a_line_without_members_is_rejected() -> None:
    rows = _read("SwitchName=a\nSwitchName=b Nodes=n1\nInclude other.conf\n")
    assert [(row.line_no, type(row)) for row in rows] == [
        (1, Rejected),
        (3, Rejected),
        (2, DomainRecord),
    ]
