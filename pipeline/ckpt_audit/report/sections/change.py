"""What to change? At most five rows, and "nothing" is a right answer."""

from __future__ import annotations

from ckpt_audit.audit.advice import IntervalAdvice
from ckpt_audit.facts import Incident
from ckpt_audit.report.blocks import Change, Changes, Section
from ckpt_audit.report.numbers import duration, hours, hours_us, plural, probability
from ckpt_audit.report.sections.context import FEW, Context
from ckpt_audit.units import S_PER_H, S_PER_MIN, US_PER_S

MOST_ROWS = 5
MIN_SAVING_S = 1.0 * S_PER_H
MIN_SHARE = 0.005
SLOW_NOTICE_S = 30.0 * S_PER_MIN


def section(ctx: Context) -> Section:
    """What could pay, the largest saving first."""
    items = tuple(change for _, change in found(ctx))
    nothing = f"Nothing: {_why_nothing(ctx)}."
    if not items:
        answer = nothing
    else:
        many = "One change" if len(items) == 1 else f"{len(items)} changes"
        answer = f"{many} to consider. {items[0].short}."
    return Section(
        ctx.anchor("change"), "What to change?", answer, (Changes(items, nothing),) if items else ()
    )


def found(ctx: Context) -> list[tuple[float, Change]]:
    """What could pay, as seconds saved and change, the largest first."""
    known = [c for c in (_interval(ctx), _older_restores(ctx), _notice(ctx)) if c is not None]
    return sorted(known, key=lambda pair: -pair[0])[:MOST_ROWS]


def _why_nothing(ctx: Context) -> str:
    reason = ctx.one.advice.reason.strip().rstrip(".")
    return reason or "no change is known to save anything"


def _interval(ctx: Context) -> tuple[float, Change] | None:
    advice = ctx.one.advice
    if not advice.change or advice.recommended_s is None:
        return None
    every = duration(advice.recommended_s)
    if advice.recommended_steps is not None:
        every = f"{plural(advice.recommended_steps, 'step')} ({every} of training)"
    saving_s = (advice.saving_h or 0.0) * S_PER_H
    sure = f"mean up-time {advice.basis}"
    if advice.p_better is not None:
        sure = f"better with probability {probability(advice.p_better)}; {sure}"
    saving_us, lost_us = ctx.bucket_us("checkpoint"), ctx.bucket_us("lost_work")
    why = (
        f"{hours_us(saving_us)} went into saving and {hours_us(lost_us)} into work lost; at the "
        "optimum the two are about equal"
    )
    return saving_s, Change(
        what=f"Save every {every} instead of every {duration(advice.current_s)}",
        why=why,
        saving=f"about {hours(saving_s)}" if advice.saving_h is not None else "unknown",
        sure=sure,
        flip=flip_of(advice),
        short=f"Saving every {every} instead of every {duration(advice.current_s)} would save "
        + (f"about {hours(saving_s)}" if advice.saving_h is not None else "time"),
        href=f"#{ctx.anchor('interval')}",
    )


def flip_of(advice: IntervalAdvice) -> str:
    """How far C or M would have to be off for the present interval to be in its flat region.

    The optimum grows with the square root of C times M, and the flat region with it.
    """
    now, low, high = advice.current_s, advice.flat_low_s, advice.flat_high_s
    if now is not None and low is not None and 0 < now < low:
        factor = f"{(low / now) ** 2:.1f} times"
        return f"saves that cost {factor} less, or failures {factor} as often"
    if now is not None and high is not None and now > high > 0:
        factor = f"{(now / high) ** 2:.1f} times"
        return f"saves that cost {factor} as much, or failures {factor} as rare"
    return "little: the present interval is in the flat region"


def _older_restores(ctx: Context) -> tuple[float, Change] | None:
    """Restarts that took a checkpoint older than the newest verified one: perhaps rightly."""
    step_s = ctx.one.cadence.step_s
    older = [
        i
        for i in ctx.incidents
        if i.resume_step is not None
        and i.verified_step is not None
        and i.resume_step < i.verified_step
        and i.kind != "operator_rollback"
    ]
    if not older:
        return None
    steps = sum((i.verified_step or 0) - (i.resume_step or 0) for i in older)
    saving_s = steps * step_s if step_s is not None else None
    if saving_s is not None and not _matters(ctx, saving_s):
        return None
    count = plural(len(older), "restart")
    return saving_s or 0.0, Change(
        what="Find out whether restarts could take the newest verified checkpoint",
        why=f"{count} took an older one and did {plural(steps, 'step')} again; the newer one may "
        "have been bad: look at its files, and in the job log of the restart for a failed load",
        saving="unknown" if saving_s is None else f"up to {hours(saving_s)}",
        sure="steps counted, for the incidents seen; whether the newer one was sound is not known",
        flip="the newer checkpoint could not be loaded, or someone went back on purpose",
        short="Resuming from the newest verified checkpoint may have saved up to "
        + (f"{plural(steps, 'step')}" if saving_s is None else hours(saving_s)),
        href=f"#{ctx.anchor('incidents')}",
    )


def _notice(ctx: Context) -> tuple[float, Change] | None:
    """Slow noticing: how much was beyond half an hour. No limit is advised here."""
    slow: list[Incident] = [
        i for i in ctx.failures if i.detection_s is not None and i.detection_s > SLOW_NOTICE_S
    ]
    saving_s = sum((i.detection_s or 0.0) - SLOW_NOTICE_S for i in slow)
    if not slow or not _matters(ctx, saving_s):
        return None
    who = sorted({i.detector or "an unknown party" for i in slow})
    longest = max(i.detection_s or 0.0 for i in slow)
    were = "was" if len(slow) == 1 else "were"
    limit = f"{SLOW_NOTICE_S / S_PER_MIN:.0f} min"
    few = "" if len(slow) >= FEW else "; few incidents, so the next month may differ"
    return saving_s, Change(
        what=f"Notice failures within {limit}",
        why=f"{plural(len(slow), 'failure')} {were} noticed later than that, at worst after "
        f"{duration(longest)}, by: {', '.join(who)}",
        saving=f"up to {hours(saving_s)}",
        sure=f"counted, had each been noticed in time{few}",
        flip="a healthy pause (evaluation, save, load) that lasts two thirds of the limit or more: "
        "it would then kill sound runs",
        short=f"Noticing failures within {limit} would have saved up to {hours(saving_s)}",
        href=f"#{ctx.anchor('recovery')}",
    )


def _matters(ctx: Context, saving_s: float) -> bool:
    return saving_s >= max(MIN_SAVING_S, MIN_SHARE * ctx.allocated_us / US_PER_S)
