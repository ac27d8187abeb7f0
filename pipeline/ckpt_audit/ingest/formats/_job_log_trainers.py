"""Rules of job logs of torchtitan, NeMo and Lightning, and the Hugging Face Trainer."""

from __future__ import annotations

import re

from ckpt_audit.ingest.formats._bounds import STEP_LIMIT, whole
from ckpt_audit.ingest.formats._job_log_rules import Draft, Keep, Rule
from ckpt_audit.records import EventKind

OF_THE_BAR = "total_steps of the bar before"  # for the reader, which has seen it
_AT_STEP = re.compile(r"(?:step[-_=]|checkpoint-|global_step)(\d{1,18})(?!\d)")


def _step_of_path(_match: re.Match[str], draft: Draft) -> Draft:
    """The step that a checkpoint's path names, where the line itself names none."""
    if draft.step is None and draft.path:
        found = _AT_STEP.findall(draft.path)
        draft.step = whole(found[-1], "step", STEP_LIMIT) if found else None
    return draft


def _starts_at(match: re.Match[str], draft: Draft) -> Draft:
    """The first step that will be run: the state is that of the step before it."""
    first = whole(match["first"], "step", STEP_LIMIT)
    if first <= 1:
        draft.kind = EventKind.LOAD_NONE
    else:
        draft.step = first - 1
    return draft


def _saved_or_staged(match: re.Match[str], draft: Draft) -> Draft:
    """Older releases print one line for both: it proves no more than that training goes on."""
    if match["what"] == "staging" or "or staging if async" in match[0]:
        draft.kind = EventKind.STAGED
    return draft


def _saving_or_staging(match: re.Match[str], draft: Draft) -> Draft:
    if match["what"] == "Staging":
        draft.kind = EventKind.SAVE_SCHEDULED
    return draft


def _of_the_bar(_match: re.Match[str], draft: Draft) -> Draft:
    draft.code = OF_THE_BAR
    return draft


def _one_more(_match: re.Match[str], draft: Draft) -> Draft:
    """NeMo's names count steps from zero."""
    if draft.path:
        found = re.findall(r"step=(\d{1,18})(?!\d)", draft.path)
        draft.step = whole(found[-1], "step", STEP_LIMIT) + 1 if found else draft.step
    return draft


