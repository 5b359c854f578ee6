"""Votes as arrays: of two classes, and of several."""
