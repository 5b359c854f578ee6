"""Command line of Shortlist, one file per command: parse, call, print.

Heavy imports wait until a command runs.
"""
