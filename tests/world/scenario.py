"""The script of the month: two runs and what happens to them, with times moved by the seed."""

from __future__ import annotations

from dataclasses import dataclass

from .clock import HOUR, SECOND, instant

WINDOW = (instant("2026-05-01T00:00:00"), instant("2026-06-01T00:00:00"))
DUMP_AT = instant("2026-06-02T12:00:00")


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What one training run looks like when nothing goes wrong."""

    name: str
    user: str
    uid: int
    account: str
    n_nodes: int
    pool: tuple[str, ...]
    submit: int
    step_s: float
    step_sigma: float
    save_every: int
    save_s: float
    save_sd: float
    eval_every: int
    eval_s: float
    micros: bool
    tensor: int
    pipeline: int
    batch: int
    teraflops: float
    learning_rate: float
    workdir: str
    checkpoints: str
    target: int
    slow: tuple[int, int] = (0, 0)
    slow_factor: float = 1.15

    @property
    def accelerators(self) -> int:
        """Number of accelerators of one allocation."""
        return self.n_nodes * 8


@dataclass(frozen=True, slots=True)
class How:
    """One way for an attempt to end.

    ``where`` is ``step`` (crash inside a step), ``save`` (crash inside a save), ``overdue``
    (silent), ``watchdog``, ``stop`` (struck at a whole second), ``after_save``, ``limit``,
    ``exit``, ``target`` or ``open``. ``also`` are other causes that the evidence allows.
    """

    kind: str
    cause: str
    where: str
    state: str
    exit_code: str = "1:0"
    evidence: str = "undated"
    launcher: bool = True
    also: tuple[str, ...] = ()


HOWS: dict[str, How] = {
    "xid79": How("failure", "gpu", "step", "FAILED", evidence="kernel"),
    "ecc": How("failure", "gpu", "step", "FAILED", evidence="kernel"),
    "nvlink": How("failure", "gpu", "step", "FAILED", evidence="kernel"),
    "leaf": How("failure", "network", "step", "FAILED", evidence="kernel"),
    "linkflap": How("failure", "network", "step", "FAILED", evidence="kernel"),
    "watchdog": How(
        "failure", "unknown", "watchdog", "FAILED", evidence="watchdog", also=("network",)
    ),
    "hang": How("failure", "unknown", "overdue", "CANCELLED", "0:0", "overdue", False),
    "torn_storage": How("failure", "storage", "save", "FAILED"),
    "torn_gpu": How("failure", "gpu", "save", "FAILED", evidence="kernel"),
    "storage": How("failure", "storage", "step", "FAILED"),
    "node": How("failure", "node", "overdue", "NODE_FAIL", "0:0", "overdue", False),
    "host_oom": How(
        "failure", "host_memory", "step", "OUT_OF_MEMORY", "0:125", "kernel", False, ("oom",)
    ),
    "cuda_oom": How("failure", "oom", "step", "FAILED"),
    "data": How("failure", "data", "step", "FAILED", also=("software",)),
    "preempt": How("preemption", "preemption", "stop", "PREEMPTED", "0:0", "stop", False),
    "limit": How(
        "planned", "scheduler", "limit", "TIMEOUT", "0:0", "stop", False, ("planned", "operator")
    ),
    "stop": How("planned", "operator", "after_save", "CANCELLED", "0:0", "stop", False),
    "rollback": How("operator_rollback", "operator", "stop", "CANCELLED", "0:0", "stop", False),
    "exit": How("planned", "operator", "exit", "COMPLETED", "0:0", "stop", False, ("scheduler",)),
    "target": How("finished", "", "target", "COMPLETED", "0:0", "stop", False),
    "open": How("running", "", "open", "RUNNING", "0:0", "stop", False),
}


@dataclass(frozen=True, slots=True)
class Event:
    """One scripted end of an attempt.

    ``cascade_s`` makes it follow so long after the first step of the attempt; ``wait_s`` is the
    time from the end to the next start; ``retries`` are the failed attempts before the resume.
    """

    how: str
    at: int
    wait_s: tuple[float, float] = (60.0, 1500.0)
    retries: tuple[str, ...] = ()
    hang_s: tuple[float, float] = (0.0, 0.0)
    timeout_ms: int = 600_000
    requeue: bool = False
    cascade_s: tuple[float, float] | None = None
    back_saves: int = 0
    loose: bool = True


def _may(day: int, hour: float) -> int:
    return WINDOW[0] + (day - 1) * 24 * HOUR + round(hour * HOUR)


def _names(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"gpu{number:03d}" for number in range(first, last + 1))


LLAMA = RunSpec(
    name="llama-70b", user="mira", uid=1001, account="lm", n_nodes=32,
    pool=_names(5, 38) + _names(1, 4), submit=instant("2026-04-28T09:14:07"),
    step_s=60.0, step_sigma=0.01, save_every=60, save_s=150.0, save_sd=15.0,
    eval_every=0, eval_s=0.0, micros=False, tensor=8, pipeline=4, batch=2048,
    teraflops=398.0, learning_rate=1.5e-4, workdir="/lustre/projects/lm/llama-70b",
    checkpoints="/lustre/ckpt/llama-70b", target=100_000,
    slow=(_may(10, 14.0), _may(11, 10.0)),
)  # fmt: skip

MOE = RunSpec(
    name="moe-24b", user="jonas", uid=1002, account="moe", n_nodes=16,
    pool=_names(39, 58), submit=instant("2026-05-01T05:31:52"),
    step_s=45.0, step_sigma=0.01, save_every=60, save_s=70.0, save_sd=7.0,
    eval_every=500, eval_s=55.0, micros=True, tensor=4, pipeline=4, batch=1024,
    teraflops=0.0, learning_rate=2.4e-4, workdir="/lustre/projects/moe/moe-24b",
    checkpoints="/lustre/ckpt/moe-24b", target=0,
)  # fmt: skip


def llama_events(leaf_later: int = 0) -> list[Event]:
    """What happens to the larger run, in order; the leaf switch may fail a little later."""
    return [
        Event("xid79", _may(1, 21.7)),
        Event("watchdog", _may(3, 5.2)),
        Event("ecc", _may(4, 14.4)),
        Event("limit", _may(6, 8.0), wait_s=(90, 600)),
        Event("leaf", _may(7, 19.1) + leaf_later, wait_s=(2500, 2900)),
        Event("xid79", _may(9, 3.0), wait_s=(120, 600)),
        Event("linkflap", 0, cascade_s=(430, 800), wait_s=(300, 1200)),
        Event("hang", _may(12, 2.4), hang_s=(3.1 * 3600, 3.9 * 3600)),
        Event("stop", _may(13, 15.5), wait_s=(22_000, 23_500)),
        Event("torn_storage", _may(15, 9.0)),
        Event("storage", _may(17, 1.2), retries=("load_error", "node_fail", "zero_exit")),
        Event("node", _may(19, 11.3), requeue=True, wait_s=(125, 300)),
        Event("host_oom", _may(21, 16.0)),
        Event("exit", _may(23, 7.0), wait_s=(90, 500)),
        Event("data", _may(24, 20.3), wait_s=(1500, 2400)),
        Event("xid79", _may(26, 10.1), retries=("load_error", "rendezvous")),
        Event("watchdog", _may(28, 22.6), timeout_ms=1_800_000),
        Event("nvlink", _may(31, 23.72), wait_s=(700, 1100), loose=False),
        Event("open", DUMP_AT),
    ]


def moe_events(leaf_at: int) -> list[Event]:
    """What happens to the smaller run, in order; the leaf switch fails for both."""
    return [
        Event("cuda_oom", _may(2, 18.2)),
        Event("preempt", _may(4, 22.0), wait_s=(900, 2400)),
        Event("watchdog", _may(6, 12.5), timeout_ms=1_800_000),
        Event("leaf", leaf_at, wait_s=(400, 900), loose=False),
        Event("xid79", _may(10, 4.3), retries=("rendezvous",)),
        Event("limit", _may(13, 14.0), wait_s=(60, 400)),
        Event("hang", _may(16, 9.4), hang_s=(1.5 * 3600, 1.9 * 3600)),
        Event("rollback", _may(19, 20.0), back_saves=2, wait_s=(500, 1800)),
        Event("torn_gpu", _may(22, 12.4)),
        Event("preempt", _may(24, 6.0), wait_s=(600, 2400)),
        Event("ecc", _may(27, 15.2)),
        Event("exit", _may(29, 18.0), wait_s=(60, 400)),
        Event("node", _may(31, 10.0), wait_s=(300, 1500)),
        Event("target", _may(33, 8.0)),
    ]


SECONDS_PER_HALF_HOUR = 1800 * SECOND
