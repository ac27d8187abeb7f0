"""One line in the form of the monitoring plugins, with performance data."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_audit.alerts.checks import GRAVITY, CheckResult, State, worst

SERVICE = "CKPT-AUDIT"
MOST_NAMED = 3


def plugin_line(results: Sequence[CheckResult]) -> str:
    """Puts results into one line: state, what is wrong, and the values after a bar.

    >>> plugin_line([CheckResult("progress", State.OK, "fine", "llama", 60.0, 900.0, 3600.0)])
    "CKPT-AUDIT OK - 1 check passed | 'progress_llama'=60s;900;3600"
    """
    state = worst(results)
    wrong = sorted(
        (result for result in results if result.state is not State.OK),
        key=lambda result: -GRAVITY.index(result.state),
    )
    if wrong:
        sentences = list(dict.fromkeys(_sentence(result) for result in wrong))
        text = "; ".join(sentences[:MOST_NAMED])
        if len(sentences) > MOST_NAMED:
            text += f"; and {len(sentences) - MOST_NAMED} more"
    else:
        text = f"{len(results)} check{'' if len(results) == 1 else 's'} passed"
    data = " ".join(_perf(result) for result in results if result.value is not None)
    line = f"{SERVICE} {state} - {_clean(text)}"
    return f"{line} | {data}" if data else line


def unknown_line(why: str) -> str:
    """The line where nothing could be checked.

    >>> unknown_line("there is no warehouse")
    'CKPT-AUDIT UNKNOWN - there is no warehouse'
    """
    return f"{SERVICE} {State.UNKNOWN} - {_clean(why)}"


def _sentence(result: CheckResult) -> str:
    who = f"{result.subject}: " if result.subject else ""
    return f"{who}{result.summary}"


def _perf(result: CheckResult) -> str:
    label = "_".join(part for part in (result.name, result.subject) if part)
    label = label.replace("'", "").replace("=", "_").replace("|", "/")
    limits = [_number(result.warn), _number(result.critical)]
    text = f"'{label}'={_number(result.value)}{result.unit};{';'.join(limits)}"
    return text.rstrip(";")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _clean(text: str) -> str:
    """Bars and line ends have a meaning in the form."""
    return " ".join(text.replace("|", "/").split())
