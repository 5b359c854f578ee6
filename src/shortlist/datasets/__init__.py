"""Data sets that are always there, that can be fetched, or that are read from a folder."""
