"""Levels of tests, in one place, and free of anything that takes time to load."""

from __future__ import annotations

from typing import Final

LEVEL: Final = 0.05  # p from which a test is said to find something
WIDEN: Final = 0.2  # p of phi from which the interval of M allows for bursts
