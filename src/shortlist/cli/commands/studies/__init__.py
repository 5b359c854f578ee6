"""Studies: what is kept of long work, the papers run again, and their data."""
