"""Hand-built report data: a realistic month of two runs, and the corners of it."""

from __future__ import annotations

import random
from dataclasses import replace

from ckpt_audit.audit.advice import IntervalAdvice, recommend_interval
from ckpt_audit.audit.correlation import Correlation
from ckpt_audit.audit.data import (
    LedgerLine,
    Population,
    ReportData,
    RunEstimate,
    RunReport,
)
from ckpt_audit.audit.diagnosis import Reason
from ckpt_audit.facts import (
    Checkpoint,
    Evidence,
    Finding,
    Incident,
    LedgerRow,
    Progress,
    RejectedLine,
    Run,
    SaveCadence,
    Source,
    State,
    UpTime,
    Window,
)
from ckpt_audit.reliability.rate import mean_time
from ckpt_audit.reliability.sample import Sample, summarise

US = 1_000_000
H = 3600 * US
MAY = 1_777_593_600 * US  # 2026-05-01T00:00:00Z
WINDOW = Window(MAY, MAY + 744 * H, "2026-05")
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
EMPTY = Sample(0, None, None, None, None, None, None)

CAUSES = (
    ("gpu_xid_79", "step", "Xid 79 names the device that fell off the bus"),
    ("nccl_timeout", "step", "the collective watchdog ended the job after its limit"),
    ("node_fail", "step", "the scheduler marked the node as failed"),
    ("ecc_uncorrectable", "step", "Xid 48 before the traceback"),
    ("storage_timeout", "save", "the save ended in an input/output error"),
    ("unknown", "step", "the attempt ended and a rollback followed, with no line that says why"),
)
STEP_S = 7.2
ACC = 2048


