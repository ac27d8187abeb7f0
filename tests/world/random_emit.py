"""Writes a played world as files: job logs, the scheduler's records, the kernel log."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from . import emit_crash
from .clock import SECOND, glog_python, kernel, plain, slurm
from .cluster import hostlist
from .draw import Plan, Scenario
from .emit_kernel import _gpu_lines, _link, _memory_lines
from .played import Allocation, Played, PlayedRun, Try
from .scenario import LLAMA
from .timeline import Ending, Pause, Step

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIMERS = "(min, max) time across ranks (ms):"


_LIKE = {"hang_in_save": "hang", "maintenance": "stop", "mitigation": "stop", "orphan": "stop"}


class Local:
    """The clock on the wall of a zone, as microseconds that are printed as if they were UTC."""

    def __init__(self, zone: str) -> None:
        """Choose the zone."""
        self._zone = ZoneInfo(zone)

    def __call__(self, at: int) -> int:
        """The reading of the clock at an instant."""
        offset = (_EPOCH + timedelta(microseconds=at)).astimezone(self._zone).utcoffset()
        assert offset is not None
        return at + offset // timedelta(microseconds=1)


class Text:
    """Writes the log of one attempt."""

    def __init__(self, scenario: Scenario, run: PlayedRun, attempt: Try) -> None:
        """Prepare what only decorates the lines."""
        self.scenario, self.plan, self.attempt = scenario, run.plan, attempt
        self.target = run.target
        self.local = Local(scenario.zone)
        self.rng = random.Random(f"{scenario.seed}/{run.plan.name}/{attempt.index}/log")

    def lines(self) -> Iterator[str]:
        """All lines of the attempt, in order."""
        attempt = self.attempt
        if attempt.launched_at is not None:
            yield from self._setup()
        if attempt.steps:
            yield from self._training()
        yield from self._closing()

    def _stamp(self, at: int) -> str:
        return plain(self.local(at), self.scenario.stamps == "micros")

    def _anchor(self, what: str, at: int) -> str:
        return f"[{what}] datetime: {plain(self.local(at))} "

    def _setup(self) -> Iterator[str]:
        attempt, folder = self.attempt, self.plan.checkpoints
        world = 8 * len(attempt.nodes)
        yield (
            f"using world size: {world}, data-parallel size: {world // 8}, "
            "tensor-model-parallel size: 8, pipeline-model-parallel size: 1"
        )
        yield "using torch.bfloat16 for parameters ..."
        assert attempt.initialized_at is not None
        yield self._anchor("after megatron is initialized", attempt.initialized_at)
        yield "building GPT model ..."
        tracker = f"{folder}/latest_checkpointed_iteration.txt"
        if attempt.retry == "zero_exit":
            yield f"ERROR: Invalid metadata file {tracker}. Exiting"
            return
        if attempt.loads is None:
            yield f"WARNING: could not find the metadata file {tracker} "
            yield "    will not load any checkpoints and will start from random"
        else:
            yield f" loading distributed checkpoint from {folder} at iteration {attempt.loads}"
        if attempt.restored_at is not None:
            assert attempt.load_started_at is not None
            yield (
                f"  successfully loaded checkpoint from {folder} [ t 1/8, p 1/1 ] "
                f"at iteration {attempt.loads}"
            )
            took = (attempt.restored_at - attempt.load_started_at) / 1000
            yield _TIMERS
            yield f"    {'load-checkpoint ':.<48}: ({took - 9.31:.2f}, {took:.2f})"
        if attempt.training_at is not None:
            yield "done with setup ..."
            yield "training ..."
            yield self._anchor("before the start of training step", attempt.training_at)

    def _training(self) -> Iterator[str]:
        pauses: dict[int, list[Pause]] = {}
        for pause in self.attempt.pauses:
            pauses.setdefault(pause.step, []).append(pause)
        pending: list[int] = []
        begun = self.attempt.steps[0].start
        whole = self.scenario.stamps == "none"
        whole &= "timer_without_saves" not in self.scenario.features
        commits = sorted(self.attempt.commits.items(), key=lambda item: item[1])
        for step in self.attempt.steps:
            while commits and commits[0][1] <= step.end:
                yield from self._saved(*commits.pop(0))
            pending.append(step.end - (begun if whole else step.start))
            begun = step.end
            if step.number % self.scenario.log_every == 0:
                yield self._step(step, pending)
                pending = []
            for pause in pauses.get(step.number, ()):
                yield from self._save(pause) if pause.kind == "save" else self._evaluation(pause)
        yield from self._goodbye()

    def _step(self, step: Step, lengths: list[int]) -> str:
        number = step.number
        took = sum(lengths) / len(lengths) / 1000
        head = "" if self.scenario.stamps == "none" else f"[{self._stamp(step.end)}] "
        loss = 1.62 + 7.5 * (1 + number / 40) ** -0.42 + self.rng.gauss(0, 0.002)
        return (
            f" {head}iteration {number:8d}/{self.target:8d} |"
            f" consumed samples: {number * 512:12d} |"
            f" elapsed time per iteration (ms): {took:.1f} |"
            f" learning rate: 1.500000E-04 | global batch size:   512 |"
            f" lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 0.311 |"
            " number of skipped iterations:   0 | number of nan iterations:   0 |"
        )

    def _save(self, save: Pause) -> Iterator[str]:
        folder = self.plan.checkpoints
        micros = self.scenario.stamps == "micros"
        began = f"[{self._stamp(save.start)}] " if micros else ""
        where = f"{save.step:7d} to {folder}"
        yield f"{began}saving checkpoint at iteration {where} in torch_dist format"
        if not save.done:
            return
        if save.step in self.attempt.commits:
            yield f"  scheduled an async checkpoint save at iteration {where}"
        else:
            yield from self._saved(save.step, save.end)
        took = (save.end - save.start) / 1000
        yield _TIMERS
        yield f"    {'save-checkpoint ':.<48}: ({took * 0.97:.2f}, {took:.2f})"

    def _saved(self, step: int, at: int) -> Iterator[str]:
        done = f"[{self._stamp(at)}] " if self.scenario.stamps == "micros" else ""
        yield (
            f"  {done}successfully saved checkpoint from iteration {step:7d} "
            f"to {self.plan.checkpoints} [ t 1/8, p 1/1 ]"
        )

    def _evaluation(self, pause: Pause) -> Iterator[str]:
        took = (pause.end - pause.start) / 1000
        yield "Evaluating on 16384 samples"
        yield "Evaluating iter 32/32"
        yield _TIMERS
        yield f"    {'evaluate ':.<48}: ({took - 4.2:.2f}, {took:.2f})"
        yield "-" * 98
        yield (
            f" validation loss at iteration {pause.step} | lm loss value: 2.164000E+00 | "
            "lm loss PPL: 8.705885E+00 | "
        )
        yield "-" * 98

    def _goodbye(self) -> Iterator[str]:
        ending = self.attempt.ending
        assert ending is not None
        if ending.how == "target":
            yield self._anchor("after training is done", ending.fault_at)
        if ending.how == "exit":
            number = self.attempt.steps[-1].number
            yield self._anchor(f"exiting program at iteration {number}", ending.fault_at)

    def _closing(self) -> Iterator[str]:
        """The launcher's and the scheduler's last lines, on the wall's clock."""
        attempt, local = self.attempt, self.local
        ending = attempt.ending
        assert ending is not None
        how = _LIKE.get(ending.how, ending.how)
        shown = replace(
            ending, how=how, fault_at=local(ending.fault_at),
            launcher_at=None if ending.launcher_at is None else local(ending.launcher_at),
        )  # fmt: skip
        end = attempt.allocation.end
        view = _View(attempt, shown, None if end is None else local(end))
        spec = LLAMA
        lines = list(emit_crash.closing(spec, view, self.rng))  # type: ignore[arg-type]
        if attempt.closes:
            yield from lines
            return
        for line in lines:
            if not line.startswith(("srun", "slurmstepd")):
                yield line
        at = (shown.launcher_at or shown.fault_at) + 20_000
        yield (
            f"E{glog_python(at)} 214440 {emit_crash._ELASTIC}/agent/server/api.py:906] "
            "[default] Worker group FAILED. 3/3 attempts left; will restart worker group"
        )


