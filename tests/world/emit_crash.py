"""Job logs: what the communication library, the launcher and the scheduler print at the end."""

from __future__ import annotations

import random
from collections.abc import Iterator

from .clock import SECOND, elastic, floor_second, glog_cpp, glog_python, slurm
from .scenario import RunSpec
from .timeline import Attempt, Ending

# Written as Latin-1 into a UTF-8 log: an invalid byte that readers must survive.
INVALID_UTF8 = "dataset blend: /lustre/data/web/fran\udce7ais-0001 weight 0.031"

_ELASTIC = "/opt/venv/lib/python3.12/site-packages/torch/distributed/elastic"
_FRAMES = (
    ('/workspace/megatron-lm/pretrain_gpt.py", line 289, in <module>', "pretrain("),
    (
        '/workspace/megatron-lm/megatron/training/training.py", line 786, in pretrain',
        "iteration, num_floating_point_operations_so_far = train(",
    ),
)
_STEP_FRAME = (
    '/workspace/megatron-lm/megatron/training/training.py", line 2098, in train',
    "loss_dict, skipped_iter, should_exit = train_step(",
)
_SAVE_FRAME = (
    '/workspace/megatron-lm/megatron/training/checkpointing.py", line 512, in save_checkpoint',
    "async_save_request = dist_checkpointing.save(state_dict, checkpoint_name, save_strategy,",
)
_LOAD_FRAME = (
    '/workspace/megatron-lm/megatron/training/checkpointing.py", line 1338, in load_checkpoint',
    "state_dict, checkpoint_name, release, ckpt_type = _load_base_checkpoint(",
)
_DATA_FRAME = (
    '/workspace/megatron-lm/megatron/core/datasets/gpt_dataset.py", line 214, in __getitem__',
    "text, _ = self._query_document_sample_shuffle_indices(idx)",
)
_ERRORS = {
    "xid79": "torch.AcceleratorError: CUDA error: unspecified launch failure",
    "ecc": "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    "nvlink": "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution",
    "torn_gpu": "torch.AcceleratorError: CUDA error: unspecified launch failure",
    "torn_storage": "OSError: [Errno 28] No space left on device",
    "storage": "OSError: [Errno 116] Stale file handle: '/lustre/data/web/shard-0412.bin'",
    "load_error": "OSError: [Errno 5] Input/output error",
    "cuda_oom": (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.62 GiB. GPU {local} has "
        "a total capacity of 79.15 GiB of which 1.07 GiB is free."
    ),
    "data": "IndexError: index 4294967295 is out of bounds for axis 0 with size 181402211",
}
_NETWORK = (
    (
        "torch.distributed.DistBackendError: NCCL error in: "
        "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:77, remote process exited or there "
        "was a network error, NCCL version 2.26.2"
    ),
    (
        "ncclRemoteError: A call failed possibly due to a network error or a remote process "
        "exiting prematurely."
    ),
    "Last error:",
    (
        "NET/IB: Got completion from peer with status=IBV_WC_RETRY_EXC_ERR(12) opcode=0 len=0 "
        "vendor err 129 (Send) hca mlx5_{local}"
    ),
)


def _pid(node: int, local: int) -> int:
    return 214_500 + node * 7 + local


def _traceback(ending: Ending, retry: str) -> Iterator[str]:
    tag = f"[rank{ending.rank}]: "
    how = retry or ending.how
    frames = {
        "load_error": (_LOAD_FRAME,), "torn_storage": (_SAVE_FRAME,), "torn_gpu": (_SAVE_FRAME,),
        "storage": (_STEP_FRAME, _DATA_FRAME), "data": (_STEP_FRAME, _DATA_FRAME),
    }.get(how, (_STEP_FRAME,))  # fmt: skip
    yield f"{tag}Traceback (most recent call last):"
    for where, code in _FRAMES + frames:
        yield f'{tag}  File "{where}'
        yield f"{tag}    {code}"
    local = ending.rank % 8
    if how in ("leaf", "linkflap"):
        for line in _NETWORK:
            yield tag + line.format(local=local)
        return
    yield tag + _ERRORS[how].format(local=local)
    if "CUDA error" in _ERRORS[how]:
        yield f"{tag}CUDA kernel errors might be asynchronously reported at some other API call"


