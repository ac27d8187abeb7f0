"""What ``ckpt-audit simulate`` tells people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ckpt_audit.cli.tables import facts, share, span, table
from ckpt_audit.units import format_duration

if TYPE_CHECKING:
    from ckpt_audit.documents import Json

_Z95 = 1.96


def text(document: Json) -> str:
    """Give the text of a simulation.

    Args:
        document: As `simulate_document` makes it, not rounded yet: never is infinite.
    """
    deadline_s = document["deadline_s"]
    headers = [
        "policy", "goodput", "checkpoint", "tax", "lost work", "recovery", "lost work a run",
        "median finish", "90% done by",
    ]  # fmt: skip
    if deadline_s is not None:
        headers.append("done by deadline")
    rows = []
    for row in document["rows"]:
        cells = [
            _policy(row),
            _sure(row["goodput"], row["goodput_se"]),
            *(share(row[name]) for name in ("checkpoint", "tax", "lost_work", "recovery")),
            format_duration(row["lost_work_s"]),
            *(_finish(row[name]) for name in ("finish_median_s", "finish_p90_s")),
        ]
        if deadline_s is not None:
            cells.append(share(row["p_deadline"]))
        rows.append(cells)
    return "\n\n".join(
        part
        for part in (
            _asked(document),
            table(headers, rows, " " + ">" * (len(headers) - 1)),
            _best(document),
            "\n".join(f"note: {note}" for note in document["notes"]),
        )
        if part
    )


def _asked(document: Json) -> str:
    laws = document["laws"]
    m = "never" if laws["up"] == "never" else format_duration(document["m_s"])
    pairs: list[tuple[str, object]] = [
        ("work", format_duration(document["work_s"])),
        ("mean up-time M", f"{m} ({laws['up']})"),
    ]
    pairs += [
        (name.upper(), f"{format_duration(document[f'{name}_s'])} ({laws[name]})") for name in "cdr"
    ]
    if document["deadline_s"] is not None:
        pairs.append(("deadline", format_duration(document["deadline_s"])))
    pairs.append(("runs", f"{document['runs']:,} of each policy, seed {document['seed']}"))
    return facts(pairs)


def _policy(row: Json) -> str:
    policy = row["policy"]
    if len(policy["starts_s"]) == 1:
        said = format_duration(row["interval_s"])
    else:
        clock = "run" if policy["clock"] == "run" else "restart"
        said = ", ".join(
            format_duration(interval)
            + (f" from {format_duration(start)} after {clock}" if start else "")
            for start, interval in zip(policy["starts_s"], policy["intervals_s"], strict=True)
        )
    for tier, number in enumerate(policy["every"], start=1):
        said += f"; every {number} saves to tier {tier}"
    return said


def _sure(value: float, se: float) -> str:
    """A share with the half-width of its 95 % interval."""
    return f"{value:.2%} ± {_Z95 * se:.2%}"


def _finish(value_s: float) -> str:
    return format_duration(value_s) if math.isfinite(value_s) else "never"


def _best(document: Json) -> str:
    rows = document["rows"]
    if len(rows) == 1:
        return ""
    row = rows[document["best"]]
    if not row["goodput"]:
        return "best: none; no policy keeps any training"
    told = f"best: {_policy(row)}, goodput {_sure(row['goodput'], row['goodput_se'])}; "
    if not math.isfinite(row["finish_median_s"]):
        return told + "fewer than half of the runs finish"
    finish = span(row["finish_median_low_s"], row["finish_median_high_s"])
    return told + f"half of the runs finish by {_finish(row['finish_median_s'])} (95%: {finish})"
