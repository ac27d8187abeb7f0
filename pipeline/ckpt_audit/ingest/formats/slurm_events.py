"""``sacctmgr -P show event``: what was the matter with each node, since when and until when."""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions, without_nuls
from ckpt_audit.ingest.formats._bounds import ImplausibleError
from ckpt_audit.ingest.formats._node_values import MAX_REASON, MAX_REJECTED_TEXT, clean, state_of
from ckpt_audit.ingest.formats._slurm_values import expand_nodes, is_nothing, parse_time
from ckpt_audit.ingest.formats._stamps import check_year
from ckpt_audit.records import ClockKind, NodeRecord, Record, Rejected, StepBatch

_SURE = 95
_NEEDED = frozenset(("nodename", "state"))
_TIMES = {"timestart": "start", "start": "start", "timeend": "end", "end": "end"}
_AHEAD = 20


def _columns(line: str) -> list[str] | None:
    """Names of the columns when the line is a header."""
    names = [name.strip().lower() for name in line.split("|")]
    has_times = any(name in _TIMES for name in names)
    return names if has_times and set(names) >= _NEEDED else None


def _sniff(head: bytes, _name: str) -> int:
    lines = without_nuls(head).split(b"\n", _AHEAD)[:_AHEAD]
    return _SURE if any(_columns(line.decode("utf-8", "replace")) for line in lines) else 0


def _fields(columns: list[str], line: str) -> dict[str, str] | None:
    """Fields by name; what is too much belongs to the reason, which is free text."""
    cells = line.split("|")
    if len(cells) == len(columns) + 1 and not cells[-1].strip():
        cells.pop()
    extra = len(cells) - len(columns)
    if extra < 0 or (extra and "reason" not in columns):
        return None
    if extra:
        at = columns.index("reason")
        cells[at : at + extra + 1] = ["|".join(cells[at : at + extra + 1])]
    return dict(zip(columns, (cell.strip() for cell in cells), strict=True))


def _instant(text: str) -> tuple[int | None, bool]:
    if is_nothing(text):
        return None, False
    clock_us, is_utc = parse_time(text)
    if clock_us is not None:
        check_year(clock_us)
    return clock_us, is_utc


def _records(line_no: int, fields: dict[str, str], line: str) -> Iterator[Record]:
    times = {_TIMES[name]: text for name, text in fields.items() if name in _TIMES}
    state = state_of(fields["state"])
    if not fields["nodename"] or state is None:
        return  # of the cluster as a whole
    try:
        start_us, is_utc = _instant(times.get("start", ""))
        end_us, _ = _instant(times.get("end", ""))
        nodes = expand_nodes(fields["nodename"])
    except (ValueError, ImplausibleError) as error:
        yield Rejected(line_no, str(error), line[:MAX_REJECTED_TEXT])
        return
    for node in nodes:
        yield NodeRecord(
            line_no=line_no,
            node=node,
            state=state,
            start_us=start_us,
            end_us=end_us,
            clock_kind=ClockKind.UTC if is_utc else ClockKind.NAIVE,
            reason=clean(fields.get("reason", ""), MAX_REASON),
            user=fields.get("user", ""),
            text=clean(line),
        )


def _read(source: ByteSource, _options: ReadOptions) -> Iterator[StepBatch | Record]:
    columns: list[str] | None = None
    for line_no, raw in source.lines():
        line = raw.decode("utf-8", "replace")
        header = _columns(line)
        if header is not None:
            columns = header
        elif columns is not None and line.strip():
            fields = _fields(columns, line)
            if fields is None:
                reason = "not as many columns as the header has; take it with `sacctmgr -P`"
                yield Rejected(line_no, reason, line[:MAX_REJECTED_TEXT])
            else:
                yield from _records(line_no, fields, line)


SLURM_EVENTS = Format(
    name="slurm_events",
    title="Slurm node events (sacctmgr -P show event)",
    gives="When nodes were down, drained or failing, why, and who set it so.",
    example=(
        "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
        "alps|gpu017|2026-05-04T03:12:44|2026-05-04T09:00:00|DRAIN|GPU ECC errors|root(0)\n"
    ),
    incremental=False,
    sniff=_sniff,
    read=_read,
)
