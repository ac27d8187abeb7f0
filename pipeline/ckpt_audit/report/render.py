"""From facts to page in one call."""

from __future__ import annotations

from ckpt_audit.audit.data import ReportData


def render_report(data: ReportData) -> str:
    """Gives the monthly page of a window.

    Args:
        data: The report's facts.

    Returns:
        One self-contained HTML document; the same facts give the same bytes.
    """
    from ckpt_audit.report.figures import draw_all
    from ckpt_audit.report.html import render
    from ckpt_audit.report.view import build_view, figures_of

    view = build_view(data)
    return render(view, draw_all(figures_of(view)))
