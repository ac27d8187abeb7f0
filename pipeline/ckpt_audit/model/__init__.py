"""Waste of a checkpoint interval and its optimum: pure functions of a handful of times.

Every argument that is a time may be in seconds or in any one other unit, the same for all of a
call; results are in that unit. ``m`` is always the mean *up-time* between job-level incidents,
``c`` the mean exposed cost of a save, and an interval is useful training time between two pauses.
"""