class _Month:
    """Plays one month of one run, and keeps every fact that a report wants."""

    def __init__(self, run: str, seed: int, mean_h: float, every: int, n_acc: int) -> None:
        self.run, self.every, self.n_acc = run, every, n_acc
        self.random = random.Random(seed)
        self.mean_h = mean_h
        self.at, self.step, self.saved, self.attempt = MAY + 6 * H, 120_000, 120_000, 0
        self.saved_at = MAY
        self.us: dict[str, int] = {}
        self.n: dict[str, int] = {}
        self.incidents: list[Incident] = []
        self.correlations: dict[str, Correlation] = {}
        self.checkpoints: list[Checkpoint] = []
        self.uptime: list[UpTime] = []
        self.progress: list[Progress] = []
        self.states: list[State] = []

    def spend(self, bucket: str, us: int) -> None:
        us = min(us, WINDOW.end_at - self.at)
        if us <= 0:
            return
        self.us[bucket] = self.us.get(bucket, 0) + us
        self.n[bucket] = self.n.get(bucket, 0) + 1
        self.states.append(State(self.run, self.at, self.at + us, bucket))
        self.at += us

    def save(self) -> None:
        cost = self.random.lognormvariate(4.9, 0.25)
        started = self.at
        self.spend("checkpoint", round(cost * US))
        torn = self.random.random() < 0.02
        self.checkpoints.append(
            Checkpoint(
                run=self.run,
                attempt=self.attempt,
                step=self.step,
                started_at=started,
                blocking_done_at=self.at,
                committed_at=None if torn else self.at + 40 * US,
                state="torn" if torn else "verified",
                grade=None if torn else "marker",
                is_async=False,
                is_final=False,
                cost_s=cost,
                cost_origin="gap",
                timer_s=None,
                path=f"/ckpt/{self.run}/iter_{self.step:07d}",
                file=f"logs/{self.run}/attempt_{self.attempt:03d}.log",
                line=1000 + self.step // 10,
                why="3 of 256 shards are shorter than the others" if torn else None,
            )
        )
        if not torn:
            self.saved, self.saved_at = self.step, started

    def up(self, until: int) -> None:
        """Trains until the moment, saving as it goes."""
        until = min(until, WINDOW.end_at)
        while self.at < until:
            todo = self.every - self.step % self.every
            need = round(todo * STEP_S * US)
            if self.at + need >= until:
                steps = int((until - self.at) / (STEP_S * US))
                self.step += steps
                self.spend("productive", until - self.at)
                self.progress.append(Progress(self.run, self.at, self.step))
                return
            self.spend("productive", need)
            self.step += todo
            self.progress.append(Progress(self.run, self.at, self.step))
            self.save()

    def fail(self, ordinal: int) -> None:
        last_at, last = self.at, self.step
        resume = self.saved
        lost_us = round((last - resume) * STEP_S * US)
        hang = self.random.random() < 0.4
        detection_us = round(self.random.lognormvariate(8.6 if hang else 4.5, 0.4) * US)
        cause, phase, rule = CAUSES[1 if hang else self.random.choice((0, 2, 3, 4, 5))]
        replace_us = round(self.random.lognormvariate(6.3, 0.9) * US)
        retries = self.random.choice((0, 0, 0, 1, 2))
        launch_us, load_us, warm_us = 210 * US, 95 * US, 60 * US
        retry_us = retries * 400 * US
        moved = min(lost_us, self.us.get("productive", 0))
        self.us["productive"] -= moved
        self.us["lost_work"] = self.us.get("lost_work", 0) + moved
        self.n["lost_work"] = self.n.get("lost_work", 0) + 1
        detected = self.at + detection_us
        self.spend("detection", detection_us)
        self.spend("replacement", replace_us)
        self.spend("restart", retry_us + launch_us + load_us + warm_us)
        recovery_us = replace_us + retry_us + launch_us + load_us + warm_us
        loss_s = (lost_us + detection_us + recovery_us) / US
        name = f"{self.run}-s{last}-{ordinal}"
        file = f"logs/{self.run}/attempt_{self.attempt:03d}.log"
        node = f"gpu{self.random.randrange(256):04d}"
        self.incidents.append(
            Incident(
                id=name,
                run=self.run,
                ordinal=ordinal,
                kind="failure",
                cause=cause,
                cause_strength="derived" if cause == "unknown" else "stated",
                rule=rule,
                phase=phase,
                secondary=False,
                attempts=1 + retries,
                job_ids=(f"48{1000 + ordinal}",),
                last_step=last,
                last_step_at=last_at,
                precursor_at=last_at - 400 * US if ordinal % 5 == 0 else None,
                fault_at=last_at + 2 * US,
                detected_at=detected,
                replaced_at=detected + replace_us,
                launched_at=detected + replace_us + retry_us,
                load_started_at=detected + replace_us + retry_us + launch_us,
                restored_at=detected + replace_us + retry_us + launch_us + load_us,
                first_step_at=self.at,
                caught_up_at=self.at + lost_us,
                resume_step=resume,
                verified_step=resume,
                verified_grade="marker",
                verified_checkpoint_age_s=(last_at - self.saved_at) / US,
                verified_step_hindsight=resume,
                unsaved_work_s=lost_us / US,
                attempted_checkpoint_age_s=lost_us / US,
                steps_lost=last - resume,
                lost_work_s=lost_us / US,
                repeated_s=lost_us / US,
                detection_s=detection_us / US,
                replacement_s=replace_us / US,
                retries_s=retry_us / US,
                launch_s=launch_us / US,
                restore_s=load_us / US,
                warmup_s=warm_us / US,
                recovery_s=recovery_us / US,
                recovery_source="storage",
                loss_s=loss_s,
                loss_acc_s=loss_s * self.n_acc,
                detector="watchdog" if hang else "launcher",
                nodes=(node,),
                domains=(f"leaf:leaf{int(node[3:]) // 32}",),
                evidence=(
                    Evidence(
                        "last_step_at",
                        file,
                        88_412,
                        f" iteration {last:8d}/  600000 | elapsed time per iteration (ms): 7204 |",
                        "stated",
                    ),
                    Evidence(
                        "fault_at",
                        "logs/nodes/kern.log" if not hang else file,
                        1_204 + ordinal,
                        f"{node} kernel: NVRM: Xid (PCI:0000:4e:00): 79, GPU fell off the bus."
                        if not hang
                        else "[Rank 73] Watchdog caught collective operation timeout: WorkNCCL("
                        "SeqNum=881245, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600014 ms",
                        "stated",
                    ),
                    Evidence(
                        "detected_at", "slurm/sacct.txt", 300 + ordinal, "FAILED 1:0", "derived"
                    ),
                    Evidence(
                        "restored_at",
                        file.replace(".log", "b.log"),
                        2_230,
                        f"loaded checkpoint from /ckpt/{self.run} at iteration {resume}",
                        "stated",
                    ),
                ),
            )
        )
        label = "correlated" if ordinal in (6, 7) else "isolated"
        group = f"{self.run}-g1" if label == "correlated" else None
        rule = "same leaf switch within 10 minutes" if group else "no shared domain within 10 min"
        self.correlations[name] = Correlation(name, label, group, rule)
        self.step = resume
        self.attempt += 1

    def play(self) -> None:
        self.spend("startup", 500 * US)
        ordinal = 0
        while self.at < WINDOW.end_at:
            start = self.at
            self.progress.append(Progress(self.run, self.at, self.step))
            gap = round(self.random.expovariate(1 / self.mean_h) * H)
            self.up(self.at + gap)
            ended = self.at
            kind, name = None, None
            if self.at < WINDOW.end_at:
                ordinal += 1
                self.fail(ordinal)
                kind, name = "failure", self.incidents[-1].id
            self.uptime.append(UpTime(self.run, self.attempt, start, ended, kind, name, self.n_acc))


