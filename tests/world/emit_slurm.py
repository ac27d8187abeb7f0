"""The scheduler's dump, as ``sacct -D -P`` prints it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .clock import SECOND, slurm
from .cluster import hostlist
from .scenario import DUMP_AT, RunSpec
from .simulate import World
from .timeline import Attempt, OtherJob

FIELDS = (
    "JobID", "JobIDRaw", "JobName", "User", "Account", "Partition", "State", "ExitCode", "Submit",
    "Eligible", "Start", "End", "ElapsedRaw", "NNodes", "AllocTRES", "NodeList", "Reason",
    "WorkDir",
)  # fmt: skip
_CPUS, _MEMORY = 192, 2000


def _tres(nodes: int, gpus: int, billing: bool) -> str:
    cpus = _CPUS * nodes * gpus // 8
    head = f"billing={cpus}," if billing else ""
    memory = _MEMORY * nodes * gpus // 8
    return f"{head}cpu={cpus},gres/gpu={gpus * nodes},mem={memory}G,node={nodes}"


def _row(values: dict[str, str | int]) -> str:
    return "|".join(str(values.get(name, "")) for name in FIELDS)


def _span(start: int, end: int | None) -> dict[str, str | int]:
    until = DUMP_AT if end is None else end
    return {
        "Start": slurm(start),
        "End": "Unknown" if end is None else slurm(end),
        "ElapsedRaw": (until - start) // SECOND,
    }


def _step_state(state: str, exit_code: str) -> tuple[str, str]:
    """What the job's steps show when the job shows ``state``."""
    name = state.split(maxsplit=1)[0]
    if name in ("CANCELLED", "TIMEOUT", "PREEMPTED", "NODE_FAIL"):
        return "CANCELLED", "0:15"
    return name, exit_code


@dataclass(frozen=True, slots=True)
class _Steps:
    """Prints the step rows of one job."""

    job_id: int
    account: str
    gpus: int

    def row(
        self, step: tuple[str, str], state: tuple[str, str], span: tuple[int, int | None],
        nodes: tuple[str, ...],
    ) -> str:  # fmt: skip
        """One step: (suffix, name), (state, exit code), (start, end) and its nodes."""
        start, job_id = slurm(span[0]), f"{self.job_id}.{step[0]}"
        return _row(
            {
                "JobID": job_id, "JobIDRaw": job_id, "JobName": step[1],
                "Account": self.account, "State": state[0], "ExitCode": state[1],
                "Submit": start, "Eligible": start, **_span(*span), "NNodes": len(nodes),
                "AllocTRES": _tres(len(nodes), self.gpus, billing=False),
                "NodeList": hostlist(nodes),
            }
        )  # fmt: skip


def _attempt_rows(attempt: Attempt, spec: RunSpec) -> Iterator[str]:
    state = _step_state(attempt.state, attempt.exit_code)
    reason = "BeginTime" if attempt.requeued else "None"
    if attempt.start - attempt.submit > 4 * 3600 * SECOND:
        reason = "ReqNodeNotAvail"
    yield _row(
        {
            "JobID": attempt.job_id, "JobIDRaw": attempt.job_id, "JobName": spec.name,
            "User": spec.user, "Account": spec.account, "Partition": "train",
            "State": attempt.state, "ExitCode": attempt.exit_code,
            "Submit": slurm(attempt.submit), "Eligible": slurm(attempt.eligible),
            **_span(attempt.start, attempt.end), "NNodes": len(attempt.nodes),
            "AllocTRES": _tres(len(attempt.nodes), 8, billing=True),
            "NodeList": hostlist(attempt.nodes), "Reason": reason, "WorkDir": spec.workdir,
        }
    )  # fmt: skip
    whole = (attempt.start, attempt.end)
    steps = _Steps(attempt.job_id, spec.account, 8)
    yield steps.row(("batch", "batch"), state, whole, attempt.nodes[:1])
    outer = ("RUNNING", "0:0") if attempt.end is None else ("COMPLETED", "0:0")
    yield steps.row(("extern", "extern"), outer, whole, attempt.nodes)
    if attempt.has_log:
        inner = (attempt.start + 2 * SECOND, attempt.end)
        yield steps.row(("0", "torchrun"), state, inner, attempt.nodes)


def _other_rows(job: OtherJob) -> Iterator[str]:
    yield _row(
        {
            "JobID": job.job_id, "JobIDRaw": job.job_id, "JobName": job.name, "User": job.user,
            "Account": job.account, "Partition": job.partition, "State": job.state,
            "ExitCode": job.exit_code, "Submit": slurm(job.submit),
            "Eligible": slurm(job.submit), **_span(job.start, job.end),
            "NNodes": len(job.nodes),
            "AllocTRES": _tres(len(job.nodes), job.gpus_per_node, billing=True),
            "NodeList": hostlist(job.nodes), "Reason": "None",
            "WorkDir": f"/lustre/home/{job.user}",
        }
    )  # fmt: skip
    state, span = _step_state(job.state, job.exit_code), (job.start, job.end)
    steps = _Steps(job.job_id, job.account, job.gpus_per_node)
    yield steps.row(("batch", "batch"), state, span, job.nodes[:1])
    yield steps.row(("extern", "extern"), ("COMPLETED", "0:0"), span, job.nodes)


def sacct_text(world: World) -> str:
    """The whole dump, in order of submission; one job name breaks its row in two."""
    entries: list[tuple[int, int, list[str]]] = []
    for name, attempts in world.attempts.items():
        for attempt in attempts:
            rows = list(_attempt_rows(attempt, world.specs[name]))
            entries.append((attempt.submit, attempt.job_id, rows))
    entries += [(job.submit, job.job_id, list(_other_rows(job))) for job in world.others]
    entries.sort(key=lambda entry: entry[:2])
    lines = ["|".join(FIELDS)]
    for _, _, rows in entries:
        lines.extend(rows)
    return "\n".join(lines) + "\n"
