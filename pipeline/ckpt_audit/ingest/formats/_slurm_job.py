"""Makes a job record of the fields that sacct printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ckpt_audit.ingest.formats import _slurm_values as values
from ckpt_audit.records import ClockKind, JobRecord
from ckpt_audit.units import S_PER_MIN, US_PER_S

_COUNTS = frozenset(
    {"nnodes", "allocnodes", "alloccpus", "ncpus", "reqcpus", "reqnodes", "uid", "gid", "restarts"}
)
_T = TypeVar("_T")


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
    state, cancelled_by = row.read("state", values.parse_state) if row.has("state") else ("", None)
    exit_code, exit_signal = row.read("exitcode", values.parse_exit)
    (submit, eligible, start, end), clock_kind = row.times("submit", "eligible", "start", "end")
    nodes = row.read("nodelist", values.expand_nodes)
    row.check_counts()
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
        submit_us=submit,
        eligible_us=eligible,
        start_us=start,
        end_us=end,
        clock_kind=clock_kind,
        elapsed_us=row.duration("elapsed", "elapsedraw", US_PER_S),
        time_limit_us=row.duration("timelimit", "timelimitraw", S_PER_MIN * US_PER_S),
        n_nodes=_n_nodes(row, nodes),
        n_accelerators=_n_accelerators(row),
        nodes=nodes,
        restarts=row.count("restarts"),
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

    def read(self, name: str, parse: Callable[[str], _T]) -> _T:
        """A field in the form that it must have."""
        try:
            return parse(self.text(name))
        except ValueError as error:
            raise ValueError(f"{name} {self._fields.get(name, '')[:40]!r} {error}") from error

    def count(self, name: str) -> int | None:
        """A whole number."""
        return self.read(name, values.parse_count)

    def check_counts(self) -> None:
        """Fails when a column that must hold a number does not: the fields are shifted."""
        for name in _COUNTS.intersection(self._fields):
            self.count(name)

    def duration(self, shown: str, raw: str, unit_us: int) -> int | None:
        """A duration in microseconds, from the raw number when there is one."""
        printed = self.read(shown, values.parse_duration_us)
        number = self.count(raw)
        if number is None:
            return printed
        return self.read(raw, lambda _: values.checked_duration(number * unit_us))

    def times(self, *names: str) -> tuple[list[int | None], ClockKind]:
        """Clock readings, which must be all of one kind."""
        found = [self.read(name, values.parse_time) for name in names]
        kinds = {is_utc for reading, is_utc in found if reading is not None}
        if len(kinds) > 1:
            raise ValueError("local and absolute times in one row; dump all in one form")
        kind = ClockKind.UTC if True in kinds else ClockKind.NAIVE
        return [reading for reading, _ in found], kind


def _ids(row: _Row) -> tuple[str, str, str]:
    shown = row.read("jobid", values.parse_job_id) if row.has("jobid") else None
    raw = row.read("jobidraw", values.parse_job_id) if row.text("jobidraw") else None
    either = shown or raw
    if either is None:
        raise ValueError("the row has no job id; add JobID to sacct's --format")
    return either.job_id, raw.job_id if raw else "", either.step_id


def _n_accelerators(row: _Row) -> int | None:
    counted = row.read("alloctres", values.accelerators_in_tres)
    return row.read("allocgres", values.accelerators_in_gres) if counted is None else counted


def _n_nodes(row: _Row, nodes: tuple[str, ...]) -> int | None:
    """Allocated nodes; before the start sacct prints under NNodes what was asked for."""
    if nodes:
        return len(nodes)
    allocated = row.count("allocnodes")
    if allocated or row.has("nodelist"):
        return allocated or None
    return row.count("nnodes")