LATE = Reason(
    "detection",
    "configured_timeout",
    7200.0,
    "noticed after 30.0 min on average where 5.0 min were usual; 6 of 8 waited for a limit",
)


def _ledger(month: _Month) -> tuple[LedgerLine, ...]:
    predicted = {
        "productive": (1.01, 0.97, 1.03),
        "checkpoint": (0.98, 0.95, 1.05),
        "lost_work": (1.1, 0.5, 1.9),
        "detection": (0.45, 0.2, 0.8),
        "replacement": (1.2, 0.4, 2.4),
        "restart": (0.97, 0.5, 1.6),
    }
    lines = []
    for bucket, us in month.us.items():
        seconds = us / US
        told = predicted.get(bucket)
        lines.append(
            LedgerLine(
                run=month.run,
                bucket=bucket,
                observed_us=us,
                observed_acc_us=us * month.n_acc,
                could_move_us=round(us * 0.03) if bucket in ("detection", "lost_work") else 0,
                n=month.n[bucket],
                predicted_s=None if told is None else seconds * told[0],
                predicted_low_s=None if told is None else seconds * told[1],
                predicted_high_s=None if told is None else seconds * told[2],
                in_sample=True,
                residual_s=None if told is None else seconds * (1 - told[0]),
                flag=bucket == "detection",
                first_order_s=None if told is None else seconds * told[0] * 1.02,
                percentile=None if told is None else 99.0 if bucket == "detection" else 50.0,
                reasons=(LATE,) if bucket == "detection" else (),
            )
        )
    return tuple(lines)


def _values(incidents: tuple[Incident, ...], name: str) -> list[float]:
    return [v for i in incidents if (v := getattr(i, name)) is not None]


def _estimate(month: _Month) -> RunEstimate:
    up_s = sum(u.end_at - u.start_at for u in month.uptime) / US
    found = tuple(month.incidents)
    labels = [month.correlations[i.id].label for i in found]
    populations = []
    for name, n in (
        ("all", len(found)),
        ("isolated", labels.count("isolated")),
        ("correlated", labels.count("correlated")),
        ("interval", len(found)),
    ):
        mean = mean_time(n, up_s)
        per = 1000 * n / (up_s / 3600 * month.n_acc)
        populations.append(Population(name, mean, 744 * 3600.0, per))
    return RunEstimate(
        populations=tuple(populations),
        c=summarise([c.cost_s for c in month.checkpoints if c.cost_s is not None]),
        d=summarise(_values(found, "detection_s")),
        r=summarise(_values(found, "recovery_s")),
        launches=len(found) + 4,
        launches_reached_step=len(found) + 1,
    )


