"""Which incidents belong together, and which parts are suspect, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ckpt_audit.audit.coincidence import Coincidence, RunBursts
from ckpt_audit.audit.correlation import Findings, Group, NamedLink, PlainWindow, Root
from ckpt_audit.audit.suspects import KindOfPart
from ckpt_audit.reliability.rate import MeanTime
from ckpt_audit.units import iso

Json = dict[str, Any]


def correlation_section(found: Findings | None) -> Json | None:
    """Links, groups, M with and without them, windows, bursts and coincidences.

    Args:
        found: Of all runs; None where there is no up-time.
    """
    if found is None:
        return None
    return {
        "basis": {
            "start": iso(found.start_at),
            "end": iso(found.end_at),
            "incidents": found.incidents,
            "without_node": found.unplaced,
            "exposure_s": found.exposure_s,
        },
        "false_discovery_rate": found.level,
        "tests": [asdict(test) for test in found.tests],
        "groups": [_group(group) for group in found.groups],
        "m": [{"of": name, **_mean(mean)} for name, mean in found.means.items()],
        "windows": [_window(window) for window in found.windows],
        "bursts": [_bursts(item) for item in found.bursts],
        "coincidences": [_coincidence(item) for item in found.coincidences],
    }


def _group(group: Group) -> Json:
    return {
        "id": group.id,
        "label": group.label,
        "incidents": list(group.incidents),
        "runs": list(group.runs),
        "domains": list(group.domains),
        "rule": group.rule,
        "p": group.p,
        "q": group.q,
        "links": [_link(named) for named in group.links],
        "root": None if group.root is None else _root(group.root),
    }


def _link(named: NamedLink) -> Json:
    link = named.link
    return {
        "first": named.first,
        "second": named.second,
        "kind": link.kind,
        "domain": link.domain,
        "gap_s": link.gap_s,
        "nodes": link.n if link.kind == "at_once" else None,
        "p": link.p,
        "q": link.q,
    }


def _root(root: Root) -> Json:
    return {"incident": root.incident, "sign_at": iso(root.sign_at), "lead_s": root.lead_s}


def _mean(mean: MeanTime) -> Json:
    return {
        "incidents": mean.incidents,
        "m_s": mean.m_s,
        "low_s": mean.low_s,
        "high_s": mean.high_s,
        "confidence": mean.confidence,
    }


def _window(window: PlainWindow) -> Json:
    effect = window.effect
    return {
        "window_s": effect.window_s,
        "configured": window.is_configured,
        "grouped": effect.grouped,
        "groups": effect.groups,
        "alone": effect.alone,
        "share": effect.share,
        "share_by_chance": effect.share_by_chance,
        "m_once": _mean(window.once),
    }


def _bursts(item: RunBursts) -> Json:
    return {"run": item.run, "beta": item.beta, **asdict(item.test), "q": item.q}


def _coincidence(item: Coincidence) -> Json:
    test = asdict(item.test)
    return {"runs": list(item.runs), "length_s": item.length_s, **test, "q": item.q}


def suspects_section(found: tuple[KindOfPart, ...]) -> list[Json]:
    """Parts by kind, the least likely first.

    Args:
        found: Of all runs.
    """
    return [
        {
            "kind": kind.kind,
            "parts": kind.parts,
            "incidents": kind.incidents,
            "node_h": kind.node_h,
            "false_discovery_rate": kind.level,
            "left_out": list(kind.left_out),
            "refusal": kind.refusal,
            "worst": [
                {
                    "name": part.name,
                    "incidents": list(part.incidents),
                    "expected": part.expected,
                    "node_h": part.node_h,
                    "p": part.p,
                    "q": part.q,
                    "suspect": part.suspect,
                }
                for part in kind.worst
            ],
        }
        for kind in found
    ]
