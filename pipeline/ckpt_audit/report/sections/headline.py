"""The sentence and the four figures that a lead reads first."""

from __future__ import annotations

import re
from calendar import month_name
from collections import Counter
from collections.abc import Sequence

from ckpt_audit.facts import Checkpoint
from ckpt_audit.report.blocks import Card, Cell, Column, Row, Table
from ckpt_audit.report.numbers import (
    date_time,
    duration,
    hours_us,
    money,
    plural,
    share,
    whole,
    whole_hours,
)
from ckpt_audit.report.sections import change
from ckpt_audit.report.sections.context import FEW, Context
from ckpt_audit.report.words import EVENTS, bucket_label, event_label, kind_label
from ckpt_audit.units import US_PER_S


def period(label: str, complete: bool) -> str:
    """The window in words, with "so far" where the data does not cover it.

    >>> period("2026-05", complete=True), period("2026-W21", complete=False)
    ('May 2026', '2026-W21, so far')
    """
    month = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", label)
    name = f"{month_name[int(month[2])]} {month[1]}" if month else label
    return name if complete else f"{name}, so far"


def run_headline(ctx: Context) -> str:
    """The month of one run in at most three sentences."""
    if not ctx.allocated_us:
        return "No allocated time was seen in this window."
    parts = [
        (
            f"{share(ctx.bucket_us('productive'), ctx.allocated_us)} of "
            f"{hours_us(ctx.allocated_us)} went into new steps."
        )
    ]
    if ctx.lost_us:
        parts.append(f"{hours_us(ctx.lost_us)} were lost{_biggest(ctx)}.")
    else:
        parts.append("Nothing was lost.")
    parts.append(advice_sentence(ctx))
    return " ".join(part for part in parts if part)


def _biggest(ctx: Context) -> str:
    """The bucket that took most of what was lost, as the rest of a sentence."""
    lost = [x for x in ctx.lines if x.bucket != "productive" and x.observed_us > 0]
    if not lost:
        return ""
    top = max(lost, key=lambda line: line.observed_us)
    amount = "all" if top.observed_us == ctx.lost_us else hours_us(top.observed_us)
    n = len(ctx.incidents)
    phrases = {
        "checkpoint": "in saving checkpoints",
        "lost_work": f"in steps that {plural(n, 'incident')} threw away",
        "detection": f"until {plural(n, 'incident')} {'was' if n == 1 else 'were'} noticed"
        f"{_median_detection(ctx)}",
        "replacement": f"in waiting for nodes after {plural(n, 'incident')}",
        "restart": f"in restarting after {plural(n, 'incident')}",
        "startup": "in starting up",
        "unknown": "with no evidence of what happened",
    }
    # Incidents of an earlier window can leave time in this one.
    if n == 0 and top.bucket in ("lost_work", "detection", "replacement", "restart"):
        return f", {amount} of it under “{bucket_label(top.bucket)}” after an earlier incident"
    return f", {amount} of it {phrases.get(top.bucket, f'under “{bucket_label(top.bucket)}”')}"


def _median_detection(ctx: Context) -> str:
    d = ctx.one.estimate.d
    return f" (median {duration(d.median)})" if d.n and d.median is not None else ""


def advice_sentence(ctx: Context) -> str:
    """What to do, in one sentence or two."""
    best = change.found(ctx)
    texts = [f"{best[0][1].short}."] if best else []
    if not ctx.one.advice.change:
        texts.append(interval_sentence(ctx))
    return " ".join(text for text in texts if text)


def interval_sentence(ctx: Context) -> str:
    """The verdict on an interval that is not to be changed."""
    advice = ctx.one.advice
    if advice.exact_s is None:
        return ""
    if not ctx.events:
        return "No failure was seen, so the interval has nothing to be judged by."
    low, high = advice.flat_low_s, advice.flat_high_s
    now = advice.current_s
    if now is not None and low is not None and high is not None and low <= now <= high:
        return "The save interval needs no change."
    return "No change of the save interval is advised yet."