def run_report(
    run: str, seed: int, mean_h: float, every: int, n_acc: int = ACC, price: float | None = 2.4
) -> RunReport:
    """One run over the month; deterministic in its arguments."""
    month = _Month(run, seed, mean_h, every, n_acc)
    month.play()
    estimate = _estimate(month)
    c = [x.cost_s for x in month.checkpoints if x.cost_s is not None]
    mean = estimate.populations[0].mean_time
    effective = every * STEP_S * 1.08
    advice = recommend_interval(
        c_mean_s=estimate.c.mean,
        m_used_s=mean.m_used_s,
        m_low_s=mean.low_s,
        m_high_s=mean.high_s,
        configured_s=every * STEP_S,
        effective_s=effective,
        step_s=STEP_S,
        d_s=estimate.d.mean or 0.0,
        r_s=estimate.r.mean or 0.0,
        c_values_s=c,
        n_incidents=len(month.incidents),
        wall_h=744.0,
    )
    verified = [x for x in month.checkpoints if x.grade]
    queue = LedgerRow(run, "queue_after_planned", 6 * H, 0, 0, 1)
    calendar = tuple(LedgerRow(run, b, us, us * n_acc, 0, month.n[b]) for b, us in month.us.items())
    return RunReport(
        run=Run(
            run=run,
            user="ada",
            work_dir=f"/scratch/{run}",
            joined_by="job name and folder",
            n_jobs=4,
            n_attempts=month.attempt + 1,
            n_launches_without_step=3,
            n_accelerators=n_acc,
            accelerators_origin="scheduler",
            started_at=MAY,
            ended_at=WINDOW.end_at,
            is_running=True,
            first_step=120_000,
            last_step=month.step,
            target_step=600_000,
            allocated_us=sum(month.us.values()),
        ),
        incidents=tuple(month.incidents),
        correlations=month.correlations,
        ledger=_ledger(month),
        calendar=(*calendar, queue),
        checkpoints=tuple(month.checkpoints),
        uptime=tuple(month.uptime),
        progress=tuple(month.progress),
        states=tuple(month.states),
        cadence=SaveCadence(run, every, every * STEP_S, every, STEP_S, every * STEP_S, effective),
        estimate=estimate,
        advice=advice,
        newest_verified=verified[-1] if verified else None,
        price_per_acc_h=price,
    )


def month() -> ReportData:
    """Two runs, about twenty incidents, with remarks on the data."""
    llama = run_report("llama-70b", 11, 52.0, 1200)
    moe = run_report("moe-8x22", 5, 118.0, 900, 1024)
    sources = tuple(
        Source(
            path=f"logs/{run}/attempt_{n:03d}.log.gz",
            format="megatron",
            n_bytes=2_400_123 + n,
            n_lines=88_000 + 17 * n,
            n_rows=61_000 + 3 * n,
            n_rejected=1 if n == 2 else 0,
            sha256=f"{n:064x}",
            tz="Europe/Berlin" if n else "UTC",
            tz_origin="machine" if n == 3 else "proved",
            first_at=MAY + n * 60 * H,
            last_at=MAY + (n + 1) * 60 * H,
            run=run,
        )
        for run in ("llama-70b", "moe-8x22")
        for n in range(6)
    )
    return ReportData(
        window=WINDOW,
        complete=True,
        as_of=WINDOW.end_at,
        version="0.1.0",
        runs=(llama, moe),
        sources=sources,
        rejected=(
            RejectedLine(
                "logs/llama-70b/attempt_002.log.gz", 4411, "step is not a number", "iterat"
            ),
        ),
        findings=(
            Finding(
                "assumed_zone",
                "attempt_003.log.gz",
                "stamps without a zone were read as Europe/Berlin, the zone of this machine",
                7200.0,
            ),
            Finding(
                "conflict",
                "job 481003",
                "the scheduler says COMPLETED 0:0, and no step was done",
                None,
                "slurm/sacct.txt",
                303,
            ),
        ),
        settings={"time_zone": ("UTC", "default"), "price_per_acc_h": ("2.4", "configured")},
        context_jobs=412,
    )


def single(**changes: object) -> ReportData:
    """One run; ``changes`` replace fields of its `RunReport`."""
    data = month()
    return replace(data, runs=(replace(data.runs[0], **changes),))  # type: ignore[arg-type]


def with_incidents(incidents: tuple[Incident, ...]) -> ReportData:
    """One run with just these incidents, and an estimate that fits them."""
    data = month()
    one = data.runs[0]
    n = sum(1 for i in incidents if i.kind in ("failure", "unknown"))
    up_s = sum(u.end_at - u.start_at for u in one.uptime) / US
    mean = mean_time(n, up_s)
    ends = {i.id: i.kind for i in incidents}
    uptime = tuple(
        replace(
            u, kind=ends.get(u.incident or ""), incident=u.incident if u.incident in ends else None
        )
        for u in one.uptime
    )
    estimate = replace(
        one.estimate,
        populations=(Population("all", mean, 744 * 3600.0, 0.01 * n),),
        d=summarise(_values(incidents, "detection_s")),
        r=summarise(_values(incidents, "recovery_s")),
    )
    advice = recommend_interval(
        c_mean_s=estimate.c.mean,
        m_used_s=mean.m_used_s,
        m_low_s=mean.low_s,
        m_high_s=mean.high_s,
        configured_s=8640.0,
        effective_s=9000.0,
        step_s=STEP_S,
        d_s=0.0,
        r_s=0.0,
        c_values_s=[120.0] * 10,
        n_incidents=n,
    )
    kept = {i.id: one.correlations[i.id] for i in incidents if i.id in one.correlations}
    report = replace(
        one,
        incidents=incidents,
        correlations=kept,
        uptime=uptime,
        estimate=estimate,
        advice=advice,
    )
    return replace(data, runs=(report,))


