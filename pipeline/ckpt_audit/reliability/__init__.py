"""How often a job is interrupted: mean time, rates, counts to expect, groups of incidents.

Arrays and numbers in, frozen results out; nothing here reads a database, draws or prints.
"""
