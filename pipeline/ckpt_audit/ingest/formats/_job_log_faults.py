"""Rules of job logs for what goes wrong: the scheduler, the network, accelerators, storage."""

from __future__ import annotations

import re

from ckpt_audit.ingest.formats._bounds import SMALL_LIMIT, whole
from ckpt_audit.ingest.formats._job_log_rules import Draft, Keep, Rule
from ckpt_audit.ingest.formats._stamps import ISO
from ckpt_audit.records import EventKind

_CANCELLED = r"\*\*\* (?:JOB|STEP) (?P<job>\d[\w.+]*) (?:STEPD TERMINATED )?ON (?P<node>\S+) "
_MEMORY = re.compile(r"out of memory", re.IGNORECASE)
_HOW_TASKS_END = re.compile(
    r"Exited with exit code (?P<exit>\d+)"
    r"|(?P<how>Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction"
    r"|Floating point exception|Out Of Memory|Trace/breakpoint trap)"
)
_NETWORK_WARNING = re.compile(
    r"Call to \S.{0,400}? (?:failed|timed out)|Got (?:completion|async)|Cuda failure"
    r"|[Cc]onnection (?:closed|refused|reset)"
    r"|(?:ibv_\w|[Ss]ocket).{0,400}?(?:fail|error|timed? ?out)"
    r"|NET/\S{1,40} ?:.{0,400}?(?:fail|error|timed? ?out)"
)
_ERRNO = {
    "5": "Input/output error",
    "28": "No space left on device",
    "116": "Stale file handle",
    "122": "Disk quota exceeded",
}
_HOW_SHELLS_SAY = ("Killed", "Segmentation fault", "Aborted", "Bus error", "Illegal instruction")
_REASONS = (
    ("NODE FAILURE", "NODE FAILURE"),
    ("FAILED", "FAILED"),
    ("SIGNAL", ""),
)


def _cancelled(match: re.Match[str], draft: Draft) -> Draft:
    """Reasons without their explanations; a signal alone is no reason."""
    reason = (match["why"] or "").strip()
    draft.code = next((code for start, code in _REASONS if reason.startswith(start)), reason)
    return draft


def _task_exit(match: re.Match[str], draft: Draft) -> Draft:
    how = _HOW_TASKS_END.match(match["what"])
    if how is None:
        draft.code = " ".join(match["what"].split()[:4])
    else:
        draft.code = how["exit"] or how["how"]
    tasks = match["tasks"]
    draft.rank = whole(tasks, "task", SMALL_LIMIT) if tasks.isdigit() else None
    return draft


def _cuda(match: re.Match[str], draft: Draft) -> Draft:
    what = match["what"] or match["symbol"]
    if _MEMORY.search(what) or what == "cudaErrorMemoryAllocation":
        draft.kind = EventKind.ACCELERATOR_OOM
    draft.code = re.split(r"[.;(\n]|, ", what)[0]
    return draft


def _nccl_warning(match: re.Match[str], draft: Draft) -> Draft | None:
    what = match["what"]
    if not _NETWORK_WARNING.search(what):
        return None
    if "Cuda failure" in what:
        draft.kind = EventKind.ACCELERATOR_ERROR
        cause = re.search(r"Cuda failure (?:\d+ )?'([^']+)'", what)
        draft.code = cause[1] if cause else "Cuda failure"
    return draft


def _nccl_code(_match: re.Match[str], draft: Draft) -> Draft:
    if draft.code == "ncclUnhandledCudaError":
        draft.kind = EventKind.ACCELERATOR_ERROR
    return draft


def _storage(match: re.Match[str], draft: Draft) -> Draft:
    draft.code = draft.code or _ERRNO[match["errno"]]
    return draft


def _mount(_match: re.Match[str], draft: Draft) -> Draft:
    draft.code = "Transport endpoint is not connected"
    return draft


def _short_write(_match: re.Match[str], draft: Draft) -> Draft:
    draft.code = "write cut short"
    return draft


def _launcher(_match: re.Match[str], draft: Draft) -> Draft:
    draft.rank = None  # the line names a local rank only
    return draft


