"""Slurm's ``topology.conf`` and ``scontrol show topology``: which node hangs on which switch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._slurm_values import expand_nodes
from ckpt_audit.records import DomainRecord, Rejected

_SWITCH_LINE = re.compile(rb"(?im)^[ \t]*SwitchName[ \t]*=[ \t]*[^\s=#]")
_COMMENT = re.compile(r"(?<!\\)#.*")
_PAIR = re.compile(r"(?<!\w)(\w++)\s*+=\s*+(\S*)")
_LONGEST_LINE = 1 << 20
_TEXT_LIMIT = 200


@dataclass(frozen=True, slots=True)
class _Switch:
    line_no: int
    name: str
    nodes: tuple[str, ...]
    children: tuple[str, ...]


def sniff(head: bytes, name: str) -> int:
    """Looks for a line that begins with ``SwitchName=``."""
    del name
    return 95 if _SWITCH_LINE.search(without_nuls(head)) else 0


def read(source: ByteSource, options: ReadOptions) -> Iterator[DomainRecord | Rejected]:
    """Gives each node's leaf switch and every switch above it."""
    del options
    switches: list[_Switch] = []
    for line_no, text in _logical_lines(source):
        try:
            switches.append(_switch(line_no, text))
        except ValueError as error:
            yield Rejected(line_no, str(error), text[:_TEXT_LIMIT])
    parents: dict[str, list[_Switch]] = {}
    for switch in switches:
        for child in switch.children:
            parents.setdefault(child, []).append(switch)
    for leaf in switches:
        if leaf.children:
            continue  # ``scontrol show topology`` repeats here what the leaves say
        above = _ancestors(leaf, parents)
        for node in leaf.nodes:
            yield DomainRecord(leaf.line_no, node, "leaf", leaf.name)
            for switch in above:
                yield DomainRecord(switch.line_no, node, "switch", switch.name)


def _ancestors(leaf: _Switch, parents: dict[str, list[_Switch]]) -> list[_Switch]:
    found: list[_Switch] = []
    seen, waiting = {leaf.name}, [leaf.name]
    for name in waiting:
        for switch in parents.get(name, ()):
            if switch.name not in seen:
                seen.add(switch.name)
                waiting.append(switch.name)
                found.append(switch)
    return found


def _logical_lines(source: ByteSource) -> Iterator[tuple[int, str]]:
    """Joins continued lines and drops comments and blank lines."""
    first, joined = 0, ""
    for line_no, raw in source.lines():
        text = _COMMENT.sub("", raw.decode("utf-8", "replace")).rstrip()
        first = first or line_no
        joined += text.removesuffix("\\")
        if text.endswith("\\") and len(joined) < _LONGEST_LINE:
            joined += " "
            continue
        if joined.strip():
            yield first, joined.strip()
        first, joined = 0, ""
    if joined.strip():
        yield first, joined.strip()


def _switch(line_no: int, text: str) -> _Switch:
    pairs = {key.lower(): value for key, value in _PAIR.findall(text)}
    name = pairs.get("switchname", "")
    if not name:
        raise ValueError("no SwitchName=; expected SwitchName=... Nodes=... or Switches=...")
    if "nodes" not in pairs and "switches" not in pairs:
        raise ValueError(f"switch {name} has neither Nodes= nor Switches=; add one of them")
    lists: dict[str, tuple[str, ...]] = {}
    for key in ("nodes", "switches"):
        try:
            lists[key] = expand_nodes(pairs.get(key, ""))
        except ValueError as error:
            raise ValueError(f"{key} of switch {name}: {pairs[key]!r} {error}") from error
    return _Switch(line_no, name, lists["nodes"], lists["switches"])


SLURM_TOPOLOGY = Format(
    name="slurm_topology",
    title="Slurm topology.conf",
    gives="the leaf switch of every node and the switches above it, for correlated failures",
    example="SwitchName=leaf1 Nodes=node[001-032]",
    incremental=False,
    sniff=sniff,
    read=read,
)
