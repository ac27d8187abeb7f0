"""``slurmctld.log``: what the controller says of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._bounds import ImplausibleError
from ckpt_audit.ingest.formats._node_values import (
    MAX_REASON,
    MAX_REJECTED_TEXT,
    clean,
    state_of,
)
from ckpt_audit.ingest.formats._slurm_values import expand_nodes
from ckpt_audit.ingest.formats._stamps import checked, read_iso
from ckpt_audit.records import NodeRecord, Record, Rejected, StepBatch

_SURE = 90
_MAX_SEEN = 4 << 10
_STAMP = re.compile(r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[+-]\d\d:\d\d)?)\] ")
_HEAD = re.compile(
    rb"(?m)^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^\]]{0,20}\] .{0,40}?"
    rb"(?:slurmctld|sched: Allocate JobId=|_job_complete: JobId=|sched: _slurm_rpc_|"
    rb"update_node: node |Node \S+ now responding|not responding, setting DOWN|"
    rb"Registering slurmctld|_slurm_rpc_submit_batch_job: JobId=)"
)

# How a line tells: nodes, and either a fixed state or words from which to read it.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Nodes (?P<nodes>\S+) not responding, setting DOWN"), "down"),
    (re.compile(r"Nodes? (?P<nodes>\S+) not responding(?P<reason>)$"), "unhealthy"),
    (re.compile(r"Node (?P<nodes>\S+) now responding"), "up"),
    (re.compile(r"node (?P<nodes>\S+) returned to service"), "up"),
    (re.compile(r"(?P<reason>due to failure of) node (?P<nodes>\S+)"), "fail"),
    (re.compile(r"Killing JobId=\d+ on (?P<reason>failed) node (?P<nodes>\S+)"), "fail"),
    (
        re.compile(
            r"(?P<reason>(?:Prolog|Epilog|Prolog or Epilog|Batch job launch) (?:failure|error)) on "
            r"node (?P<nodes>\S+?),? (?:draining|setting)"
        ),
        "drain",
    ),
    (re.compile(r"drain_nodes: node (?P<nodes>\S+) state set to DRAIN"), "drain"),
    (re.compile(r"Node (?P<nodes>\S+) (?P<reason>unexpectedly rebooted)"), "down"),
    (re.compile(r"Node (?P<nodes>\S+) (?P<reason>rebooted)"), "reboot"),
)
_STATE_SET = re.compile(r"update_node: node (?P<nodes>\S+) state set to (?P<state>\S+)")
_REASON_SET = re.compile(r"update_node: node (?P<nodes>\S+) reason set to: (?P<reason>.*)")
_LITERALS = (" node ", "Node ", "Nodes ")
_MAX_PENDING = 4096


def _said(text: str) -> tuple[str, str | None, str] | None:
    """Nodes, state (None where only a reason is set) and reason that a line tells."""
    if found := _REASON_SET.search(text):
        return found["nodes"], None, found["reason"]
    if found := _STATE_SET.search(text):
        return found["nodes"], state_of(found["state"]), ""
    for pattern, state in _RULES:
        if found := pattern.search(text):
            return found["nodes"], state, found.groupdict().get("reason") or ""
    return None


def _read(source: ByteSource, _options: ReadOptions) -> Iterator[StepBatch | Record]:
    # update_node prints the reason on a line of its own, before the state
    reasons: dict[str, str] = {}
    for line_no, raw in source.lines():
        text = raw[:_MAX_SEEN].decode("utf-8", "replace")
        stamped = _STAMP.match(text)
        if stamped is None or not any(word in text for word in _LITERALS):
            continue
        said = _said(text[stamped.end() :])
        if said is None:
            continue
        try:
            nodes = expand_nodes(said[0].rstrip(","))
            stamp = checked(read_iso(stamped[1]))
        except (ValueError, ImplausibleError) as error:
            yield Rejected(line_no, str(error), text[:MAX_REJECTED_TEXT])
            continue
        _, state, reason = said
        for node in nodes:
            if state is None:
                if len(reasons) < _MAX_PENDING:
                    reasons[node] = clean(reason, MAX_REASON)
                continue
            yield NodeRecord(
                line_no=line_no,
                node=node,
                state=state,
                start_us=stamp.clock_us,
                end_us=None,
                clock_kind=stamp.kind,
                reason=reasons.pop(node, "") or clean(reason, MAX_REASON),
                user="",
                text=clean(text),
            )


def _sniff(head: bytes, _name: str) -> int:
    return _SURE if _HEAD.search(without_nuls(head)) else 0


SLURMCTLD_LOG = Format(
    name="slurmctld_log",
    title="Log of Slurm's controller (slurmctld.log)",
    gives="When nodes stopped to respond, were drained and why, and when they came back.",
    example=(
        "[2026-05-04T03:12:44.120] update_node: node gpu017 reason set to: GPU ECC errors\n"
        "[2026-05-04T03:12:44.120] update_node: node gpu017 state set to DRAINING\n"
    ),
    incremental=False,
    sniff=_sniff,
    read=_read,
)
