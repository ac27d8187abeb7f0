"""A made-up cluster with two training runs, and the truth about them.

The package simulates the cluster to the microsecond, writes what a site would have (scheduler
dump, job logs, kernel log, topology) and, beside it, what really happened. It shares no code
with the program under test.
"""
