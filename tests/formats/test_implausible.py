"""Numbers and clock readings that cannot be true, NULs, and very long lines, in every format."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from ckpt_audit.ingest import FORMATS, recognise
from ckpt_audit.ingest.base import ByteSource, Format, ReadOptions
from ckpt_audit.ingest.formats._job_log_reader import RULES
from ckpt_audit.ingest.formats._job_log_steps import STEP_RULES
from ckpt_audit.ingest.formats.job_log import JOB_LOG
from ckpt_audit.ingest.formats.kernel_log import KERNEL_LOG, KERNEL_RULES
from ckpt_audit.ingest.formats.slurm_sacct import SLURM_SACCT
from ckpt_audit.records import JobRecord, LogEvent, Rejected, StepBatch

BY_NAME = {fmt.name: fmt for fmt in FORMATS}
STEP = " [2026-05-01 10:00:06] iteration {step}/ {total} | consumed samples: {samples} | elapsed "
STEP += "time per iteration (ms): {elapsed} | lr 1 |"
HUGE = ["1" * 20, "9" * 400, "9" * 5000]
JOB_LINES = [
    "  save-checkpoint ......: (1.0, {})",
    "Caught collective operation timeout: WorkNCCL(OpType=A) ran for {} milliseconds before",
    "watchdog got stuck for {} seconds",
    "Rank {}] Caught collective operation timeout: WorkNCCL(OpType=A) ran for 5 milliseconds",
    "saving checkpoint at iteration {} to /ckpt",
    "global rank {} is saving checkpoint at iteration 5 to /ckpt",
    "[exiting program at iteration {}] datetime: 2026-05-01 10:00:00",
    "srun: error: n1: task {}: Exited with exit code 1",
    "srun: error: n1: task 1: Exited with exit code {}",
    "[rank{}]: CUDA error: x",
    "NVRM: Xid (PCI:0000:38:00): {}, pid=1",
    "failed (exitcode: {}) local_rank: 4 (pid: 1)",
    "failed (exitcode: -{}) local_rank: 4 (pid: 1)",
    "using world size: {}, x",
    "[Torch] Checkpoint global_step{} is about to be saved!",
    "[Torch] Saved /ckpt/global_step{}/x.pt.",
    "[2026-05-01 10:00:00,123] [INFO] [Rank 0] step={}, skipped=0, lr=[1]",
    "steps: {} loss: 1 iter time (s): 1.0 samples/sec: 1",
    "steps: 5 loss: 1 iter time (s): {} samples/sec: 1",
    "Root Cause (first observed failure):\n rank : {}\n exitcode : 1",
    "Root Cause (first observed failure):\n rank : 1\n exitcode : {}",
    *(STEP.format(**{"step": 5, "total": 9, "samples": 8, "elapsed": 7, name: "{}"})
      for name in ("step", "total", "samples", "elapsed")),
]  # fmt: skip
KERNEL_LINES = ["[1.000000] NVRM: Xid (PCI:0000:38:00): {}, pid=1"]
KERNEL_LINES += ["[{}.000000] NVRM: Xid (PCI:0000:38:00): 79, pid=1"]
KERNEL_LINES += ["[1.000000] Out of memory: Killed process {} (python)"]
SACCT = {
    "JobID": "1", "State": "FAILED", "Start": "2026-05-01T10:00:00", "ElapsedRaw": "5",
    "Elapsed": "00:05", "Timelimit": "01:00", "TimelimitRaw": "60", "NNodes": "1",
    "ExitCode": "0:0", "AllocTRES": "gres/gpu=1", "AllocGRES": "", "Restarts": "0",
    "AllocCPUS": "1", "NodeList": "n1",
}  # fmt: skip
SACCT_VALUES = {
    "Start": "{}", "ElapsedRaw": "{}", "Elapsed": "{}-00:00:00", "Timelimit": "{}:00:00",
    "TimelimitRaw": "{}", "NNodes": "{}", "ExitCode": "{}:0", "AllocTRES": "gres/gpu={}",
    "Restarts": "{}", "AllocCPUS": "{}.5", "NodeList": "n[1-{}]",
}  # fmt: skip


def _sacct(**changed: str) -> str:
    fields = {**SACCT, **changed}
    return "|".join(fields) + "\n" + "|".join(fields.values())


CASES = [
    *(("job_log", line) for line in JOB_LINES),
    *(("kernel_log", line) for line in KERNEL_LINES),
    *(("slurm_sacct", _sacct(**{name: value})) for name, value in SACCT_VALUES.items()),
    ("slurm_sacct", _sacct(ExitCode="0:{}")),
    ("slurm_sacct", _sacct(AllocTRES="", AllocGRES="gpu:{}")),
    ("slurm_topology", "SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n[1-{}]"),
]


def read(fmt: Format, text: str | bytes) -> list[object]:
    data = text.encode() if isinstance(text, str) else text
    return list(fmt.read(ByteSource.from_bytes(data), ReadOptions()))


@pytest.mark.parametrize("number", HUGE, ids=len)
@pytest.mark.parametrize(("name", "text"), CASES)
def test_a_number_out_of_bounds_is_rejected(name: str, text: str, number: str) -> None:
    text = text.replace("{}", number)
    rejected = [row for row in read(BY_NAME[name], text + "\n") if isinstance(row, Rejected)]
    assert [row.line_no for row in rejected] == [text.count("\n") + 1]
    assert rejected[0].reason


@pytest.mark.parametrize("elapsed", ["1e400", "1e300", "4000000000000.0"])
def test_reading_goes_on_after_it(elapsed: str) -> None:
    good = STEP.format(step=5, total=9, samples=8, elapsed="0000000000001.0")
    bad = STEP.format(step=5, total=9, samples=8, elapsed=elapsed)
    rows = read(JOB_LOG, f"{good}\n{bad}\n{good}\n")
    assert [row.line_no for row in rows if isinstance(row, Rejected)] == [2]
    assert [row.line_no for row in rows if isinstance(row, StepBatch)] == [[1, 3]]


@pytest.mark.parametrize("year", ["1970", "0001", "1999", "2100", "9999"])
@pytest.mark.parametrize(
    ("fmt", "line"),
    [
        (JOB_LOG, STEP.format(step=5, total=9, samples=8, elapsed="7.0")),
        (JOB_LOG, "[2026-05-01 10:00:00] saving checkpoint at iteration 5 to /ckpt"),
        (KERNEL_LOG, "2026-05-01T10:00:00,000000+00:00 NVRM: Xid (PCI:0000:38:00): 79, pid=1"),
        (KERNEL_LOG, "[Fri May  1 10:00:00 2026] NVRM: Xid (PCI:0000:38:00): 79, pid=1"),
        (SLURM_SACCT, _sacct(Start="2026-05-01T10:00:00")),
    ],
)
def test_an_absurd_year_is_rejected(fmt: Format, line: str, year: str) -> None:
    rows = read(fmt, f"{line}\n" + line.rpartition("\n")[2].replace("2026", year) + "\n")
    (rejected,) = [row for row in rows if isinstance(row, Rejected)]
    assert rejected.line_no == line.count("\n") + 2
    assert f"stamp of year {int(year)}: the host's clock was wrong" in rejected.reason
    assert len(rows) == 2


def test_an_absurd_year_of_a_traceback_or_table_is_rejected() -> None:
    table = "Root Cause (first observed failure):\n time : 1970-01-01_10:00:00\n exitcode : 1\n"
    for text in ("[1970-01-01 10:00:00] Traceback (most recent call last):\n", table):
        (row,) = read(JOB_LOG, text)
        assert isinstance(row, Rejected)
        assert "stamp of year 1970" in row.reason


@pytest.mark.parametrize("text", ["1970-01-01T00:00:00", "0", "1970-01-01T00:00:00+00:00"])
def test_how_old_slurm_prints_no_time(text: str) -> None:
    (row,) = read(SLURM_SACCT, _sacct(Start=text) + "\n")
    assert isinstance(row, JobRecord)
    assert row.start_us is None


@pytest.mark.parametrize("n_nuls", [3, 5000, 3_000_000])
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_leading_nuls_are_passed_over(fmt: Format, n_nuls: int) -> None:
    text = fmt.example.encode() + b"\n"
    source = ByteSource.from_bytes(b"\0" * n_nuls + text)
    assert recognise(source.peek(), "") is fmt
    assert list(fmt.read(source, ReadOptions())) == read(fmt, text)
    assert source.overlong == []
    holed = read(fmt, text + b"\0" * n_nuls + text)
    assert holed == read(fmt, text + text)


def _seconds(fmt: Format, line: str) -> float:
    start = time.process_time()
    read(fmt, line)
    return time.process_time() - start


STARTS = {
    "traceback": "Traceback (most recent call last): ", "retrying": "CUDA error: Retrying (Retry(",
    "quotes": "CUDA error: 'a' \"b\" `c` 'd", "spaces": "save-checkpoint            ",
    "prefixes": "[rank1]: 1: [n1:2]: CUDA error: ", "root": "Root Cause (first observed failure)",
    "call": "NCCL WARN Call to x ", "socket": "NCCL WARN socket NET/a:: ",
    "watchdog": "Caught collective operation timeout: WorkNCCL(OpType=A ",
    "stuck": "Rank 1] watchdog got stuck for ", "digits": "[Torch] Checkpoint is ready now! 1111",
    "step": " iteration 1/ 2 | elapsed time per iteration (", "brackets": "CUDA error: [[a] [",
    "stamps": "2026-05-01 10:00:00 CUDA error: ", "steps": "steps: 1 loss:  iter time (s): ",
    "colours": "CUDA error: \x1b]", "iteration": "elapsed time per iteration ( iteration 11111",
    "slurmstepd": "slurmstepd-oom_kill event", "oom": "OutOfMemoryError: a.b.c.",
}  # fmt: skip
LONG: list[tuple[str, Format, Callable[[int], str]]] = [
    *((name, JOB_LOG, lambda n, s=start: s * (n // len(s))) for name, start in STARTS.items()),
    *((r.literal, JOB_LOG, lambda n, s=r.example: s * (n // len(s))) for r in STEP_RULES),
    ("ones", JOB_LOG, lambda n: "iteration " + "1" * n + " elapsed time per iteration ("),
    ("ready", JOB_LOG, lambda n: "[Torch] Checkpoint " + "1" * n + " is ready now! is ready now!"),
    *((f"link-{s}", KERNEL_LOG, lambda n, s=s: s * (n // len(s)))
      for s in ("mlx5_core a b ", "LustreError: operation x onnection to ", "ink is Down-a.b")),
    ("sacct", SLURM_SACCT, lambda n: "1" * n),
    *((r.name, JOB_LOG, lambda n, s=r.example[:-9]: s * (n // len(s))) for r in RULES),
    *((r.name, JOB_LOG, lambda n, s=r.example: s * (n // len(s))) for r in RULES),
    *((r.name, KERNEL_LOG, lambda n, s=r.example[:-9]: s * (n // len(s))) for r in KERNEL_RULES),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fmt", "line"), [case[1:] for case in LONG], ids=[f"{c[1].name}-{c[0]}" for c in LONG]
)
def test_a_long_line_takes_linear_time(fmt: Format, line: Callable[[int], str]) -> None:
    # a neighbour on the machine may slow down one try, not each
    assert any(
        _seconds(fmt, line(400_000)) <= 12 * _seconds(fmt, line(50_000)) + 0.2 for _ in range(3)
    )
    assert fmt.sniff(line(200_000).encode(), "") >= 0


def test_events_of_lines_with_holes_keep_their_numbers() -> None:
    one = "saving checkpoint at iteration 5 to /ckpt\n"
    rows = read(JOB_LOG, f"x\n\0\0\0{one}\0\0\n{one}")
    assert [row.line_no for row in rows if isinstance(row, LogEvent)] == [2, 4]
