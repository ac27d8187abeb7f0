"""Nodes, leaf switches, and which nodes an allocation gets."""

from __future__ import annotations

N_NODES = 64
LEAF_SIZE = 8


def leaf_of(node: str) -> int:
    """Number of the leaf switch (from 1) that a node hangs on."""
    return (int(node.removeprefix("gpu")) - 1) // LEAF_SIZE + 1


def hostlist(nodes: tuple[str, ...]) -> str:
    """Write node names as the scheduler does: ``gpu[001-003,007]``."""
    numbers = sorted(int(node.removeprefix("gpu")) for node in nodes)
    if len(numbers) == 1:
        return f"gpu{numbers[0]:03d}"
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    parts = [f"{a:03d}" if a == b else f"{a:03d}-{b:03d}" for a, b in ranges]
    return f"gpu[{','.join(parts)}]"


def topology_conf() -> str:
    """The cluster's ``topology.conf``."""
    lines = ["# aurora: one spine, eight leaf switches of eight nodes each"]
    for leaf in range(1, N_NODES // LEAF_SIZE + 1):
        first = (leaf - 1) * LEAF_SIZE + 1
        lines.append(f"SwitchName=leaf{leaf} Nodes=gpu[{first:03d}-{first + LEAF_SIZE - 1:03d}]")
    lines.append(f"SwitchName=spine1 Switches=leaf[1-{N_NODES // LEAF_SIZE}]")
    return "\n".join(lines) + "\n"


class NodePool:
    """The nodes that one run can get; suspect ones are drained for a while."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Start with every node healthy, in order of preference."""
        self._names = names
        self._drained: dict[str, int] = {}

    def drain(self, nodes: tuple[str, ...], until: int) -> None:
        """Take nodes out until an instant."""
        for node in nodes:
            self._drained[node] = until

    def pick(self, count: int, at: int, current: tuple[str, ...]) -> tuple[str, ...]:
        """Choose nodes for an allocation, keeping the current ones that are healthy."""
        healthy = [node for node in self._names if self._drained.get(node, 0) <= at]
        kept = [node for node in current if node in healthy]
        spare = [node for node in healthy if node not in kept]
        return tuple(sorted((kept + spare)[:count]))
