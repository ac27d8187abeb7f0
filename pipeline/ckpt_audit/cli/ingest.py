"""``ckpt-audit ingest``: logs and scheduler records into the warehouse."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from ckpt_audit import workflow
from ckpt_audit.cli.command import AsJson, add_command
from ckpt_audit.cli.session import Session
from ckpt_audit.cli.tables import table
from ckpt_audit.config_values import check_zone
from ckpt_audit.errors import EXIT_PARTIAL, CkptAuditError, UsageError

if TYPE_CHECKING:
    from ckpt_audit.config import Config
    from ckpt_audit.documents import Json
    from ckpt_audit.ingest.base import ReadOptions
    from ckpt_audit.ingest.load import Hints, Progress
    from ckpt_audit.ingest.report import IngestReport, Skipped
    from ckpt_audit.warehouse import Warehouse

MOST_SHOWN = 10

Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Files, folders, globs, or - for standard input."),
]
Tz = Annotated[
    str | None,
    typer.Option("--tz", metavar="ZONE", help="Time zone of naive stamps.", show_default=False),
]
RunName = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="Run that the files are of.", show_default=False),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format to read them with; see `formats`.",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="LIST",
        help="Columns of sacct output without a header, in order: what its --format was.",
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="TEXT",
        help="What stands between the columns of sacct output. [default: found out]",
        show_default=False,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Read and count, and change nothing.")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Fail where a file is not read whole or its zone is assumed."),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(
        app,
        ingest,
        name="ingest",
        examples=[
            "ckpt-audit ingest /logs/slurm sacct.txt topology.conf",
            "ckpt-audit ingest 'logs/*.out' --tz Europe/Berlin",
            "sacct -D -P -a -S 2026-05-01 -o ALL | ckpt-audit ingest -",
            "ckpt-audit ingest bare.txt --format JobID,JobName,State,Start,End,NodeList",
            "ckpt-audit ingest /ckpt/llama checkpoints.txt",
        ],
    )


def ingest(
    session: Session,
    paths: Paths,
    tz: Tz = None,
    run: RunName = None,
    format_name: FormatName = None,
    columns: Columns = None,
    delimiter: Delimiter = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> int:
    """Reads logs and scheduler records into the warehouse.

    Each file's format is recognised by its content. The same file twice changes nothing; a file
    that grew is read from where it ended. Ends with 4 where part of the input was not read.
    """
    from ckpt_audit.ingest.load import IngestOptions
    from ckpt_audit.ingest.load import ingest as load

    config = session.config
    if tz is not None:
        try:
            check_zone(tz)
        except ValueError as error:
            raise UsageError(f"--tz {error}") from None
    format_name, read = _reading(format_name, columns, delimiter)
    read = replace(read, observed_us=session.now, health_pattern=config.health_pattern)
    inputs = [*paths, *([str(config.topology)] if config.topology else [])]
    with session.warehouse(read_only=False) as warehouse:
        known = workflow.source_paths(warehouse)
        if not dry_run:
            workflow.unsettle(warehouse)
        with _progress(session) as tell:
            options = IngestOptions(
                hints=hints_of(config, tz, run, format_name),
                read=read,
                is_dry_run=dry_run,
                is_strict=strict,
                progress=tell,
                machine_zone=session.machine_zone,
            )
            report = load(warehouse, inputs, options)
        if not dry_run:
            _refresh(session, warehouse, known, strict)
    session.out(_json(report) if as_json else _text(report))
    return EXIT_PARTIAL if report.is_partial else 0


def _reading(
    format_name: str | None, columns: str | None, delimiter: str | None
) -> tuple[str | None, ReadOptions]:
    """The format to read with, and how; sacct's own list of columns may stand for the format."""
    from ckpt_audit.ingest import FORMATS
    from ckpt_audit.ingest.base import ReadOptions
    from ckpt_audit.ingest.formats.slurm_sacct import SLURM_SACCT, parse_columns

    is_list = _has_job_id(parse_columns(format_name or ""))
    if is_list and columns is None and format_name not in {one.name for one in FORMATS}:
        format_name, columns = SLURM_SACCT.name, format_name
    if columns is None and delimiter is None:
        return format_name, ReadOptions()
    if format_name not in (None, SLURM_SACCT.name):
        raise UsageError(f"--columns and --delimiter are of {SLURM_SACCT.name}, not {format_name}")
    listed = None if columns is None else parse_columns(columns)
    if listed is not None and not _has_job_id(listed):
        raise UsageError("--columns names no JobID; give the list that sacct's --format had")
    if delimiter == "":
        raise UsageError("--delimiter is empty")
    return format_name, ReadOptions(listed, delimiter)


