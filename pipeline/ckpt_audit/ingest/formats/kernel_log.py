"""Kernel logs of nodes: ``dmesg`` in its forms, and what syslog or journald kept of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._bounds import SMALL_LIMIT, ImplausibleError, whole
from ckpt_audit.ingest.formats._job_log_text import plain
from ckpt_audit.ingest.formats._kernel_lines import KernelLine, is_kernel_log, split_line
from ckpt_audit.ingest.formats._scan import LineIndex, LiteralScanner
from ckpt_audit.ingest.formats._stamps import checked
from ckpt_audit.records import EventKind, LogEvent, Record, Rejected, StepBatch
from ckpt_audit.units import US_PER_S

_SURE = 95
_MAX_TEXT = 400
_MAX_SEEN = 16 << 10  # how much of a line is looked at
_MAX_REJECTED_TEXT = 200
_BLOCK_BYTES = 3 << 18


@dataclass(frozen=True, slots=True)
class KernelRule:
    """One kind of kernel line.

    Attributes:
        name: Short name.
        kind: What it says.
        literals: The line holds one of them.
        pattern: Searched in the line's text; a group ``code`` fills the event's code, ``s`` its
            duration.
        example: Such a line, without its stamp.
        code: The code, where no group fills it.
    """

    name: str
    kind: EventKind
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    example: str
    code: str | None = None


KERNEL_RULES: tuple[KernelRule, ...] = (
    KernelRule(
        "xid",
        EventKind.XID,
        ("NVRM: Xid",),
        re.compile(r"NVRM: Xid \((?:PCI:)?[0-9a-fA-F:.]+\): (?P<code>\d+)(?=,|\s|$)"),
        "NVRM: Xid (PCI:0000:38:00): 79, pid=2924364, name=python, GPU has fallen off the bus.",
    ),
    KernelRule(
        # what is not fatal is counted by the switch and heals by itself
        "sxid",
        EventKind.SXID,
        ("SXid (PCI:",),
        re.compile(
            r"nvidia-nvswitch\d{1,3}: SXid \((?:PCI:)?[0-9a-fA-F:.]+\): (?P<code>\d{1,6}), Fatal\b"
        ),
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
    ),
    KernelRule(
        "soft_lockup",
        EventKind.KERNEL_FAULT,
        ("BUG: soft lockup - CPU#",),
        re.compile(r"BUG: soft lockup - CPU#\d{1,6} stuck for (?P<s>\d{1,9})s!"),
        "watchdog: BUG: soft lockup - CPU#12 stuck for 26s! [python:2924364]",
        code="soft lockup",
    ),
    KernelRule(
        "hard_lockup",
        EventKind.KERNEL_FAULT,
        ("Watchdog detected hard LOCKUP on cpu",),
        re.compile(r"Watchdog detected hard LOCKUP on cpu \d"),
        "NMI watchdog: Watchdog detected hard LOCKUP on cpu 12",
        code="hard lockup",
    ),
    KernelRule(
        "hung_task",
        EventKind.KERNEL_FAULT,
        ("INFO: task ",),
        re.compile(r"INFO: task .{1,64}? blocked for more than (?P<s>\d{1,9}) seconds\."),
        "INFO: task python:2924364 blocked for more than 120 seconds.",
        code="hung task",
    ),
    KernelRule(
        "panic",
        EventKind.KERNEL_FAULT,
        ("Kernel panic - not syncing: ",),
        re.compile(r"Kernel panic - not syncing: "),
        "Kernel panic - not syncing: Fatal exception in interrupt",
        code="panic",
    ),
    KernelRule(
        "pcie_fatal",
        EventKind.KERNEL_FAULT,
        ("(Fatal) error ", "severity=Uncorrected (Fatal)", "severity=Uncorrectable (Fatal)"),
        re.compile(
            r"AER: (?:Multiple )?Uncorrect(?:ed|able) \(Fatal\) error "
            r"|PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Fatal\)"
        ),
        "pcieport 0000:ae:00.0: AER: Uncorrected (Fatal) error received: 0000:ae:00.0",
        code="pcie",
    ),
    KernelRule(
        "mlx5_health",
        EventKind.LINK_DOWN,
        ("health compromised",),
        re.compile(r"mlx5_core (?P<code>[0-9a-f:.]{7,20}): .{0,200}?health compromised"),
        "mlx5_core 0000:ab:00.0: poll_health:801:(pid 0): device's health compromised - reached "
        "miss count",
    ),
    KernelRule(
        "gpfs",
        EventKind.STORAGE_ERROR,
        ("mmfs: [",),
        re.compile(
            r"(?:mmfs: |^)\[[EXN]\] .{0,300}?(?:(?:being|been) expelled\b"
            r"|unmounted by the system with return code)"
        ),
        "mmfs: [X] File System fs1 unmounted by the system with return code 217 reason code 0",
    ),
    KernelRule(
        "mlx5_down",
        EventKind.LINK_DOWN,
        ("mlx5_core ",),
        re.compile(r"mlx5_core \S+ (?P<code>\S+?):? .{0,200}?[Ll]ink (?:DOWN|down)\b"),
        "mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link DOWN",
    ),
    KernelRule(
        "mlx5_up",
        EventKind.LINK_UP,
        ("mlx5_core ",),
        re.compile(r"mlx5_core \S+ (?P<code>\S+?):? .{0,200}?[Ll]ink (?:ACTIVE|UP|up)\b"),
        "mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link ACTIVE",
    ),
    KernelRule(
        "netdev_down",
        EventKind.LINK_DOWN,
        ("ink is Down", "ink is down"),
        re.compile(r"(?<![\w.-])(?P<code>[\w.-]++)(?:: NIC)?:? [Ll]ink is [Dd]own\b"),
        "ixgbe 0000:3b:00.0 eth2: NIC Link is Down",
    ),
    KernelRule(
        "netdev_up",
        EventKind.LINK_UP,
        ("ink is Up", "ink is up", "link becomes ready"),
        re.compile(
            r"(?<![\w.-])(?P<code>[\w.-]++)(?:: NIC)?:? [Ll]ink (?:is [Uu]p\b|becomes ready)"
        ),
        "IPv6: ADDRCONF(NETDEV_CHANGE): ib0: link becomes ready",
    ),
    KernelRule(
        "oom_kill",
        EventKind.OUT_OF_MEMORY,
        ("ut of memory: Kill",),
        re.compile(r"(?:Memory cgroup out|Out) of memory: Kill(?:ed)? process (?P<code>\d+)"),
        "Memory cgroup out of memory: Killed process 2924364 (python) total-vm:98304kB",
    ),
    KernelRule(
        "memory_error",
        EventKind.HOST_MEMORY_ERROR,
        ("EDAC MC", "Machine Check Exception: ", "hardware memory corruption"),
        re.compile(
            r"EDAC MC\d{1,4}: \d{1,9} UE \S|Machine Check Exception: \d"
            r"|due to hardware memory corruption"
        ),
        "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)",
    ),
    KernelRule(
        "block_error",
        EventKind.STORAGE_ERROR,
        ("I/O error, dev ",),
        re.compile(r"I/O error, dev (?P<code>\w+), sector"),
        "blk_update_request: I/O error, dev nvme0n1, sector 2048 op 0x0:(READ)",
    ),
    KernelRule(
        "nvme",
        EventKind.STORAGE_ERROR,
        ("nvme ",),
        re.compile(
            r"nvme (?P<code>nvme\d+): (?:I/O .{0,200}?timeout|controller is down|"
            r"Removing after probe failure|Device not ready)"
        ),
        "nvme nvme0: I/O 512 QID 7 timeout, aborting",
    ),
    KernelRule(
        "lustre",
        EventKind.STORAGE_ERROR,
        ("LustreError: ",),
        re.compile(
            r"LustreError: .{0,300}?(?:timed out|was evicted|[Cc]onnection to .{0,100}? lost|"
            r"operation \S.{0,200}?failed|rc (?:=|-) ?-(?:5|28|107|108|110)\b)"
        ),
        "LustreError: 167-0: data-OST0004-osc-ffff: This client was evicted by data-OST0004; in "
        "progress operations using this service will fail.",
    ),
    KernelRule(
        "lustre_lost",
        EventKind.STORAGE_ERROR,
        ("Lustre: ",),
        re.compile(r"Lustre: .{0,200}?Connection to \S+ \(at [^)]{1,200}\) was lost"),
        "Lustre: data-OST0004-osc-ffff: Connection to data-OST0004 (at 10.0.8.4@o2ib) was lost; "
        "in progress operations using this service will wait",
    ),
    KernelRule(
        "nfs",
        EventKind.STORAGE_ERROR,
        ("nfs: server ",),
        re.compile(r"nfs: server (?P<code>\S+) (?:not responding|error)"),
        "nfs: server storage1 not responding, timed out",
    ),
)


def _table() -> tuple[list[str], list[list[KernelRule]]]:
    literals: list[str] = []
    rules: list[list[KernelRule]] = []
    for rule in KERNEL_RULES:
        for literal in rule.literals:
            if literal not in literals:
                literals.append(literal)
                rules.append([])
            rules[literals.index(literal)].append(rule)
    return literals, rules


_LITERALS, _RULES_OF = _table()


def read_line(line_no: int, text: str, rules: list[KernelRule]) -> Record | None:
    """What a kernel line says by the first rule that fits.

    Args:
        line_no: Its number.
        text: The line.
        rules: Those whose literals it holds.
    """
    for rule in rules:
        line = split_line(text) or KernelLine.without_stamp(text)
        match = rule.pattern.search(line.text)
        if match is None:
            continue
        groups = match.groupdict()
        code, waited = groups.get("code") or rule.code, groups.get("s")
        try:
            if code is not None and code.isdecimal():
                whole(code, "code", SMALL_LIMIT)
            checked(line.stamp)
        except ImplausibleError as error:
            return Rejected(line_no, str(error), text.strip()[:_MAX_REJECTED_TEXT])
        return LogEvent(
            line_no=line_no,
            kind=rule.kind,
            clock_us=line.stamp.clock_us,
            clock_kind=line.stamp.kind,
            resolution_us=line.stamp.resolution_us,
            step=None,
            duration_us=None if waited is None else int(waited) * US_PER_S,
            code=code,
            node=line.node,
            rank=None,
            path=None,
            job_ref=None,
            text=line.text.strip()[:_MAX_TEXT],
        )
    if any(rule.kind is EventKind.XID for rule in rules):
        reason = "an Xid line of which the number cannot be read"
        return Rejected(line_no, reason, text.strip()[:_MAX_REJECTED_TEXT])
    return None


def _sniff(head: bytes, _name: str) -> int:
    return _SURE if is_kernel_log(without_nuls(head)) else 0


def _read(source: ByteSource, _options: ReadOptions) -> Iterator[StepBatch | Record]:
    scanner = LiteralScanner([literal.encode() for literal in _LITERALS])
    for first_line, block in source.blocks(_BLOCK_BYTES):
        ends, literals = scanner.scan(block)
        if not len(ends):
            continue
        index = LineIndex(block, first_line)
        lines: dict[tuple[int, int], list[KernelRule]] = {}
        bounds = (0, 0)
        for end, literal in zip(ends.tolist(), literals.tolist(), strict=True):
            if end > bounds[1]:
                bounds = index.segment(end - 1)
            rules = lines.setdefault(bounds, [])
            rules.extend(rule for rule in _RULES_OF[literal] if rule not in rules)
        for (start, end), rules in lines.items():
            seen = plain(block[start : min(end, start + _MAX_SEEN)])
            record = read_line(index.number(start), seen, rules)
            if record is not None:
                yield record


KERNEL_LOG = Format(
    name="kernel_log",
    title="Kernel log (dmesg, syslog, journalctl -k)",
    gives="Xid errors of accelerators, links going down and up, memory and storage errors.",
    example=(
        "2026-05-04T03:12:44,287197+00:00 gpu017 kernel: NVRM: Xid (PCI:0000:38:00): 79, "
        "pid=2924364, name=python, GPU has fallen off the bus.\n"
    ),
    incremental=True,
    sniff=_sniff,
    read=_read,
)