FAULT_RULES: tuple[Rule, ...] = (
    Rule(
        "slurm_cancelled",
        EventKind.JOB_CANCELLED,
        ("*** JOB ", "*** STEP "),
        re.compile(
            _CANCELLED + rf"(?:CANCELLED )?AT (?P<ts>{ISO})(?: DUE (?:TO|to) (?P<why>.*?))? \*\*\*"
        ),
        "slurmstepd: error: *** STEP 60011.0 ON gpu017 CANCELLED AT 2026-05-01T10:00:00 "
        "DUE TO TIME LIMIT ***",
        refine=_cancelled,
    ),
    Rule(
        "srun_task",
        EventKind.TASK_EXIT,
        ("srun: error: ",),
        re.compile(
            r"srun: error: (?P<node>[\w.-]+): tasks? (?P<tasks>\d[\d,-]*): (?P<what>[A-Z].*)"
        ),
        "srun: error: gpu017: task 3: Exited with exit code 1",
        refine=_task_exit,
    ),
    Rule(
        "srun_node",
        EventKind.NODE_FAILURE,
        ("Node failure on ",),
        re.compile(r"srun: error: Node failure on (?P<node>[\w.-]+)"),
        "srun: error: Node failure on gpu017",
    ),
    Rule(
        "slurm_oom",
        EventKind.OUT_OF_MEMORY,
        ("oom_kill event", "oom-kill event"),
        re.compile(
            r"(?:slurmstepd-(?P<node>[\w-]{1,253}): )?error: Detected \d+ "
            r"oom[_-]kill event(?:\(?s\)?)? in (?:StepId=|step )(?P<job>\d[\w.+]*)"
        ),
        "slurmstepd: error: Detected 1 oom_kill event in StepId=60011.0. Some of the step tasks "
        "have been OOM Killed.",
    ),
    Rule(
        "nccl_watchdog",
        EventKind.WATCHDOG,
        ("ollective operation timeout: WorkNCCL",),
        re.compile(
            r"(?:Rank (?P<rank>\d+)\]\s*)?(?:Watchdog c|C)aught collective operation timeout: "
            r"WorkNCCL\((?=(?:[^)]{0,1000}?OpType=(?P<code>\w{1,60}))?).{0,1000}?\) ran for "
            r"(?P<ms>\d+) milliseconds"
        ),
        "[rank3]:[E501 10:00:00.123456789 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught "
        "collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) "
        "ran for 600017 milliseconds before timing out.",
        keep=Keep.FIRST,
    ),
    Rule(
        "nccl_stuck",
        EventKind.WATCHDOG,
        ("watchdog got stuck for ",),
        re.compile(r"(?:Rank (?P<rank>\d+)\].{0,200}?)?watchdog got stuck for (?P<s>\d+) seconds"),
        "[rank3]:[F501 10:00:00.123456789 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0 Rank 3] "
        "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress",
        keep=Keep.FIRST,
    ),
    Rule(
        "nccl_warning",
        EventKind.NETWORK_ERROR,
        ("NCCL WARN ",),
        re.compile(r"(?:^(?P<node>[A-Za-z][\w.-]*):\d+:\d+ .*?)?NCCL WARN (?P<what>.*)"),
        "gpu017:4121:4260 [3] transport/net_ib.cc:1117 NCCL WARN NET/IB : Got completion from "
        "peer 10.0.0.4<41000> with status=12 opcode=129 len=0 vendor err 129",
        refine=_nccl_warning,
    ),
    Rule(
        "nccl_completion",
        EventKind.NETWORK_ERROR,
        ("NET/IB",),
        re.compile(r"NET/IB ?: ?Got completion from peer .{0,400}?(?:status=|error )"),
        "NET/IB: Got completion from peer with status=IBV_WC_RETRY_EXC_ERR(12) opcode=0 len=0",
        is_fault=True,
    ),
    Rule(
        "nccl_code",
        EventKind.NETWORK_ERROR,
        ("ncclSystemError", "ncclRemoteError", "ncclInternalError", "ncclUnhandledCudaError"),
        re.compile(r"(?<!\w)(?P<code>nccl(?:System|Remote|Internal|UnhandledCuda)Error)\b"),
        "ncclRemoteError: A call failed possibly due to a network error or a remote process "
        "exiting prematurely.",
        refine=_nccl_code,
        is_fault=True,
    ),
    Rule(
        "nccl_exception",
        EventKind.NETWORK_ERROR,
        ("NCCL error in: ",),
        re.compile(r"NCCL error in: .{0,400}?(?P<code>remote process exited|unhandled \w+ error)"),
        "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:77, remote process "
        "exited or there was a network error, NCCL version 2.26.2",
        is_fault=True,
    ),
    Rule(
        "peer_closed",
        EventKind.NETWORK_ERROR,
        ("Connection closed by ",),
        re.compile(r"(?P<code>Connection closed by (?:remote )?peer)"),
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by "
        "peer [10.0.0.4]:41000",
        is_fault=True,
    ),
    Rule(
        "torchrun_failed",
        EventKind.LAUNCHER_FAILURE,
        ("failed (exitcode: ",),
        re.compile(r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: \d+ \(pid: \d+\)"),
        "E0501 10:00:00.411000 1951066 torch/distributed/elastic/multiprocessing/api.py:988] "
        "failed (exitcode: 1) local_rank: 4 (pid: 1952923) of binary: /usr/bin/python",
        refine=_launcher,
    ),
    Rule(
        "torchrun_restarts",
        EventKind.RESTART,
        ("; will restart worker group",),
        re.compile(
            r"Worker group (?:FAILED|UNHEALTHY)\. \d+/\d+ attempts left; will restart worker group"
            r"|Detected \d+ new nodes from group_rank=\d+; will restart worker group"
        ),
        "[2026-05-01 10:00:00,123] torch.distributed.elastic.agent.server.api: [INFO] [default] "
        "Worker group FAILED. 2/3 attempts left; will restart worker group",
    ),
    Rule(
        "deepspeed_failed",
        EventKind.LAUNCHER_FAILURE,
        ("exits with return code = ",),
        re.compile(r"exits with return code = (?P<code>-?\d+)"),
        "[2026-05-01 10:00:00,123] [ERROR] [launch.py:321:sigkill_handler] ['python', 'train.py']"
        " exits with return code = 1",
    ),
    Rule(
        "accelerator_oom",
        EventKind.ACCELERATOR_OOM,
        ("CUDA out of memory", "OutOfMemoryError: "),
        re.compile(r"CUDA out of memory|(?<!\w)OutOfMemoryError: "),
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.62 GiB.",
        is_fault=True,
    ),
    Rule(
        "cuda_error",
        EventKind.ACCELERATOR_ERROR,
        ("CUDA error: ", "cudaError"),
        re.compile(r"CUDA error: (?P<what>\S.*)|(?<!\w)(?P<symbol>cudaError[A-Z]\w+)"),
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        refine=_cuda,
        is_fault=True,
    ),
    Rule(
        "xid",
        EventKind.XID,
        ("NVRM: Xid",),
        re.compile(r"NVRM: Xid \((?:PCI:)?[0-9a-fA-F:.]+\): (?P<code>\d+)"),
        "[Fri May  1 10:00:00 2026] NVRM: Xid (PCI:0000:38:00): 79, pid=2924364, name=python",
    ),
    Rule(
        "storage",
        EventKind.STORAGE_ERROR,
        (
            "No space left on device",
            "[Errno 28]",
            "[Errno 5]",
            "[Errno 116]",
            "[Errno 122]",
            "Input/output error",
            "Stale file handle",
            "Disk quota exceeded",
            "transport endpoint shutdown",
            "(os error ",
            "Os { code: ",
        ),
        re.compile(
            r"(?:\[Errno |\(os error |Os \{ code: )(?P<errno>28|5|116|122)(?=[\]),])"
            r"|(?P<code>No space left on device|Input/output error|Stale file handle"
            r"|Disk quota exceeded|transport endpoint shutdown)"
        ),
        "OSError: [Errno 28] No space left on device",
        refine=_storage,
        is_fault=True,
    ),
    Rule(
        # of a socket it is said too, but then with no path
        "storage_mount",
        EventKind.STORAGE_ERROR,
        ("Transport endpoint is not connected",),
        re.compile(
            r"(?P<code>Transport endpoint is not connected): ['\"]?/"
            r"|['\"]?/[^\s:]{1,400}: (?P<mount>Transport endpoint is not connected)"
        ),
        "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/ckpt/iter_0000500'",
        refine=_mount,
        is_fault=True,
    ),
    Rule(
        # torch's writer of archives finds fewer bytes in the file than it wrote
        "storage_short",
        EventKind.STORAGE_ERROR,
        ("PytorchStreamWriter failed writing", "] . unexpected pos "),
        re.compile(r"PytorchStreamWriter failed writing|\] \. unexpected pos \d+ vs \d+"),
        "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 1234 vs 1128",
        refine=_short_write,
        is_fault=True,
    ),
    Rule(
        "shell",
        EventKind.TASK_EXIT,
        tuple(f" {how}  " for how in _HOW_SHELLS_SAY),
        re.compile(
            rf": line \d{{1,6}}: +\d{{1,9}} (?P<code>{'|'.join(_HOW_SHELLS_SAY)}) "
            r"(?: *\(core dumped\))? *\S"
        ),
        "/var/spool/slurmd/job60011/slurm_script: line 12:  4121 Segmentation fault      (core "
        "dumped) python train.py",
    ),
)