TRAINER_RULES: tuple[Rule, ...] = (
    Rule(
        "titan_launch",
        EventKind.LAUNCH,
        ("Starting job: ",),
        re.compile(r"- INFO - Starting job: "),
        "[rank0]:[titan] 2026-05-01 10:00:00,123 - root - INFO - Starting job: llama3 8b",
        keep=Keep.FIRST,
    ),
    Rule(
        "titan_saving",
        EventKind.SAVE_STARTED,
        ("ing the checkpoint",),
        re.compile(
            r"- INFO - (?P<what>Saving|Staging) the checkpoint"
            r"(?: \(or staging if async is enabled\))?\.(?:\s|$)"
        ),
        "[rank0]:[titan] 2026-05-01 10:00:00,123 - root - INFO - Saving the checkpoint.",
        refine=_saving_or_staging,
    ),
    Rule(
        "titan_saved",
        EventKind.SAVE_DONE,
        ("Finished saving the checkpoint", "Finished staging the checkpoint"),
        re.compile(
            r"Finished (?P<what>saving|staging) the checkpoint"
            r"(?: \(or staging if async is enabled\))? ?in (?P<s>\d+(?:\.\d+)?) seconds"
        ),
        "[rank0]:[titan] 2026-05-01 10:00:12,123 - root - INFO - Finished saving the checkpoint in "
        "12.34 seconds.",
        refine=_saved_or_staged,
    ),
    Rule(
        "titan_loading",
        EventKind.LOAD_STARTED,
        ("Loading the checkpoint ",),
        re.compile(
            r"Loading the checkpoint (?:at step (?P<step>\d+)|from (?P<path>\S+?))\.(?:\s|$)"
        ),
        "[rank0]:[titan] 2026-05-01 10:00:00,123 - root - INFO - Loading the checkpoint from "
        "outputs/checkpoint/step-500.",
        refine=_step_of_path,
        keep=Keep.FIRST,
    ),
    Rule(
        "titan_loaded",
        EventKind.LOAD_DONE,
        ("Finished loading the checkpoint",),
        re.compile(r"Finished loading the checkpoint in (?P<s>\d+(?:\.\d+)?) seconds"),
        "[titan] 2026-05-01 10:00:12,123 - root - INFO - Finished loading the checkpoint in 12.34 "
        "seconds.",
        keep=Keep.FIRST,
    ),
    Rule(
        "titan_starts",
        EventKind.LOAD_DONE,
        ("Training starts at step ",),
        re.compile(r"Training starts at step (?P<first>\d+)(?=\D|$)"),
        "[rank0]:[titan] 2026-05-01 10:00:20,123 - root - INFO - Training starts at step 501.",
        refine=_starts_at,
        keep=Keep.FIRST,
    ),
    Rule(
        "titan_done",
        EventKind.TRAINING_DONE,
        ("Training completed",),
        re.compile(r"- INFO - Training completed(?:\.|\s|$)"),
        "[rank0]:[titan] 2026-05-01 10:00:20,123 - root - INFO - Training completed",
        keep=Keep.FIRST,
    ),
    Rule(
        "nemo_scheduled",
        EventKind.SAVE_SCHEDULED,
        ("Scheduled async checkpoint save for ",),
        re.compile(r"Scheduled async checkpoint save for (?P<path>\S+)"),
        "[NeMo I 2026-05-01 10:00:00 nemo_logging:393] Scheduled async checkpoint save for "
        "/ckpt/run/step=499-last.ckpt",
        refine=_one_more,
        keep=Keep.FIRST,
    ),
    Rule(
        "nemo_finalized",
        EventKind.SAVE_DONE,
        ("Async checkpoint save for step ",),
        re.compile(
            r"Async checkpoint save for step (?P<step>\d+) \((?P<path>\S+)\) finalized successfully"
        ),
        "[NeMo I 2026-05-01 10:01:00 nemo_logging:393] Async checkpoint save for step 500 "
        "(/ckpt/run/step=499-last.ckpt) finalized successfully.",
        keep=Keep.LAST,
    ),
    Rule(
        "nemo_global_save",
        EventKind.SAVE_DONE,
        ("Global Checkpoint Save : ",),
        re.compile(
            r"Global Checkpoint Save : Rank: (?P<rank>\d+) : Iteration: (?P<step>\d+) : "
            r"Start time: [\d.]+s : Save duration: (?P<s>\d+(?:\.\d+)?)s"
        ),
        "Global Checkpoint Save : Rank: 0 : Iteration: 500 : Start time: 1777600000.0s : Save "
        "duration: 12.500s",
        keep=Keep.LAST,
    ),
    Rule(
        "lightning_restoring",
        EventKind.LOAD_STARTED,
        ("Restoring states from the checkpoint path at ",),
        re.compile(r"Restoring states from the checkpoint path at (?P<path>\S+)"),
        "Restoring states from the checkpoint path at /ckpt/run/step=499-last.ckpt",
        refine=_one_more,
        keep=Keep.FIRST,
    ),
    Rule(
        "lightning_restored",
        EventKind.LOAD_DONE,
        ("Restored all states from the checkpoint at ",),
        re.compile(r"Restored all states from the checkpoint at (?P<path>\S+)"),
        "Restored all states from the checkpoint at /ckpt/run/step=499-last.ckpt",
        refine=_one_more,
        keep=Keep.FIRST,
    ),
    Rule(
        "nemo_many_last",
        EventKind.TRACKER_INVALID,
        ("matches *last", "checkpoints that matches", "last checkpoints"),
        re.compile(r"[Mm]ultiple checkpoints\b.{0,2000}?\bthat match(?:es)? \*last"),
        "ValueError: Multiple checkpoints /ckpt/a-last, /ckpt/b-last that matches *last.ckpt.",
        is_fault=True,
    ),
    Rule(
        "hf_training",
        EventKind.LAUNCH,
        ("***** Running training *****",),
        re.compile(r"\*\*\*\*\* Running training \*\*\*\*\*"),
        "[INFO|trainer.py:1234] 2026-05-01 10:00:00,123 >> ***** Running training *****",
        keep=Keep.FIRST,
    ),
    Rule(
        # what it logs beside its bar tells the bar from those of evaluations; see OF_THE_BAR
        "hf_loss",
        EventKind.SETTING,
        ("{'loss': ",),
        re.compile(r"(?:^|[\]\s])\{'loss': '?[\dn].{0,1000}?'epoch': "),
        "{'loss': 2.1043, 'grad_norm': 0.8, 'learning_rate': 9.9e-05, 'epoch': 0.12}",
        refine=_of_the_bar,
        keep=Keep.CHANGES,
        quotable=True,
    ),
    Rule(
        "hf_evaluation",
        EventKind.EVALUATION,
        ("{'eval_loss': ",),
        re.compile(r"(?:^|[\]\s])\{'eval_loss': .{0,4000}?'eval_runtime': '?(?P<s>\d+(?:\.\d+)?)"),
        "{'eval_loss': 2.0511, 'eval_runtime': 32.5, 'eval_samples_per_second': 41.2, 'epoch': "
        "0.5}",
        keep=Keep.FIRST,
        quotable=True,
    ),
    Rule(
        # printed when all steps are done, by every rank
        "hf_done",
        EventKind.TRAINING_DONE,
        ("{'train_runtime': ",),
        re.compile(r"(?:^|[\]\s])\{'train_runtime': '?[\d.]+'?, 'train_samples_per_second'"),
        "{'train_runtime': 919.097, 'train_samples_per_second': 1.088, 'train_steps_per_second': "
        "0.017, 'train_loss': 2.1, 'epoch': 1.0}",
        keep=Keep.FIRST,
        quotable=True,
    ),
    Rule(
        "hf_saving",
        EventKind.SAVE_STARTED,
        ("Saving model checkpoint to ",),
        re.compile(r"Saving model checkpoint to (?P<path>\S*?checkpoint-(?P<step>\d++))"),
        "[INFO|trainer.py:1234] 2026-05-01 10:00:00,123 >> Saving model checkpoint to "
        "out/checkpoint-500",
        keep=Keep.FIRST,
    ),
    Rule(
        "hf_saved",
        EventKind.SAVE_DONE,
        ("tokenizer config file saved in ", "Special tokens file saved in "),
        re.compile(
            r"(?:tokenizer config|Special tokens) file saved in "
            r"(?P<path>\S*?checkpoint-(?P<step>\d++))"
        ),
        "[INFO|tokenization_utils_base.py:2434] 2026-05-01 10:00:30,123 >> tokenizer config file "
        "saved in out/checkpoint-500/tokenizer_config.json",
        keep=Keep.LAST,
    ),
    Rule(
        "hf_deleted",
        EventKind.SAVE_DELETED,
        ("Deleting older checkpoint ",),
        re.compile(r"Deleting older checkpoint \[?(?P<path>\S*?checkpoint-(?P<step>\d++))\]?"),
        "[INFO|trainer.py:1234] 2026-05-01 10:00:40,123 >> Deleting older checkpoint "
        "[out/checkpoint-300] due to args.save_total_limit",
        keep=Keep.FIRST,
    ),
    Rule(
        "hf_resumed",
        EventKind.LOAD_DONE,
        ("from global step ", "and global step "),
        re.compile(
            r"(?:Continuing training from|Resuming training from checkpoint with epoch \d+ and) "
            r"global step (?P<step>\d+)"
        ),
        "[INFO|trainer.py:1234] 2026-05-01 10:00:00,123 >>   Continuing training from global step "
        "500",
        keep=Keep.FIRST,
    ),
    Rule(
        "hf_skip",
        EventKind.DATA_SKIP,
        ("skip the first ",),
        re.compile(r"[Ww]ill skip the first \d+ epochs then the first (?P<code>\d+) batches"),
        "[INFO|trainer.py:1234] 2026-05-01 10:00:00,123 >>   Will skip the first 0 epochs then the "
        "first 500 batches in the first epoch.",
        keep=Keep.FIRST,
    ),
    Rule(
        "data_skip",
        EventKind.DATA_SKIP,
        ("kipping ", "] skipped ", "Skipped "),
        re.compile(
            # what is skipped for another reason (overflow, length) has none of these words
            r"[Ss]kipp(?:ing|ed) (?:(?:the first|forward) )?(?P<code>\d+) (?:"
            r"consumed samples(?: of data)?|(?:batches|samples|steps) of data"
            r"|batches(?= in the first epoch))(?: in (?P<s>\d+(?:\.\d+)?) ?s)?"
        ),
        "[2026-05-01 10:00:00] skipping 32000 consumed samples of data",
        keep=Keep.FIRST,
    ),
    Rule(
        "signal",
        EventKind.PREEMPTION_SIGNAL,
        ("SIGTERM", "SIGUSR1", "SIGUSR2"),
        re.compile(
            r"(?:[Rr]eceived|[Hh]andling|[Cc]aught|got) (?:signal[: ]+)?(?:\d+ )?\(?"
            r"(?P<code>SIGTERM|SIGUSR[12])\)?"
        ),
        "[2026-05-01 10:00:00] Received signal SIGTERM",
        keep=Keep.FIRST,
    ),
)
