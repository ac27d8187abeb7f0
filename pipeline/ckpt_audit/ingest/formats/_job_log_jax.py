"""Rules of job logs of MaxText and other users of Orbax, Levanter, fairseq and metaseq."""

from __future__ import annotations

import re

from ckpt_audit.ingest.formats._bounds import STEP_LIMIT, whole
from ckpt_audit.ingest.formats._job_log_rules import Draft, Keep, Rule
from ckpt_audit.records import EventKind

_LAST_NUMBER = re.compile(r"/(\d{1,18})(?:/|$)")


def _numbered(_match: re.Match[str], draft: Draft) -> Draft | None:
    """Orbax names a checkpoint's folder by its step."""
    if draft.step is None and draft.path:
        draft.path = draft.path.rstrip(".")
        found = _LAST_NUMBER.findall(draft.path)
        draft.step = whole(found[-1], "step", STEP_LIMIT) if found else None
    return draft if draft.step is not None else None


def _begun(match: re.Match[str], draft: Draft) -> Draft | None:
    if match["mode"]:
        draft.kind = EventKind.SAVE_SCHEDULED
    return _numbered(match, draft)


def _done(is_done: bool, draft: Draft) -> Draft:
    if is_done:
        draft.kind = EventKind.SAVE_DONE
    return draft


def _at(match: re.Match[str], draft: Draft) -> Draft:
    if draft.step is None and match["at"]:
        draft.step = whole(match["at"], "step", STEP_LIMIT)
    return draft


