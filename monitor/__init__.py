"""The pure part: bytes and numbers in, records and readings out.

Nothing in this package reads a clock, a file, a socket or global random state; time is an argument.
"""
