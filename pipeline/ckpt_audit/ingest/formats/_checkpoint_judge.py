"""What a folder of checkpoints, as it was found, says of each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ckpt_audit.ingest.formats._bounds import STEP_LIMIT, ImplausibleError, whole
from ckpt_audit.ingest.formats._checkpoint_names import (
    MEGATRON_TRACKER,
    UNFINISHED,
    Named,
    is_shard,
    is_temporary,
    is_temporary_name,
    must_not_be_empty,
    signs_of,
)
from ckpt_audit.ingest.formats._checkpoint_shards import MOST_NAMED, Verdict, judge_shards
from ckpt_audit.records import CheckpointRecord
from ckpt_audit.units import US_PER_S

CANNOT_BE_TOLD = "cannot be told"
COPY_SPAN_US = 10 * US_PER_S  # folders of different steps are not written within so short a time
_MOST_NAME_CHARS = 200
_INNER_STEP = re.compile(r"(?:\A|(?<=/))global_step\d+(?=/|\Z)", re.ASCII)
_STEP_WORD = re.compile(r"\d+", re.ASCII)
_NO_MARKER = {
    "metadata": "no .metadata: it is written last",
    "trainer_state": "no trainer_state.json: it is written last",
}


@dataclass(slots=True)
class Folder:
    """One checkpoint while its entries are read.

    Attributes:
        root, name, kind, step: What its path says.
        line_no: Its first line.
        n_files, n_bytes: Regular files.
        newest_us: Newest time of any of them (UTC microseconds), or None.
        signs: See ``signs_of``.
        shards: Sizes by name below the checkpoint; -1 where it is a link.
        odd: Temporary files.
        empty: Files of no bytes that must have some.
        n_odd, n_empty: How many there are of these; the lists are cut.
        without_metadata: Folders below it that hold ``.distcp`` files, and whether they lack the
            ``.metadata`` that is written last.
        is_link: It is a link, which is not followed.
        is_unfinished: A marker beside it says so.
        layout: As in ``CheckpointRecord``.
    """

    root: str
    name: str
    kind: str
    step: int | None
    line_no: int
    n_files: int = 0
    n_bytes: int = 0
    newest_us: int | None = None
    signs: set[str] = field(default_factory=set)
    shards: dict[str, int] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    n_odd: int = 0
    n_empty: int = 0
    without_metadata: dict[str, bool] = field(default_factory=dict)
    is_link: bool = False
    is_unfinished: bool = False
    layout: str = "unknown"

    def add_file(self, rest: str, size: int, written_us: int | None, *, is_link: bool) -> None:
        """Takes one file below it.

        Args:
            rest: Its name below the checkpoint, or what it has beyond the checkpoint's name.
            size: Bytes.
            written_us: When it was written, or None.
            is_link: It is a link: what it leads to is not known.
        """
        self.signs.update(signs_of(rest))
        folder, _, base = rest.rpartition("/")
        if base.endswith(".distcp"):
            self.without_metadata.setdefault(folder, True)
        elif base == ".metadata":
            self.without_metadata[folder] = False
        if not is_link:
            self.n_files += 1
            self.n_bytes += size
            if written_us is not None:
                self.newest_us = max(self.newest_us or written_us, written_us)
        key = _INNER_STEP.sub("global_step*", rest)
        if is_temporary(rest):
            self.n_odd += 1
            _note(self.odd, key)
            return
        is_empty = not is_link and size == 0 and must_not_be_empty(rest)
        if is_empty:
            self.n_empty += 1
            _note(self.empty, key)
        if is_shard(rest):
            self.shards[key] = -1 if is_link or is_empty else size

    def shown(self, key: str) -> str:
        """Name of one of its files for a person."""
        text = key.replace("global_step*", f"global_step{self.step}")
        if self.kind == "fairseq" or text.startswith((".ckpt", ".nemo", ".distckpt")):
            text = self.name + text
        return text.removeprefix("/")[:_MOST_NAME_CHARS]


def _note(names: list[str], name: str) -> None:
    if len(names) < MOST_NAMED:
        names.append(name)


class Root:
    """The checkpoints of one folder.

    Args:
        path: The folder.
        line_no: Its first line.
    """

    def __init__(self, path: str, line_no: int) -> None:
        self.path = path
        self.line_no = line_no
        self.folders: dict[str, Folder] = {}
        self.trackers: dict[str, str] = {}
        self.is_orbax = False
        self.has_tracker = False

    def folder(self, named: Named, line_no: int) -> Folder:
        """The checkpoint of a name, new or known."""
        found = self.folders.get(named.name)
        if found is None:
            found = Folder(self.path, named.name, named.kind, named.step, line_no)
            self.folders[named.name] = found
        return found

    @property
    def has_checkpoints(self) -> bool:
        """Whether anything in it is a checkpoint beyond doubt."""
        return self.is_orbax or any(folder.kind != "number" for folder in self.folders.values())

    def records(self, observed_us: int | None) -> Iterator[CheckpointRecord]:
        """Judges the checkpoints, in order of their names."""
        folders = [
            folder
            for _, folder in sorted(self.folders.items())
            if folder.kind != "number" or self.is_orbax
        ]
        _set_layouts(folders)
        copied_us = _copy_span(folders)
        for layout in sorted({folder.layout for folder in folders}):
            alike = [folder for folder in folders if folder.layout == layout]
            verdicts = judge_shards([folder.shards for folder in alike])
            usual = {sign for folder in alike for sign in folder.signs}
            for folder, verdict in zip(alike, verdicts, strict=True):
                pointed = self._is_pointed(folder)
                grade, why, bad = self._judge(folder, verdict, usual, pointed)
                yield CheckpointRecord(
                    folder.line_no, folder.root, folder.name, folder.step, layout, observed_us,
                    None if copied_us is not None else folder.newest_us, folder.n_files,
                    folder.n_bytes, grade, why, bad, pointed,
                )  # fmt: skip
        if not folders or copied_us is not None:
            yield self._own_record(folders, observed_us, copied_us)

    def _own_record(
        self, folders: list[Folder], observed_us: int | None, copied_us: int | None
    ) -> CheckpointRecord:
        why = None
        if copied_us is not None:
            n_dated = sum(folder.newest_us is not None for folder in folders)
            why = (
                f"its {n_dated} checkpoints were written within "
                f"{max(-(-copied_us // US_PER_S), 1)} s of one another though their steps differ: "
                "these are the times of a copy, and not used"
            )
        return CheckpointRecord(
            self.line_no, self.path, "", None, "unknown", observed_us, None, 0, 0, None, why, (),
            False,
        )  # fmt: skip

    def _is_pointed(self, folder: Folder) -> bool:
        for name, content in self.trackers.items():
            if name != MEGATRON_TRACKER and content == folder.name:
                return True
            if name != "latest" and folder.step is not None and _number(content) == folder.step:
                return True
        return False

    def _judge(
        self, folder: Folder, verdict: Verdict, usual: set[str], is_pointed: bool
    ) -> tuple[str | None, str | None, tuple[str, ...]]:
        """Grade, what speaks against it, and the names of the bad files."""
        if folder.layout == "unknown" or folder.is_link:
            return None, None, ()
        why = _against(folder, verdict)
        if why:
            bad = [*folder.odd, *folder.empty, *verdict.short, *verdict.missing][:MOST_NAMED]
            return None, why, tuple(dict.fromkeys(folder.shown(name) for name in bad))
        if _has_marker(folder, is_pointed):
            return "marker", None, ()
        lacking = _lacking_marker(folder, usual)
        if lacking:
            return None, lacking, ()
        if verdict.is_confirmed:
            return "shards", None, ()
        return None, self._untold(folder), ()

    def _untold(self, folder: Folder) -> str | None:
        if folder.layout == "orbax":
            return (
                "no commit marker: whether it is whole, or a copy that lost the marker, "
                f"{CANNOT_BE_TOLD}"
            )
        for name, content in sorted(self.trackers.items()):
            step = _number(content)
            if step is not None and folder.step is not None and folder.step > step:
                return (
                    f"newer than step {step}, which {name} names: whether its save ended "
                    f"{CANNOT_BE_TOLD}"
                )
        return None


def _number(content: str) -> int | None:
    """The step that the content of a tracker file names."""
    found = _STEP_WORD.findall(content)
    try:
        return whole(found[-1], "step", STEP_LIMIT) if found else None
    except ImplausibleError:
        return None


def _against(folder: Folder, verdict: Verdict) -> str | None:
    """What speaks against a checkpoint, in words, or None."""
    words = []
    if folder.is_unfinished:
        words.append(f"marked as {UNFINISHED}")
    if is_temporary_name(folder.name):
        words.append("it has the name of a save that has not ended")
    if folder.n_files == 0 and not folder.shards:
        words.append("there is no file in it")
    counts = (
        (folder.n_odd, "temporary"),
        (folder.n_empty, "empty"),
        (verdict.n_short, "shorter than in the other checkpoints"),
        (verdict.n_missing, "missing"),
    )
    words += [f"{n} {'file is' if n == 1 else 'files are'} {what}" for n, what in counts if n > 0]
    return "; ".join(words) or None


def _has_marker(folder: Folder, is_pointed: bool) -> bool:
    signs, has_parts = folder.signs, bool(folder.without_metadata)
    is_whole = has_parts and not any(folder.without_metadata.values())
    if has_parts and not is_whole:
        return False
    return {
        "megatron": is_whole or is_pointed,
        "deepspeed": is_pointed,
        "dcp": is_whole,
        "hf": "trainer_state" in signs,
        "orbax": "commit" in signs,
        "nemo": not folder.is_unfinished,
    }.get(folder.layout, False)


def _lacking_marker(folder: Folder, usual: set[str]) -> str | None:
    """The marker that this layout always writes and that is not there."""
    if any(folder.without_metadata.values()) or (
        folder.layout == "dcp" and not folder.without_metadata
    ):
        return _NO_MARKER["metadata"]
    if folder.layout == "hf" and "trainer_state" in usual - folder.signs:
        return _NO_MARKER["trainer_state"]
    return None


def _set_layouts(folders: list[Folder]) -> None:
    signs: dict[str, set[str]] = {}
    for folder in folders:
        signs.setdefault(folder.kind, set()).update(folder.signs)
    for folder in folders:
        folder.layout = _layout(folder.kind, signs[folder.kind])


def _layout(kind: str, signs: set[str]) -> str:
    plain = {"iter": "megatron", "number": "orbax", "nemo": "nemo", "fairseq": "fairseq"}
    if kind in plain:
        return plain[kind]
    if kind == "global_step" and "deepspeed" in signs:
        return "deepspeed"
    if kind == "checkpoint" and "hf" in signs:
        return "hf"
    if "orbax" in signs or kind == "orbax":
        return "orbax"
    return "dcp" if signs & {"distcp", "metadata"} else "unknown"


def _copy_span(folders: list[Folder]) -> int | None:
    """How far apart all were written where that is too short to be true, else None."""
    times = [folder.newest_us for folder in folders if folder.newest_us is not None]
    steps = {folder.step for folder in folders if folder.newest_us is not None}
    if len(times) < 2 or len(steps - {None}) < 2:
        return None
    span = max(times) - min(times)
    return span if span <= COPY_SPAN_US else None