def _watchdog(ending: Ending, rng: random.Random) -> Iterator[str]:
    sequence = rng.randint(40_000, 900_000)
    for rank, begun_ms, waited_ms in ending.waits_ms:
        at = ending.fault_at + (begun_ms + waited_ms) * 1000
        stamp = glog_cpp(at, rng.randrange(1000))
        yield (
            f"[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught "
            f"collective operation timeout: WorkNCCL(SeqNum={sequence}, OpType=ALLREDUCE, "
            f"NumelIn=16777216, NumelOut=16777216, Timeout(ms)={ending.timeout_ms}) ran for "
            f"{waited_ms} milliseconds before timing out."
        )
    rank, _, waited_ms = ending.waits_ms[0]
    stamp = glog_cpp(ending.fault_at + waited_ms * 1000 + 1_400_000, rng.randrange(1000))
    yield (
        f"[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:621] [Rank {rank}] Some NCCL operations "
        "have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU "
        "operations might run on corrupted/incomplete data."
    )
    yield (
        f"[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:627] [Rank {rank}] To avoid data "
        "inconsistency, we are taking the entire process down."
    )


def _table_row(number: int, where: tuple[str, int], at: int, code: str, why: str) -> list[str]:
    host, rank = where
    return [
        f"[{number}]:",
        f"  time      : {elastic(at)}",
        f"  host      : {host}",
        f"  rank      : {rank} (local_rank: {rank % 8})",
        f"  exitcode  : {code}",
        "  error_file: <N/A>",
        f"  traceback : {why}",
    ]


def _launcher(attempt: Attempt, at: int, rank: int, code: int) -> Iterator[str]:
    """The launcher's lines on the node of the first rank that failed, seven victims included."""
    node, local = divmod(rank, 8)
    host, agent = attempt.nodes[node], _pid(node, 0) - 60
    victims = [k for k in range(8) if k != local]
    api = f"{_ELASTIC}/multiprocessing/api.py"
    for place, victim in enumerate(victims):
        stamp = glog_python(at + place * 1000)
        yield (
            f"W{stamp} {agent} {api}:900] Sending process {_pid(node, victim)} "
            "closing signal SIGTERM"
        )
    yield (
        f"E{glog_python(at + 412_000)} {agent} {api}:874] failed (exitcode: {code}) "
        f"local_rank: {local} (pid: {_pid(node, local)}) of binary: /opt/venv/bin/python3"
    )
    yield "Traceback (most recent call last):"
    yield '  File "/opt/venv/bin/torchrun", line 10, in <module>'
    yield "    sys.exit(main())"
    yield "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "
    yield "=" * 60
    yield "pretrain_gpt.py FAILED"
    yield "-" * 60
    yield "Failures:"
    for place, victim in enumerate(victims, 1):
        pid = _pid(node, victim)
        yield from _table_row(
            place, (host, node * 8 + victim), at, f"-15 (pid: {pid}) (SIGTERM)",
            f"Signal 15 (SIGTERM) received by PID {pid}",
        )  # fmt: skip
    yield "-" * 60
    yield "Root Cause (first observed failure):"
    signal = " (SIGABRT)" if code == -6 else ""
    yield from _table_row(
        0, (host, rank), at, f"{code} (pid: {_pid(node, local)}){signal}",
        "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
    )  # fmt: skip
    yield "=" * 60


def _step_over(attempt: Attempt, bad: int, what: str, at: int) -> Iterator[str]:
    """The step launcher ends the other tasks."""
    yield f"srun: error: {attempt.nodes[bad]}: task {bad}: {what}"
    yield f"srun: Terminating StepId={attempt.job_id}.0"
    yield (
        f"slurmstepd: error: *** STEP {attempt.job_id}.0 ON {attempt.nodes[0]} "
        f"CANCELLED AT {slurm(at)} ***"
    )
    others = [k for k in range(len(attempt.nodes)) if k != bad][:3]
    for other in others:
        yield f"srun: error: {attempt.nodes[other]}: task {other}: Terminated"
    yield "srun: Force Terminated StepId=" + f"{attempt.job_id}.0"


