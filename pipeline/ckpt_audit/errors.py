"""The one base error of the project: a sentence for a person and an exit code for a program."""

from __future__ import annotations

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_PARTIAL = 4
EXIT_INTERRUPTED = 130


class CkptAuditError(Exception):
    """Something a person can act upon; printed as one line, without a traceback.

    Args:
        message: What is wrong, why, and what to do, in one line.
        where: The place, as ``path`` or ``path:line``, or None.
    """

    exit_code = EXIT_FAILED

    def __init__(self, message: str, where: str | None = None) -> None:
        self.message = message
        self.where = where
        super().__init__(f"{where}: {message}" if where else message)


class UsageError(CkptAuditError):
    """The command was called in a way that cannot be meant."""

    exit_code = EXIT_USAGE


class ConfigError(CkptAuditError):
    """The configuration says something that it cannot say."""

    exit_code = EXIT_USAGE


class WarehouseBusyError(CkptAuditError):
    """Another process holds the warehouse."""


class WarehouseError(CkptAuditError):
    """The warehouse cannot be used: not ours, too new, damaged or inconsistent."""


class NoDataError(CkptAuditError):
    """The question cannot be answered from what the warehouse holds."""
