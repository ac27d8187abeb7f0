"""The monthly page: `view` says everything as data, `figures` draws, `html` puts it on a page."""

from __future__ import annotations

from ckpt_audit.report.render import render_report

__all__ = ["render_report"]