def _cancelled(attempt: Attempt, due: str) -> Iterator[str]:
    """The scheduler takes the whole job down."""
    assert attempt.end is not None
    head, stamp = attempt.nodes[0], slurm(attempt.end)
    yield "srun: Job step aborted: Waiting up to 32 seconds for job step to finish."
    yield f"slurmstepd: error: *** STEP {attempt.job_id}.0 ON {head} CANCELLED AT {stamp}{due} ***"
    yield f"slurmstepd: error: *** JOB {attempt.job_id} ON {head} CANCELLED AT {stamp}{due} ***"
    if due in (" DUE TO TIME LIMIT", " DUE TO PREEMPTION"):
        yield (
            f"W{glog_python(attempt.end + 204_000)} {_pid(0, 0) - 60} {_ELASTIC}/agent/server/"
            "api.py:719] Received Signals.SIGTERM death signal, shutting down workers"
        )
    yield "srun: got SIGCONT"
    yield "srun: forcing job termination"
    for place in (0, 1, 2):
        yield f"srun: error: {attempt.nodes[place]}: task {place}: Terminated"
    yield f"srun: launch/slurm: _step_signal: Terminating StepId={attempt.job_id}.0"


def _rendezvous(attempt: Attempt, ending: Ending) -> Iterator[str]:
    assert ending.launcher_at is not None
    agent = _pid(0, 0) - 60
    count = len(attempt.nodes)
    stamp = glog_python(ending.launcher_at)
    yield (
        f"E{stamp} {agent} {_ELASTIC}/rendezvous/dynamic_rendezvous.py:1210] "
        f"The node '{attempt.nodes[0]}' could not complete the rendezvous"
    )
    yield "Traceback (most recent call last):"
    yield '  File "/opt/venv/bin/torchrun", line 10, in <module>'
    yield "    sys.exit(main())"
    yield (
        "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. "
        f"{count - 1}/{count} clients joined."
    )
    yield from _step_over(attempt, 0, "Exited with exit code 1", floor_second(ending.launcher_at))


def closing(spec: RunSpec, attempt: Attempt, rng: random.Random) -> Iterator[str]:
    """The last lines of an attempt's log, after the training program's own."""
    ending = attempt.ending
    assert ending is not None
    how = attempt.retry or ending.how
    if how in ("exit", "target", "open", "zero_exit"):
        return
    if how == "rendezvous":
        yield from _rendezvous(attempt, ending)
    elif how == "watchdog":
        assert ending.launcher_at is not None
        yield from _watchdog(ending, rng)
        yield from _launcher(attempt, ending.launcher_at, ending.rank, -6)
        at = floor_second(ending.launcher_at) + SECOND
        yield from _step_over(attempt, ending.rank // 8, "Exited with exit code 1", at)
    elif how == "host_oom":
        step = f"StepId={attempt.job_id}.0"
        yield f"slurmstepd: error: Detected 1 oom_kill event in {step}. " + _OOM
        assert attempt.end is not None
        yield from _step_over(attempt, ending.rank // 8, "Out Of Memory", attempt.end)
    elif how == "node":
        yield f"srun: error: Node failure on {ending.nodes[0]}"
        yield from _cancelled(attempt, " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS")
    elif how in _DUE:
        yield from _cancelled(attempt, _DUE[how])
    else:
        assert ending.launcher_at is not None
        yield from _traceback(ending, attempt.retry)
        yield from _launcher(attempt, ending.launcher_at, ending.rank, 1)
        at = floor_second(ending.launcher_at) + SECOND
        yield from _step_over(attempt, ending.rank // 8, "Exited with exit code 1", at)


_OOM = "Some of the step tasks have been OOM Killed."
_DUE = {
    "limit": " DUE TO TIME LIMIT",
    "preempt": " DUE TO PREEMPTION",
    "hang": "",
    "stop": "",
    "rollback": "",
}