JAX_RULES: tuple[Rule, ...] = (
    Rule(
        "orbax_started",
        EventKind.SAVE_STARTED,
        ("Started save checkpoint @ ", "Started saving checkpoint to "),
        re.compile(
            r"(?:\[process=(?P<rank>\d+)\] ?)?(?P<mode>\[async\] )?"
            r"Started sav(?:e checkpoint @|ing checkpoint to) (?P<path>\S+)"
        ),
        "[process=0] Started save checkpoint @ /ckpt/run/checkpoints/500.",
        refine=_begun,
        keep=Keep.FIRST,
    ),
    Rule(
        "orbax_done",
        EventKind.SAVE_DONE,
        (
            "Finished save (blocking + background)",
            "Finished async_save (blocking + background)",
            "Finished asynchronous save (blocking + background)",
        ),
        re.compile(
            r"Finished (?:async_save|asynchronous save|save) \(blocking \+ background\)"
            r"(?: in|\. Time taken:) (?P<s>\d+(?:\.\d+)?) ?s?(?:econds)?\.?"
            r"(?:[ ,]*(?:directory=|@ |to )(?P<path>\S+))?"
        ),
        "I0501 10:01:00.000000 1234 checkpointer.py:340] Finished save (blocking + background) in "
        "60.00 seconds @ /ckpt/run/checkpoints/500",
        refine=_numbered,
        keep=Keep.LAST,
    ),
    Rule(
        "orbax_restoring",
        EventKind.LOAD_STARTED,
        ("Restoring checkpoint from ", "restoring from this run's directory step "),
        re.compile(
            r"(?:Restoring checkpoint from (?P<path>\S+)"
            r"|restoring from this run's directory step (?P<step>\d+))"
        ),
        "I0501 10:00:00.000000 1234 checkpointer.py:200] Restoring checkpoint from "
        "/ckpt/run/checkpoints/500.",
        refine=_numbered,
        keep=Keep.FIRST,
    ),
    Rule(
        "orbax_restored",
        EventKind.LOAD_DONE,
        ("Finished restoring checkpoint ", "Finished restore "),
        re.compile(
            r"Finished restor(?:e|ing checkpoint) (?:in (?P<s>\d+(?:\.\d+)?) seconds )?"
            r"(?:from|@) (?P<path>\S+)"
        ),
        "I0501 10:00:28.000000 1234 checkpointer.py:230] Finished restoring checkpoint in 28.00 "
        "seconds from /ckpt/run/checkpoints/500.",
        refine=_numbered,
        keep=Keep.FIRST,
    ),
    Rule(
        "orbax_incomplete",
        EventKind.LOAD_FAILED,
        ("incomplete checkpoint", "is not finalized", "Checkpoint is incomplete"),
        re.compile(
            r"(?i)(?:found |skipping |removing )?incomplete checkpoint (?:at |in )?(?P<path>/\S+)"
            r"|checkpoint (?:at )?(?P<step>\d+) is not finalized"
        ),
        "W0501 10:00:00.000000 1234 checkpointer.py:210] Found incomplete checkpoint at "
        "/ckpt/run/checkpoints/600",
        refine=_numbered,
        keep=Keep.FIRST,
    ),
    Rule(
        "levanter_save",
        EventKind.SAVE_STARTED,
        ("Saving checkpoint to ", "Saved checkpoint to "),
        re.compile(r"(?P<what>Saving|Saved) checkpoint to (?P<path>\S+) for step (?P<step>\d+)"),
        "2026-05-01T10:00:00 - 0 - levanter.checkpoint - checkpoint.py:359 - INFO :: Saving "
        "checkpoint to gs://b/run/step-500 for step 500",
        refine=lambda match, draft: _done(match["what"] == "Saved", draft),
        keep=Keep.FIRST,
    ),
    Rule(
        "fairseq_saving",
        EventKind.SAVE_STARTED,
        ("Saving checkpoint to ", "Preparing to save checkpoint for epoch "),
        re.compile(
            r"Saving checkpoint to (?P<path>\S*?checkpoint_\d+_(?P<step>\d{1,18})\S*)"
            r"|Preparing to save checkpoint for epoch \d+ @ (?P<at>\d+) updates"
        ),
        "2026-05-01 10:00:00 | INFO | metaseq.trainer | Saving checkpoint to "
        "/ckpt/run/checkpoint_1_500.pt",
        refine=_at,
        keep=Keep.FIRST,
    ),
    Rule(
        "fairseq_saved",
        EventKind.SAVE_DONE,
        ("(writing took ",),
        re.compile(
            r"[Ss]aved checkpoint (?P<path>\S+) \(epoch \d+ @ (?P<step>\d+) updates, score [^)]*\) "
            r"\(writing took (?P<s>\d+(?:\.\d+)?) seconds\)"
        ),
        "2026-05-01 10:00:30 | INFO | metaseq.checkpoint_utils | Saved checkpoint "
        "/ckpt/run/checkpoint_1_500.pt (epoch 1 @ 500 updates, score None) (writing took 30.1 "
        "seconds)",
        keep=Keep.LAST,
    ),
    Rule(
        "fairseq_loaded",
        EventKind.LOAD_DONE,
        ("oaded checkpoint ",),
        re.compile(r"[Ll]oaded checkpoint (?P<path>\S+) \(epoch \d+ @ (?P<step>\d+) updates\)"),
        "2026-05-01 10:00:00 | INFO | metaseq.trainer | Loaded checkpoint "
        "/ckpt/run/checkpoint_1_500.pt (epoch 1 @ 500 updates)",
        keep=Keep.FIRST,
    ),
    Rule(
        "fairseq_none",
        EventKind.LOAD_NONE,
        ("No existing checkpoint found ",),
        re.compile(r"No existing checkpoint found (?P<path>\S+)"),
        "2026-05-01 10:00:00 | INFO | metaseq.trainer | No existing checkpoint found "
        "/ckpt/run/checkpoint_last.pt",
        keep=Keep.FIRST,
    ),
    Rule(
        "uploaded",
        EventKind.UPLOADED,
        ("upload: ", "Uploaded checkpoint "),
        re.compile(
            r"(?:upload: \S+ to|Uploaded checkpoint \S+ to) "
            r"(?P<path>(?:s3|gs)://\S*?(?:checkpoint-|step[-_]?|iter_|global_step)"
            r"(?P<step>\d{1,18})(?!\d)\S*)"
        ),
        "upload: ./checkpoint-500/rng_state_0.pth to s3://bucket/run/checkpoint-500/rng_state_0.pth",
        keep=Keep.LAST,
    ),
    Rule(
        "save_failed",
        EventKind.SAVE_FAILED,
        ("ailed to save checkpoint", "heckpoint save failed"),
        re.compile(
            r"(?:[Ff]ailed to save checkpoint|[Cc]heckpoint save failed)"
            r"(?: (?:at|for) (?:step|iteration) (?P<step>\d+))?"
        ),
        "[2026-05-01 10:00:00] Failed to save checkpoint at step 500",
        keep=Keep.FIRST,
    ),
)
