"""A small site: a run of five jobs with a crash, a failed retry, a hang and a planned stop.

Everything is text, made from one instant, so that a law can cut it, reorder it or move its clocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

START = datetime(2026, 5, 30, 20, 0, tzinfo=UTC)
STEP_S = 30
HEADER = (
    "Cluster|JobID|JobIDRaw|JobName|User|WorkDir|State|ExitCode|Submit|Start|End|ElapsedRaw|"
    "NNodes|NodeList|AllocTRES"
)
Files = dict[str, list[str]]


@dataclass
class _Clock:
    at: datetime

    def __call__(self, seconds: float = 0.0) -> str:
        self.at += timedelta(seconds=seconds)
        return f"{self.at:%Y-%m-%d %H:%M:%S.%f}"


def _job_log(clock: _Clock, loads: int | None, steps: range, every: int = 12) -> list[str]:
    lines = [
        "using world size: 16, data-parallel size: 2, tensor-model-parallel size: 8",
        f"[after megatron is initialized] datetime: {clock(40)[:19]} ",
    ]
    if loads is None:
        lines.append("WARNING: could not find the metadata file /ckpt/a/latest_checkpointed.txt")
    else:
        lines += [
            f"[{clock(5)}] loading distributed checkpoint from /ckpt/a at iteration {loads}",
            (
                f"[{clock(60)}]   successfully loaded checkpoint from /ckpt/a [ t 1/8, p 1/1 ] at "
                f"iteration {loads}"
            ),
        ]
    lines.append(f"[before the start of training step] datetime: {clock(20)[:19]} ")
    for step in steps:
        lines.append(
            f" [{clock(STEP_S + step % 3 / 10)}] iteration {step:8d}/     500 | consumed samples: "
            f"{step * 64:12d} | elapsed time per iteration (ms): {1000 * STEP_S}.0 | learning rate:"
            " 1.0E-04 | global batch size:    64 | lm loss: 2.0E+00 |"
        )
        if step % every == 0:
            lines.append(f"[{clock(0.1)}] saving checkpoint at iteration {step:7d} to /ckpt/a in "
                         "torch_dist format")  # fmt: skip
            lines.append(f"[{clock(45)}]   successfully saved checkpoint from iteration {step:7d} "
                         "to /ckpt/a [ t 1/8, p 1/1 ]")  # fmt: skip
    return lines


def _record(job: int, state: str, code: str, times: tuple[datetime, datetime, datetime]) -> str:
    _submit, start, end = times
    texts = [f"{at:%Y-%m-%dT%H:%M:%S}" for at in times]
    if state == "RUNNING":
        texts[2] = "Unknown"
    return "|".join(
        [
            "alps", str(job), str(job), "llama", "ada", "/train/llama", state, code, *texts,
            str(int((end - start).total_seconds())), "2", "n[1-2]",
            "billing=1,gres/gpu=16,node=2",
        ]
    )  # fmt: skip


def site(shift: timedelta = timedelta(0)) -> Files:
    """The site's files, name to lines.

    Args:
        shift: How far all clocks are moved.
    """
    at = START + shift
    files: Files = {}
    records = [HEADER]

    def run(job: int, state: str, code: str, wait_s: int, lines: list[str], end: datetime) -> None:
        nonlocal at
        start = at + timedelta(seconds=wait_s)
        records.append(_record(job, state, code, (at, start, end)))
        files[f"slurm-{job}.out"] = lines
        at = end + timedelta(seconds=30)

    clock = _Clock(at + timedelta(seconds=60))
    lines = _job_log(clock, None, range(1, 40))
    lines.append("torch.distributed.DistBackendError: NCCL communicator was aborted on rank 3.")
    lines.append("RuntimeError: CUDA error: uncorrectable ECC error encountered")
    files["kernel.log"] = [
        (
            f"kern  :warn  : {clock(12)[:10]}T{clock.at:%H:%M:%S},000000+00:00 NVRM: Xid "
            "(PCI:0000:38:00): 79, pid=1234, name=python, GPU has fallen off the bus."
        )
    ]
    clock(20)
    run(101, "FAILED", "1:0", 60, lines, clock.at)

    clock = _Clock(at + timedelta(seconds=120))
    lines = ["using world size: 16, data-parallel size: 2, tensor-model-parallel size: 8"]
    clock(50)
    lines.append("ValueError: bad node")
    run(102, "FAILED", "1:0", 120, lines, clock.at)

    clock = _Clock(at + timedelta(seconds=90))
    lines = _job_log(clock, 36, range(37, 80))
    clock(2400)
    stamp = f"{clock.at:%Y-%m-%dT%H:%M:%S}"
    lines.append(f"slurmstepd: error: *** JOB 103 ON n1 CANCELLED AT {stamp} ***")
    run(103, "CANCELLED by 1001", "0:0", 90, lines, clock.at)

    clock = _Clock(at + timedelta(seconds=300))
    lines = _job_log(clock, 72, range(73, 120))
    clock(10)
    stamp = f"{clock.at:%Y-%m-%dT%H:%M:%S}"
    lines.append(f"slurmstepd: error: *** JOB 104 ON n1 CANCELLED AT {stamp} DUE TO TIME LIMIT ***")
    run(104, "TIMEOUT", "0:0", 300, lines, clock.at)

    clock = _Clock(at + timedelta(seconds=30))
    lines = _job_log(clock, 108, range(109, 160))
    run(105, "RUNNING", "0:0", 30, lines, clock.at)
    files["sacct.txt"] = records
    return files
