"""The forms in which Slurm prints times, durations, ids, states and host lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

import hostlist

from ckpt_audit.ingest.formats._bounds import (
    COUNT_LIMIT,
    DURATION_LIMIT_US,
    SMALL_LIMIT,
    ImplausibleError,
    whole,
)
from ckpt_audit.ingest.formats._stamps import check_year
from ckpt_audit.units import S_PER_DAY, S_PER_H, S_PER_MIN, US_PER_S, to_us

STATES = frozenset(
    {
        *("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "COMPLETING", "CONFIGURING"),
        *("CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE"),
        *("OUT_OF_MEMORY", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESIZING", "REVOKED"),
        *("RECALL", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED", "RESV_DEL_HOLD"),
        *("LAUNCH_FAILED", "RECONFIG_FAIL", "POWER_UP_NODE", "EXPEDITING"),
    }
)

_NOTHING = frozenset({"", "unknown", "none", "n/a", "(null)"})
_NO_LIMIT = frozenset({"unlimited", "partition_limit", "infinite", "invalid"})
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_EPOCH = re.compile(r"\d{9,11}", re.ASCII)
_DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.(\d{1,6}))?", re.ASCII)
_COUNT = re.compile(r"(\d+(?:\.\d+)?)([KMGTP])?", re.ASCII)
_SECONDS_LIMIT = DURATION_LIMIT_US // US_PER_S
_JOB = re.compile(r"(\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?)(?:\.([\w+-]+))?", re.ASCII)
_TRES_GPU = re.compile(r"gres/gpu(:[^=,]{0,64})?=(\d+)")
_GRES_GPU = re.compile(r"(?:gres/|gres:)?gpu(?::(?=\d*+[^:,()=\d])([^:,()=]{1,64}+))?[:=](\d+)")


def is_nothing(text: str) -> bool:
    """Whether Slurm prints this where it knows nothing.

    >>> is_nothing("Unknown"), is_nothing("0")
    (True, False)
    """
    return text.lower() in _NOTHING


@lru_cache(maxsize=4096)
def parse_time(text: str) -> tuple[int | None, bool]:
    """Reads a time stamp.

    Returns:
        The clock reading in microseconds (a local reading is taken as if it were UTC), and
        whether it really is UTC (seconds since the epoch, or an offset was printed).

    Raises:
        ValueError: The text is no time.

    >>> parse_time("2001-09-09T01:46:40"), parse_time("1700000000"), parse_time("Unknown")
    ((1000000000000000, False), (1700000000000000, True), (None, False))
    """
    if is_nothing(text) or text == "0":
        return None, False
    match = _TIME.fullmatch(text)
    if match:
        moment, is_utc = datetime.fromisoformat(text), bool(match.group(1))
        clock = to_us(moment if is_utc else moment.replace(tzinfo=UTC))
    elif _EPOCH.fullmatch(text):
        clock, is_utc = int(text) * US_PER_S, True
    else:
        raise ValueError("is no time; dump it with SLURM_TIME_FORMAT=standard")
    if clock == 0:  # how old releases print that there is none
        return None, False
    check_year(clock)
    return clock, is_utc


@lru_cache(maxsize=4096)
def parse_duration_us(text: str) -> int | None:
    """Reads ``[DD-][HH:]MM:SS[.ffffff]`` as microseconds; None where there is no limit.

    Raises:
        ValueError: The text is no duration.

    >>> parse_duration_us("1-00:00:01"), parse_duration_us("UNLIMITED")
    (86401000000, None)
    """
    if is_nothing(text) or text.lower() in _NO_LIMIT:
        return None
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError("is no duration such as 1-02:03:04")
    days, hours, minutes, seconds, fraction = match.groups()
    total_s = sum(
        whole(digits or "0", "number", _SECONDS_LIMIT) * unit_s
        for digits, unit_s in (
            (days, S_PER_DAY), (hours, S_PER_H), (minutes, S_PER_MIN), (seconds, 1),
        )
    )  # fmt: skip
    return checked_duration(total_s * US_PER_S + int((fraction or "0").ljust(6, "0")))


def checked_duration(size_us: int) -> int:
    """The same duration.

    Raises:
        ImplausibleError: It is a hundred years or more.
    """
    if size_us >= DURATION_LIMIT_US:
        raise ImplausibleError("is a hundred years or more; is the file damaged there?")
    return size_us


@lru_cache(maxsize=4096)
def parse_count(text: str) -> int | None:
    """Reads a whole number; None where there is none or no limit.

    Large counts come with a unit unless sacct was told ``--noconvert``: ``2K`` are 2048.

    Raises:
        ValueError: The text is no number.

    >>> parse_count("90"), parse_count("2K"), parse_count("UNLIMITED")
    (90, 2048, None)
    """
    if is_nothing(text) or text.lower() in _NO_LIMIT:
        return None
    match = _COUNT.fullmatch(text)
    if match is None:
        raise ValueError("is no number")
    number, suffix = match.groups()
    scale: int = 1024 ** " KMGTP".index(suffix or " ")
    if "." not in number:
        return whole(str(whole(number, "number") * scale), "number")
    if not float(number) * scale < COUNT_LIMIT:
        raise ImplausibleError("is too large to be true; is the file damaged there?")
    return round(float(number) * scale)


@dataclass(frozen=True, slots=True)
class JobName:
    """A job id as people write it, and the step after the point."""

    job_id: str
    step_id: str


@lru_cache(maxsize=256)
def parse_job_id(text: str) -> JobName:
    """Splits an id into job and step.

    Raises:
        ValueError: The text is no job id.

    >>> parse_job_id("123_4.batch")
    JobName(job_id='123_4', step_id='batch')
    """
    match = _JOB.fullmatch(text)
    if match is None:
        raise ValueError("is no job id")
    return JobName(match.group(1), match.group(2) or "")


@lru_cache(maxsize=1024)
def parse_state(text: str) -> tuple[str, str | None]:
    """Reads a state, and who cancelled.

    Raises:
        ValueError: The text is no state of a job.

    >>> parse_state("CANCELLED by 1001"), parse_state("CANCELLED+")
    (('CANCELLED', '1001'), ('CANCELLED', None))
    """
    first, _, rest = text.strip().partition(" ")
    state = first.rstrip("+").upper()
    if state not in STATES:
        raise ValueError("is no state of a job")
    return state, (rest.removeprefix("by ").strip() or None) if rest.startswith("by ") else None


@lru_cache(maxsize=1024)
def parse_exit(text: str) -> tuple[int | None, int | None]:
    """Reads ``code:signal``.

    Raises:
        ValueError: The text is no exit code.

    >>> parse_exit("0:9")
    (0, 9)
    """
    if is_nothing(text):
        return None, None
    code, _, signal = text.partition(":")
    if not (code.isascii() and code.isdigit() and (signal.isdecimal() or not signal)):
        raise ValueError("is no exit code such as 0:9")
    number = whole(code, "code", SMALL_LIMIT)
    return number, whole(signal, "signal", SMALL_LIMIT) if signal else None


@lru_cache(maxsize=256)
def expand_nodes(text: str) -> tuple[str, ...]:
    """Expands a host list in order, keeping padding zeros.

    Raises:
        ValueError: The text is no host list.

    >>> expand_nodes("a[1-2]-b[03-04]"), expand_nodes("None assigned")
    (('a1-b03', 'a1-b04', 'a2-b03', 'a2-b04'), ())
    """
    if is_nothing(text) or text.lower() == "none assigned":
        return ()
    try:
        names = hostlist.expand_hostlist(text)
    except hostlist.BadHostlist as error:
        raise ValueError(f"is no host list ({error})") from error
    return tuple(str(name) for name in names)


@lru_cache(maxsize=1024)
def accelerators_in_tres(text: str) -> int | None:
    """Counts accelerators in a list of allocated trackable resources.

    A typed count repeats what the untyped one says, so it only counts where that is missing. None
    when none is named: many sites do not track them.

    >>> accelerators_in_tres("cpu=4,gres/gpu=8,gres/gpu:h100=8,node=1")
    8
    """
    typed, total, found = 0, None, False
    for kind, number in _TRES_GPU.findall(text):
        found = True
        if kind:
            typed += whole(number, "number", SMALL_LIMIT)
        else:
            total = whole(number, "number", SMALL_LIMIT)
    if not found:
        return None
    return typed if total is None else total


def accelerators_in_gres(text: str) -> int | None:
    """Counts accelerators in the older form, where the number is of the whole job.

    >>> accelerators_in_gres("gpu:8"), accelerators_in_gres("gpu:v100:4"), accelerators_in_gres("")
    (8, 4, None)
    """
    numbers = [whole(number, "number", SMALL_LIMIT) for _, number in _GRES_GPU.findall(text)]
    return sum(numbers) if numbers else None