class _View:
    """An attempt as the writer of last lines wants to see it."""

    def __init__(self, attempt: Try, ending: Ending, end: int | None) -> None:
        self.nodes, self.job_id, self.retry = attempt.nodes, attempt.allocation.job_id, ""
        self.retry = attempt.retry
        self.ending, self.end = ending, end


FIELDS = (
    "JobID", "JobIDRaw", "JobName", "User", "Account", "Partition", "State", "ExitCode", "Submit",
    "Eligible", "Start", "End", "ElapsedRaw", "NNodes", "AllocTRES", "NodeList", "Reason",
    "WorkDir",
)  # fmt: skip


def sacct_text(played: Played) -> str:
    """The scheduler's records, as ``sacct -D -P -X`` prints them."""
    local = Local(played.scenario.zone)
    rows = [
        (allocation.submit, _row(allocation, run.plan, played.dump_at, local))
        for run in played.runs
        for allocation in run.allocations
    ]
    return "\n".join(["|".join(FIELDS), *(row for _, row in sorted(rows))]) + "\n"


def _row(allocation: Allocation, plan: Plan, dump_at: int, local: Local) -> str:
    end = allocation.end
    elapsed = ((dump_at if end is None else end) - allocation.start) // SECOND
    count = len(allocation.nodes)
    state = allocation.state + (" by 1001" if allocation.state == "CANCELLED" else "")
    values = (
        allocation.label, allocation.job_id, plan.name, plan.user, "lm", "train", state,
        allocation.exit_code, slurm(local(allocation.submit)), slurm(local(allocation.submit)),
        slurm(local(allocation.start)), "Unknown" if end is None else slurm(local(end)), elapsed,
        count, f"billing={96 * count},cpu={96 * count},gres/gpu={8 * count},node={count}",
        hostlist(allocation.nodes), allocation.reason, plan.workdir,
    )  # fmt: skip
    return "|".join(str(value) for value in values)