def _has_job_id(columns: Sequence[str]) -> bool:
    return any(column.lower() in ("jobid", "jobidraw") for column in columns)


def hints_of(
    config: Config, tz: str | None, run: str | None, format_name: str | None
) -> Callable[[str], Hints]:
    """What flags and configuration say about a file; zones of the configuration are used later."""
    from ckpt_audit.ingest.load import Hints

    def find(path: str) -> Hints:
        rule = config.source_rule(path)
        return Hints(
            tz=tz,
            tz_origin=None if tz is None else "flag",
            run=run or rule.run,
            format_name=format_name or rule.format,
        )

    return find


@contextmanager
def _progress(session: Session) -> Iterator[Callable[[Progress], None] | None]:
    """A bar on a terminal, and nothing elsewhere."""
    if not session.shows_progress:
        yield None
        return
    with typer.progressbar(length=1, label="reading", file=sys.stderr, width=30) as bar:

        def tell(progress: Progress) -> None:
            bar.length = max(progress.n_files, 1)
            bar.update(progress.n_done - bar.pos)

        yield tell


def _refresh(session: Session, warehouse: Warehouse, known: set[str], strict: bool) -> None:
    """Dates the rows, rebuilds the tables and says what had to be assumed."""
    done = workflow.refresh(warehouse, session.config, session.machine_zone)
    new = [(path, zone) for path, zone in done.assumed if path not in known]
    if new and strict:
        from ckpt_audit.ingest.load import forget

        workflow.unsettle(warehouse)
        for path, _ in new:
            forget(warehouse, path)
        workflow.refresh(warehouse, session.config, session.machine_zone)
        raise CkptAuditError("its time zone is not known (strict); give it with --tz", new[0][0])
    if done.assumed:
        zones = ", ".join(sorted({zone for _, zone in done.assumed}))
        session.say(
            f"notice: {len(done.assumed)} sources print local times without saying where; read as "
            f"{zones}, the zone of the machine that read them (first: {done.assumed[0][0]}); "
            "say otherwise with --tz or `timezone` in ckpt-audit.toml"
        )
    for path, text in done.conflicts[:MOST_SHOWN]:
        session.say(f"warning: {path}: {text}")
    for warning in done.warnings:
        session.say(f"warning: {warning}")


def _text(report: IngestReport) -> str:
    rows = [
        [name, tally.n_files, tally.n_unchanged, tally.n_lines, tally.n_rows, tally.n_rejected]
        for name, tally in report.formats.items()
    ]
    headers = ["format", "files", "unchanged", "lines", "rows", "rejected"]
    lines = [table(headers, rows, " >>>>>")] if rows else ["nothing was read"]
    for tally in report.formats.values():
        lines += [
            f"rejected {rejection.n}: {rejection.reason} (first: {rejection.example})"
            for rejection in tally.rejections.values()
        ]
    lines += _skipped("unreadable", report.unreadable)
    lines += _skipped("not recognised", report.not_recognised)
    lines += _skipped("empty", report.empty)
    if report.is_dry_run:
        lines.append("dry run: nothing was changed")
    return "\n".join(lines)


def _skipped(label: str, files: list[Skipped]) -> list[str]:
    lines = [f"{label}: {one.path}: {one.reason}" for one in files[:MOST_SHOWN]]
    if len(files) > MOST_SHOWN:
        lines.append(f"{label}: and {len(files) - MOST_SHOWN} more")
    return lines


def _json(report: IngestReport) -> str:
    from ckpt_audit.documents import document, dumps

    body: Json = {
        "formats": [
            {
                "format": name,
                "files": tally.n_files,
                "unchanged": tally.n_unchanged,
                "lines": tally.n_lines,
                "rows": tally.n_rows,
                "rejected": tally.n_rejected,
                "rejections": [
                    {"reason": one.reason, "n": one.n, "first": one.example}
                    for one in tally.rejections.values()
                ],
            }
            for name, tally in report.formats.items()
        ],
        "not_recognised": _paths(report.not_recognised),
        "unreadable": _paths(report.unreadable),
        "empty": _paths(report.empty),
        "has_changed": report.has_changed,
        "is_dry_run": report.is_dry_run,
    }
    return dumps(document("ingest", body))


def _paths(files: list[Skipped]) -> list[Json]:
    return [{"path": one.path, "reason": one.reason, "is_named": one.is_named} for one in files]
