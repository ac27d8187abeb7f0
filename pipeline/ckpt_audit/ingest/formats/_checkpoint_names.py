"""What the names in a checkpoint folder tell: which framework, which step, which files matter."""

from __future__ import annotations

import re
from typing import NamedTuple

from ckpt_audit.ingest.formats._bounds import STEP_LIMIT, ImplausibleError, whole

MEGATRON_TRACKER = "latest_checkpointed_iteration.txt"
TRACKERS = (MEGATRON_TRACKER, "latest", "latest.txt")
MAX_TRACKER_BYTES = 64
UNFINISHED = "-unfinished"
ORBAX_COMMIT = ("_CHECKPOINT_METADATA", "commit_success.txt")
_ORBAX_PARTS = ("_METADATA", "manifest.ocdbt", "ocdbt.process_0", "array_metadatas")
_ORBAX_TMP = ".orbax-checkpoint-tmp"

_LONGEST_NAME = 1024
_FOLDERS = (
    ("iter", re.compile(r"iter_(\d{7,})", re.ASCII)),
    ("global_step", re.compile(r"global_step_?(\d+)", re.ASCII)),
    ("checkpoint", re.compile(r"(?:tmp-)?checkpoint-(\d+)", re.ASCII)),
    ("step", re.compile(r"step[-_]?(\d+)(?:[._-]tmp)?", re.ASCII)),
    (
        "orbax",
        re.compile(r"(?:[A-Za-z]{1,20}[-_]?)?(\d+)\.orbax-checkpoint-tmp(?:-\d+)?", re.ASCII),
    ),
    ("number", re.compile(r"(\d+)", re.ASCII)),
)
_FAIRSEQ = re.compile(
    r"(checkpoint(?:_\d+_(\d+)|_last|_best|_\d+|\d+))"
    r"((?:-model_part-\d+)?(?:-shard\d+)?\.pt(?:\.tmp\w{0,20})?)",
    re.ASCII,
)
_NEMO = re.compile(r"step=(\d+)", re.ASCII)
_NEMO_END = re.compile(r"(?:\.ckpt|\.nemo|\.distckpt)?(?:-unfinished)?\Z")
_TEMPORARY = re.compile(r"\.(?:tmp|temp|partial|incomplete)(?:[-._]?\d*)\Z", re.ASCII)
_SHARD = re.compile(r"\.(?:distcp|pt|pth|bin|safetensors|ckpt)\Z")
_SMALL = re.compile(
    r"(?:rng_state|random_states|scheduler|training_args|scaler|common|dataloader)[^/]*\Z"
)


class Named(NamedTuple):
    """What one name says.

    Attributes:
        kind: Which form it has; ``number`` and ``step`` are also used by others.
        name: Name of the checkpoint: the folder, or what its files have in common.
        step: Step that it names, or None.
        rest: What a file has beyond that name, "" for a folder.
    """

    kind: str
    name: str
    step: int | None
    rest: str


def read_name(name: str, *, is_folder: bool) -> Named | None:
    """Reads the name of a folder or file as that of a checkpoint.

    >>> read_name("global_step500", is_folder=True)
    Named(kind='global_step', name='global_step500', step=500, rest='')
    >>> read_name("checkpoint_1_1000-model_part-0-shard0.pt", is_folder=False)
    Named(kind='fairseq', name='checkpoint_1_1000', step=1000, rest='-model_part-0-shard0.pt')
    """
    if len(name) > _LONGEST_NAME:
        return None
    nemo = _NEMO.search(name)
    if nemo is not None:
        end = _NEMO_END.search(name)
        cut = len(name) if end is None else end.start()
        if not is_folder and not name[cut:]:
            return None
        step = _step(nemo[1])
        # its names count steps from zero
        return Named("nemo", name[:cut], None if step is None else step + 1, name[cut:])
    if not is_folder:
        part = _FAIRSEQ.fullmatch(name)
        return None if part is None else Named("fairseq", part[1], _step(part[2]), part[3])
    for kind, pattern in _FOLDERS:
        match = pattern.fullmatch(name)
        if match is not None:
            return Named(kind, name, _step(match[1]), "")
    return None


def _step(digits: str | None) -> int | None:
    try:
        return None if digits is None else whole(digits, "step", STEP_LIMIT)
    except ImplausibleError:
        return None


def is_temporary_name(name: str) -> bool:
    """Whether a folder has the name of a save that has not ended."""
    return _ORBAX_TMP in name or name.startswith("tmp-checkpoint-") or is_temporary(name)


def is_temporary(path: str) -> bool:
    """Whether a file has a name that it loses when it is complete.

    >>> is_temporary("a/b.pt.tmp"), is_temporary("a/tmp.pt")
    (True, False)
    """
    return _TEMPORARY.search(path) is not None


def is_shard(path: str) -> bool:
    """Whether a file holds a part of the state that is always of about the same size."""
    return _SHARD.search(path) is not None and _SMALL.match(path.rpartition("/")[2]) is None


def signs_of(path: str) -> tuple[str, ...]:
    """What a file or folder below a checkpoint says about its framework.

    >>> signs_of("a/.metadata"), signs_of("x/trainer_state.json")
    (('metadata',), ())
    """
    folder, _, base = path.rpartition("/")
    if base.endswith(".distcp"):
        return ("distcp",)
    if base.endswith(("_model_states.pt", "_optim_states.pt")):
        return ("deepspeed",)
    if base == ".metadata":
        return ("metadata",)
    if base in ORBAX_COMMIT and folder.count("/") == 0:
        return ("commit", "orbax") if not folder or base == ORBAX_COMMIT[1] else ("orbax",)
    if base in _ORBAX_PARTS:
        return ("orbax",)
    if not folder and base == "trainer_state.json":
        return ("trainer_state", "hf")
    if not folder and base == "training_args.bin":
        return ("hf",)
    return ("model_part",) if "model_part-" in base else ()


def must_not_be_empty(path: str) -> bool:
    """Whether a file of no bytes is a sign of a save that went wrong."""
    if path.endswith(".distcp"):
        return False  # a rank with little to write leaves such a file
    return is_shard(path) or path.rpartition("/")[2] in (".metadata", "trainer_state.json")
