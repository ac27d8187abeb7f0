"""Which incidents belong together, and which parts are suspect, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckpt_audit.cli.tables import facts, share, span, table
from ckpt_audit.reliability.levels import LEVEL
from ckpt_audit.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckpt_audit.audit.correlation import Findings, Group, PlainWindow
    from ckpt_audit.audit.suspects import KindOfPart, Part

_MOST = 10  # groups and parts that are shown
_NAMES = {
    "all": "all",
    "isolated": "isolated alone",
    "groups": "groups alone",
    "once": "each group as one",
}


LEAST_Q = 0.001  # smaller ones are no different to a reader


def correlation_text(found: Findings, suspects: Sequence[KindOfPart]) -> str:
    """Groups, M with and without them, windows, bursts and suspects, of all runs.

    Args:
        found: Which incidents belong together.
        suspects: Nodes and what holds them.
    """
    means = [
        [_NAMES[name], mean.incidents, format_duration(mean.m_s), span(mean.low_s, mean.high_s)]
        for name, mean in found.means.items()
    ]
    pairs = [
        ("linked", _linked(found)),
        *(("group", _group(group)) for group in found.groups[:_MOST]),
        *_left(len(found.groups), "groups"),
        ("bursts", _bursts(found)),
        *_coincidences(found),
        *(("suspect", _kind(kind)) for kind in suspects),
    ]
    headers = ["incidents of all runs, all of the past", "n", "M", "interval"]
    windows = ["within", "in groups", "by chance", "M, each group as one"]
    parts = [table(headers, means, " >>>")] if means else []
    if found.windows:
        parts.append(table(windows, [_window(window) for window in found.windows], " >>>"))
    return "\n".join([*parts, facts(pairs)])


def _linked(found: Findings) -> str:
    if not found.tests:
        return "nothing to test: no incident is in a failure domain whose exposure is known"
    n = sum(test.links for test in found.tests)
    tests = sum(test.tests for test in found.tests)
    kinds = ", ".join(dict.fromkeys(test.kind.replace("_", " ") for test in found.tests))
    links = "link" if n == 1 else "links"
    words = (
        f"{n} {links} in {tests} tests ({kinds}), at a false discovery rate of {found.level:.0%}"
    )
    if found.unplaced:
        words += f"; {found.unplaced} of {found.incidents} incidents name no node"
    return words


def _group(group: Group) -> str:
    words = f"{', '.join(group.incidents)}: {group.rule}"
    if group.q is not None:
        words += f" (q {group.q:.2g})" if group.q >= LEAST_Q else f" (q below {LEAST_Q:g})"
    if group.root is not None:
        lead = format_duration(group.root.lead_s)
        words += f"; may have begun at {group.root.incident}, a sign of it {lead} before"
    return words


def _left(n: int, what: str) -> list[tuple[str, str]]:
    return [("", f"{n - _MOST} more {what} in the JSON document")] if n > _MOST else []


def _window(window: PlainWindow) -> list[object]:
    effect = window.effect
    name = format_duration(effect.window_s) + (" (configured)" if window.is_configured else "")
    return [
        name,
        f"{effect.grouped} of {effect.n}",
        share(effect.share_by_chance),
        format_duration(window.once.m_s),
    ]


def _bursts(found: Findings) -> str:
    made = [item for item in found.bursts if item.test.p is not None]
    if not made:
        return "not tested: no run has the 10 failures that takes"
    seen = [item for item in made if item.q is not None and item.q <= LEVEL]
    if not seen:
        return f"no more short gaps than by chance in {len(made)} of {len(found.bursts)} runs"
    return "; ".join(
        f"{item.run} has {item.test.seen} gaps under {format_duration(item.test.window_s)}, "
        f"{item.test.expected:.1f} by chance"
        for item in seen[:_MOST]
    )


def _coincidences(found: Findings) -> list[tuple[str, str]]:
    """Pairs of runs; nothing where no two have enough failures in common time."""
    made = [item for item in found.coincidences if item.test.p is not None]
    if not made:
        return []
    seen = [item for item in made if item.q is not None and item.q <= LEVEL]
    words = "; ".join(
        f"{' and '.join(item.runs)} failed within {format_duration(item.test.window_s)} of each "
        f"other {item.test.seen} times, {item.test.expected:.1f} by chance"
        for item in seen[:_MOST]
    )
    return [("runs together", words or "no two fail together more often than by chance")]


def _kind(kind: KindOfPart) -> str:
    if kind.refusal is not None:
        return f"{kind.kind}: not tested ({kind.refusal})"
    suspects = [part for part in kind.worst if part.suspect]
    if not suspects:
        return (
            f"{kind.kind}: none of {kind.parts} has more incidents than chance; "
            f"the most unlikely is {_part(kind.worst[0])}"
            if kind.worst
            else f"{kind.kind}: none"
        )
    words = f"{kind.kind}: " + "; ".join(_part(part) for part in suspects[:_MOST])
    return words + (f"; {len(suspects) - _MOST} more" if len(suspects) > _MOST else "")


def _part(part: Part) -> str:
    name = part.name.split(":", 1)[1]
    return f"{name}, {len(part.incidents)} where {part.expected:.1f} were to be expected"
