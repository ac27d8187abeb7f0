"""The known truth about the world, as plain data for ``truth.json``."""

from __future__ import annotations

from statistics import fmean, median
from typing import Any

from .clock import SECOND, iso, iso_or_none
from .ledger import Chain, Fate, Segment, all_segments, clip, judge
from .scenario import DUMP_AT, HOWS, WINDOW, RunSpec
from .simulate import World
from .timeline import Attempt, Pause

Json = dict[str, Any]


def _s(micros: int) -> float:
    return round(micros / SECOND, 6)


def _captured_at(attempt: Attempt, save: Pause) -> int:
    first = attempt.steps[0].number
    return attempt.steps[save.step - first].end


def _allocations(attempts: list[Attempt], spec: RunSpec) -> list[Json]:
    return [
        {
            "job_id": attempt.job_id,
            "start": iso(attempt.start),
            "end": iso_or_none(attempt.end),
            "n_accelerators": spec.accelerators,
            "nodes": list(attempt.nodes),
            "state": attempt.state,
            "reached_step": bool(attempt.steps),
            "has_log": attempt.has_log,
        }
        for attempt in attempts
    ]


def _checkpoints(attempts: list[Attempt]) -> list[Json]:
    return [
        {
            "job_id": attempt.job_id,
            "step": save.step,
            "captured_at": iso(_captured_at(attempt, save)),
            "started_at": iso(save.start),
            "blocking_done_at": iso(save.end) if save.done else None,
            "verified": save.done,
            "cost_s": _s(save.end - save.start) if save.done else None,
        }
        for attempt in attempts
        for save in attempt.saves
    ]


def _verified(attempts: list[Attempt], at: int) -> tuple[int, int] | None:
    """Step and capture time of the newest checkpoint that was whole at an instant."""
    newest: tuple[int, int] | None = None
    for attempt in attempts:
        for save in attempt.saves:
            if save.done and save.end <= at:
                captured = _captured_at(attempt, save)
                if newest is None or captured > newest[1]:
                    newest = (save.step, captured)
    return newest


def _secondary(chains: list[Chain], place: int) -> bool:
    """A failure after a recovery from a failure, before a newer checkpoint was whole."""
    chain = chains[place]
    if place == 0 or chain.ending.kind != "failure" or chains[place - 1].ending.kind != "failure":
        return False
    return not any(save.done for save in chain.ended.saves)


def _incident(fate: Fate, place: int, attempts: list[Attempt], spec: RunSpec) -> Json:
    chain = fate.chains[place]
    ended, ending, resumed = chain.ended, chain.ending, chain.resumed
    assert resumed is not None
    assert resumed.first_step_at is not None
    verified = _verified(attempts, ending.fault_at)
    last, resume = ended.steps[-1], resumed.loads or 0
    return {
        "run": spec.name,
        "ordinal": place + 1,
        "kind": ending.kind,
        "cause": ending.cause,
        "cause_also": list(HOWS[ending.how].also),
        "scenario": ending.how,
        "phase": "save" if ended.pauses and not ended.pauses[-1].done else "step",
        "fault_evidence": ending.evidence,
        "correlated_with": [],
        "secondary": _secondary(fate.chains, place),
        "attempts": 1 + len(chain.retries),
        "job_id": ended.job_id,
        "retry_job_ids": [retry.job_id for retry in chain.retries],
        "resumed_job_id": resumed.job_id,
        "last_step": last.number,
        "last_step_at": iso(last.end),
        "fault_at": iso(ending.fault_at),
        "detected_at": iso(ending.detected_at),
        "replaced_at": iso(resumed.start),
        "launched_at": iso_or_none(resumed.launched_at),
        "load_started_at": iso_or_none(resumed.load_started_at),
        "restored_at": iso_or_none(resumed.restored_at),
        "first_step_at": iso(resumed.first_step_at),
        "resume_step": resume,
        "verified_step": verified[0] if verified else None,
        "verified_checkpoint_age_s": _s(ending.fault_at - verified[1]) if verified else None,
        "steps_lost": last.number - resume,
        "lost_work_s": _s(chain.lost_us),
        "detection_s": (
            _s(ending.detected_at - ending.fault_at) if ending.kind == "failure" else None
        ),
        "recovery_s": _s(resumed.first_step_at - ending.detected_at),
        "nodes": list(ending.nodes),
    }


