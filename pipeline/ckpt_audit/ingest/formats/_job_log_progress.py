"""Rules of job logs for what goes as planned: starts, saves, loads, evaluations, exits."""

from __future__ import annotations

import re

from ckpt_audit.ingest.formats._bounds import STEP_LIMIT, duration_us, whole
from ckpt_audit.ingest.formats._job_log_rules import Draft, Keep, Rule
from ckpt_audit.ingest.formats._stamps import ISO
from ckpt_audit.records import EventKind
from ckpt_audit.units import US_PER_MS


def _timer(match: re.Match[str], draft: Draft) -> Draft:
    """The slowest rank's time; older releases print one number."""
    slowest = match["slowest"] or match["only"]
    draft.duration_us = duration_us(slowest, US_PER_MS, "the time of a timer")
    return draft


def _datetime(match: re.Match[str], draft: Draft) -> Draft:
    what = match["what"]
    if what.startswith("before the start of training"):
        draft.kind = EventKind.TRAINING_START
    elif what.startswith("after training is done"):
        draft.kind = EventKind.TRAINING_DONE
    elif what.startswith("exiting program"):
        draft.kind = EventKind.PROGRAM_EXIT
        at = re.search(r"(?:after|at iteration) (\d+)(?: iterations)?$", what)
        draft.step = whole(at[1], "step", STEP_LIMIT) if at else None
    return draft


def _loaded(_match: re.Match[str], draft: Draft) -> Draft | None:
    """Other programs say that they loaded something, too: a step or a path is needed."""
    if draft.step is None and draft.path:
        found = re.search(r"/iter_(\d{7})(?:/|$)", draft.path)
        draft.step = int(found[1]) if found else None
    return draft if draft.path or draft.step is not None else None


def _local(match: re.Match[str], draft: Draft) -> Draft:
    draft.code = "local" if match["local"] else None
    return draft


def _clean_exit(_match: re.Match[str], draft: Draft) -> Draft:
    draft.code, draft.rank = "0", None
    return draft


_CHECKPOINT = r"(?P<path>\S*?global_step(?P<step>\d++))"

