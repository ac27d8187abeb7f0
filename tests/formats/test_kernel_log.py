"""Kernel logs: every rule on its example, the forms of stamps, near misses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats.kernel_log import KERNEL_LOG, KERNEL_RULES, KernelRule
from ckpt_audit.records import ClockKind, LogEvent, Record, StepBatch

REAL = Path(__file__).parents[3] / "shared" / "real" / "dmesg"
XID = "NVRM: Xid (PCI:0000:38:00): 79, pid=2924364, name=python, GPU has fallen off the bus."


def read(text: str) -> list[Record | StepBatch]:
    return list(KERNEL_LOG.read(ByteSource.from_bytes(text.encode()), ReadOptions()))


def only_event(text: str) -> LogEvent:
    (event,) = read(text)
    assert isinstance(event, LogEvent)
    return event


@pytest.mark.parametrize("rule", KERNEL_RULES, ids=lambda rule: rule.name)
def test_rule_reads_its_example(rule: KernelRule) -> None:
    assert any(literal in rule.example for literal in rule.literals)
    event = only_event(f"[ 1234.500000] {rule.example}\n")
    assert (event.kind, event.clock_us) == (rule.kind, 1_234_500_000)
    assert event.text == rule.example


@pytest.mark.parametrize(
    ("prefix", "clock_us", "kind", "resolution_us", "node"),
    [
        ("[680111.646286] ", 680111646286, ClockKind.MONOTONIC, 1, None),
        ("<4>[    5.000001] ", 5000001, ClockKind.MONOTONIC, 1, None),
        ("[Wed Jul 31 23:14:18 2024] ", 1722467658000000, ClockKind.NAIVE, 1_000_000, None),
        ("[Sat Aug  3 23:14:18 2024] ", 1722726858000000, ClockKind.NAIVE, 1_000_000, None),
        ("2026-05-04T03:12:44,287197+00:00 ", 1777864364287197, ClockKind.UTC, 1, None),
        ("2026-05-04T05:12:44.287+0200 n7 kernel: ", 1777864364287000, ClockKind.UTC, 1000, "n7"),
        (
            "kern  :warn  : 2026-05-04T03:12:44,287197+00:00 ",
            1777864364287197, ClockKind.UTC, 1, None,
        ),
        ("May 19 07:08:57 n7 kernel: ", 958720137000000, ClockKind.NO_YEAR, 1_000_000, "n7"),
        (
            "May  9 07:08:57 n7.x kernel: [680111.646286] ",
            957856137000000, ClockKind.NO_YEAR, 1_000_000, "n7.x",
        ),
        ("Foo 99 07:08:57 n7 kernel: ", None, ClockKind.UNDATED, 0, None),
    ],
)  # fmt: skip
def test_stamps(
    prefix: str, clock_us: int | None, kind: ClockKind, resolution_us: int, node: str | None
) -> None:
    event = only_event(f"{prefix}{XID}\n")
    assert (event.clock_us, event.clock_kind, event.resolution_us, event.node) == (
        clock_us, kind, resolution_us, node,
    )  # fmt: skip
    assert event.code == "79"


def test_near_misses_are_nothing() -> None:
    assert (
        read(
            "[1.000000] NVRM: GPU at PCI:0000:9b:00: GPU-509665ad\n"
            "[1.000000] NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:9b:00\n"
            "[1.000000] mlx5_core 0000:ab:00.0: firmware version: 28.39.1002\n"
            "[1.000000] mlx5_core 0000:ab:00.0: 252.048 Gb/s available PCIe bandwidth\n"
            "[1.000000] nvme nvme0: 64/0/0 default/read/poll queues\n"
            "[1.000000] oom_reaper: reaped process 345646 (python), now anon-rss:0kB\n"
            "[1.000000] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null)\n"
            "[1.000000] Lustre: Lustre: Build Version: 2.15.4\n"
            "[1.000000] LustreError: lnet: some note without consequence\n"
            "[1.000000] nfs: server storage1 OK\n"
            "[1.000000] EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0\n"
            "[1.000000] EDAC MC0: Giving out device to module skx_edac\n"
            "[1.000000] mce: [Hardware Error]: Machine check events logged\n"
        )
        == []
    )


def test_the_follower_is_kept_with_its_text() -> None:
    event = only_event(
        "[1.000000] NVRM: Xid (PCI:0000:9b:00): 45, pid=7, Ch 8, caused by previous Xid 119\n"
    )
    assert event.code == "45"
    assert "caused by previous Xid 119" in event.text


@pytest.mark.parametrize(
    "head",
    [
        "", "hello\n", "May 19 07:08:58 n7 systemd[1]: Started Session 1.\n" * 5,
        "2026-05-01 10:00:00,123 - root - INFO - step: 1\n" * 5,
        "[2026-05-01 10:00:00,123] [INFO] [a.py:1:f] x\n" * 5,
        "[2026-05-01T10:00:00.123] sched: Allocate JobId=7 NodeList=n1\n" * 5,
    ],
)  # fmt: skip
def test_strangers(head: str) -> None:
    assert KERNEL_LOG.sniff(head.encode(), "dmesg.log") == 0


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("gpud_components_accelerator_nvidia_xid_testdata_dmesg-with-xid-119.log", {"xid": 5}),
        ("gpud_components_memory_testdata_dmesg.decode.iso.log", {"xid": 17, "out_of_memory": 3}),
    ],
)
def test_real_files(name: str, kinds: dict[str, int]) -> None:
    path = REAL / name
    if not path.exists():
        pytest.skip("the real files are not here")
    data = path.read_bytes()
    assert KERNEL_LOG.sniff(data, "") >= 90
    events = read(data.decode())
    found = Counter(event.kind.value for event in events if isinstance(event, LogEvent))
    assert dict(found) == kinds


@pytest.mark.parametrize(
    ("line", "kind", "code", "waited_s"),
    [
        (
            "watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [insmod:458]",
            "kernel_fault", "soft lockup", 26,
        ),
        (
            "NMI watchdog: BUG: soft lockup - CPU#0 stuck for 24s! [dd:8103]",
            "kernel_fault", "soft lockup", 24,
        ),
        (
            "INFO: task kworker/u642:5:1720 blocked for more than 122 seconds.",
            "kernel_fault", "hung task", 122,
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:59:00.0): 23001, Fatal, Link 12 Always Fatal",
            "sxid", "23001", None,
        ),
        (
            "[N] Node 10.0.0.1 (n1) is being expelled due to expired lease.",
            "storage_error", None, None,
        ),
    ],
)  # fmt: skip
def test_faults_of_kernels(line: str, kind: str, code: str | None, waited_s: int | None) -> None:
    program = "mmfs" if line.startswith("[") else "kernel"
    event = only_event(f"May 19 07:08:57 n7 {program}: {line}\n")
    assert (event.kind.value, event.code, event.node) == (kind, code, "n7")
    assert event.duration_us == (None if waited_s is None else waited_s * 10**6)


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20009, Non-fatal, Link 28 RX Short Error Rate",
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): garbled, Fatal",
        "pcieport 0000:ae:00.0: AER: Corrected error received: 0000:ae:00.0",
        "mce: [Hardware Error]: Machine check events logged",
        "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0",
        "INFO: task scheduler initialised",
        "mlx5_core 0000:ab:00.0: Port module event: module 0, Cable plugged",
    ],
)
def test_what_heals_by_itself_is_nothing(line: str) -> None:
    assert read(f"May 19 07:08:57 n7 kernel: {line}\n") == []
