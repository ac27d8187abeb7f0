"""States of nodes in the few words that are kept, and the cleaning of their texts."""

from __future__ import annotations

MAX_TEXT = 400
MAX_REJECTED_TEXT = 200
MAX_REASON = 200

# The first word that a state holds wins: DRAIN in "DOWN*+DRAIN" says that somebody acted.
_STATES = (
    ("MAINT", "planned"),
    ("PLANNED", "planned"),
    ("REBOOT", "reboot"),
    ("DRAIN", "drain"),
    ("DOWN", "down"),
    ("FAIL", "fail"),
    ("NOT_RESPONDING", "down"),
    ("NO_RESPOND", "down"),
    ("POWER", "planned"),
    ("IDLE", "up"),
    ("ALLOC", "up"),
    ("MIX", "up"),
    ("RESUME", "up"),
    ("UNDRAIN", "up"),
    ("COMPLETING", "up"),
)


def state_of(text: str) -> str | None:
    """The state in one of the words of ``NodeRecord``, or None when it is no state.

    >>> state_of("DOWN*+DRAIN"), state_of("idle"), state_of("")
    ('drain', 'up', None)
    """
    upper = text.upper()
    if "UNDRAIN" in upper:
        return "up"
    return next((state for word, state in _STATES if word in upper), None)


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """A text in one line, cut to a length."""
    return " ".join(text.split())[:limit]
