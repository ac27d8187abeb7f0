"""Rules of job logs for what a program says of its own configuration."""

from __future__ import annotations

import re

from ckpt_audit.ingest.formats._job_log_rules import Draft, Keep, Rule
from ckpt_audit.records import EventKind

# What bears on the figures: how often it saves, how large it is, and how long a watchdog waits.
_NAMES = (
    "save_interval",
    "global_batch_size",
    "async_save",
    "log_interval",
    "distributed_timeout_minutes",
    "non_persistent_save_interval",
)


def _named(match: re.Match[str], draft: Draft) -> Draft:
    draft.code = f"{match['name']}={match['value']}"
    return draft


def _interval(_match: re.Match[str], draft: Draft) -> Draft:
    """Every framework has its own name for it; here it has one."""
    draft.code = f"save_interval={draft.code}"
    return draft


def _total(match: re.Match[str], draft: Draft) -> Draft:
    draft.code = f"total_steps={match['value'].replace(',', '')}"
    return draft


def _release(match: re.Match[str], draft: Draft) -> Draft:
    draft.code = f"release={match['value']}"
    return draft


SETTING_RULES: tuple[Rule, ...] = (
    Rule(
        "argument",
        EventKind.SETTING,
        tuple(f"  {name} ." for name in _NAMES),
        re.compile(
            rf"^\s{{0,8}}(?P<name>{'|'.join(_NAMES)}) \.{{2,60}} "
            r"(?P<value>\w{1,30}(?:\.\d{1,10})?)(?:\.{2,60}(?:updated|default))?\s*$"
        ),
        "  save_interval ................................... 500",
        refine=_named,
    ),
    Rule(
        # MaxText; TrainingArguments of Transformers; Lightning and NeMo as YAML; GPT-NeoX; the
        # command line of torchtitan, which a shell prints with -x. GPT-NeoX means a factor by it
        # where it saves at powers: those have one digit
        "save_every",
        EventKind.SETTING,
        (
            "Config param checkpoint_period: ",
            "save_steps=",
            "every_n_train_steps: ",
            "  checkpoint_factor .",
            "--checkpoint.interval",
        ),
        re.compile(
            r"(?:Config param checkpoint_period: |^save_steps=|^ {0,20}every_n_train_steps: "
            r"|^ {0,8}checkpoint_factor \.{2,60} (?=\d\d)|--checkpoint\.interval[ =]{1,4})"
            r"(?P<code>[1-9]\d{0,11})(?=,?\s*$|\.{2}|(?<=\d)\s+-| \\)"
        ),
        "Config param checkpoint_period: 500",
        refine=_interval,
        quotable=True,
    ),
    Rule(
        "total_steps",
        EventKind.SETTING,
        ("Total optimization steps = ",),
        re.compile(r"Total optimization steps = (?P<value>\d[\d,]{0,15})\s*$"),
        "[INFO|trainer.py:1234] 2026-05-01 10:00:00,123 >>   Total optimization steps = 1,000",
        refine=_total,
        keep=Keep.FIRST,
    ),
    Rule(
        "release",
        EventKind.SETTING,
        ("Starting container ", "software release: "),
        re.compile(r"(?:Starting container|software release:) (?P<value>[\w.:/@-]{1,50})\s*$"),
        "software release: trainer-2.4.1",
        refine=_release,
        keep=Keep.FIRST,
    ),
)
