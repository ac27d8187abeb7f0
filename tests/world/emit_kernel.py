"""The kernel log gathered from all nodes: fault lines, and much that is harmless."""

from __future__ import annotations

import random
from collections.abc import Iterator

from .clock import DAY, HOUR, instant, kernel, seconds
from .cluster import N_NODES
from .simulate import World
from .timeline import Attempt, Ending

Entry = tuple[int, str, str]

_NOISE = (
    "perf: interrupt took too long (3137 > 3135), lowering kernel.perf_event_max_sample_rate",
    "TCP: request_sock_TCP: Possible SYN flooding on port 29500. Sending cookies.",
    "nvidia-nvswitch0: open (major=510)",
    "EXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode. Quota mode: none.",
    "mlx5_core 0000:ab:00.0: firmware version: 28.39.1002",
    "mlx5_core 0000:ab:00.0: Port module event: module 0, Cable plugged",
    "systemd-journald[1184]: Data hash table of /run/log/journal/system.journal has a fill level",
    "Lustre: lustre-OST002f-osc: Connection restored to 10.41.8.47@o2ib",
)
_BUS = ("1b", "29", "38", "5d", "9b", "ab", "ba", "dd")


def _xid(ending: Ending, local: int, number: int, text: str) -> str:
    pid = 214_500 + ending.rank // 8 * 7 + local
    return f"NVRM: Xid (PCI:0000:{_BUS[local]}:00): {number}, pid={pid}, name=python, {text}"


def _gpu_lines(ending: Ending, rng: random.Random) -> Iterator[Entry]:
    node, local, at = ending.nodes[0], ending.rank % 8, ending.fault_at
    if ending.how in ("xid79", "torn_gpu"):
        yield at, node, _xid(ending, local, 79, "GPU has fallen off the bus.")
        yield at + 311, node, f"NVRM: GPU 0000:{_BUS[local]}:00.0: GPU has fallen off the bus."
        action = "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
        yield at + 48_000, node, _xid(ending, local, 154, action)
    elif ending.how == "ecc":
        remap = _xid(ending, local, 63, "Row Remapper: New row marked for remapping")
        yield at - seconds(rng.uniform(3, 5) * 3600), node, remap
        yield at, node, _xid(ending, local, 94, "Contained: SM (0x1). RST: No, D-RST: No")
        yield at + 2_100, node, remap
    elif ending.how == "nvlink":
        text = "NVLink: fatal error detected on link 4(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"
        yield at, node, _xid(ending, local, 74, text)


def _link(local: int, state: str) -> str:
    return f"mlx5_core 0000:{_BUS[local]}:00.0 mlx5_{local}: Port: 1 Link {state}"


def _network_lines(ending: Ending, rng: random.Random) -> Iterator[Entry]:
    at = ending.fault_at
    if ending.how == "linkflap":
        yield at, ending.nodes[0], _link(ending.rank % 8, "DOWN")
        yield at + seconds(rng.uniform(70, 110)), ending.nodes[0], _link(ending.rank % 8, "ACTIVE")
        return
    back = at + seconds(rng.uniform(25, 29) * 60)
    for place, node in enumerate(ending.nodes):
        for local in range(8):
            later = 0 if place == local == 0 else rng.randint(90, 420_000)
            yield at + later, node, _link(local, "DOWN")
            yield back + rng.randint(0, 2_000_000), node, _link(local, "ACTIVE")


def _memory_lines(ending: Ending) -> Iterator[Entry]:
    node, at = ending.nodes[0], ending.fault_at
    pid = 214_500 + ending.rank // 8 * 7 + ending.rank % 8
    yield (
        at, node,
        "python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
    )  # fmt: skip
    killed = (
        f"Memory cgroup out of memory: Killed process {pid} (python) total-vm:402133184kB, "
        "anon-rss:247201876kB, file-rss:81220kB, shmem-rss:1048576kB, UID:1001"
    )
    yield at + 41_000, node, killed


def _teardown_lines(attempt: Attempt, ending: Ending) -> Iterator[Entry]:
    """Application-level messages of the processes that were killed: no fault."""
    if attempt.end is None or ending.how not in ("xid79", "limit", "hang", "preempt"):
        return
    for node in attempt.nodes[3:6]:
        text = _xid(ending, 2, 45, "Ch 00000008, errorString CTX SWITCH TIMEOUT")
        yield attempt.end + 700_000, node, text


def _fault_lines(attempt: Attempt, rng: random.Random) -> Iterator[Entry]:
    ending = attempt.ending
    if ending is None or attempt.retry:
        return
    if ending.how in ("leaf", "linkflap"):
        yield from _network_lines(ending, rng)
    elif ending.how == "host_oom":
        yield from _memory_lines(ending)
    elif ending.evidence == "kernel":
        yield from _gpu_lines(ending, rng)
    yield from _teardown_lines(attempt, ending)


def _noise(rng: random.Random) -> Iterator[Entry]:
    first = instant("2026-04-28T00:00:00")
    last = instant("2026-06-02T12:00:00")
    for _ in range(500):
        at = rng.randrange(first, last)
        yield at, f"gpu{rng.randint(1, N_NODES):03d}", rng.choice(_NOISE)
    for day in range(3, 33, 6):
        at = first + day * DAY + rng.randrange(20 * HOUR)
        node = f"gpu{rng.randint(59, 64):03d}"
        text = (
            f"NVRM: Xid (PCI:0000:{rng.choice(_BUS)}:00): 31, pid='<unknown>', name=<unknown>, "
            "Ch 00000011, MMU Fault: ENGINE GRAPHICS GPC3 GPCCLIENT_T1_5 faulted @ 0x7f2c_1e000000"
        )
        yield at, node, text


def kernel_text(world: World) -> str:
    """The kernel log of the whole cluster, in order of time."""
    rng = random.Random(f"{world.seed}/kernel")
    entries: list[Entry] = list(_noise(rng))
    for attempts in world.attempts.values():
        for attempt in attempts:
            entries.extend(_fault_lines(attempt, rng))
    entries.sort(key=lambda entry: entry[:2])
    return "".join(f"{kernel(at)} {node} kernel: {text}\n" for at, node, text in entries)