PROGRESS_RULES: tuple[Rule, ...] = (
    Rule(
        "save_started",
        EventKind.SAVE_STARTED,
        ("saving checkpoint at iteration",),
        re.compile(
            r"(?:global rank (?P<rank>\d+) is )?saving checkpoint at iteration\s+"
            r"(?P<step>\d+) to (?P<path>\S+)"
        ),
        "saving checkpoint at iteration     500 to /ckpt/a in torch_dist format",
    ),
    Rule(
        "save_scheduled",
        EventKind.SAVE_SCHEDULED,
        ("async checkpoint save at iteration",),
        re.compile(
            r"scheduled an async checkpoint save at iteration\s+(?P<step>\d+) to (?P<path>\S+)"
        ),
        "  scheduled an async checkpoint save at iteration     500 to /ckpt/a",
    ),
    Rule(
        "save_done",
        EventKind.SAVE_DONE,
        ("successfully saved",),
        re.compile(
            r"successfully saved (?P<local>local )?checkpoint (?:at|from) iteration\s+"
            r"(?P<step>\d+)(?: to (?P<path>\S+))?"
        ),
        "  successfully saved checkpoint from iteration     500 to /ckpt/a [ t 1/8, p 1/4 ]",
        refine=_local,
    ),
    Rule(
        "save_timer",
        EventKind.SAVE_TIMER,
        ("save-checkpoint",),
        re.compile(
            r"(?<![\w-])save-checkpoint(?:-[a-z]+)*\s*[.]*:\s*"
            r"(?:\([\d.]+, (?P<slowest>\d+(?:\.\d+)?)\)|(?P<only>\d+(?:\.\d+)?))"
        ),
        "    save-checkpoint ................................: (999.69, 1000.70)",
        refine=_timer,
    ),
    Rule(
        "evaluation_timer",
        EventKind.EVALUATION_TIMER,
        (" evaluate .", "evaluate: "),
        re.compile(
            r"(?<![\w-])evaluate\s*[.]*:\s*"
            r"(?:\([\d.]+, (?P<slowest>\d+(?:\.\d+)?)\)|(?P<only>\d+(?:\.\d+)?))"
        ),
        "    evaluate .......................................: (93788.92, 93793.12)",
        refine=_timer,
    ),
    Rule(
        "load_started",
        EventKind.LOAD_STARTED,
        ("checkpoint from ", "is loading checkpoint"),
        re.compile(
            r"(?<!\w)(?:global rank (?P<rank>\d+) is )?loading "
            r"(?:(?:release|distributed|local|legacy|global|persistent|non-persistent) )*"
            r"checkpoint (?:from )?(?P<path>[^\s:]*/\S*)(?: at iteration\s+(?P<step>\d+))?"
        ),
        " loading distributed checkpoint from /ckpt/a at iteration 400",
        refine=_loaded,
    ),
    Rule(
        "load_done",
        EventKind.LOAD_DONE,
        ("successfully loaded checkpoint",),
        re.compile(
            r"successfully loaded checkpoint (?:from )?(?P<path>[^\s(]*/\S*)?(?:\s*\[[^\]]*\])*"
            r"(?:\s*(?:at iteration|\(iteration)\s+(?P<step>\d+))?"
        ),
        "  successfully loaded checkpoint from /ckpt/a [ t 1/8, p 1/4 ] at iteration 400",
        refine=_loaded,
    ),
    Rule(
        "load_none",
        EventKind.LOAD_NONE,
        ("could not find the metadata file", "will start from random", "find latest file at"),
        re.compile(
            r"could not find the metadata file (?P<path>\S+)"
            r"|will not load any checkpoints and will start from random"
            r"|Unable to find latest file at \S+"
        ),
        "WARNING: could not find the metadata file /ckpt/latest_checkpointed_iteration.txt",
    ),
    Rule(
        "tracker_invalid",
        EventKind.TRACKER_INVALID,
        ("Invalid metadata file",),
        re.compile(r"ERROR: Invalid metadata file (?P<path>\S+?)\.?(?:\s|$)"),
        "ERROR: Invalid metadata file /ckpt/latest_checkpointed_iteration.txt. Exiting",
    ),
    Rule(
        "tracker_disagrees",
        EventKind.TRACKER_INVALID,
        ("in the metadata while max iteration",),
        re.compile(
            r"on rank (?P<rank>\d+) found iteration \d+ in the metadata while max iteration "
            r"across the ranks is (?P<step>\d+)"
        ),
        "WARNING: on rank 3 found iteration 400 in the metadata while max iteration across the "
        "ranks is 500, replacing it with max iteration.",
    ),
    Rule(
        "datetime",
        EventKind.ANCHOR,
        ("] datetime: ",),
        re.compile(rf"\[(?P<what>[^\[\]]+)\] datetime: (?P<ts>{ISO})"),
        "[after dataloaders are built] datetime: 2026-05-01 10:00:12 ",
        refine=_datetime,
    ),
    Rule(
        "evaluation",
        EventKind.EVALUATION,
        (" loss at iteration ", "results at iteration", "at the end of training"),
        re.compile(
            r"(?:validation|valid|test) (?:loss|results) at "
            r"(?:iteration (?P<step>\d+)|the end of training)(?=[ |]|$)"
        ),
        " validation loss at iteration 1000 | lm loss value: 2.5E+00 | lm loss PPL: 1.2E+01 | ",
    ),
    Rule(
        "world_size",
        EventKind.LAUNCH,
        ("using world size: ",),
        re.compile(r"using world size: (?P<code>\d+)"),
        "using world size: 64, data-parallel size: 8, tensor-model-parallel size: 8",
    ),
    Rule(
        "deepspeed_launcher",
        EventKind.LAUNCH,
        ("dist_world_size=",),
        re.compile(r"\[INFO\] \[launch\.py:[^\]]*\] dist_world_size=(?P<code>\d+)"),
        "[2026-05-01 10:00:00,123] [INFO] [launch.py:163:main] dist_world_size=8",
    ),
    Rule(
        "deepspeed_save",
        EventKind.SAVE_STARTED,
        ("is about to be saved!",),
        re.compile(r"\[Torch\] Checkpoint \S*?(?<!\d)(?P<step>\d++) is about to be saved!"),
        "[2026-05-01 10:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] [Torch] Checkpoint "
        "global_step500 is about to be saved!",
        keep=Keep.FIRST,
    ),
    Rule(
        "deepspeed_saving",
        EventKind.SAVE_STARTED,
        ("[Torch] Saving ", "Saving model checkpoint: "),
        re.compile(rf"(?:\[Torch\] Saving|Saving model checkpoint:) {_CHECKPOINT}/"),
        "[2026-05-01 10:00:00,123] [INFO] [torch_checkpoint_engine.py:21:save] [Torch] Saving "
        "/ckpt/global_step500/mp_rank_00_model_states.pt...",
        keep=Keep.FIRST,
    ),
    Rule(
        "deepspeed_ready",
        EventKind.SAVE_DONE,
        ("is ready now!",),
        re.compile(r"\[Torch\] Checkpoint \S*?(?<!\d)(?P<step>\d++) is ready now!"),
        "[2026-05-01 10:00:04,123] [INFO] [torch_checkpoint_engine.py:33:commit] [Torch] "
        "Checkpoint global_step500 is ready now!",
        keep=Keep.LAST,
    ),
    Rule(
        "deepspeed_saved",
        EventKind.SAVE_DONE,
        ("[Torch] Saved ", "zero checkpoint saved "),
        re.compile(rf"(?:\[Torch\] Saved|zero checkpoint saved) {_CHECKPOINT}/"),
        "[2026-05-01 10:00:04,123] [INFO] [torch_checkpoint_engine.py:23:save] [Torch] Saved "
        "/ckpt/global_step500/mp_rank_00_model_states.pt.",
        keep=Keep.LAST,
    ),
    Rule(
        "deepspeed_loading",
        EventKind.LOAD_STARTED,
        ("[Torch] Loading checkpoint from ",),
        re.compile(rf"\[Torch\] Loading checkpoint from {_CHECKPOINT}/"),
        "[2026-05-01 10:00:00,123] [INFO] [torch_checkpoint_engine.py:27:load] [Torch] Loading "
        "checkpoint from /ckpt/global_step500/mp_rank_00_model_states.pt...",
        keep=Keep.FIRST,
    ),
    Rule(
        "deepspeed_loaded",
        EventKind.LOAD_DONE,
        ("[Torch] Loaded checkpoint from ",),
        re.compile(rf"\[Torch\] Loaded checkpoint from {_CHECKPOINT}/"),
        "[2026-05-01 10:00:02,123] [INFO] [torch_checkpoint_engine.py:29:load] [Torch] Loaded "
        "checkpoint from /ckpt/global_step500/mp_rank_00_model_states.pt.",
        keep=Keep.LAST,
    ),
    Rule(
        "neox_loaded",
        EventKind.LOAD_DONE,
        ("Loading checkpoint and starting from iteration",),
        re.compile(r"Loading checkpoint and starting from iteration (?P<step>\d+)"),
        "Loading checkpoint and starting from iteration 500",
    ),
    Rule(
        "deepspeed_exit",
        EventKind.PROGRAM_EXIT,
        ("exits successfully",),
        re.compile(r"Process \d+ exits successfully"),
        "[2026-05-01 10:00:00,123] [INFO] [launch.py:346:main] Process 86486 exits successfully.",
        refine=_clean_exit,
        keep=Keep.LAST,
    ),
    Rule(
        "job_id",
        EventKind.ANCHOR,
        ("SLURM_JOB_ID=", "SLURM_JOBID="),
        re.compile(r"(?<![\w$])SLURM_JOB_?ID=[\"']?(?P<job>\d+)(?![\w.])"),
        "SLURM_JOB_ID=60011",
        keep=Keep.FIRST,
        quotable=True,
    ),
)
