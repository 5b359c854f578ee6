"""Votes as arrays, for two classes and for several."""