def events_text(played: Played) -> str:
    """The history of drained nodes, as ``sacctmgr -P show event`` prints it."""
    local = Local(played.scenario.zone)
    lines = ["Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User"]
    for run in played.runs:
        for attempt in run.tries:
            if attempt.drained_at is not None:
                at = slurm(local(attempt.drained_at))
                reason = "slow node, thermal throttling"
                lines.append(f"|{attempt.nodes[-1]}|{at}|Unknown|DRAIN|{reason}|root(0)")
    return "\n".join(lines) + "\n"


def kernel_text(played: Played) -> str:
    """The kernel log of the nodes, with its own offset on every line."""
    rng = random.Random(f"{played.scenario.seed}/kernel")
    entries: list[tuple[int, str, str]] = []
    for run in played.runs:
        for attempt in run.tries:
            ending = attempt.ending
            if ending is None or attempt.retry or not ending.nodes:
                continue
            if ending.how == "linkflap":
                at, node = ending.fault_at, ending.nodes[0]
                entries.append((at, node, _link(ending.rank % 8, "DOWN")))
                entries.append((at + 80 * SECOND, node, _link(ending.rank % 8, "ACTIVE")))
            elif ending.how == "host_oom":
                entries += _memory_lines(ending)
            elif ending.evidence == "kernel":
                lines = list(_gpu_lines(ending, rng))
                entries += [line for line in lines if line[0] > attempt.steps[0].end]
    entries.sort(key=lambda entry: entry[:2])
    return "".join(f"{kernel(at)} {node} kernel: {text}\n" for at, node, text in entries)


def logs(played: Played) -> dict[str, list[str]]:
    """The lines of every job log; a requeued job appends to its own or begins it anew."""
    texts: dict[str, list[str]] = {}
    for run in played.runs:
        begun: list[Allocation] = []
        for attempt in run.tries:
            if not attempt.has_log:
                continue
            name = f"slurm-{attempt.allocation.label}.out"
            if attempt.allocation.truncates and attempt.allocation not in begun:
                texts[name] = []
            begun.append(attempt.allocation)
            texts.setdefault(name, []).extend(Text(played.scenario, run, attempt).lines())
    return texts


def files(played: Played) -> dict[str, str]:
    """Every file of a played world, by relative path."""
    found = {f"logs/{name}": "\n".join(lines) + "\n" for name, lines in logs(played).items()}
    found["sacct.txt"] = sacct_text(played)
    found["kern.log"] = kernel_text(played)
    if any(attempt.drained_at for run in played.runs for attempt in run.tries):
        found["events.txt"] = events_text(played)
    zone = played.scenario.zone
    config = [f'timezone = "{zone}"', "accelerators_per_node = 8"]
    for run in played.runs:
        if run.plan.acts[-1].how == "target":
            config += ["", f'[runs."{run.plan.name}"]', f"target_step = {run.target}"]
    found["ckpt-audit.toml"] = "\n".join(config) + "\n"
    return found
