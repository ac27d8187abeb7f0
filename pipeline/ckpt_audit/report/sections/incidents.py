"""Which incidents cost most?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ckpt_audit.facts import Evidence, Incident
from ckpt_audit.report.blocks import (
    PROOF_LIMIT,
    Cell,
    Column,
    Detail,
    Figure,
    Proof,
    Row,
    Section,
    Table,
    Text,
    cut,
)
from ckpt_audit.report.numbers import (
    between,
    date_time,
    date_time_s,
    day_time,
    duration,
    hours,
    plural,
    slug,
    whole,
    whole_hours,
)
from ckpt_audit.report.sections.context import Context
from ckpt_audit.report.words import GRADES, MOMENTS, STRENGTHS, cause_label, kind_label
from ckpt_audit.units import S_PER_H

TOP = 15
MOST_PROOFS = 15
MOST_CHARACTERS = 500

_COLUMNS = (
    Column("Fault, UTC"),
    Column("Kind and cause"),
    Column("Steps lost", numeric=True, hint="last step before it, less the step resumed from"),
    Column("Work lost", numeric=True, hint="training time thrown away"),
    Column("Noticed after", numeric=True, hint="D, from the fault until something acted"),
    Column("Recovered in", numeric=True, hint="R, from noticing to the first complete step"),
    Column("Cost, h", numeric=True, hint="the three together: delay of the run"),
    Column("Acc-hours", numeric=True, hint="accelerator-hours charged"),
)


def section(ctx: Context) -> Section:
    """The costliest, then all."""
    anchor, title = ctx.anchor("incidents"), "Which incidents cost most?"
    if not ctx.listed:
        return Section(anchor, title, "There was no incident in this window.", ())
    costly = sorted(ctx.incidents, key=lambda i: (-(cost_s(i) or 0.0), i.id))[:TOP]
    blocks = [_figure(ctx, costly)] if any(cost_s(i) for i in costly) else []
    return Section(anchor, title, _answer(ctx), (*blocks, _table(ctx), *_notes(ctx)))


def cost_s(incident: Incident) -> float | None:
    """Cost of an incident as far as it is known: the whole, else the known parts."""
    if incident.loss_s is not None:
        return incident.loss_s
    parts = [incident.lost_work_s, incident.detection_s, incident.recovery_s]
    known = [p for p in parts if p is not None]
    return sum(known) if known else None


def kinds_sentence(incidents: tuple[Incident, ...]) -> str:
    """How many of each kind, most first.

    >>> kinds_sentence(())
    'no incidents'
    """
    counts = Counter(i.kind for i in incidents)
    parts = [f"{n:,} {kind_label(kind, n)}" for kind, n in counts.most_common()]
    if not parts:
        return "no incidents"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _answer(ctx: Context) -> str:
    found = ctx.incidents
    known = [(c, i) for i in found if (c := cost_s(i)) is not None]
    if not found:
        return f"None that counts: {plural(len(ctx.listed), 'incident')} excluded by a person."
    text = kinds_sentence(found)
    if not known:
        return f"{text[0].upper()}{text[1:]}; what they cost is unknown."
    total = sum(c for c, _ in known)
    if len(found) == 1:
        return f"One: a {text.removeprefix('1 ')} that cost {hours(total)}{_unfinished(ctx)}."
    answer = f"{text} cost {hours(total)} together{_unfinished(ctx)}"
    failed = [(c, i) for c, i in known if i.kind == "failure"]
    top, worst = max(failed or known, key=lambda pair: (pair[0], pair[1].id))
    if 0 < len(failed) < len(known):
        answer += f", the failures {hours(sum(c for c, _ in failed))} of it"
    answer += f"; the costliest {kind_label(worst.kind)} took {hours(top)} "
    answer += f"({cause_label(worst.cause)}, {day_time(worst.fault_at)})."
    return f"{answer[0].upper()}{answer[1:]}"


def _unfinished(ctx: Context) -> str:
    away = [i for i in ctx.incidents if i.loss_s is None]
    return f", with {plural(len(away), 'cost')} known only in part" if away else ""


def _figure(ctx: Context, costly: list[Incident]) -> Figure:
    bars = tuple(
        (
            f"{day_time(i.fault_at)}  {_short(i)}",
            (i.lost_work_s or 0.0) / S_PER_H,
            (i.detection_s or 0.0) / S_PER_H,
            (i.recovery_s or 0.0) / S_PER_H,
        )
        for i in costly
        if cost_s(i)
    )
    title = f"The {len(bars)} costliest incidents" if len(bars) > 1 else "What it cost"
    data: dict[str, Any] = {"bars": bars}
    return Figure(
        ctx.anchor("figure-incidents"),
        "incident_cost",
        title,
        "Stacked bars, one an incident: work lost, time to notice, time to recover, in hours. "
        f"The largest is {bars[0][0]} with {sum(bars[0][1:]):.1f} h. The table below holds them.",
        data,
    )


def _short(incident: Incident) -> str:
    """Cause of a failure, kind of anything else, cut to the room beside a bar."""
    text = cause_label(incident.cause)
    return (text if incident.kind == "failure" else kind_label(incident.kind))[:26]


def _table(ctx: Context) -> Table:
    shown, note = cut(ctx.listed, "incidents")
    costly = sorted(shown, key=lambda i: (-(cost_s(i) or 0.0), i.id))[:PROOF_LIMIT]
    proven = {i.id for i in costly}
    rows = tuple(_row(ctx, i, proven=i.id in proven) for i in shown)
    if len(shown) > PROOF_LIMIT:
        note += f" Evidence is shown for the {PROOF_LIMIT} costliest."
    return Table(
        ctx.anchor("table-incidents"),
        "All incidents",
        _COLUMNS,
        rows,
        note.strip(),
        filterable=len(rows) > 5,
    )


def _row(ctx: Context, incident: Incident, *, proven: bool) -> Row:
    total = cost_s(incident)
    partly = total is not None and incident.loss_s is None
    label = ctx.label(incident)
    badges = [] if label in ("isolated", "not tested") else [label]
    if incident.secondary:
        badges.append("secondary")
    if incident.first_step_at is None:
        badges.append("not back")
    at = incident.fault_at if incident.fault_at is not None else incident.last_step_at
    kind, cause = kind_label(incident.kind), cause_label(incident.cause)
    cells = (
        Cell(date_time(at), sort=None if at is None else float(at)),
        Cell(f"{kind}: {cause}" if cause != kind else kind, badges=tuple(badges)),
        _count(incident.steps_lost),
        _time(incident, "lost_work_s", incident.lost_work_s),
        _noticed(incident),
        _time(incident, "recovery_s", incident.recovery_s),
        Cell(hours(total).removesuffix(" h"), sort=total, badges=("in part",) if partly else ()),
        Cell(whole_hours(incident.loss_acc_s), sort=incident.loss_acc_s),
    )
    return Row(cells, f"incident-{slug(incident.id)}", _detail(ctx, incident, proven=proven))


def _count(value: int | None) -> Cell:
    return Cell(whole(value), sort=None if value is None else float(value), muted=value is None)


def _time(incident: Incident, name: str, value: float | None) -> Cell:
    if value is not None:
        return Cell(duration(value), sort=value)
    bounds = incident.bounds.get(name)
    if bounds and (bounds[0] is not None or bounds[1] is not None):
        return Cell(between(*bounds), sort=bounds[0], muted=True)
    return Cell("unknown", muted=True)


def _noticed(incident: Incident) -> Cell:
    if incident.kind == "planned" and incident.detection_s is None:
        return Cell("\N{EN DASH}", muted=True)  # nothing was there to notice
    return _time(incident, "detection_s", incident.detection_s)


def _detail(ctx: Context, incident: Incident, *, proven: bool) -> Detail:
    if not proven:
        return Detail(f"{incident.id} · {incident.rule or 'no rule given'}")
    proofs = tuple(_proof(e) for e in incident.evidence[:MOST_PROOFS])
    lines = plural(len(incident.evidence), "line of evidence", "lines of evidence")
    summary = f"{incident.id} · {incident.rule or 'no rule given'} · {lines}"
    return Detail(summary, _facts(ctx, incident), proofs)


def _facts(ctx: Context, incident: Incident) -> tuple[tuple[str, str], ...]:
    found = ctx.one.correlations.get(incident.id)
    together = ctx.label(incident)
    if found and found.group and found.label != "isolated":
        together += f" (group {found.group})"
    if found and found.rule and found.label != "isolated":
        together += f": {found.rule}"
    resumed = f"last step {whole(incident.last_step)}, resumed from {whole(incident.resume_step)}"
    stages = ", ".join(
        f"{name} {duration(value)}"
        for name, value in (
            ("waiting for nodes", incident.replacement_s),
            ("failed retries", incident.retries_s),
            ("launch", incident.launch_s),
            ("load", incident.restore_s),
            ("warm-up", incident.warmup_s),
        )
        if value is not None
    )
    facts = (
        ("Cause", f"{cause_label(incident.cause)} ({incident.cause_strength or 'unknown'})"),
        ("During", incident.phase.replace("_", " ")),
        ("Steps", resumed),
        ("Newest verified checkpoint then", _verified(incident)),
        ("Work at risk", duration(incident.unsaved_work_s)),
        ("Noticed by", _noticed_by(incident)),
        ("Stages of recovery", stages or "unknown"),
        ("State came back from", incident.recovery_source.replace("_", " ")),
        *((("Attempts that failed", whole(incident.attempts)),) if incident.attempts != 1 else ()),
        ("Jobs", ", ".join(incident.job_ids) or "unknown"),
        ("Nodes", ", ".join(incident.nodes[:20]) + _more(incident.nodes) or "unknown"),
        ("Failure domains", ", ".join(incident.domains) or "unknown"),
        # said where there is something to say
        *((("Together with others", together),) if found and found.label != "isolated" else ()),
        ("Noticed at", f"{date_time_s(incident.detected_at)} UTC"),
        ("First step again", f"{date_time_s(incident.first_step_at)} UTC"),
    )
    overruled = tuple(("Overruled by a person", words) for words in incident.overruled)
    if incident.excluded:
        overruled += (("Excluded", "by a person: it is in no figure"),)
    return overruled + tuple((k, v.replace("unknown UTC", "unknown")) for k, v in facts)


def _noticed_by(incident: Incident) -> str:
    who = incident.detector or "unknown"
    if incident.detection_timeout_s is None:
        return who
    return f"{who}, after a configured wait of {duration(incident.detection_timeout_s)}"


def _more(nodes: tuple[str, ...]) -> str:
    return f" and {len(nodes) - 20} more" if len(nodes) > 20 else ""


def _verified(incident: Incident) -> str:
    if incident.verified_step is None:
        return "none known"
    grade = incident.verified_grade
    text = f"step {incident.verified_step:,}"
    if grade:
        text += f", grade {grade} ({GRADES.get(grade, 'of unknown meaning')})"
    if incident.verified_checkpoint_age_s is not None:
        text += f", {duration(incident.verified_checkpoint_age_s)} old"
    return text


def _proof(evidence: Evidence) -> Proof:
    place = evidence.file or ""
    if place and evidence.line is not None:
        place += f":{evidence.line}"
    moment = MOMENTS.get(evidence.moment, evidence.moment.replace("_", " ").capitalize())
    strength = STRENGTHS.get(evidence.strength, "unknown")
    text = evidence.text
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}…"
    return Proof(moment, place, text, f"{evidence.strength}: {strength}")


def _notes(ctx: Context) -> list[Text]:
    notes = []
    if ctx.away is not None:
        text = "The last incident had not ended by the last evidence: its cost is known in part."
        notes.append(Text(text, "quiet"))
    if ctx.incidents and all(i.kind == "planned" for i in ctx.incidents):
        text = "All of them were planned: none counts as a failure, but what they threw away does."
        notes.append(Text(text, "quiet"))
    return notes
