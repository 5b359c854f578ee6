"""`python -m shortlist` is the command `shortlist`."""

from shortlist.cli.entry import run

run()
