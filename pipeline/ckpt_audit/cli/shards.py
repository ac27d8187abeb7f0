"""``ckpt-audit model --shards``: is a snapshot torn, and what would mend it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckpt_audit.cli.tables import facts, share, table
from ckpt_audit.errors import UsageError

if TYPE_CHECKING:
    from ckpt_audit.documents import Json

MAX_BYTES = 64 << 20
GRADIENT_BYTES = 2.0  # bfloat16
STATE_BYTES = 12.0  # weights and two moments in float32
MOST_TRIED = 64  # shards and steps of the made-up model
_STEP = ("step", "version", "captured", "captured_step")


@dataclass(frozen=True)
class _Shard:
    name: str
    step: int
    size: float | None
    guard: float | None


def read(file: Path) -> Json:
    """Read captured steps, and make the document ``shards/1``.

    Args:
        file: CSV with a header (``shard,step`` and, optionally, ``size`` and ``guard``: the largest
            share that one gradient makes up of a second moment in that shard), or JSON: a list of
            such objects, or an object with such a list in ``shards``, which may say
            ``gradient_bytes`` and ``state_bytes`` a parameter.

    Raises:
        UsageError: It cannot be read; with file and line.
    """
    from ckpt_audit.documents.calculator import shards_document
    from ckpt_audit.model.adamw import check_replay
    from ckpt_audit.model.torn import captured

    records, settings = _records(file)
    shards = [_shard(record, f"{file}:{line}") for line, record in records]
    if not shards:
        raise UsageError(f"{file}: there is no shard in it")
    sizes = [shard.size for shard in shards]
    known = [size for size in sizes if size is not None]
    if known and len(known) != len(sizes):
        raise UsageError(f"{file}: every shard needs a size, or none")
    try:
        snapshot = captured([shard.step for shard in shards], known or None)
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None
    check = None
    if not snapshot.is_consistent and snapshot.window <= MOST_TRIED:
        oldest = min(snapshot.versions)
        tried = tuple(sorted({version - oldest for version in snapshot.versions}))
        check = check_replay(tried, snapshot.reconcile("median").version - oldest)
    return shards_document(
        snapshot,
        guards={shard.name: shard.guard for shard in shards},
        gradient_bytes=_bytes(settings, "gradient_bytes", GRADIENT_BYTES, file),
        state_bytes=_bytes(settings, "state_bytes", STATE_BYTES, file),
        check=check,
    )


def _records(file: Path) -> tuple[list[tuple[int, Mapping[str, Any]]], Mapping[str, Any]]:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UsageError(f"{file}: larger than {MAX_BYTES >> 20} MiB")
        content = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file}: is not UTF-8 text") from None
    if not content.lstrip().startswith(("[", "{")):
        try:
            rows = csv.DictReader(io.StringIO(content))
            return [(rows.line_num, row) for row in rows], {}
        except csv.Error as error:
            raise UsageError(f"{file}: is no CSV ({error})") from None
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: is no JSON ({error})") from None
    settings = found if isinstance(found, dict) else {}
    listed = settings.get("shards") if settings else found
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise UsageError(f"{file}: there should be a list of shards, each an object")
    return list(enumerate(listed, 1)), settings


def _shard(record: Mapping[str, Any], where: str) -> _Shard:
    name = next((key for key in _STEP if record.get(key) not in (None, "")), None)
    if name is None:
        raise UsageError(
            f"{where}: a shard without its captured step (column {' or '.join(_STEP)})"
        )
    step = _number(record[name], name, where)
    if step is None or step != int(step):
        raise UsageError(f"{where}: {name} {record[name]!r} is no whole number")
    return _Shard(
        str(record.get("shard") or where.rpartition(":")[2]),
        int(step),
        _number(record.get("size"), "size", where),
        _number(record.get("guard"), "guard", where),
    )


def _number(value: object, name: str, where: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        found = float(str(value))
    except ValueError:
        raise UsageError(f"{where}: {name} {value!r} is no number") from None
    if not 0.0 <= found < float("inf"):
        raise UsageError(f"{where}: {name} must be finite and not negative, got {value!r}")
    return found


def _bytes(settings: Mapping[str, Any], name: str, usual: float, file: Path) -> float:
    value = _number(settings.get(name), name, str(file))
    if value == 0.0:
        raise UsageError(f"{file}: {name} must be above zero")
    return usual if value is None else value


def text(document: Json) -> str:
    """Give the text of a snapshot."""
    if document["consistent"]:
        n = document["shards"]
        return f"consistent: all {n:,} shards are of step {document['newest_step']:,}"
    head = facts(
        [
            ("torn", f"{document['shards']:,} shards of {document['window_steps']:,} steps"),
            ("oldest", f"step {document['oldest_step']:,}"),
            ("newest", f"step {document['newest_step']:,}"),
            ("replay pays up to", f"a window of {document['longest_window_steps']:,} steps"),
            ("must not be undone", _guarded(document)),
        ]
    )
    headers = ["bring all to", "step", "gradients replayed", "applied", "undone", "exact"]
    rows = [
        [
            row["target"],
            f"{row['step']:,}",
            f"{row['traffic']:.4g} x",
            f"{row['forward']:.4g} x",
            f"{row['back']:.4g} x",
            "yes" if row["exact"] else "up to rounding",
        ]
        for row in document["reconcile"]
    ]
    told = [head, table(headers, rows, " >>>> ")]
    if document["check"] is not None:
        told.append(_tried(document["check"]))
    return "\n\n".join(told)


def _guarded(document: Json) -> str:
    fires: Sequence[str] = document["guard_fires"]
    if fires:
        return f"{len(fires):,} shards (guard above {document['guard']:g}): {', '.join(fires[:5])}"
    unknown = len(document["guard_unknown"])
    return "none" if not unknown else f"not known of {unknown:,} shards (no guard given)"


def _tried(check: Json) -> str:
    names = ("parameters", "first_moment", "second_moment")
    rows = [
        [words, *(f"{check[side][name]:.2g}" for name in names)]
        for side, words in (("torn", "torn"), ("forward", "applied"), ("back", "undone"))
    ]
    refused = f"{check['refused']:,} of {check['elements']:,} elements were not undone"
    headers = ["relative error", *(name.replace("_", " ") for name in names)]
    share_of = "" if not check["elements"] else f" ({share(check['refused'] / check['elements'])})"
    return f"Tried on a small made-up model: {refused}{share_of}\n{table(headers, rows, ' >>>')}"