def _ledger(found: list[Segment], window: tuple[int, int], spec: RunSpec, kept: int) -> Json:
    totals = clip(found, window)
    return {
        "start": iso(window[0]),
        "end": iso(window[1]),
        "allocated_s": _s(kept),
        "allocated_acc_s": _s(kept * spec.accelerators),
        "buckets": {
            name: {"seconds": _s(value), "acc_s": _s(value * spec.accelerators)}
            for name, value in totals.items()
        },
    }


def _allocated(attempts: list[Attempt], window: tuple[int, int]) -> int:
    total = 0
    for attempt in attempts:
        end = DUMP_AT if attempt.end is None else attempt.end
        total += max(0, min(end, window[1]) - max(attempt.start, window[0]))
    return total


def _costs(attempts: list[Attempt]) -> Json:
    costs = [
        save.end - save.start
        for attempt in attempts
        for save in attempt.saves
        if save.done and WINDOW[0] <= save.start < WINDOW[1]
    ]
    return {
        "n": len(costs),
        "mean_s": round(fmean(costs) / SECOND, 6),
        "median_s": round(median(costs) / SECOND, 6),
    }


def _up_time(attempts: list[Attempt]) -> Json:
    """Time from each first step to the fault, stop or end of data, in the window."""
    total = reached = 0
    for attempt in attempts:
        if attempt.first_step_at is None or attempt.ending is None:
            continue
        reached += 1
        total += max(
            0,
            min(attempt.ending.fault_at, WINDOW[1]) - max(attempt.first_step_at, WINDOW[0]),
        )
    return {"exposure_s": _s(total), "launches": len(attempts), "reached_step": reached}


def run_truth(attempts: list[Attempt], spec: RunSpec) -> Json:
    """Everything that is known about one run."""
    fate = judge(attempts)
    found = all_segments(attempts, fate, spec)
    incidents = [_incident(fate, place, attempts, spec) for place in range(len(fate.chains))]
    whole = (min(a.start for a in attempts), DUMP_AT)
    return {
        "name": spec.name,
        "accelerators": spec.accelerators,
        "target_step": spec.target,
        "finished": attempts[-1].end is not None,
        "last_step": attempts[-1].steps[-1].number,
        "save_every_steps": spec.save_every,
        "allocations": _allocations(attempts, spec),
        "incidents": incidents,
        "planned_stops": [i["ordinal"] for i in incidents if i["kind"] == "planned"],
        "ledger": _ledger(found, WINDOW, spec, _allocated(attempts, WINDOW)),
        "ledger_whole": _ledger(found, whole, spec, _allocated(attempts, whole)),
        "checkpoints": _checkpoints(attempts),
        "checkpoint_cost": _costs(attempts),
        "up_time": _up_time(attempts),
        "slow_stretch": [iso(at) for at in spec.slow] if spec.slow[0] else None,
    }


def _correlate(runs: list[Json]) -> None:
    """Name, for each incident of the leaf switch, its counterpart in the other run."""
    group = [i for run in runs for i in run["incidents"] if i["scenario"] == "leaf"]
    for incident in group:
        incident["correlated_with"] = [
            f"{other['run']}#{other['ordinal']}" for other in group if other is not incident
        ]


def truth_of(world: World) -> Json:
    """The whole truth of a world."""
    runs = [run_truth(world.attempts[name], spec) for name, spec in world.specs.items()]
    _correlate(runs)
    return {
        "schema": "world-truth/1",
        "cluster": "aurora",
        "seed": world.seed,
        "dump_at": iso(DUMP_AT),
        "window": {"start": iso(WINDOW[0]), "end": iso(WINDOW[1])},
        "runs": runs,
        "other_jobs": [job.job_id for job in world.others],
    }
