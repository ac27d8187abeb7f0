"""Text of strangers, made fit for a terminal."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def printable(text: str, kept: str = "") -> str:
    r"""Text that every output can hold, and that a terminal shows and does not obey.

    Bytes that are no UTF-8 become question marks; control characters, separators of lines and
    marks that turn the direction become escapes. Those of what JSON leaves as it is are JSON's
    own, so that a document still means the same.

    Args:
        text: A path, a message or a whole output.
        kept: Control characters that stay.

    >>> print(printable("a\udcff\x1b[2J\u202e\n"))
    a?\x1b[2J\u202e\x0a
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    return _UNPRINTABLE.sub(lambda hit: hit[0] if hit[0] in kept else _escape(ord(hit[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x7F else f"\\u{code:04x}"  # DEL and up may be in JSON
