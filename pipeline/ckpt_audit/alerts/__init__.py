"""Checks for cron: what is wrong now, as a state and a sentence each."""
