"""Measured against model: what was to be expected, and what interval to use.

Pure functions on measured numbers; they use ``model`` and ``reliability``.
"""
