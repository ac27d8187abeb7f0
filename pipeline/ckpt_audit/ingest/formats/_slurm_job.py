"""Makes a job record of the fields that sacct printed."""

from __future__ import annotations

from ckpt_audit.ingest.formats import _slurm_values as values
from ckpt_audit.records import ClockKind, JobRecord
from ckpt_audit.units import S_PER_MIN, US_PER_S

_COUNTS = frozenset(
    {"nnodes", "allocnodes", "alloccpus", "ncpus", "reqcpus", "reqnodes", "uid", "gid", "restarts"}
)


class _Row:
    """The fields of one row by column name; a bad one raises ValueError that names it."""

    def __init__(self, fields: dict[str, str]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        """A text field; empty where there is none."""
        found = self._fields.get(name, "").strip()
        return "" if values.is_nothing(found) else found

    def has(self, name: str) -> bool:
        """Whether the table has the column."""
        return name in self._fields

    def fail(self, name: str, problem: object) -> ValueError:
        """An error that names the column and its content."""
        return ValueError(f"{name} {self._fields.get(name, '')[:40]!r} {problem}")

    def count(self, name: str, unit: int = 1) -> int | None:
        """A whole number times a unit."""
        try:
            return values.parse_count(self.text(name), unit)
        except ValueError as error:
            raise self.fail(name, error) from error

    def duration(self, name: str) -> int | None:
        """A duration in microseconds."""
        try:
            return values.parse_duration_us(self.text(name))
        except ValueError as error:
            raise self.fail(name, error) from error

    def times(self, *names: str) -> tuple[list[int | None], ClockKind]:
        """Clock readings, which must be all of one kind."""
        found: list[int | None] = []
        kinds: set[bool] = set()
        for name in names:
            try:
                reading, is_utc = values.parse_time(self.text(name))
            except ValueError as error:
                raise self.fail(name, error) from error
            found.append(reading)
            if reading is not None:
                kinds.add(is_utc)
        if len(kinds) > 1:
            raise ValueError("local and absolute times in one row; dump all in one form")
        return found, ClockKind.UTC if True in kinds else ClockKind.NAIVE


def make_job(line_no: int, fields: dict[str, str]) -> JobRecord:
    """Makes a record of the fields of a row.

    Args:
        line_no: Its first line.
        fields: The fields by column, the names in lower case.

    Raises:
        ValueError: A field does not hold what its column says; the text names it.
    """
    row = _Row(fields)
    job_id, job_id_raw, step_id = _ids(row)
    state, cancelled_by = _state(row)
    try:
        exit_code, exit_signal = values.parse_exit(row.text("exitcode"))
    except ValueError as error:
        raise row.fail("exitcode", error) from error
    times, clock_kind = row.times("submit", "eligible", "start", "end")
    for name in _COUNTS:
        row.count(name)
    try:
        nodes = values.expand_nodes(row.text("nodelist"))
    except ValueError as error:
        raise row.fail("nodelist", error) from error
    elapsed, elapsed_raw = row.duration("elapsed"), row.count("elapsedraw", US_PER_S)
    limit, limit_raw = row.duration("timelimit"), row.count("timelimitraw", S_PER_MIN * US_PER_S)
    accelerators = values.accelerators_in_tres(row.text("alloctres"))
    if accelerators is None:
        accelerators = values.accelerators_in_gres(row.text("allocgres"))
    return JobRecord(
        line_no=line_no,
        cluster=row.text("cluster"),
        job_id=job_id,
        job_id_raw=job_id_raw,
        step_id=step_id,
        name=row.text("jobname"),
        user=row.text("user"),
        account=row.text("account"),
        partition=row.text("partition"),
        work_dir=row.text("workdir"),
        reason=row.text("reason"),
        comment=row.text("comment"),
        state=state,
        cancelled_by=cancelled_by,
        exit_code=exit_code,
        exit_signal=exit_signal,
        submit_us=times[0],
        eligible_us=times[1],
        start_us=times[2],
        end_us=times[3],
        clock_kind=clock_kind,
        elapsed_us=elapsed if elapsed_raw is None else elapsed_raw,
        time_limit_us=limit if limit_raw is None else limit_raw,
        n_nodes=_n_nodes(row, nodes),
        n_accelerators=accelerators,
        nodes=nodes,
        restarts=row.count("restarts"),
    )


def _ids(row: _Row) -> tuple[str, str, str]:
    names: dict[str, values.JobName] = {}
    for column in ("jobid", "jobidraw"):
        if row.has(column) and (column == "jobid" or row.text(column)):
            try:
                names[column] = values.parse_job_id(row.text(column))
            except ValueError as error:
                raise row.fail(column, error) from error
    shown = names.get("jobid") or names.get("jobidraw")
    if shown is None:
        raise ValueError("the row has no job id; add JobID to sacct's --format")
    raw = names.get("jobidraw")
    return shown.job_id, raw.job_id if raw else "", shown.step_id


def _state(row: _Row) -> tuple[str, str | None]:
    if not row.has("state"):
        return "", None
    try:
        return values.parse_state(row.text("state"))
    except ValueError as error:
        raise row.fail("state", error) from error


def _n_nodes(row: _Row, nodes: tuple[str, ...]) -> int | None:
    """Allocated nodes; before the start sacct prints under NNodes what was asked for."""
    if nodes:
        return len(nodes)
    allocated = row.count("allocnodes")
    if allocated or row.has("nodelist"):
        return allocated or None
    return row.count("nnodes")