def run_remarks(ctx: Context) -> tuple[str, ...]:
    """What a reader must know before trusting the sentence."""
    run, remarks = ctx.one.run, []
    if ctx.away is not None:
        since = ctx.away.fault_at or ctx.away.last_step_at
        at = f" since {date_time(since)} UTC" if since is not None else ""
        remarks.append(
            f"No step has been seen{at}: the run had not come back by the last evidence."
        )
    moved = ctx.moved_us
    if moved:
        remarks.append(f"{hours_us(moved)} could belong to another bucket, for lack of evidence.")
    unknown = ctx.bucket_us("unknown")
    if unknown and ctx.allocated_us:
        text = f"Of {hours_us(unknown)} ({share(unknown, ctx.allocated_us)}) nothing says what"
        remarks.append(f"{text} happened.")
    if 0 < len(ctx.events) < FEW:
        text = f"Only {ctx.events_text}: too few for a rate, so only the range"
        remarks.append(f"{text} that fits is given.")
    if run.missing:
        remarks.append(f"Missing: {', '.join(run.missing)}.")
    return tuple(remarks)


def run_cards(ctx: Context) -> tuple[Card, ...]:
    """Productive share, hours lost, incidents, newest durable checkpoint."""
    acc = whole_hours(ctx.lost_acc_us / US_PER_S) if ctx.allocated_acc_us else None
    worth = ctx.capacity(ctx.lost_acc_us)
    note = f"{acc} accelerator-hours" if acc else "number of accelerators unknown"
    if worth is not None:
        note += f", worth {money(worth)} of capacity"
    calendar = share(ctx.bucket_us("productive"), ctx.calendar_us)
    return (
        Card(
            "Into new steps",
            share(ctx.bucket_us("productive"), ctx.allocated_us),
            f"of allocated time; {calendar} of calendar time",
            f"#{ctx.anchor('time')}",
        ),
        Card(
            "Hours lost",
            hours_us(ctx.lost_us) if ctx.allocated_us else "unknown",
            note,
            f"#{ctx.anchor('time')}",
        ),
        incident_card(ctx),
        checkpoint_card(ctx),
    )


def incident_card(ctx: Context) -> Card:
    """How many incidents, and of which kinds."""
    labels = [ctx.label(i) for i in ctx.events]
    groups = {c.group for c in ctx.one.correlations.values() if c.label == "correlated"}
    notes = []
    if labels.count("isolated"):
        notes.append(f"{labels.count('isolated')} isolated")
    if groups:
        notes.append(plural(len(groups), "correlated group"))
    if labels.count("cascade"):
        notes.append(f"{labels.count('cascade')} in a cascade")
    kinds = Counter(i.kind for i in ctx.incidents if i.kind not in EVENTS)
    notes += [f"{count} {kind_label(kind, count)}" for kind, count in sorted(kinds.items())]
    text = "; ".join(notes) or ("none labelled" if ctx.events else "no interruption was seen")
    label = ctx.event_label().capitalize()
    return Card(label, whole(len(ctx.events)), text, f"#{ctx.anchor('incidents')}")


def checkpoint_card(ctx: Context) -> Card:
    """Age of the newest verified checkpoint, its step and grade, and the newest ever loaded."""
    newest = ctx.one.newest_verified
    href = f"#{ctx.anchor('checkpoints')}"
    label = "Newest verified checkpoint"
    if newest is None:
        return Card(label, "none", "no save in this data is known to be loadable", href)
    at = newest.started_at if newest.started_at is not None else newest.committed_at
    age = None if at is None else max(0, ctx.end_us - at) / US_PER_S
    value = f"{duration(age)} old" if age is not None else "age unknown"
    note = f"step {newest.step:,}, grade {newest.grade or 'unknown'}; {_newest_loaded(ctx)}"
    return Card(label, value, note, href)


def _newest_loaded(ctx: Context) -> str:
    loaded = [c for c in ctx.one.checkpoints if c.grade == "loaded"]
    if not loaded:
        return "none was ever loaded"
    best: Checkpoint = max(loaded, key=lambda c: c.step)
    return f"newest ever loaded: step {best.step:,}"


