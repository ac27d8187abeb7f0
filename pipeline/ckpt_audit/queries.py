"""Reads the derived tables into facts. Every query is bound; nothing here judges."""

from __future__ import annotations

from typing import Any

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
from ckpt_audit.units import seconds
from ckpt_audit.warehouse import Warehouse

_FOREVER = Window(start_at=-(2**62), end_at=2**62, label="all")
_PROGRESS_POINTS = 600


def _window(window: Window | None) -> dict[str, int]:
    chosen = window or _FOREVER
    return {"start_at": chosen.start_at, "end_at": chosen.end_at}


def _dicts(
    warehouse: Warehouse, sql: str, params: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = warehouse.arrow(sql, params).to_pylist()
    return rows


def is_built(warehouse: Warehouse) -> bool:
    """Whether the derived tables are there at all."""
    return bool(warehouse.rows("SELECT 1 FROM duckdb_tables() WHERE table_name = 'run'"))


def runs(warehouse: Warehouse) -> list[Run]:
    """All runs, by name."""
    has_topology = bool(warehouse.rows("SELECT 1 FROM raw_domain LIMIT 1"))
    has_kernel = bool(warehouse.rows("SELECT 1 FROM source WHERE format = 'kernel_log' LIMIT 1"))
    return [
        Run(
            run=row["run"],
            user=row["user_name"],
            work_dir=row["work_dir"],
            joined_by=row["joined_by"],
            n_jobs=row["n_jobs"],
            n_attempts=row["n_attempts"],
            n_launches_without_step=row["n_without_step"],
            n_accelerators=row["n_accelerators"],
            accelerators_origin=row["accelerators_origin"],
            started_at=row["started_at"],
            ended_at=row["ended_at"],
            is_running=row["is_running"],
            first_step=row["first_step"],
            last_step=row["last_step"],
            target_step=row["target_step"],
            allocated_us=row["allocated_us"],
            missing=_missing(row, has_topology, has_kernel),
        )
        for row in _dicts(warehouse, "SELECT * FROM run ORDER BY run")
    ]


def _missing(row: dict[str, Any], has_topology: bool, has_kernel: bool) -> tuple[str, ...]:
    missing = []
    if row["n_jobs"] == 0:
        missing.append("scheduler records: the log's span stands for the allocation")
    if row["n_without_log"]:
        n = row["n_without_log"]
        missing.append(f"log of {n} job" + ("" if n == 1 else "s"))
    if row["n_accelerators"] is None:
        missing.append("number of accelerators: set accelerators_per_node")
    if not has_topology:
        missing.append("topology: incidents can only be joined by node")
    if not has_kernel:
        missing.append("kernel logs: hardware faults are seen only where the job log tells")
    return tuple(missing)


_INCIDENTS = """
SELECT incident.*, run.n_accelerators,
    acc.loss_acc_us
FROM incident
INNER JOIN run ON incident.run = run.run
LEFT JOIN (
    SELECT run, incident, sum((end_at - start_at) * n_accelerators)::DOUBLE AS loss_acc_us
    FROM ledger
    WHERE incident IS NOT NULL
    GROUP BY run, incident
) AS acc ON incident.run = acc.run AND incident.incident = acc.incident
WHERE incident.fault_at >= $start_at AND incident.fault_at < $end_at
ORDER BY incident.fault_at, incident.run, incident.incident
"""

_EVIDENCE = """
SELECT incident_evidence.run, incident_evidence.incident, incident_evidence.moment,
    source.path, incident_evidence.line_no, incident_evidence.text, incident_evidence.strength
FROM incident_evidence
LEFT JOIN source ON incident_evidence.source_id = source.source_id
ORDER BY incident_evidence.run, incident_evidence.incident, incident_evidence.place,
    source.path, incident_evidence.line_no, incident_evidence.text
"""


def incidents(
    warehouse: Warehouse, window: Window | None = None, run: str | None = None
) -> list[Incident]:
    """Incidents whose fault lies in the window, in the order of their faults."""
    evidence: dict[tuple[str, int], list[Evidence]] = {}
    for name, ordinal, moment, path, line, text, strength in warehouse.rows(_EVIDENCE):
        evidence.setdefault((name, ordinal), []).append(
            Evidence(moment=moment, file=path, line=line, text=text or "", strength=strength)
        )
    rows = _dicts(warehouse, _INCIDENTS, _window(window))
    return [
        _incident(row, tuple(evidence.get((row["run"], row["incident"]), ())))
        for row in rows
        if run is None or row["run"] == run
    ]


def _difference_s(later: int | None, earlier: int | None) -> float | None:
    return None if later is None or earlier is None else seconds(later - earlier)


def _between(low: int | None, high: int | None) -> tuple[float | None, float | None]:
    return (seconds(low), seconds(high))


def _bounds(row: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """What depends on a moment that is only bounded: instants in seconds since the epoch."""
    bounds: dict[str, tuple[float | None, float | None]] = {}
    low, high = row["fault_low"], row["fault_high"]
    if row["fault_strength"] == "bounded" and low is not None and low != high:
        bounds["fault_at"] = _between(low, high)
        if row["detection_us"] is not None:
            bounds["detection_s"] = _between(row["detected_at"] - high, row["detected_at"] - low)
        if row["lost_work_us"] is not None:
            shift_low, shift_high = low - row["fault_at"], high - row["fault_at"]
            bounds["lost_work_s"] = _between(
                max(0, row["lost_work_us"] + shift_low), row["lost_work_us"] + shift_high
            )
    for name in ("launched", "load_started", "restored"):
        if row[f"{name}_at"] is None and row[f"{name}_low"] is not None:
            bounds[f"{name}_at"] = _between(row[f"{name}_low"], row[f"{name}_high"])
    bounds.update(_stage_bounds(row))
    return bounds


def _stage_bounds(row: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """Low and high of launch, restore and warm-up where the load is not stamped."""
    begin, first_step = row["launch_from_at"], row["first_step_at"]
    load_low, load_high = row["load_started_low"], row["load_started_high"]
    done_low, done_high = row["restored_low"], row["restored_high"]
    if None in (begin, first_step, load_low, load_high, done_low, done_high):
        return {}
    found = {}
    if row["load_started_at"] is None:
        found["launch_s"] = _between(max(0, load_low - begin), load_high - begin)
    if row["load_started_at"] is None or row["restored_at"] is None:
        found["restore_s"] = _between(max(0, done_low - load_high), done_high - load_low)
    if row["restored_at"] is None:
        found["warmup_s"] = _between(max(0, first_step - done_high), first_step - done_low)
    return found


def _stages(row: dict[str, Any]) -> tuple[float | None, float | None, float | None]:
    """Launch, restore and warm-up, seconds; with nothing to load the launch goes to the step."""
    begin, first_step = row["launch_from_at"], row["first_step_at"]
    if row["recovery_source"] == "scratch":
        return _difference_s(first_step, begin), 0.0, 0.0
    load, done = row["load_started_at"], row["restored_at"]
    return _difference_s(load, begin), _difference_s(done, load), _difference_s(first_step, done)


def _incident(row: dict[str, Any], evidence: tuple[Evidence, ...]) -> Incident:
    fault_at = row["fault_at"]
    launch_s, restore_s, warmup_s = _stages(row)
    loss = [row["lost_work_us"], row["recovery_us"]]
    loss_us = None if None in loss else sum(loss) + (row["detection_us"] or 0)
    loss_acc_us = row["loss_acc_us"]
    return Incident(
        id=row["incident_id"],
        run=row["run"],
        ordinal=row["incident"],
        kind=row["kind"],
        cause=row["cause"],
        cause_strength=row["cause_strength"],
        rule=row["rule"],
        phase=row["phase"],
        secondary=row["is_secondary"],
        attempts=row["attempts"],
        job_ids=tuple(row["job_ids"]),
        last_step=row["last_step"],
        last_step_at=row["last_step_at"],
        precursor_at=row["precursor_at"],
        fault_at=fault_at,
        detected_at=row["detected_at"],
        replaced_at=row["replaced_at"],
        launched_at=row["launched_at"],
        load_started_at=row["load_started_at"],
        restored_at=row["restored_at"],
        first_step_at=row["first_step_at"],
        caught_up_at=row["caught_up_at"],
        resume_step=row["resume_step"],
        verified_step=row["verified_step"],
        verified_grade=row["verified_grade"],
        verified_checkpoint_age_s=_difference_s(fault_at, row["verified_captured_at"]),
        verified_step_hindsight=row["verified_step_hindsight"],
        unsaved_work_s=seconds(row["unsaved_work_us"]),
        attempted_checkpoint_age_s=_difference_s(fault_at, row["attempted_captured_at"]),
        steps_lost=row["steps_lost"],
        lost_work_s=seconds(row["lost_work_us"]),
        repeated_s=seconds(row["repeated_us"]),
        detection_s=seconds(row["detection_us"]),
        replacement_s=seconds(row["replacement_us"]),
        retries_s=seconds(row["retries_us"]) if row["resumed_by"] is not None else None,
        launch_s=launch_s,
        restore_s=restore_s,
        warmup_s=warmup_s,
        recovery_s=seconds(row["recovery_us"]),
        recovery_source=row["recovery_source"],
        loss_s=seconds(loss_us),
        loss_acc_s=None if loss_acc_us is None else loss_acc_us / 1e6,
        detector=row["detector"],
        nodes=tuple(row["nodes"]),
        domains=tuple(row["domains"]),
        bounds=_bounds(row),
        evidence=evidence,
    )


_LEDGER = """
SELECT run, bucket,
    sum(least(end_at, $end_at) - greatest(start_at, $start_at))::BIGINT AS observed_us,
    sum(
        (least(end_at, $end_at) - greatest(start_at, $start_at)) * coalesce(n_accelerators, 0)
    )::HUGEINT::VARCHAR AS observed_acc_us,
    sum(
        least(could_move_us, least(end_at, $end_at) - greatest(start_at, $start_at))
    )::BIGINT AS could_move_us,
    count(*) AS n
FROM ledger
WHERE start_at < $end_at AND end_at > $start_at
GROUP BY run, bucket
ORDER BY run, bucket
"""

_CHARGED = """
SELECT incident.incident_id, ledger.bucket, sum(ledger.end_at - ledger.start_at)::BIGINT AS spent_us
FROM ledger
INNER JOIN incident ON ledger.run = incident.run AND ledger.incident = incident.incident
GROUP BY incident.incident_id, ledger.bucket
"""


def charged(warehouse: Warehouse) -> dict[tuple[str, str], float]:
    """Allocated seconds that the ledger charges, by incident id and bucket; never cut."""
    return {(name, bucket): us / 1e6 for name, bucket, us in warehouse.rows(_CHARGED)}


_CALENDAR = """
SELECT run, bucket,
    sum(least(end_at, $end_at) - greatest(start_at, $start_at))::BIGINT AS observed_us,
    count(*) AS n
FROM calendar
WHERE start_at < $end_at AND end_at > $start_at
GROUP BY run, bucket
ORDER BY run, bucket
"""


def ledger(warehouse: Warehouse, window: Window | None = None) -> list[LedgerRow]:
    """Allocated time by run and bucket, cut to the window exactly."""
    return [
        LedgerRow(
            run=row["run"],
            bucket=row["bucket"],
            observed_us=row["observed_us"],
            observed_acc_us=int(row["observed_acc_us"]),
            could_move_us=row["could_move_us"],
            n=row["n"],
        )
        for row in _dicts(warehouse, _LEDGER, _window(window))
    ]


def calendar(warehouse: Warehouse, window: Window | None = None) -> list[LedgerRow]:
    """Calendar time by run and bucket, cut to the window exactly."""
    return [
        LedgerRow(
            run=row["run"],
            bucket=row["bucket"],
            observed_us=row["observed_us"],
            observed_acc_us=0,
            could_move_us=0,
            n=row["n"],
        )
        for row in _dicts(warehouse, _CALENDAR, _window(window))
    ]


_CHECKPOINTS = """
SELECT checkpoint.*, source.path AS file
FROM checkpoint
INNER JOIN source ON checkpoint.source_id = source.source_id
WHERE coalesce(checkpoint.captured_at, checkpoint.committed_at) >= $start_at
    AND coalesce(checkpoint.captured_at, checkpoint.committed_at) < $end_at
ORDER BY checkpoint.run, checkpoint.ordinal
"""


def _checkpoint(row: dict[str, Any]) -> Checkpoint:
    return Checkpoint(
        run=row["run"],
        attempt=row["attempt"],
        step=row["step"],
        started_at=row["captured_at"],
        blocking_done_at=row["blocking_done_at"],
        committed_at=row["committed_at"],
        state=row["state"],
        grade=row["grade"],
        is_async=row["is_async"],
        is_final=row["is_final"],
        cost_s=seconds(row["cost_us"]),
        cost_origin=row["cost_origin"],
        timer_s=seconds(row["timer_us"]),
        path=row["path"],
        file=row["file"],
        line=row["line_no"],
        why=row["why"],
    )


def checkpoints(warehouse: Warehouse, window: Window | None = None) -> list[Checkpoint]:
    """Saves whose state was captured in the window, by run and time."""
    return [_checkpoint(row) for row in _dicts(warehouse, _CHECKPOINTS, _window(window))]


_UP_TIME = """
SELECT up_time.run, up_time.attempt,
    greatest(up_time.start_at, $start_at) AS start_at,
    least(up_time.end_at, $end_at) AS end_at,
    CASE WHEN up_time.end_at < $end_at THEN up_time.kind END AS kind,
    CASE WHEN up_time.end_at < $end_at THEN incident.incident_id END AS incident,
    up_time.n_accelerators
FROM up_time
LEFT JOIN incident ON up_time.run = incident.run AND up_time.incident = incident.incident
WHERE up_time.start_at < $end_at AND up_time.end_at >= $start_at
ORDER BY up_time.run, up_time.attempt
"""


def up_time(warehouse: Warehouse, window: Window | None = None) -> list[UpTime]:
    """Exposure of each attempt, cut to the window; an end outside the window is censored."""
    return [UpTime(**row) for row in _dicts(warehouse, _UP_TIME, _window(window))]


_PROGRESS = """
SELECT run, ended_at, step
FROM (
    SELECT run, attempt, ended_at, step,
        row_number() OVER (PARTITION BY run ORDER BY ended_at, step) AS place,
        count(*) OVER (PARTITION BY run) AS n,
        lag(attempt) OVER (PARTITION BY run ORDER BY attempt, ended_at) IS DISTINCT FROM attempt
            AS is_begin,
        lead(attempt) OVER (PARTITION BY run ORDER BY attempt, ended_at) IS DISTINCT FROM attempt
            AS is_end
    FROM step
    WHERE ended_at >= $start_at AND ended_at < $end_at
) AS numbered
WHERE is_begin OR is_end OR place % greatest(n // $points, 1) = 0
ORDER BY run, ended_at, step
"""


def progress(warehouse: Warehouse, window: Window | None = None) -> list[Progress]:
    """Points of the progress line, thinned, with every begin and end of an attempt kept."""
    params = {**_window(window), "points": _PROGRESS_POINTS}
    return [Progress(run, at, step) for run, at, step in warehouse.rows(_PROGRESS, params)]


_STATES = """
WITH cut AS (
    SELECT run,
        CASE
            WHEN bucket IN ('productive', 'checkpoint', 'evaluation', 'lost_work', 'degraded')
                THEN 'training'
            ELSE bucket
        END AS bucket,
        greatest(start_at, $start_at) AS start_at,
        least(end_at, $end_at) AS end_at
    FROM calendar
    WHERE start_at < $end_at AND end_at > $start_at
),

marked AS (
    SELECT *,
        lag(bucket) OVER (PARTITION BY run ORDER BY start_at, end_at) IS DISTINCT FROM bucket
            AS is_new
    FROM cut
),

island AS (
    SELECT *, sum(is_new::INTEGER) OVER (PARTITION BY run ORDER BY start_at, end_at) AS island
    FROM marked
)

SELECT run, min(start_at), max(end_at), any_value(bucket)
FROM island
GROUP BY run, island
ORDER BY run, min(start_at)
"""


def states(warehouse: Warehouse, window: Window | None = None) -> list[State]:
    """What each run was doing over the window, training folded into one state."""
    rows = warehouse.rows(_STATES, _window(window))
    return [State(run, start_at, end_at, bucket) for run, start_at, end_at, bucket in rows]


_CADENCE = """
WITH good AS (
    SELECT checkpoint.run, checkpoint.attempt, checkpoint.step, checkpoint.captured_at,
        coalesce(
            lag(checkpoint.step) OVER (
                PARTITION BY checkpoint.run, checkpoint.attempt ORDER BY checkpoint.ordinal
            ),
            attempt.loaded_step
        ) AS before_step
    FROM checkpoint
    INNER JOIN attempt
        ON checkpoint.run = attempt.run AND checkpoint.attempt = attempt.attempt
    WHERE checkpoint.state = 'verified' AND checkpoint.tier = 'remote'
        AND NOT checkpoint.is_final
),

trained AS (
    SELECT run, attempt, step, ended_at,
        sum(work_us + degraded_us) OVER (PARTITION BY run, attempt ORDER BY step) AS so_far_us
    FROM step
),

pair AS (
    SELECT good.run, good.step - good.before_step AS steps,
        -- an attempt begins with the state that it loaded: nothing trained since
        (later.so_far_us - coalesce(earlier.so_far_us, 0))::BIGINT AS trained_us
    FROM good
    LEFT JOIN trained AS later
        ON good.run = later.run AND good.attempt = later.attempt AND good.step = later.step
    LEFT JOIN trained AS earlier
        ON good.run = earlier.run AND good.attempt = earlier.attempt
        AND good.before_step = earlier.step
    WHERE good.before_step IS NOT NULL AND good.step > good.before_step
        AND good.captured_at >= $start_at AND good.captured_at < $end_at
),

summary AS (
    SELECT run, mode(steps) AS observed_steps, avg(trained_us) AS mean_us,
        sum(trained_us::DOUBLE * trained_us ORDER BY trained_us)
        / nullif(sum(trained_us), 0) AS effective_us
    FROM pair
    WHERE trained_us > 0
    GROUP BY run
)

SELECT run.run, run.configured_steps, run.configured_us, summary.observed_steps,
    baseline.step_us, summary.mean_us, summary.effective_us
FROM run
LEFT JOIN summary ON run.run = summary.run
LEFT JOIN baseline ON run.run = baseline.run
    AND coalesce(run.n_accelerators, -1) = baseline.n_accelerators
ORDER BY run.run
"""


def cadences(warehouse: Warehouse, window: Window | None = None) -> dict[str, SaveCadence]:
    """How often each run saves, from consecutive verified saves of one attempt in the window."""
    found = {}
    for row in _dicts(warehouse, _CADENCE, _window(window)):
        step_us, configured_us = row["step_us"], row["configured_us"]
        configured = row["configured_steps"]
        if configured_us is None and configured is not None and step_us is not None:
            configured_us = configured * step_us
        found[row["run"]] = SaveCadence(
            run=row["run"],
            configured_steps=configured,
            configured_s=seconds(configured_us),
            observed_steps=row["observed_steps"],
            step_s=seconds(step_us),
            mean_s=None if row["mean_us"] is None else row["mean_us"] / 1e6,
            effective_s=None if row["effective_us"] is None else row["effective_us"] / 1e6,
        )
    return found


_LAUNCHES = """
SELECT run, count(*) AS n, count(*) FILTER (WHERE coalesce(n_step_lines, 0) > 0) AS reached
FROM attempt
WHERE alloc_start_at >= $start_at AND alloc_start_at < $end_at
GROUP BY run
"""


def launches(warehouse: Warehouse, window: Window | None = None) -> dict[str, tuple[int, int]]:
    """Per run: launches whose allocation began in the window, and how many did a step."""
    rows = warehouse.rows(_LAUNCHES, _window(window))
    return {run: (n, reached) for run, n, reached in rows}


_NEWEST = """
SELECT checkpoint.*, source.path AS file
FROM checkpoint
INNER JOIN source ON checkpoint.source_id = source.source_id
WHERE checkpoint.state = 'verified' AND checkpoint.tier = 'remote'
    AND checkpoint.verified_at < $end_at
QUALIFY row_number() OVER (
    PARTITION BY checkpoint.run ORDER BY checkpoint.verified_at DESC, checkpoint.ordinal DESC
) = 1
"""


def newest_verified(warehouse: Warehouse, end_at: int) -> dict[str, Checkpoint]:
    """The newest verified save of each run before an instant."""
    rows = _dicts(warehouse, _NEWEST, {"end_at": end_at})
    return {row["run"]: _checkpoint(row) for row in rows}


_SOURCES = """
SELECT source.path, source.format, source.n_bytes, source.n_lines, source.n_rows,
    source.n_rejected, source.content_sha256, source_zone.tz, source_zone.origin,
    span.first_at, span.last_at, owner.run
FROM source
LEFT JOIN source_zone ON source.source_id = source_zone.source_id
LEFT JOIN (
    SELECT source_id, min(moment) AS first_at, max(moment) AS last_at
    FROM (
        SELECT source_id, "at" AS moment FROM line_time
        UNION ALL SELECT source_id, started_at FROM job_time
        UNION ALL SELECT source_id, ended_at FROM job_time
    ) AS moments
    GROUP BY source_id
) AS span ON source.source_id = span.source_id
LEFT JOIN (SELECT source_id, min(run) AS run FROM attempt GROUP BY source_id) AS owner
    ON source.source_id = owner.source_id
ORDER BY source.path, source.content_sha256
"""


def sources(warehouse: Warehouse) -> list[Source]:
    """All input files, by path."""
    return [
        Source(
            path=row["path"],
            format=row["format"],
            n_bytes=row["n_bytes"],
            n_lines=row["n_lines"],
            n_rows=row["n_rows"],
            n_rejected=row["n_rejected"],
            sha256=row["content_sha256"],
            tz=row["tz"],
            tz_origin=row["origin"],
            first_at=row["first_at"],
            last_at=row["last_at"],
            run=row["run"],
        )
        for row in _dicts(warehouse, _SOURCES)
    ]


def rejected(warehouse: Warehouse) -> list[RejectedLine]:
    """All lines that were not understood, by file and line."""
    rows = warehouse.rows(
        "SELECT source.path, line_no, reason, text FROM rejected_line "
        "INNER JOIN source ON rejected_line.source_id = source.source_id "
        "ORDER BY source.path, line_no, reason"
    )
    return [RejectedLine(path, line, reason, text) for path, line, reason, text in rows]


def context_jobs(warehouse: Warehouse) -> int:
    """Scheduler records that belong to no run."""
    count: int = warehouse.rows(
        "SELECT count(*) FROM job WHERE job_key NOT IN "
        "(SELECT job_key FROM attempt WHERE job_key IS NOT NULL)"
    )[0][0]
    return count


def as_of(warehouse: Warehouse) -> int | None:
    """Newest instant that any source speaks of."""
    newest: int | None = warehouse.rows(
        "SELECT max(moment) FROM ("
        'SELECT max("at") AS moment FROM line_time '
        "UNION ALL SELECT max(observed_until) FROM job) AS moments"
    )[0][0]
    return newest


def findings(warehouse: Warehouse) -> list[Finding]:
    """What a reader of the numbers must know about the data."""
    rows = warehouse.rows(
        "SELECT finding.kind, finding.subject, finding.text, finding.could_move_us, "
        "source.path, finding.line_no FROM finding "
        "LEFT JOIN source ON finding.source_id = source.source_id "
        "ORDER BY finding.kind, finding.subject, source.path, finding.line_no, finding.text"
    )
    return [
        Finding(kind, subject, text, seconds(moved), path, line)
        for kind, subject, text, moved, path, line in rows
    ]
