"""The page as text: templates, autoescaped, and nothing that asks the network for anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
from markupsafe import Markup

from ckpt_audit.documents import dumps
from ckpt_audit.report.blocks import ReportView


class _Packaged(BaseLoader):
    """Loads templates out of the package, wherever it is installed."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, None, None]:  # noqa: ARG002
        """Gives the text of a template.

        Raises:
            TemplateNotFound: There is no such file in the package.
        """
        if "/" in template or template.startswith("."):
            raise TemplateNotFound(template)
        return packaged(template), None, None


def packaged(name: str) -> str:
    """Text of a file of the templates.

    Raises:
        TemplateNotFound: There is no such file in the package.
    """
    file = resources.files("ckpt_audit").joinpath("templates", name)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise TemplateNotFound(name) from None


_UNIT = re.compile(r"(\d) (h|min|s|ms|steps?|accelerator-hours)\b")


def tied(text: str) -> str:
    r"""Holds numbers and their units on one line.

    >>> tied("40.9 h were lost")
    '40.9\xa0h were lost'
    """
    return _UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=_Packaged(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["tied"] = tied
    return environment


def render(view: ReportView, figures: Mapping[str, str]) -> str:
    """Makes the page.

    Args:
        view: Every number and sentence.
        figures: A drawing for the anchor of every figure of the view.

    Returns:
        One document that needs nothing else; equal for equal arguments.
    """
    page = (
        _environment()
        .get_template("page.html")
        .render(
            view=view,
            # Drawings are ours: names inside them were escaped when they were drawn.
            figures={anchor: Markup(svg) for anchor, svg in figures.items()},  # noqa: S704
            style=Markup(packaged("page.css")),  # noqa: S704
            script=Markup(packaged("page.js")),  # noqa: S704
            payload=Markup(embedded(view.payload)),  # noqa: S704
        )
    )
    return page.replace("\x00", "\N{REPLACEMENT CHARACTER}")


def embedded(value: Mapping[str, Any]) -> str:
    r"""JSON that can stand inside a script element: no character of it ends the element.

    >>> embedded({"a": "</script>"})
    '{"a":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(json.loads(dumps(dict(value))), ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