UNKNOWN_ADVICE = IntervalAdvice(
    False, "unknown", "the cost of a save is not known, so no interval can be computed", ()
)


def unknown_incident() -> Incident:
    """An end of which nothing but its being is known, and from which nothing came back."""
    known = month().runs[0].incidents[0]
    keep = {
        "id",
        "run",
        "ordinal",
        "kind",
        "rule",
        "evidence",
        "bounds",
        "domains",
        "nodes",
        "ends",
        "overruled",
    }
    blank: dict[str, object] = {
        name: None for name in Incident.__dataclass_fields__ if name not in keep
    }
    blank |= {
        "cause": "unknown",
        "cause_strength": "absent",
        "phase": "unknown",
        "secondary": False,
        "attempts": 1,
        "job_ids": (),
        "recovery_source": "unknown",
        "kind": "unknown",
        "rule": "progress ended, nothing says how, and no later attempt exists",
        "evidence": (),
        "nodes": (),
        "domains": (),
        "bounds": {"detection_s": (None, 600.0), "lost_work_s": (60.0, 4000.0)},
    }
    return replace(known, **blank)  # type: ignore[arg-type]


def nothing_known() -> ReportData:
    """A run of which all is unknown."""
    data = month()
    one = data.runs[0]
    run = replace(
        one.run,
        n_accelerators=None,
        target_step=None,
        started_at=None,
        ended_at=None,
        missing=("scheduler records", "step lines"),
        allocated_us=0,
    )
    report = replace(
        one,
        run=run,
        incidents=(unknown_incident(),),
        correlations={},
        ledger=(),
        calendar=(),
        checkpoints=(),
        uptime=(),
        progress=(),
        states=(),
        cadence=SaveCadence(one.run.run, None, None, None, None, None, None),
        estimate=RunEstimate((), EMPTY, EMPTY, EMPTY, 0, 0),
        advice=UNKNOWN_ADVICE,
        newest_verified=None,
        price_per_acc_h=None,
    )
    return replace(
        data, runs=(report,), sources=(), rejected=(), findings=(), settings={}, complete=False
    )


def hostile() -> ReportData:
    """Names and lines of a log that try to be markup."""
    data = month()
    one = data.runs[0]
    bad = tuple(
        replace(
            i,
            id=f"{HOSTILE}-{n}",
            cause=HOSTILE,
            rule=HOSTILE,
            nodes=(HOSTILE,),
            detector=HOSTILE,
            evidence=(Evidence("fault_at", HOSTILE, 1, HOSTILE + "</script>\u2028\x00", "stated"),),
        )
        for n, i in enumerate(one.incidents)
    )
    report = replace(one, run=replace(one.run, run=HOSTILE), incidents=bad, correlations={})
    sources = tuple(replace(s, path=HOSTILE, run=HOSTILE) for s in data.sources)
    findings = (Finding(HOSTILE, HOSTILE, HOSTILE),)
    return replace(
        data,
        runs=(report,),
        sources=sources,
        findings=findings,
        settings={HOSTILE: (HOSTILE, HOSTILE)},
        window=replace(WINDOW, label=HOSTILE),
    )


def huge() -> ReportData:
    """Many more incidents and sources than a table shows."""
    data = month()
    one = data.runs[0]
    many = tuple(
        replace(one.incidents[n % len(one.incidents)], id=f"llama-70b-s{n}-{n}")
        for n in range(1200)
    )
    report = replace(one, incidents=many, correlations={})
    sources = tuple(replace(data.sources[0], path=f"logs/{n}.log") for n in range(900))
    return replace(data, runs=(report,), sources=sources)
