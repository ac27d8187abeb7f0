"""What ``ckpt-audit model`` tells people, and its tables for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ckpt_audit.cli.tables import UNKNOWN, facts, hours, share, span, table
from ckpt_audit.units import S_PER_H, format_duration

if TYPE_CHECKING:
    from ckpt_audit.documents import Json

_PARTS = ("checkpoint", "lost_work", "recovery", "waste", "goodput")
_TERMS = {
    "saves": "saves: C and the interval",
    "rework": "rework: the interval, and how late a save counts",
    "restart": "noticing and coming back: D and R",
}


def text(document: Json) -> str:
    """Give the text of the calculator.

    Args:
        document: As `model_document` makes it.
    """
    parts = [_best(document), _rows(document)]
    for name, tell in (
        ("async", _async),
        ("fleet", _fleet),
        ("floor", _floor),
        ("drain", _drain),
        ("tiers", _tiers),
        ("elastic", _elastic),
        ("what_if", _what_if),
    ):
        if document[name] is not None:
            parts.append(tell(document[name]))
    return "\n\n".join(parts)


def csv_text(document: Json) -> str:
    """Give the table of intervals for a spreadsheet, with M where several were asked for.

    Args:
        document: As `model_document` makes it.
    """
    part = document["what_if"]
    rows = document["rows"] if part is None else part["sensitivity"]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if v is None else v for name, v in row.items()} for row in rows)
    return out.getvalue().rstrip("\n")


def _best(document: Json) -> str:
    lever = document["largest_term"]
    return facts(
        [
            ("exact optimum", format_duration(document["exact_s"])),
            ("Daly", format_duration(document["daly_s"])),
            ("Young", format_duration(document["young_s"])),
            ("as good within 5%", span(document["flat_low_s"], document["flat_high_s"])),
            ("largest loss there", _TERMS.get(lever, lever)),
        ]
    )


def _rows(document: Json) -> str:
    rows = document["rows"]
    headers = ["interval", *(name.replace("_", " ") for name in _PARTS), "first-order waste"]
    headers += _capacity_heads(rows)
    cells = [
        [
            format_duration(row["interval_s"]),
            *(share(row[f"{name}_exact"]) for name in _PARTS),
            share(row["waste_first_order"]),
            *_capacity(row),
        ]
        for row in rows
    ]
    return table(headers, cells, ">" * len(headers))


def _capacity_heads(rows: Sequence[Json]) -> list[str]:
    heads = []
    if rows and "wasted_acc_h_per_day" in rows[0]:
        heads.append("acc-h wasted a day")
    if rows and "wasted_capacity_per_day" in rows[0]:
        heads.append("capacity wasted a day")
    return heads


def _capacity(row: Json) -> list[str]:
    cells = []
    if "wasted_acc_h_per_day" in row:
        wasted = row["wasted_acc_h_per_day"]
        cells.append(UNKNOWN if wasted is None else hours(wasted * S_PER_H))
    if "wasted_capacity_per_day" in row:
        money = row["wasted_capacity_per_day"]
        cells.append(UNKNOWN if money is None else f"{money:,.0f}")
    return cells


def _async(part: Json) -> str:
    return "Asynchronous save\n" + facts(
        [
            ("pause", format_duration(part["pause_s"])),
            ("C in all", format_duration(part["c_s"])),
            ("until it counts", format_duration(part["lag_s"])),
            ("from", part["meaning"]),
        ]
    )


def _fleet(part: Json) -> str:
    return "M from a rate\n" + facts(
        [
            ("failures per acc-h", f"{part['per_acc_h']:.3g}"),
            ("accelerators", f"{part['accelerators']:,}"),
            ("M", format_duration(part["m_s"])),
        ]
    )


def _floor(part: Json) -> str:
    return "What bytes and bandwidth allow\n" + facts(
        [
            ("a drain takes", format_duration(part["drain_s"])),
            ("shortest interval", format_duration(part["floor_s"])),
        ]
    )


def _drain(part: Json) -> str:
    told = (
        "the best interval is the shortest that a drain allows"
        if part["boundary_binds"]
        else "the best interval is longer than a drain"
    )
    headers = [
        "rule", "best interval", "steps", "drains in flight", "bandwidth", "saves", "rework",
        "restart", "goodput",
    ]  # fmt: skip
    rows = [
        [
            row["rule"],
            format_duration(row["interval_s"]),
            f"{row['steps']:,}",
            f"{row['drains_in_flight']:.2g}",
            f"{row['bandwidth_factor']:.3g} x",
            *(share(row[name]) for name in ("saves", "rework", "restart", "goodput_exact")),
        ]
        for row in part["rules"]
    ]
    head = f"Drains of {part['steps']:,} steps: {told}"
    return f"{head}\n{table(headers, rows, ' ' + '>' * (len(headers) - 1))}"


def _tiers(part: Json) -> str:
    headers = ["tier", "C", "M", "R", "counts after", "save every", "of the one before"]
    rows = [
        [
            str(place),
            *(format_duration(row[name]) for name in ("c_s", "m_s", "r_s", "lag_s", "interval_s")),
            f"each {row['every']:,}." if place > 1 else "",
        ]
        for place, row in enumerate(part["tiers"], 1)
    ]
    waste = f"waste to first order {share(part['waste_first_order'])}"
    return f"Tiers: {waste}\n{table(headers, rows, '>' * len(headers))}"


def _elastic(part: Json) -> str:
    return "Going on with one replica less\n" + facts(
        [
            ("replicas", part["replicas"]),
            ("costs a failure", format_duration(part["elastic_s"])),
            ("a restart costs", format_duration(part["restart_s"])),
            ("gained", format_duration(part["gain_s"])),
        ]
    )


def _what_if(part: Json) -> str:
    told = [_sensitivity(part["sensitivity"]), _levers(part)]
    if part["scale"]:
        told.append(_sizes(part["scale"]))
    return "\n\n".join(told)


def _sensitivity(rows: Sequence[Json]) -> str:
    extra = _capacity_heads(rows)
    headers = ["M", "interval", "waste", "first order", *extra]
    cells = [
        [
            format_duration(row["m_s"]),
            format_duration(row["interval_s"]),
            share(row["waste_exact"]),
            share(row["waste_first_order"]),
            *_capacity(row),
        ]
        for row in rows
    ]
    return f"If M and the interval were otherwise\n{table(headers, cells, '>' * len(headers))}"


def _levers(part: Json) -> str:
    rows = part["tornado"]
    headers = ["lever", "waste then", "saves", "best interval then", "waste at that"]
    headers += _capacity_heads(rows)
    cells = [
        [
            row["lever"],
            share(row["waste_exact"]),
            share(row["gain"]),
            format_duration(row["interval_s"]),
            share(row["waste_best"]),
            *_capacity(row),
        ]
        for row in rows
    ]
    at = f"at {format_duration(part['interval_s'])} it wastes {share(part['waste_exact'])}"
    return f"Levers: {at}\n{table(headers, cells, ' ' + '>' * (len(headers) - 1))}"


def _sizes(rows: Sequence[Json]) -> str:
    headers = ["accelerators", "M", "best interval", "waste at that", "waste unchanged"]
    headers += _capacity_heads(rows)
    cells = [
        [
            f"{row['accelerators']:,}",
            format_duration(row["m_s"]),
            format_duration(row["interval_s"]),
            share(row["waste_best"]),
            share(row["waste_exact"]),
            *_capacity(row),
        ]
        for row in rows
    ]
    return f"At other sizes\n{table(headers, cells, '>' * len(headers))}"
