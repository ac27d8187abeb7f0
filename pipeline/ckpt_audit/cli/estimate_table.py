"""``ckpt-audit estimate --table``: failures of a fleet from a table of incidents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckpt_audit.cli.tables import facts, share, span
from ckpt_audit.errors import NoDataError, UsageError
from ckpt_audit.reliability.levels import LEVEL
from ckpt_audit.units import US_PER_S, format_duration, parse_duration_s

if TYPE_CHECKING:
    from pathlib import Path

    from ckpt_audit.audit.incident_table import TableEstimate
    from ckpt_audit.cli.session import Session
    from ckpt_audit.ingest.incident_table import IncidentTable

_MOST = 10  # suspects that are shown


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options of a table, as they were given."""

    columns: str | None
    where: tuple[str, ...]
    unit: str
    nodes: int | None
    since: str | None
    until: str | None
    chain: str


def estimate_table_command(
    session: Session, path: Path, options: TableOptions, *, as_json: bool
) -> None:
    """Prints what a table of incidents says.

    Raises:
        UsageError: An option does not fit the table.
        NoDataError: No time lies between its ends.
    """
    from ckpt_audit.audit.incident_table import estimate_table
    from ckpt_audit.documents import dumps
    from ckpt_audit.documents.incident_table import incident_table_document
    from ckpt_audit.ingest.incident_table import read_incident_table

    table = read_incident_table(
        path,
        dict(
            _pair("--columns", word) for word in (options.columns or "").split(",") if word.strip()
        ),
        [_pair("--where", word) for word in options.where],
        options.unit,
    )
    nodes = options.nodes
    if nodes is not None and nodes < 1:
        raise UsageError(f"--nodes must be 1 or more, not {nodes}")
    ends = _ends(session, table, options.since, options.until)
    found = estimate_table(table, nodes, *ends, chain_s=_seconds(options.chain))
    if found is None:
        raise NoDataError(f"{path.name}: no time lies between the first and the last moment")
    session.out(dumps(incident_table_document(path.name, found)) if as_json else table_text(found))


def _words(text: str | None) -> list[str]:
    return [word for word in (text or "").split(",") if word.strip()]


def _pair(option: str, word: str) -> tuple[str, str]:
    name, separator, value = (part.strip() for part in word.partition("="))
    if not (name and separator and value):
        raise UsageError(f"{option} takes NAME=VALUE, not '{word.strip()}'")
    return name, value


def _seconds(text: str) -> float:
    try:
        return parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"--chain: {error}") from None


def _ends(
    session: Session, table: IncidentTable, since: str | None, until: str | None
) -> tuple[float | None, float | None]:
    """Stretch that was asked for, seconds; an end that was not is None."""
    if since is None and until is None:
        return None, None
    if table.is_relative:
        raise UsageError("--since and --until need a table whose moments are dates")
    from ckpt_audit.windows import parse_range

    first = table.rows[0].start_s if table.rows else 0.0
    known = (int(first * US_PER_S), int(table.last_s * US_PER_S))
    window = parse_range(since, until, session.config.display_zone, known)
    return (
        None if since is None else window.start_at / US_PER_S,
        None if until is None else window.end_at / US_PER_S,
    )


def table_text(found: TableEstimate) -> str:
    """What a table says, in sentences.

    Args:
        found: The estimate.
    """
    table, mean = found.table, found.mean_time
    one = "unknown" if mean.m_s is None else format_duration(mean.m_s)
    bounds = f"{span(mean.low_s, mean.high_s)} at a constant rate"
    robust = f"{span(found.robust.low_s, found.robust.high_s)} allowing for bursts"
    pairs = [
        ("incidents", f"{found.incidents:,} in {format_duration(mean.exposure_s)}, calendar time"),
        ("nodes with one", f"{found.nodes:,}"),
        ("one per", f"{one} of calendar time ({bounds}, {robust})"),
    ]
    rate = found.per_node_day
    if rate is not None:
        pairs.append(
            ("per 1,000 node-days", f"{rate.value:.2f} ({rate.low:.2f} to {rate.high:.2f})")
        )
    pairs += [
        ("close together", _chain(found)),
        ("trend", _trend(found)),
        ("law of the gaps", _law(found)),
        ("causes", _causes(found)),
        ("repair", _repair(found)),
        ("suspects", _suspects(found)),
        ("columns", ", ".join(f"{field}={name}" for field, name in table.columns.items())),
    ]
    if table.n_rejected:
        pairs.append(("left out", f"{table.n_rejected:,} rows whose moment cannot be read"))
    return facts(pairs)


def _suspects(found: TableEstimate) -> str:
    if found.suspects is None:
        return "not tested (that takes ten incidents, and --nodes of at least those in the table)"
    shown = [
        f"{one.node} {one.incidents} ({one.expected:.1f} expected)"
        for one in found.suspects[:_MOST]
    ]
    left = len(found.suspects) - len(shown)
    return ", ".join(shown) + (f", {left} more" if left > 0 else "") if shown else "none"


def _chain(found: TableEstimate) -> str:
    chain = found.chain
    return (
        f"{share(chain.grouped_share)} have another within {format_duration(chain.window_s)}; "
        f"a constant rate gives {share(chain.by_chance_share)}"
    )


def _trend(found: TableEstimate) -> str:
    tested = found.trend
    if tested.p is None:
        return f"not tested ({tested.refusal})"
    return "none seen" if tested.p > LEVEL else f"incidents become {tested.direction}"


def _law(found: TableEstimate) -> str:
    laws = found.laws
    shape = next((fit.shape for fit in laws.fits if fit.law == "weibull"), None)
    chained = next((fit.shape for fit in found.chain.laws.fits if fit.law == "weibull"), None)
    if shape is None:
        return f"not fitted ({laws.refusal})"
    parts = [f"Weibull shape {shape:.3f}"]
    if chained is not None:
        parts.append(f"of groups {chained:.3f}")
    if found.chain.shape_by_chance is not None:
        parts.append(f"where a constant rate gives {found.chain.shape_by_chance:.3f}")
    zeros = f"; {laws.n_zero:,} gaps of 0 left out" if laws.n_zero else ""
    return ", ".join(parts) + zeros


def _causes(found: TableEstimate) -> str:
    shown = [f"{item.cause} {item.events:,} ({share(item.share)})" for item in found.causes[:8]]
    left = len(found.causes) - len(shown)
    return ", ".join(shown) + (f", {left} more" if left > 0 else "") or "none"


def _repair(found: TableEstimate) -> str:
    if not found.repair.n:
        return "not told"
    median, mean = format_duration(found.repair.median), format_duration(found.repair.mean)
    return f"median {median}, mean {mean}, of {found.repair.n:,}"
