"""Reads the derived tables into facts. Every query is bound; nothing here judges."""

from ckpt_audit.queries.domains import first_signs, line_steps, memberships, node_spans
from ckpt_audit.queries.incidents import incidents
from ckpt_audit.queries.ledger import calendar, charged, ledger
from ckpt_audit.queries.runs import epochs, launches, lifetimes, progress, runs, states, up_time
from ckpt_audit.queries.saves import cadences, checkpoints, newest_verified
from ckpt_audit.queries.sources import as_of, context_jobs, findings, rejected, sources

__all__ = [
    "as_of",
    "cadences",
    "calendar",
    "charged",
    "checkpoints",
    "context_jobs",
    "epochs",
    "findings",
    "first_signs",
    "incidents",
    "launches",
    "ledger",
    "lifetimes",
    "line_steps",
    "memberships",
    "newest_verified",
    "node_spans",
    "progress",
    "rejected",
    "runs",
    "sources",
    "states",
    "up_time",
]
