"""Reads a job log block by block: what the rules find, once each."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ckpt_audit.ingest.formats._bounds import ImplausibleError
from ckpt_audit.ingest.formats._job_log_blocks import (
    ROOT_CAUSE,
    TRACEBACK,
    Found,
    RootCause,
    Tracebacks,
)
from ckpt_audit.ingest.formats._job_log_faults import FAULT_RULES
from ckpt_audit.ingest.formats._job_log_jax import JAX_RULES
from ckpt_audit.ingest.formats._job_log_layouts import LayoutReader
from ckpt_audit.ingest.formats._job_log_loads import LOAD_RULES
from ckpt_audit.ingest.formats._job_log_progress import PROGRESS_RULES
from ckpt_audit.ingest.formats._job_log_rules import Draft, Keep, Rule, apply
from ckpt_audit.ingest.formats._job_log_settings import SETTING_RULES
from ckpt_audit.ingest.formats._job_log_steps import (
    STEP_RULES,
    StepRule,
    add_row,
    is_damaged,
    read_steps,
)
from ckpt_audit.ingest.formats._job_log_text import Line, is_quoted, peel, plain
from ckpt_audit.ingest.formats._job_log_torchft import TORCHFT_RULES
from ckpt_audit.ingest.formats._job_log_trainers import OF_THE_BAR, TRAINER_RULES
from ckpt_audit.ingest.formats._scan import LineIndex, LiteralScanner
from ckpt_audit.ingest.formats._stamps import nearest_stamp
from ckpt_audit.records import EventKind, LogEvent, Record, Rejected, StepBatch

MAX_TEXT = 400
_PIECE = 16 << 10  # how much of a line the rules of events see at once
_OVERLAP = 4 << 10  # what they see of it again, for what lies across a cut
_MAX_REJECTED_TEXT = 200
_ROWS_PER_BATCH = 20_000
_NEAR = 16 << 10  # bytes in which equal lines of several ranks stand
_WINDOW = 256 << 10  # bytes in which a job id is worth one mention
_MAX_REPEATS = 8
_MAX_KEYS = 4096
_RANK = re.compile(r"(?i)\brank[ =:]*\d+")
_PAIRED = 2 << 10  # two lines say that there is no checkpoint

RULES: tuple[Rule, ...] = (
    PROGRESS_RULES
    + TRAINER_RULES
    + TORCHFT_RULES
    + JAX_RULES
    + LOAD_RULES
    + SETTING_RULES
    + FAULT_RULES
)
_Key = tuple[EventKind, int | None, int | None, str | None, str]


def _table() -> tuple[list[str], list[list[Rule]], dict[int, StepRule]]:
    """All literals, the rules of each, and the step rules by the index of their literal."""
    literals = [rule.literal for rule in STEP_RULES] + [TRACEBACK, ROOT_CAUSE]
    rules: list[list[Rule]] = [[] for _ in literals]
    for rule in RULES:
        for literal in rule.literals:
            if literal not in literals:
                literals.append(literal)
                rules.append([])
            rules[literals.index(literal)].append(rule)
    return literals, rules, dict(enumerate(STEP_RULES))


LITERALS, _RULES_OF, _STEP_RULES = _table()
_TRACEBACK, _ROOT_CAUSE = LITERALS.index(TRACEBACK), LITERALS.index(ROOT_CAUSE)


class JobLogReader:
    """Reads one job log; blocks are to be given in order."""

    def __init__(self) -> None:
        self._scanner = LiteralScanner([literal.encode() for literal in LITERALS])
        self._layouts = LayoutReader(_STEP_RULES)
        self._tracebacks = Tracebacks()
        self._root_cause = RootCause()
        self._batch = StepBatch()
        self._offset = 0
        self._repeats: dict[_Key, deque[int]] = {}
        self._last: dict[_Key, tuple[int, LogEvent]] = {}
        self._said: dict[EventKind, str | None] = {}
        self._n_bars_sought = 0

    def block(self, index: LineIndex) -> Iterator[StepBatch | Record]:
        """Gives what a block of whole lines says."""
        block = index.block
        ends, literals = self._scanner.scan(block)
        if len(ends) or self._is_following():
            done = self._layouts.take(index, (ends, literals), self._batch)
            yield from self._walk(index, ends[~done].tolist(), literals[~done].tolist())
        self._offset += len(block)
        yield from self._founds(self._tracebacks.expire(self._offset))
        yield from self._release(self._offset - _NEAR)
        if len(self._batch) >= _ROWS_PER_BATCH:
            yield self._batch
            self._batch = StepBatch()

    def finish(self) -> Iterator[StepBatch | Record]:
        """Gives what was held back."""
        yield from self._founds(self._tracebacks.finish())
        yield from self._release(None)
        if len(self._batch):
            yield self._batch

    def _is_following(self) -> bool:
        return self._tracebacks.is_open or self._root_cause.is_open

    def _walk(self, index: LineIndex, ends: list[int], literals: list[int]) -> Iterator[Record]:
        """Visits the pieces of lines that hold a literal, or all while something is open."""
        block, at, position = index.block, 0, 0
        while True:
            if self._is_following() and position < len(block):
                start, end = position, index.end_of(position)
            elif at < len(ends):
                start, end = index.segment(ends[at] - 1)
            else:
                return
            hit: set[int] = set()
            while at < len(ends) and ends[at] <= end:
                hit.add(literals[at])
                at += 1
            yield from self._piece(index, (start, end), hit)
            position = end + 1

    def _piece(self, index: LineIndex, bounds: tuple[int, int], hit: set[int]) -> Iterator[Record]:
        block, (start, end) = index.block, bounds
        text, line_no = plain(block[start:end]), index.number(start)
        offset = self._offset + start
        for literal in sorted(hit):
            if literal in _STEP_RULES:
                yield from self._steps(_STEP_RULES[literal], text, line_no, offset)
        try:
            yield from self._line(block, start, peel(text), line_no, offset, hit)
        except ImplausibleError as error:
            yield Rejected(line_no, str(error), text.strip()[:_MAX_REJECTED_TEXT])

    def _line(
        self, block: bytes, start: int, line: Line, line_no: int, offset: int, hit: set[int]
    ) -> Iterator[Record]:
        """What rules of events and tables say about a line."""
        is_covered = False
        seen: set[EventKind] = set()
        rules = _rules_for(frozenset(hit)) if hit else ()
        for rule, piece, before in _pieces(rules, line):
            if rule.is_fault and rule.kind in seen:
                continue
            drafts = apply(rule, piece, before)
            for draft in drafts[:1] if rule.is_fault else drafts:
                seen.add(draft.kind)
                is_covered |= rule.is_fault
                if draft.code == OF_THE_BAR and not self._finds_bar(draft, line_no):
                    continue
                yield from self._event(draft, line_no, offset, piece.text)
        if _TRACEBACK in hit and self._begins(block, start, line.text):
            yield from self._founds(self._tracebacks.start(line, line_no, offset))
        elif self._tracebacks.is_open:
            yield from self._founds(self._tracebacks.feed(line, line_no, offset, is_covered))
            yield from self._founds(self._tracebacks.expire(offset))
        if _ROOT_CAUSE in hit:
            self._root_cause.start(line)
        elif self._root_cause.is_open:
            yield from self._founds(self._root_cause.feed(line, line_no, offset))

    def _finds_bar(self, draft: Draft, line_no: int) -> bool:
        """Names the total of the bar that stands at or before a line, if there is one."""
        if EventKind.SETTING in self._said or self._n_bars_sought >= _MAX_REPEATS:
            return False
        self._n_bars_sought += 1
        batch = self._batch
        bars = [
            (line, total)
            for line, total, emitter in zip(
                batch.line_no, batch.target_step, batch.emitter, strict=True
            )
            if emitter == "tqdm" and line <= line_no and total is not None
        ]
        draft.code = f"total_steps={max(bars)[1]}" if bars else None
        return bool(bars)

    @staticmethod
    def _begins(block: bytes, start: int, text: str) -> bool:
        """Whether a traceback is one that ends something: not quoted, not ignored by Python."""
        before = block[max(0, start - MAX_TEXT) : max(0, start - 1)].rpartition(b"\n")[2]
        return b"Exception ignored in" not in before and not is_quoted(text, text.find(TRACEBACK))

    def _steps(self, rule: StepRule, text: str, line_no: int, offset: int) -> Iterator[Record]:
        rows, problem = read_steps(rule, text)
        for row in rows:
            if row.is_initial:
                draft = Draft(EventKind.ANCHOR, step=0, stamp=row.stamp)
                yield from self._event(draft, line_no, offset, text)
            else:
                add_row(self._batch, line_no, row)
        if not rows and not problem and is_damaged(rule, text):
            problem = f"looks like a completed step ({rule.emitter}) but its numbers cannot be read"
        if problem:
            yield Rejected(line_no, problem, text.strip()[:_MAX_REJECTED_TEXT])

    def _founds(self, founds: list[Found]) -> Iterator[Record]:
        for found in founds:
            yield from self._event(found.draft, found.line_no, found.offset, found.text)

    def _event(self, draft: Draft, line_no: int, offset: int, text: str) -> Iterator[Record]:
        """An event, unless it repeats what was said since the program started."""
        if draft.kind is EventKind.LAUNCH:
            self._repeats.clear()
            self._said.clear()
            self._n_bars_sought = 0
            yield from self._release(None)
        event = LogEvent(
            line_no=line_no,
            kind=draft.kind,
            clock_us=draft.stamp.clock_us,
            clock_kind=draft.stamp.kind,
            resolution_us=draft.stamp.resolution_us,
            step=draft.step,
            duration_us=draft.duration_us,
            code=draft.code,
            node=draft.node,
            rank=draft.rank,
            path=draft.path,
            job_ref=draft.job_ref,
            text=text.strip()[:MAX_TEXT],
        )
        if draft.keep is Keep.LAST:
            key = (draft.kind, draft.step, None, None, "")
            held = self._last.get(key)
            if held is not None and offset - held[0] > _NEAR:
                yield held[1]
            self._last[key] = (offset, event)
        elif self._is_new(draft, offset, event.text):
            yield event

    def _is_new(self, draft: Draft, offset: int, text: str) -> bool:
        if draft.keep is Keep.CHANGES:
            before = self._said.get(draft.kind)
            self._said[draft.kind] = draft.code
            return before != draft.code
        if draft.kind is EventKind.LOAD_NONE:
            key: _Key = (draft.kind, None, None, None, "")
            return self._n_before(key, offset, _PAIRED) == 0
        if draft.keep is Keep.FIRST:
            key = (draft.kind, draft.step, draft.duration_us, draft.job_ref, str(draft.rank or ""))
            near = _WINDOW if draft.job_ref else _NEAR
            return self._n_before(key, offset, near) == 0
        key = (draft.kind, draft.step, None, draft.code, _RANK.sub("", text))
        return self._n_before(key, offset, _NEAR) < _MAX_REPEATS

    def _n_before(self, key: _Key, offset: int, near: int) -> int:
        """How often the same was said within some bytes before, counted to 8."""
        if len(self._repeats) > _MAX_KEYS:
            old = offset - _WINDOW
            self._repeats = {k: seen for k, seen in self._repeats.items() if seen[-1] >= old}
        seen = self._repeats.setdefault(key, deque(maxlen=_MAX_REPEATS))
        n = sum(offset - before <= near for before in seen)
        seen.append(offset)
        return n

    def _release(self, before: int | None) -> Iterator[LogEvent]:
        """Gives the last of equal lines when no other can follow it closely."""
        for key, (offset, event) in list(self._last.items()):
            if before is None or offset < before:
                del self._last[key]
                yield event


def _pieces(rules: tuple[Rule, ...], line: Line) -> Iterator[tuple[Rule, Line, int]]:
    """What each rule is to look at: the line, or those pieces of a long one with its literals.

    A pattern may look back and forth over all that it sees, so that must not be long. Yields the
    rule, the piece, and where in the piece the next one begins.
    """
    if len(line.text) <= _PIECE:
        yield from ((rule, line, _PIECE) for rule in rules)
        return
    for start in range(0, len(line.text), _PIECE - _OVERLAP):
        end = start + _PIECE
        before = _PIECE - _OVERLAP if end < len(line.text) else _PIECE
        stamp = nearest_stamp(line.text, start)[0]
        stamp = line.stamp if stamp.clock_us is None else stamp
        piece = replace(line, text=line.text[start:end], stamp=stamp)
        for rule in rules:
            if any(literal in piece.text for literal in rule.literals):
                wider = line.text[start : start + rule.reach]
                yield rule, replace(piece, text=wider) if rule.reach else piece, before
        if end >= len(line.text):
            return


@lru_cache(maxsize=1024)
def _rules_for(hit: frozenset[int]) -> tuple[Rule, ...]:
    """The rules of some literals, each once."""
    names = {rule.name for literal in hit for rule in _RULES_OF[literal]}
    return tuple(rule for rule in RULES if rule.name in names)
