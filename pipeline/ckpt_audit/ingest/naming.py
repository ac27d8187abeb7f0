"""What the name of a file tells: the scheduler's job ids that it may hold."""

from __future__ import annotations

import re

from ckpt_audit.ingest.streams import without_compression_suffix

_ROTATED = re.compile(
    r"(?<=\.(?:out|log|err|txt))(?:\.\d{1,3}|[.-]\d{8}(?:\d{2,6})?|\.old|\.bak)$", re.ASCII
)
_PAIR = re.compile(r"(?<![A-Za-z0-9])(?=(\d+)_(\d+)(?![A-Za-z0-9]))", re.ASCII)
_ALONE = re.compile(r"(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])", re.ASCII)
_ANY = re.compile(r"\d+", re.ASCII)
_LONGEST_ID = 12  # digits; what is longer is a hash or a time


def stem(basename: str) -> str:
    """The name without what compression and rotation add to it.

    >>> stem("slurm-7.out.2.gz")
    'slurm-7.out'
    """
    return _ROTATED.sub("", without_compression_suffix(basename))


def name_refs(basename: str) -> tuple[str, ...]:
    """Job ids that a file's name may hold, the likeliest first.

    First come array tasks (``A_a``), then numbers that stand alone, the longest and last ones
    first, then numbers that touch letters.

    >>> name_refs("delta_7_1.out"), name_refs("perf_n16-1999618.out.gz")
    (('7_1', '1', '7'), ('1999618', '16'))
    """
    name = stem(basename)
    pairs = [f"{int(a)}_{int(b)}" for a, b in reversed(_PAIR.findall(name)) if _is_id(a)]
    alone = _best_first(_ALONE.findall(name))
    others = _best_first(_ANY.findall(name))
    return tuple(dict.fromkeys([*pairs, *alone, *others]))


def _best_first(numbers: list[str]) -> list[str]:
    found = [str(int(number)) for number in reversed(numbers) if _is_id(number)]
    return sorted(found, key=len, reverse=True)


def _is_id(number: str) -> bool:
    return len(number) <= _LONGEST_ID and int(number) > 0
