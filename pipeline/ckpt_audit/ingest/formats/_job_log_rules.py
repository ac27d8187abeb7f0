"""The rules of job logs: which line says what.

A rule is data: literals that must be in the line, a pattern, and the kind of event. Named groups
of the pattern fill the event (see ``Draft``); ``refine`` is for what groups cannot say.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ckpt_audit.ingest.formats._bounds import SMALL_LIMIT, STEP_LIMIT, duration_us, whole
from ckpt_audit.ingest.formats._job_log_text import Line, is_quoted, is_warning
from ckpt_audit.ingest.formats._stamps import UNDATED, Stamp, checked, nearest_stamp, read_iso
from ckpt_audit.records import EventKind
from ckpt_audit.units import US_PER_MS, US_PER_S

_MAX_CODE = 60
_NUMBER = re.compile(r"-?\d+")


class Keep(Enum):
    """Which of several equal lines, close together, becomes an event."""

    ALL = "all"
    FIRST = "first"
    LAST = "last"
    CHANGES = "changes"  # those that say something else than the one before


@dataclass(slots=True)
class Draft:
    """What a rule found; the reader adds the line number and the text.

    Groups of the same names fill it: ``step``, ``code``, ``node``, ``rank``, ``path``, ``job`` (a
    job id or a job step's), ``ts`` (a clock reading), ``ms`` and ``s`` (a duration).
    """

    kind: EventKind
    step: int | None = None
    duration_us: int | None = None
    code: str | None = None
    node: str | None = None
    rank: int | None = None
    path: str | None = None
    job_ref: str | None = None
    stamp: Stamp = UNDATED
    keep: Keep = Keep.ALL


Refine = Callable[[re.Match[str], Draft], Draft | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of line.

    Attributes:
        name: Short name.
        kind: What such a line says (``refine`` may say more exactly).
        literals: The line holds one of them.
        pattern: Searched in the cleaned line, as often as it is found.
        example: Such a line.
        refine: Changes the draft, or gives None when it is no event after all.
        keep: Which of equal lines counts.
        is_fault: The text of a fault is no event in a line that is only a warning.
        quotable: The line counts in quotation marks and shell traces too.
        reach: Characters that it may have to see from the literal on, where it is long.
    """

    name: str
    kind: EventKind
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    example: str
    refine: Refine | None = None
    keep: Keep = Keep.ALL
    is_fault: bool = False
    quotable: bool = False
    reach: int = 0


def _duration_us(groups: dict[str, str | None]) -> int | None:
    for name, unit_us in (("ms", US_PER_MS), ("s", US_PER_S)):
        if number := groups.get(name):
            return duration_us(number, unit_us, "duration")
    return None


def _draft(rule: Rule, match: re.Match[str], line: Line) -> Draft | None:
    groups = match.groupdict()
    step, rank, job = groups.get("step"), groups.get("rank"), groups.get("job")
    stamp = read_iso(groups["ts"]) if groups.get("ts") else UNDATED
    if stamp.clock_us is None:
        stamp = nearest_stamp(line.text, match.start())[0]
    draft = Draft(
        kind=rule.kind,
        step=None if step is None else whole(step, "step", STEP_LIMIT),
        duration_us=_duration_us(groups),
        code=groups.get("code"),
        node=groups.get("node") or line.node,
        rank=line.rank if rank is None else whole(rank, "rank", SMALL_LIMIT),
        path=groups.get("path"),
        job_ref=None if job is None else job.split(".")[0],
        stamp=checked(line.stamp if stamp.clock_us is None else stamp),
        keep=rule.keep,
    )
    refined = rule.refine(match, draft) if rule.refine else draft
    if refined is not None and refined.code:
        refined.code = short_code(refined.code)
    return refined


def short_code(code: str) -> str:
    """A code as it is kept.

    Raises:
        ImplausibleError: It is a number, and too large.
    """
    code = code.strip()
    if _NUMBER.fullmatch(code):
        whole(code, "code", SMALL_LIMIT)
    return code[:_MAX_CODE]


def apply(rule: Rule, line: Line, before: int) -> list[Draft]:
    """What a rule says about a line; nothing for a quotation.

    Args:
        rule: The rule.
        line: The line, or a piece of a long one.
        before: What begins here or later belongs to the next piece.

    Raises:
        ImplausibleError: The line has a number or a clock reading that cannot be true.
    """
    if rule.is_fault and is_warning(line.text):
        return []
    found = []
    for match in rule.pattern.finditer(line.text):
        if match.start() >= before:
            break
        if not rule.quotable and is_quoted(line.text, match.start()):
            continue
        draft = _draft(rule, match, line)
        if draft is not None:
            found.append(draft)
    return found