def fleet_headline(contexts: Sequence[Context]) -> str:
    """All runs in one sentence or two."""
    if not contexts:
        return "No run was seen in this window."
    total = sum(c.allocated_us for c in contexts)
    if not total:
        return f"No allocated time of {plural(len(contexts), 'run')} was seen."
    kept, unit = sum(c.bucket_us("productive") for c in contexts), hours_us(total)
    part = share(kept, total)
    worst = max(contexts, key=lambda c: c.lost_us)
    lost = total - kept
    text = f"{plural(len(contexts), 'run')}: {part} of {unit} went into new steps. "
    if not lost:
        return text + "Nothing was lost."
    text += f"{hours_us(lost)} were lost"
    if worst.lost_us and len(contexts) > 1:
        amount = "all" if worst.lost_us == lost else hours_us(worst.lost_us)
        text += f", {amount} of it by {worst.one.run.run}"
    best = [(found[0], c) for c in contexts if (found := change.found(c))]
    if best:
        (_, top), ctx = max(best, key=lambda pair: pair[0][0])
        return f"{text}. {top.short}, on {ctx.one.run.run}."
    return f"{text}. Nothing is known that would save much."


def fleet_cards(contexts: Sequence[Context]) -> tuple[Card, ...]:
    """The four figures over all runs."""
    total = sum(c.allocated_us for c in contexts)
    kept = sum(c.bucket_us("productive") for c in contexts)
    lost_acc = sum(c.lost_acc_us for c in contexts)
    known = all(c.allocated_acc_us or not c.allocated_us for c in contexts)
    note = (
        f"{whole_hours(lost_acc / US_PER_S)} accelerator-hours"
        if known
        else ("number of accelerators unknown for a run")
    )
    worth = [c.capacity(c.lost_acc_us) for c in contexts]
    if worth and all(w is not None for w in worth):
        note += f", worth {money(sum(w for w in worth if w is not None))} of capacity"
    events = sum(len(c.events) for c in contexts)
    others = sum(len(c.incidents) for c in contexts) - events
    without = sum(1 for c in contexts if c.one.newest_verified is None)
    return (
        Card("Into new steps", share(kept, total), "of allocated time, all runs", "#overview"),
        Card("Hours lost", hours_us(total - kept), note, "#overview"),
        Card(
            _fleet_label(contexts).capitalize(),
            whole(events),
            f"and {plural(others, 'other interruption')}",
            "#overview",
        ),
        Card(
            "Runs with a verified checkpoint",
            f"{len(contexts) - without} of {len(contexts)}",
            "ages are with each run",
            "#overview",
        ),
    )


def _fleet_label(contexts: Sequence[Context]) -> str:
    return event_label(
        sum(len(c.failures) for c in contexts), sum(c.unknown_ends for c in contexts)
    )


def overview(contexts: Sequence[Context]) -> Table:
    """One row a run."""
    columns = (
        Column("Run"),
        Column("Allocated, h", numeric=True),
        Column("Into new steps", numeric=True),
        Column("Lost, h", numeric=True),
        Column(_events_head(contexts), numeric=True),
        Column("Largest loss"),
        Column("Save interval"),
    )
    return Table("overview", "The runs", columns, tuple(_overview_row(c) for c in contexts))


def _events_head(contexts: Sequence[Context]) -> str:
    return "Failures and unknown ends" if any(c.unknown_ends for c in contexts) else "Failures"


def _overview_row(ctx: Context) -> Row:
    lost = [x for x in ctx.lines if x.bucket != "productive" and x.observed_us > 0]
    top = max(lost, key=lambda line: line.observed_us) if lost else None
    part = ctx.bucket_us("productive") / ctx.allocated_us if ctx.allocated_us else None
    cells = (
        Cell(ctx.one.run.run, href=f"#{ctx.anchor('run')}"),
        Cell(hours_us(ctx.allocated_us).removesuffix(" h"), sort=float(ctx.allocated_us)),
        Cell(share(ctx.bucket_us("productive"), ctx.allocated_us), sort=part),
        Cell(hours_us(ctx.lost_us).removesuffix(" h"), sort=float(ctx.lost_us)),
        Cell(whole(len(ctx.events)), sort=float(len(ctx.events))),
        Cell(f"{bucket_label(top.bucket)}, {hours_us(top.observed_us)}" if top else "nothing"),
        Cell(verdict(ctx)),
    )
    return Row(cells)


def verdict(ctx: Context) -> str:
    """The advice on the interval in a few words."""
    advice = ctx.one.advice
    if advice.change:
        return f"change to {duration(advice.recommended_s)}"
    return "unknown" if advice.exact_s is None else "no change"
