"""Speed of reading job logs: a gigabyte, one step line in twenty, and all step lines.

Compared, in one run: (a) a plain loop that applies one compiled expression, the one for step
lines, to each line; (b) the reader alone; (c) the whole ingestion into a fresh warehouse, in a
process of its own for its peak memory. Not part of the ordinary tests: see ``make bench``.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats.job_log import JOB_LOG
from ckpt_audit.records import StepBatch

SIZE_BYTES = 1_000_000_000
MAX_RSS_BYTES = 1 << 30
STEPS_PER_CHUNK = 1000
OTHERS_PER_STEP = 19
STEP_LINE = re.compile(
    rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\] iteration\s+(\d+)/\s*(\d+) \|"
    rb".*?elapsed time per iteration \((m?s)\): ([\d.]+)"
)
INGEST = """
import resource, sys, time
from ckpt_audit.ingest.load import ingest
from ckpt_audit.warehouse import Warehouse
with Warehouse.open(sys.argv[2]) as warehouse:
    start = time.perf_counter()
    ingest(warehouse, [sys.argv[1]])
    print(time.perf_counter() - start)
    print(warehouse.rows("SELECT count(*) FROM raw_step")[0][0])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

pytestmark = pytest.mark.bench


def _others(rng: random.Random) -> list[bytes]:
    """Lines such as frameworks print between their steps."""
    digit = rng.randrange
    kinds: list[Callable[[], str]] = [
        lambda: (
            f"[rank{digit(512)}]:[W501 10:05:{digit(60):02d}.{digit(10**6):06d}000 "
            f"socket.cpp:{digit(900)}] [c10d] retrying store get for key /worker/{digit(10**5)}"
        ),
        lambda: f"    forward-backward ...............................: ({digit(9999)}.12, 9.31)",
        lambda: "(min, max) time across ranks (ms):",
        lambda: (
            f"gpu{digit(99):03d}:{digit(99999)}:{digit(99999)} [{digit(8)}] NCCL INFO Channel "
            f"{digit(24):02d}/0 : {digit(64)}[{digit(8)}] -> {digit(64)}[{digit(8)}] via P2P/CUMEM"
        ),
        lambda: (
            f"[Rank {digit(512)}] (after {digit(99999)} iterations) memory (MB) | allocated: "
            f"{digit(80000)}.{digit(10**6):06d} | max allocated: {digit(80000)}.5 | reserved: 1.0"
        ),
        lambda: (
            f"/opt/conda/lib/python3.12/site-packages/torch/nn/modules/module.py:{digit(2000)}: "
            "UserWarning: The .grad attribute of a Tensor that is not a leaf is being accessed."
        ),
        lambda: "  warnings.warn(",
        lambda: (
            f"INFO:root:dataloader worker {digit(64)}: shard {digit(99999):05d} of 99999, offset "
            f"{digit(10**9)}, {digit(10**7)} documents left in this epoch, hits {rng.random():.3f}"
        ),
        lambda: (
            f"number of parameters on (tensor, pipeline) model parallel rank (0, 1): {digit(9)}"
        ),
        lambda: (
            f"[2026-05-01 10:05:{digit(60):02d},{digit(1000):03d}] [INFO] [logging.py:96:log_dist] "
            f"[Rank 0] rank=0 time (ms) | forward: {digit(999)}.1 | backward: {digit(999)}.2"
        ),
        lambda: "wandb: " + "x" * (20 + digit(140)),
    ]
    return [rng.choice(kinds)().encode() + b"\n" for _ in range(20_000)]


