"""Rules of job logs for checkpoints that cannot be loaded: missing, cut short, of another shape.

Forms as torch, safetensors, Orbax, Megatron-LM, Transformers and Lightning raise them. What is read
here can be said of other files too; an event of a program that already did steps is no load.
"""

from __future__ import annotations

import re

from ckpt_audit.ingest.formats._bounds import STEP_LIMIT, whole
from ckpt_audit.ingest.formats._job_log_rules import Draft, Rule
from ckpt_audit.records import EventKind

_NAMED = r"(?:iter_|global_step|checkpoint-|step[-_=])\d{1,18}(?!\d)"
_STEP = re.compile(r"(?:iter_|global_step|checkpoint-|step[-_=])(\d{1,18})(?!\d)")


def _of_path(_match: re.Match[str], draft: Draft) -> Draft:
    """The step that the path names; names with ``step=`` count from zero."""
    found = _STEP.findall(draft.path or "")
    if found:
        is_from_zero = f"step={found[-1]}" in (draft.path or "")
        draft.step = whole(found[-1], "step", STEP_LIMIT) + is_from_zero
    return draft


LOAD_RULES: tuple[Rule, ...] = (
    Rule(
        "load_missing",
        EventKind.LOAD_FAILED,
        ("FileNotFoundError: ", "Can't find a valid checkpoint at ", "valid checkpoint found in "),
        re.compile(
            r"(?P<code>FileNotFoundError): [^/]{0,200}?"
            rf"(?P<path>(?<![^\s'\"(:])[^\s'\"]{{0,400}}?{_NAMED}[^\s'\"]{{0,200}}|/\S{{1,400}}\.ckpt)"
            r"|(?P<invalid>Can't find a valid checkpoint at|No valid checkpoint found in)"
        ),
        "FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/iter_0000500/.metadata'",
        refine=_of_path,
        is_fault=True,
    ),
    Rule(
        "load_cut",
        EventKind.LOAD_FAILED,
        (
            "PytorchStreamReader failed",
            "SafetensorError: ",
            "UnpicklingError: ",
        ),
        re.compile(
            r"(?P<code>PytorchStreamReader) failed (?:reading|locating|in) "
            r"|(?P<safe>SafetensorError): Error while deserializing"
            r"|(?P<pickle>UnpicklingError): "
        ),
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central "
        "directory",
        is_fault=True,
    ),
    Rule(
        "load_shape",
        EventKind.LOAD_FAILED,
        (
            "Error(s) in loading state_dict for ",
            "ize mismatch between saved ",
            "Missing key in checkpoint state_dict: ",
        ),
        re.compile(
            r"Error\(s\) in loading state_dict for |Size mismatch between saved "
            r"|Missing key in checkpoint state_dict: "
        ),
        "RuntimeError: Error(s) in loading state_dict for GPTModel:",
        is_fault=True,
    ),
)
