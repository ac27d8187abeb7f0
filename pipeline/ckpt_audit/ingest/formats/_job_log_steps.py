"""Completed-step lines of job logs, read one by one.

The fast way for the many is in ``_job_log_layouts.py``; it learns from what is read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ckpt_audit.ingest.formats._bounds import (
    COUNT_LIMIT,
    STEP_LIMIT,
    ImplausibleError,
    duration_us,
    whole,
)
from ckpt_audit.ingest.formats._job_log_text import is_quoted
from ckpt_audit.ingest.formats._stamps import UNDATED, Stamp, checked, nearest_stamp
from ckpt_audit.records import StepBatch
from ckpt_audit.units import US_PER_MS, US_PER_S

# a bar with a description is not the training's own: HF's has none
_BAR = (
    r"(?:^|[\r\]])\s{{0,3}}\d{{1,3}}%\|[^|]{{1,200}}\|\s{{1,3}}(?P<step>\d+)/(?P<total>\d+)\s"
    r"\[[\d:]{{4,12}}<(?:\?|[\d:]{{4,12}}),\s{{1,3}}{rate}"
)
_NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"


@dataclass(frozen=True, slots=True)
class StepRule:
    """One kind of completed-step line.

    Attributes:
        literal: The line holds it.
        pattern: Groups ``step``, ``total``, ``samples``, ``elapsed``, ``unit`` and ``neox``.
        looks_like: What a line of this kind has even when it is damaged.
        emitter: See ``StepBatch``.
        unit_us: Microseconds of the printed elapsed time's unit where the line does not say it.
        example: Such a line.
        offset: What makes a step that is counted from 0 the number of steps done.
    """

    literal: str
    pattern: re.Pattern[str]
    looks_like: re.Pattern[str]
    emitter: str
    unit_us: int
    example: str
    offset: int = 0


STEP_RULES: tuple[StepRule, ...] = (
    StepRule(
        literal="elapsed time per iteration (",
        pattern=re.compile(
            r"(?P<neox>samples/sec:\s*[\d.]+\s*\|\s*)?"
            r"(?<![/\w.])iteration\s+(?P<step>\d+)/\s*(?P<total>\d+)\s*\|"
            r"(?:\s*consumed samples:\s*(?P<samples>\d+)\s*\|)?"
            r"(?:(?!iteration\s+\d+/).)*?"
            r"elapsed time per iteration \((?P<unit>m?s)\):?\s*"
            rf"(?P<elapsed>{_NUMBER})\s*\|"
        ),
        looks_like=re.compile(r"(?<![/\w.])iteration\s++[^\s\d]*+\d[^\s/]*+/\s*+[^\s|]++\s*+\|"),
        emitter="megatron",
        unit_us=US_PER_MS,
        example=" iteration      200/ 320000 | elapsed time per iteration (ms): 950.6 | lm loss 9|",
    ),
    StepRule(
        literal=" iter time (s): ",
        pattern=re.compile(
            r"(?<![\w_])steps: (?P<step>\d+) loss: \S+ iter time \(s\): "
            rf"(?P<elapsed>{_NUMBER}) samples/sec: [\d.]+"
        ),
        looks_like=re.compile(r"(?<![\w_])steps: \S+ loss: "),
        emitter="deepspeed_pipe",
        unit_us=US_PER_S,
        example="steps: 12 loss: 10.8422 iter time (s): 0.832 samples/sec: 615.220",
    ),
    StepRule(
        literal=", skipped=",
        pattern=re.compile(r"\[Rank \d+\] step=(?P<step>\d+), skipped=\d+"),
        looks_like=re.compile(r"\[Rank \d+\] step="),
        emitter="deepspeed_rank",
        unit_us=US_PER_S,
        example="[2026-05-01 10:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=12, "
        "skipped=0, lr=[1e-05], mom=[[0.9, 0.95]]",
    ),
    StepRule(
        literal="tps: ",
        pattern=re.compile(r"(?<![\w/])step:\s{1,12}(?P<step>\d+)\s\s?loss:\s"),
        looks_like=re.compile(r"(?<![\w/])step:\s\S{1,20}\s\s?loss:\s"),
        emitter="torchtitan",
        unit_us=US_PER_S,
        example="[rank0]:[titan] 2026-05-01 10:00:00,123 - root - INFO - step: 12  loss:  7.12345  "
        "grad_norm:  1.2345  memory: 61.20GiB(77.43%)  tps: 1,637  tflops: 94.02  mfu: 30.10%",
    ),
    StepRule(
        # a step that was computed and not committed is none: its number comes again
        literal="should_commit=True",
        pattern=re.compile(
            r"\[[^\s\]]{1,200}/\d{1,9} - step (?P<step>\d+)\] should_commit=True "
            r"enough_replicas=True\b"
        ),
        looks_like=re.compile(r" - step \S{1,40} should_commit=True enough"),
        emitter="torchft",
        unit_us=US_PER_S,
        example="[titan] 2026-05-01 10:00:00,123 - torchft.manager - INFO - [ddp_0:9f5b/0 - step "
        "11] should_commit=True enough_replicas=True, errored=None",
        offset=1,
    ),
    StepRule(
        literal="completed step: ",
        pattern=re.compile(rf"completed step: (?P<step>\d+), seconds: (?P<elapsed>{_NUMBER})"),
        looks_like=re.compile(r"completed step: \S+ seconds: "),
        emitter="maxtext",
        unit_us=US_PER_S,
        example="completed step: 12, seconds: 5.431, TFLOP/s/device: 210.1, loss: 2.101",
    ),
    StepRule(
        literal="Training epoch ",
        pattern=re.compile(
            r"Training epoch \d+, iteration \d+/\d+ \|"
            r"(?:(?!global_step).){0,400}global_step: (?P<step>\d+)"
            rf"(?:.{{0,400}}?train_step_timing in s: (?P<elapsed>{_NUMBER}))?"
        ),
        looks_like=re.compile(r"Training epoch \S+ iteration \S+ \|.{0,400}?global_step"),
        emitter="nemo",
        unit_us=US_PER_S,
        example="[2026-05-01 10:00:00] Training epoch 0, iteration 11/999 | lr: 0.0001 | "
        "global_step: 11 | reduced_train_loss: 2.1 | train_step_timing in s: 5.431",
        offset=1,
    ),
    StepRule(
        # its own timing is a mean of several steps
        literal="global_step : ",
        pattern=re.compile(
            r"(?<!\w)DLL [\d-]{10} [\d:.]{8,15} - (?P<step>\d+) (?!\S+ Epoch)"
            r".{0,800}?(?<!\w)global_step : "
        ),
        looks_like=re.compile(
            r"(?<!\w)DLL [\d-]{10} [\d:.]{8,15} - \S{1,40} .{0,800}?global_step : "
        ),
        emitter="nemo_dll",
        unit_us=US_PER_S,
        example="DLL 2026-05-01 10:00:00.123456 - 11 reduced_train_loss : 12.94  lr : 0.0  "
        "global_step : 11.0  consumed_samples : 6144.0  train_step_timing in s : 6.7 ",
        offset=1,
    ),
    StepRule(
        # from a thousand on the names beside the bar are rounded; within the first epoch it
        # counts the steps itself
        literal=", global_step=",
        pattern=re.compile(
            r"(?<!\w)Epoch 0: :?\s{1,4}\d{1,3}%\|[^|]{1,200}\| (?P<step>[1-9]\d*)/(?P<total>\d+)"
            r" \[[\d:]{4,12}<[\d:?]{1,12},.{0,400}?, global_step="
        ),
        looks_like=re.compile(r"(?!)"),
        emitter="nemo_bar",
        unit_us=US_PER_S,
        example="Epoch 0: :   1%|          | 12/1000 [01:41<15:27, v_num=None, "
        "reduced_train_loss=12.90, global_step=11.00, consumed_samples=6144.0]",
    ),
    StepRule(
        # from a thousand on it prints three digits and a k
        literal="Progress on:train ",
        pattern=re.compile(
            r"Progress on:train (?P<step>[1-9]\d*)(?:\.0{1,2})?it/"
            r"(?:(?P<total>\d+)(?:\.0{1,2})?|[\d.]{1,6}[kMG]|\?)it rate:"
            rf"(?:(?P<elapsed>{_NUMBER})s/it\b|)"
        ),
        looks_like=re.compile(r"(?!)"),
        emitter="levanter",
        unit_us=US_PER_S,
        example="2026-05-01T10:00:00 - 0 - levanter.callbacks - callbacks.py:99 - INFO :: Progress "
        "on:train 12.0it/70.0it rate:76.8s/it remaining:1:05:15 elapsed:31:40 postfix:loss=7.1",
    ),
    StepRule(
        literal="num_updates",
        pattern=re.compile(
            r"(?:\| train_inner \||\]\[train_inner\]\[INFO\] -) \{.{0,2000}?"
            r"\"num_updates\": \"(?P<step>\d+)\""
        ),
        looks_like=re.compile(r"train_inner.{0,40}\{.{0,2000}?\"num_updates\""),
        emitter="fairseq",
        unit_us=US_PER_S,
        example='2026-05-01 10:00:00 | INFO | train_inner | {"epoch": 1, "update": 0.012, "loss": '
        '"7.1", "num_updates": "12", "lr": "0.0001", "train_wall": "60", "wall": "720"}',
    ),
    StepRule(
        literal="it/s]",
        pattern=re.compile(_BAR.format(rate=rf"(?:\?|{_NUMBER})it/s\]")),
        looks_like=re.compile(r"(?!)"),
        emitter="tqdm",
        unit_us=US_PER_S,
        example="  1%|          | 12/1000 [00:12<15:27,  1.10it/s]",
    ),
    StepRule(
        literal="s/it]",
        pattern=re.compile(_BAR.format(rate=rf"(?P<elapsed>{_NUMBER})s/it\]")),
        looks_like=re.compile(r"(?!)"),
        emitter="tqdm",
        unit_us=US_PER_S,
        example="  1%|          | 12/1000 [02:00<2:45:27, 10.05s/it]",
    ),
)


@dataclass(slots=True)
class StepRow:
    """One completed step, and where its fields stand in the line."""

    emitter: str
    step: int
    target_step: int | None
    stamp: Stamp
    elapsed_us: int | None
    n_samples: int | None
    unit_us: int
    offset: int
    end: int
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def is_initial(self) -> bool:
        """An engine announces step 0 when it is built, before it loads anything."""
        return self.step == 0 and self.emitter == "deepspeed_rank"


def read_steps(rule: StepRule, text: str) -> tuple[list[StepRow], str]:
    """All completed steps that a rule finds in a line (lines get joined).

    Returns:
        The steps, and why one of them cannot be true, or "".
    """
    rows, problem = [], ""
    for match in rule.pattern.finditer(text):
        if is_quoted(text, match.start()):
            continue
        try:
            rows.append(_row(rule, text, match))
        except ImplausibleError as error:
            problem = problem or str(error)
    return rows, problem


def is_damaged(rule: StepRule, text: str) -> bool:
    """Whether a line in which no step was found seems to have been meant as one."""
    found = rule.looks_like.search(text)
    return found is not None and not is_quoted(text, found.start())


def _row(rule: StepRule, text: str, match: re.Match[str]) -> StepRow:
    groups = match.groupdict()
    unit_us = {"s": US_PER_S, "ms": US_PER_MS}.get(groups.get("unit") or "", rule.unit_us)
    stamp, where = nearest_stamp(text, match.start("step"))
    spans = {
        name: match.span(name)
        for name in ("step", "total", "samples", "elapsed")
        if groups.get(name) is not None
    }
    if where is not None:
        spans["stamp"] = where
    elapsed = groups.get("elapsed")
    return StepRow(
        emitter="neox" if groups.get("neox") else rule.emitter,
        step=whole(groups["step"], "step", STEP_LIMIT) + rule.offset,
        target_step=_optional(groups.get("total"), "last step", STEP_LIMIT),
        stamp=checked(stamp) if stamp.clock_us is not None else UNDATED,
        elapsed_us=None if elapsed is None else duration_us(elapsed, unit_us, "time per step"),
        n_samples=_optional(groups.get("samples"), "number of samples", COUNT_LIMIT),
        unit_us=unit_us,
        offset=rule.offset,
        end=match.end(),
        spans=spans,
    )


def _optional(digits: str | None, what: str, limit: int) -> int | None:
    return whole(digits, what, limit) if digits else None


def add_row(batch: StepBatch, line_no: int, row: StepRow) -> None:
    """Appends a row to a batch."""
    batch.line_no.append(line_no)
    batch.step.append(row.step)
    batch.target_step.append(row.target_step)
    batch.clock_us.append(row.stamp.clock_us)
    batch.clock_kind.append(row.stamp.kind.value)
    batch.resolution_us.append(row.stamp.resolution_us)
    batch.elapsed_us.append(row.elapsed_us)
    batch.n_samples.append(row.n_samples)
    batch.emitter.append(row.emitter)