def _steps(first: int) -> list[bytes]:
    lines = []
    for step in range(first, first + STEPS_PER_CHUNK):
        seconds = step * 6
        day, hour, rest = 1 + seconds // 86_400 % 28, seconds // 3600 % 24, seconds % 3600
        month = 1 + seconds // 86_400 // 28 % 12
        lines.append(
            f" [2026-{month:02d}-{day:02d} {hour:02d}:{rest // 60:02d}:{rest % 60:02d}."
            f"{step % 1_000_000:06d}] iteration {step:8d}/ 9000000 | consumed samples: "
            f"{step * 1024:12d} | elapsed time per iteration (ms): {5990 + step % 77}.{step % 10} "
            f"| throughput per GPU (TFLOP/s/GPU): {400 + step % 13}.2 | learning rate: 1.0E-04 | "
            f"global batch size:  1024 | lm loss: 2.3{step % 97:02d}000E+00 | loss scale: 1.0 | "
            "grad norm: 0.312 | number of skipped iterations:  0 | number of nan iterations:  0 |\n"
            .encode()
        )  # fmt: skip
    return lines


def write_log(path: Path, others_per_step: int, size: int = SIZE_BYTES) -> int:
    """Writes a log, the same each time; gives its number of steps."""
    rng = random.Random(20260501)
    pool = _others(rng)

    def chunks() -> Iterator[bytes]:
        first = 1
        while True:
            lines: list[bytes] = []
            for line in _steps(first):
                lines.append(line)
                lines += rng.sample(pool, others_per_step)
            yield b"".join(lines)
            first += STEPS_PER_CHUNK

    n_steps = written = 0
    with path.open("wb") as file:
        for chunk in chunks():
            written += file.write(chunk)
            n_steps += STEPS_PER_CHUNK
            if written >= size:
                return n_steps
    raise AssertionError("never here")


def plain_loop(path: Path) -> int:
    n_steps, search = 0, STEP_LINE.search
    with path.open("rb") as file:
        for line in file:
            if search(line):
                n_steps += 1
    return n_steps


def reader(path: Path) -> int:
    source = ByteSource.from_path(path)
    rows = JOB_LOG.read(source, ReadOptions())
    n_steps = sum(len(item) for item in rows if isinstance(item, StepBatch))
    source.close()
    return n_steps


def whole(path: Path, database: Path) -> tuple[float, int, int]:
    """Seconds, steps in the warehouse and peak memory in bytes."""
    database.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", INGEST, str(path), str(database)],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, n_steps, peak_kib = done.stdout.split()
    return float(seconds), int(n_steps), int(peak_kib) * 1024


def best_s(run: Callable[[], int], n_steps: int) -> float:
    """The shorter of two times; the machine has other things to do as well."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        assert run() == n_steps
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize(
    ("name", "others_per_step"), [("1 step in 20 lines", OTHERS_PER_STEP), ("all steps", 0)]
)
def test_ingestion_of_a_gigabyte(tmp_path: Path, name: str, others_per_step: int) -> None:
    log = tmp_path / "job.log"
    n_steps = write_log(log, others_per_step)
    n_lines = n_steps * (others_per_step + 1)
    print(f"\n{name}: {log.stat().st_size / 1e9:.2f} GB, {n_lines / 1e6:.1f} million lines")

    loop_s = best_s(lambda: plain_loop(log), n_steps)
    reader_s = best_s(lambda: reader(log), n_steps)
    runs = [whole(log, tmp_path / "w.duckdb") for _ in range(2)]
    assert {count for _, count, _ in runs} == {n_steps}
    whole_s, peak = min(seconds for seconds, _, _ in runs), max(peak for _, _, peak in runs)
    mib = 1 << 20
    print(f"  plain loop      {loop_s:6.2f} s")
    print(f"  reader          {reader_s:6.2f} s   {loop_s / reader_s:.2f} times as fast")
    print(f"  whole ingestion {whole_s:6.2f} s   {loop_s / whole_s:.2f} times as fast")
    print(f"  peak memory     {peak / mib:6.0f} MiB")
    assert peak < MAX_RSS_BYTES
    if others_per_step:
        assert whole_s <= loop_s, "ingestion is slower than a plain loop over the lines"
