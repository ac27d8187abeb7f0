"""What an ingestion did, counted."""

from __future__ import annotations

from dataclasses import dataclass, field

EXAMPLES = 20  # reasons that are kept apart per format


@dataclass(slots=True)
class Rejection:
    """How often one reason occurred, and where first."""

    reason: str
    n: int
    example: str


@dataclass(slots=True)
class FormatTally:
    """What was read of one format.

    Attributes:
        n_files: Files of which something was read.
        n_unchanged: Files that were known already.
        n_lines: Lines read.
        n_rows: Rows that came of them.
        n_rejected: Lines that were not understood though they should have been.
        rejections: The same by reason, in the order of appearance.
    """

    n_files: int = 0
    n_unchanged: int = 0
    n_lines: int = 0
    n_rows: int = 0
    n_rejected: int = 0
    rejections: dict[str, Rejection] = field(default_factory=dict)

    def reject(self, reason: str, where: str) -> None:
        """Counts one rejected line."""
        self.n_rejected += 1
        known = self.rejections.get(reason)
        if known is not None:
            known.n += 1
        elif len(self.rejections) < EXAMPLES:
            self.rejections[reason] = Rejection(reason, 1, where)

    def add(self, other: FormatTally) -> None:
        """Adds the counts of another tally."""
        self.n_files += other.n_files
        self.n_unchanged += other.n_unchanged
        self.n_lines += other.n_lines
        self.n_rows += other.n_rows
        self.n_rejected += other.n_rejected
        for rejection in other.rejections.values():
            known = self.rejections.get(rejection.reason)
            if known is not None:
                known.n += rejection.n
            elif len(self.rejections) < EXAMPLES:
                self.rejections[rejection.reason] = rejection


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file of which nothing was read, and why."""

    path: str
    reason: str
    is_named: bool


@dataclass(slots=True)
class IngestReport:
    """What an ingestion did.

    Attributes:
        formats: Counts by name of format, in the order of first use.
        not_recognised: Files of no known format.
        unreadable: Files that could not be opened or read to their end.
        empty: Files without content; they count as nothing, not as a problem.
        has_changed: Whether the warehouse holds something else than before.
        is_dry_run: Whether all of it was taken back again.
    """

    formats: dict[str, FormatTally] = field(default_factory=dict)
    not_recognised: list[Skipped] = field(default_factory=list)
    unreadable: list[Skipped] = field(default_factory=list)
    empty: list[Skipped] = field(default_factory=list)
    has_changed: bool = False
    is_dry_run: bool = False

    def tally(self, name: str) -> FormatTally:
        """The counts of a format, made when missing."""
        return self.formats.setdefault(name, FormatTally())

    @property
    def n_rejected(self) -> int:
        """Rejected lines of all formats."""
        return sum(tally.n_rejected for tally in self.formats.values())

    @property
    def is_partial(self) -> bool:
        """Whether part of what was asked for was not read.

        That is a file that was named and not recognised, a file that could not be read, or a
        rejected line; strangers inside a folder are none of it.
        """
        stranger = any(skipped.is_named for skipped in self.not_recognised)
        return stranger or bool(self.unreadable) or self.n_rejected > 0
